"""The numbers that the privacy of a release rests on, by hand: noise, composition over sets, and ceilings."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import incomes
import numpy as np
import pytest
from formalsynth.core.arrays import intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import SamplerSettings, Synthesizer
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.text import DataError
from formalsynth.custodian import candidates, tables
from formalsynth.custodian.cross import check_claim, crossed
from formalsynth.custodian.noise import noisy_counts
from formalsynth.plan.expand import Expanded
from scipy import stats
from small_release import COLUMNS, a_config, a_schema, histogram, typed

MECHANISMS.find()
FAMILIES.find()
SYNTHESIZED = {
    name: column | {"release": "synthesized"} if column.get("release") == "as_is" else column for name, column in COLUMNS.items()
}
ADD_REMOVE = {"neighbours": "add_remove", "columns": SYNTHESIZED}


def drawn(schema, **changes):
    table = typed(schema, incomes.incomes().replace("", np.nan))
    return crossed(schema, a_config(**changes), table, histogram(epsilon=1.0))


@pytest.fixture
def noise(monkeypatch):
    """Record the noise that a release adds to each table of counts."""
    added = []

    def recorded(counts, epsilon, sensitivity):
        noisy = original(counts, epsilon, sensitivity)
        added.append(np.subtract(noisy, counts))
        return noisy

    original = tables.noisy_counts
    monkeypatch.setattr(tables, "noisy_counts", recorded)
    return added


@pytest.mark.parametrize(
    ("changes", "config", "decays"),
    [
        # epsilon 1: replacing a record changes two counts by 1, adding or removing one changes one
        ({}, {}, [0.5]),
        ({"columns": SYNTHESIZED}, {"predictors_epsilon": 2, "ceiling": 3, "rows": 3000}, [1.0, 0.5]),
        (ADD_REMOVE, {"predictors_epsilon": 2, "ceiling": 3, "rows": 3000}, [2.0, 1.0]),
    ],
    ids=["replace", "replace, synthesized predictors", "add or remove"],
)
def test_noise_has_the_decay_epsilon_over_sensitivity(noise, changes, config, decays):
    """Over 15 releases: noise k has a probability in proportion to exp(-decay |k|); one table for all three sets."""
    for _ in range(15):
        drawn(a_schema(**changes), **config)
    assert len(noise) == 15 * len(decays)
    for place, decay in enumerate(decays):
        values = np.abs(np.concatenate(noise[place :: len(decays)]))
        law = stats.dlaplace(decay)
        mean = 2 * sum(k * law.pmf(k) for k in range(1, 200))
        error = np.sqrt((law.var() - mean**2) / len(values))
        assert abs(values.mean() - mean) < 5 * error


def test_the_largest_sums_have_noise_too():
    """That of 5,000,000 rows with scores of 20 and 20, and beyond: an error would depend on the data."""
    for largest in (2_000_000_000, 4_000_000_000):
        assert abs(noisy_counts([largest, -largest], 1.0, 800.0)[0] - largest) < 800 * 40


def test_what_crosses_are_the_noisy_counts(noise):
    schema = a_schema()
    (table,) = drawn(schema).tables
    rows = typed(schema, incomes.incomes().replace("", np.nan))
    counts = np.histogram(rows["income"], np.linspace(1000, 500_000, 51))[0]
    assert (np.array(table.numbers) - counts == noise[0]).all()
    assert noise[0].any()


@pytest.mark.parametrize(("declared", "bins"), [(9, 9), (50, 50), (0, 17)])
def test_a_release_has_the_declared_bins_or_the_root_of_the_rows(noise, declared, bins):
    """The root of 289 rows is 17."""
    candidate = histogram(epsilon=1.0)
    parameters = candidate.synthesizer.parameters | {"bins": declared}
    candidate = replace(candidate, synthesizer=candidate.synthesizer.model_copy(update={"parameters": parameters}))
    crossed(a_schema(), a_config(), typed(a_schema(), incomes.incomes(400).replace("", np.nan)).iloc[:289], candidate)
    assert [len(values) for values in noise] == [bins]


def posterior(epsilon, guarantee="DP (add/remove)"):
    """A candidate whose sets are posterior draws."""
    parameters = {"epsilon": epsilon}
    synthesizer = Synthesizer(
        id="Censor_uw", mechanism="censored_unweighted", parameters=parameters, parents=(), fit="Censor_uw", words=(7,)
    )
    ones = np.ones(3)
    return replace(histogram(epsilon), synthesizer=synthesizer, guarantee=guarantee, by_record=ones, weights=ones)


def test_posterior_draws_add_up_and_one_noisy_table_serves_all_sets():
    assert [posterior(2.0).per_release(sets) for sets in (1, 2, 3)] == [2.0, 4.0, 6.0]
    assert [histogram(2.0).per_release(sets) for sets in (1, 2, 3)] == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("candidate", "neighbours", "claims"),
    [
        (posterior(2.0), "add_remove", [2.0, 4.0, 6.0]),
        (posterior(2.0), "replace", [4.0, 8.0, 12.0]),
        (histogram(2.0), "replace", [2.0, 2.0, 2.0]),
        (histogram(2.0), "add_remove", [2.0, 2.0, 2.0]),
    ],
)
def test_strict_claims_of_one_to_three_sets(candidate, neighbours, claims):
    assert [candidates.strict_claim(candidate.synthesizer, neighbours, sets) for sets in (1, 2, 3)] == claims


def test_nothing_else_has_a_strict_claim():
    weighted = posterior(2.0).synthesizer.model_copy(update={"mechanism": "censored_weighted"})
    assert candidates.strict_claim(weighted, "add_remove") is None
    assert candidates.strict_claim(weighted.model_copy(update={"mechanism": "weighted"}), "replace") is None


def test_kinds_that_hold_for_every_file_are_pure_with_bounds_and_without():
    assert posterior(2.0).pure
    assert posterior(2.0, "DP (replace-one)").pure
    assert replace(histogram(2.0), guarantee="DP (replace-one)").pure
    assert not posterior(2.0, "DP | fixed weights").pure
    assert not replace(histogram(2.0), guarantee="asymptotic DP (local eps_x)").pure


class Given:
    """Source of pseudo posteriors with given draws: Beta(1, 1) and Beta(1.05, 1)."""

    def __init__(self, *_):
        pass

    def posterior(self, request):
        return SimpleNamespace(draws=self.draws(request, None))

    def draws(self, request, posterior):
        return {"phi": np.array([1.0, 1.05]) / [2.0, 2.05], "lambda": np.array([2.0, 2.05])}


@pytest.mark.parametrize(("neighbours", "claim", "factor"), [("add_remove", 2.0, 2), ("replace", 4.0, 4)])
def test_the_claim_of_a_strict_candidate_is_declared_and_not_computed(monkeypatch, neighbours, claim, factor):
    """The largest log-likelihood is below 0.1, so a computed epsilon is far below the claim."""
    monkeypatch.setattr(candidates, "ReleasePosteriors", Given)
    declared = SimpleNamespace(schema=SimpleNamespace(outcome="x", neighbours=neighbours))
    strict = posterior(2.0).synthesizer
    plain = Synthesizer(id="plain", mechanism="unweighted", parameters={}, parents=(), fit="plain", words=(0,))
    study = candidates.StudySetup(
        Path("study.yaml"), "beta", {}, Path(), None, None, Expanded({strict.id: strict, plain.id: plain})
    )
    records = intercept_only(np.array([0.1, 0.5, 0.9]))
    made = candidates.fit(declared, study, records, Path(), [strict.id, plain.id], SamplerSettings())
    largest = max(abs(stats.beta.logpdf(x, 1.05, 1)) for x in (0.1, 0.5, 0.9))
    assert made["Censor_uw"].epsilon == claim
    assert made["plain"].epsilon == pytest.approx(factor * largest)
    assert 0 < made["plain"].epsilon < claim / 2


@pytest.mark.parametrize(
    ("sets", "ceiling", "refused"), [(1, 2, False), (1, 1.9, True), (2, 3, True), (2, 3.9, True), (3, 5.9, True)]
)
def test_a_ceiling_between_one_set_and_two_admits_one(sets, ceiling, refused):
    schema = a_schema(columns=SYNTHESIZED, neighbours="add_remove")
    table = typed(schema, incomes.incomes().replace("", np.nan))
    config = a_config(sets=sets, ceiling=ceiling + 1, budget=20, predictors_epsilon=1, rows=100)
    candidate = replace(posterior(2.0), draws={"probability": np.full((5, 50), 0.02)})
    if refused:
        with pytest.raises(DataError, match="claims more than the declared ceiling"):
            check_claim(schema, config, candidate)
    else:
        check_claim(schema, config, candidate)
        numbers = crossed(schema, config, table, candidate)
        assert numbers.draws.epsilon + numbers.tables[0].epsilon == 3.0
