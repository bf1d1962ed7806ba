"""One chain on one data set by the ways of the run and the audit, from the same given draws."""

import importlib
import zlib

import numpy as np
import pytest
import small_study
from small_study import run_batch, small_paper

from formalsynth.audit.neighbours import additions
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import joined
from formalsynth.core.bounds import Sensitive
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Form, mechanism
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import Search, with_parents
from formalsynth.engine.chain import run_chain
from formalsynth.stan.fit import Fit
from formalsynth_workflow.steps.parts import EXACT, POSTERIORS

for register in (FAMILIES, MECHANISMS):
    register.find()
SEARCH = {"parameter": "k", "target": "parent", "high": 0.95, "lower_by": 0.05, "steps": 20}
MORE = {
    "wide": {"mechanism": "range_averaged", "parents": ["Unweighted"], "parameters": {"a": 0.2, "b": 3}},
    "final": {"mechanism": "reweighted", "parents": ["Weighted"], "search": SEARCH},
    "watching": {"mechanism": "watching", "parents": ["Weighted"]},
}
ENTRIES = ["Unweighted", "Weighted", "averaged", "truncated", "wide", "final", "watching"]


def given_draws(weights):
    """Draws that the weights of the likelihood decide, to the last bit."""
    generator = np.random.default_rng(zlib.crc32(np.ascontiguousarray(weights).tobytes()))
    return {"beta": np.array([1.0, 1.0]) + generator.normal(0, 0.1, (200, 2)), "sigma": generator.uniform(0.8, 1.2, 200)}


class Given:
    """Source of given draws, for the run."""

    def __init__(self, *_):
        pass

    def posterior(self, request):
        return Fit("ok", draws=given_draws(request.form.weights), attempts=1)

    def draws(self, request, posterior):
        return posterior.draws


class GivenOnUniverse:
    """Source of given draws, for the audit, whose weights are those of D and of further records."""

    dimension = 1

    def __init__(self, n):
        self.n = n

    def posterior(self, weights, threshold=None):
        return weights

    def draws(self, posterior, uniforms):
        assert (posterior[self.n :] == 0).all()
        return given_draws(posterior[: self.n])


@pytest.fixture
def seen():
    """Contexts of a mechanism that takes what it gets of its parent into its weights."""
    contexts = []
    with MECHANISMS.trial():

        @mechanism("none", id=99)
        def watching(context) -> Form:
            contexts.append(context)
            weights = context.parents[0].weights * context.address.generator("mechanism").random(len(context.records))
            return Form(weights, Sensitive(weights))

        yield contexts


@pytest.fixture
def scenario(tmp_path, monkeypatch, seen):
    paper = small_study.PAPER | {"synthesizers": small_study.PAPER["synthesizers"] | MORE, "figures": {}, "tables": {}}
    monkeypatch.setattr(small_study, "PAPER", paper)
    return small_paper(tmp_path, exact=True, synthesizers=ENTRIES).scenarios["skewed_n60"]


@pytest.fixture
def run(scenario):
    """The chain by the way of the run: each synthesizer by a step of its own, from the results of its parents."""
    importlib.import_module("formalsynth_workflow.steps.exact_draws")  # else the first fit registers it, and the trial forgets it
    with POSTERIORS.trial():
        POSTERIORS.forget(POSTERIORS.module(EXACT))
        POSTERIORS.add(EXACT, Given, __name__)
        return run_batch(scenario, [0])


def results_of_run(batch):
    """Likelihood weights, bounds and sensitive weights of each synthesizer."""
    return {id: (fit.weights, fit.by_record, fit.sensitive) for id, (fit,) in batch.fits.items()}


def assert_same(results, expected):
    assert set(results) == set(expected)
    for id, arrays in expected.items():
        for ours, theirs in zip(results[id], arrays, strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=id)


def same_contexts(first, second):
    """Compare what a mechanism got: records, random numbers, and of its parents all that it may use."""
    np.testing.assert_array_equal(first.records.x, second.records.x)
    np.testing.assert_array_equal(first.records.design, second.records.design)
    assert first.address == second.address
    for ours, theirs in zip(first.parents, second.parents, strict=True):
        for name in ("by_record", "weights"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        for name in ours.draws:
            np.testing.assert_array_equal(ours.draws[name], theirs.draws[name])


def test_the_audit_has_the_forms_weights_and_bounds_of_the_run(scenario, run, seen):
    records, family = run.data.records(0), FAMILIES[scenario.family]
    universe = joined(records, additions(records, np.array([0.01, 20.0]), [np.array([0.0, 4.0])]))
    address, chain = Address.of(scenario.key, 0), list(scenario.synthesizers.values())
    replay = Replay(family, scenario.priors, universe, chain, address, 200, GivenOnUniverse(60))
    outcomes = replay.outcomes_on(np.arange(60), bounds=True)
    results = {
        id: (outcome.weights[:60], outcome.bounds.by_record, outcome.sensitive.weights) for id, outcome in outcomes.items()
    }
    assert_same(results, results_of_run(run))
    same_contexts(seen[0], seen[-1])


def test_a_chain_has_parents_and_owners_of_fits_before_those_that_need_them(scenario):
    chain = with_parents(["truncated_0.4_1.8", "final"], scenario.synthesizers)
    assert [synthesizer.id for synthesizer in chain] == ["Unweighted", "Weighted", "truncated_0.4_1.8", "final"]


def data_of(scenario, run):
    return Context(FAMILIES[scenario.family], run.data.records(0), Address.of(scenario.key, 0))


def changed(scenario, id, **changes):
    """The chain with changes to one synthesizer."""
    return [other.model_copy(update=changes) if other.id == id else other for other in scenario.synthesizers.values()]


def test_a_fit_is_not_shared_by_other_weights(scenario, run):
    failed = {}
    shares = changed(scenario, "wide", fit="Weighted")
    results = run_chain(shares, data_of(scenario, run), Given(), failed=failed)
    assert set(failed) == {"wide"}
    assert failed["wide"].startswith("it shares the fit of Weighted, but its likelihood has different weights")
    assert set(results) == {synthesizer.id for synthesizer in shares} - {"wide"}


def test_a_failure_is_the_reason_of_children_and_of_those_that_share_the_fit(scenario, run):
    failed = {}

    class Failing(Given):
        def posterior(self, request):
            if request.synthesizer.id == "Weighted":
                raise ValueError("not sampled")
            return super().posterior(request)

    results = run_chain(list(scenario.synthesizers.values()), data_of(scenario, run), Failing(), failed=failed)
    assert failed == {
        "Weighted": "not sampled", "truncated_0.4_1.8": "not sampled",
        "final": "its parent Weighted failed", "watching": "its parent Weighted failed",
    }  # fmt: skip
    assert set(results) | set(failed) == set(scenario.synthesizers)
    with pytest.raises(ValueError, match="not sampled"):
        run_chain(list(scenario.synthesizers.values()), data_of(scenario, run), Failing())


def test_a_failed_search_reports_its_number_of_refits(scenario, run):
    failed, search = {}, Search(**SEARCH | {"target": 1e-9, "steps": 3})
    run_chain(changed(scenario, "final", search=search), data_of(scenario, run), Given(), failed=failed)
    assert set(failed) == {"final"}
    assert failed["final"].endswith("is not within reach of 0.000 after 3 refits")
