"""Mechanisms: what they revert to, and how their bounds are ordered given the same draws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import posterior

from formalsynth.core import arrays
from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.parameters import defaults
from formalsynth.core.streams import Address

for register in (FAMILIES, MECHANISMS):
    register.find()
FAMILY = FAMILIES["lognormal_regression"]
N, N_DRAWS = 40, 80
LOW = st.floats(0, 0.95)
HIGH = st.floats(1.05, 20)
STUDIES = st.integers(0, 4)


def make_study(seed):
    """Records, a fitted unweighted parent, and draws of some later fit."""
    generator = np.random.default_rng(seed)
    z = generator.normal(2, 1, N)
    x = np.exp(z + 1 + generator.standard_normal(N))
    records = Records(x, np.column_stack([np.ones(N), z]))
    ones = np.ones(N)
    unweighted = posterior(records.design, np.log(x), ones).draws(generator, N_DRAWS)
    by_record = record_bounds(FAMILY, records, unweighted, [Sensitive(ones)])[0].by_record
    later = posterior(records.design, np.log(x), generator.uniform(size=N)).draws(generator, N_DRAWS)
    return records, Parent(unweighted, by_record, ones), later


STUDY = {seed: make_study(seed) for seed in range(5)}


def apply(name, seed, **parameters):
    """The form that a mechanism makes of a study."""
    records, parent, _ = STUDY[seed]
    context = Context(FAMILY, records, Address(1, 1, 1, N, seed), [parent][: MECHANISMS[name].parents])
    return MECHANISMS[name].function(context, **parameters)


def bounds_of(seed, *forms):
    """Bounds of several forms given the same draws."""
    records, _, later = STUDY[seed]
    return [bounds.by_record for bounds in record_bounds(FAMILY, records, later, [form.sensitive for form in forms])]


@given(STUDIES, st.floats(0, 2), st.floats(-1, 1))
def test_weighted_fits_with_what_it_protects(seed, c, g):
    form = apply("weighted", seed, c=c, g=g)
    risk = STUDY[seed][1].by_record
    scaled = (risk - risk.min()) / (risk.max() - risk.min())
    assert form.weights == pytest.approx(np.clip(c * (1 - scaled) + g, 0, 1))
    assert (form.sensitive.weights == form.weights).all()


@given(STUDIES)
def test_without_a_range_averaged_is_weighted(seed):
    """lambda = 0: the fit weights are alpha, and so is the sensitive part."""
    averaged, weighted = apply("range_averaged", seed, a=0.0, b=np.inf), apply("weighted", seed)
    assert (averaged.weights == weighted.weights).all()
    assert (averaged.sensitive.weights == weighted.sensitive.weights).all()
    here, there = bounds_of(seed, averaged, weighted)
    assert (here == there).all()


@given(STUDIES, st.floats(1, 1e6))
def test_averaged_reverts_to_weighted_as_the_range_widens(seed, factor):
    """With every prediction inside the range nothing is known; before that, no more than the share outside."""
    averaged, weighted = apply("range_averaged", seed, a=1 / factor, b=factor), apply("weighted", seed)
    gap = averaged.weights - weighted.weights
    assert (gap >= -1e-15).all()
    assert (averaged.weights + averaged.sensitive.weights <= 1 + weighted.weights + 1e-12).all()
    if factor > 1e5:
        # a prediction would have to lie more than seven of its standard deviations away
        assert (gap == 0).all()


@given(STUDIES, LOW, HIGH)
def test_averaged_has_the_printed_weights(seed, a, b):
    """alpha* = lambda + (1 - lambda) alpha; the sensitive part is what is left without lambda."""
    form, alpha = apply("range_averaged", seed, a=a, b=b), apply("weighted", seed).weights
    known = form.weights - form.sensitive.weights
    assert ((known >= -1e-15) & (known <= 1 + 1e-15)).all()
    assert form.sensitive.weights == pytest.approx((1 - known) * alpha, abs=1e-12)
    assert ((form.weights >= 0) & (form.weights <= 1 + 1e-15)).all()


@given(STUDIES, LOW, HIGH, st.floats(0, 1), st.floats(1, 5))
def test_a_shorter_range_never_raises_an_averaged_bound(seed, a, b, closer, factor):
    """Given the same draws: every range of a replicate sees the same predictions."""
    short, long = apply("range_averaged", seed, a=a, b=b), apply("range_averaged", seed, a=a * closer, b=b * factor)
    here, there = bounds_of(seed, short, long)
    assert (here <= there).all()


@given(STUDIES, LOW, HIGH)
def test_the_largest_records_have_an_open_range_by_default(seed, a, b):
    plain, wider = apply("range_averaged", seed, a=a, b=b), apply("range_averaged", seed, a=a, b=b, top=0.3)
    assert (wider.sensitive.weights >= plain.sensitive.weights).all()
    assert (wider.weights <= plain.weights).all()


@given(STUDIES)
def test_without_a_range_truncated_is_weighted(seed):
    forms = [apply("weighted", seed)]
    forms += [apply(name, seed, a=0.0, b=np.inf) for name in ("range_truncated", "range_truncated_printed")]
    weighted, truncated, printed = bounds_of(seed, *forms)
    assert (truncated == weighted).all()
    assert (printed == weighted).all()


@given(STUDIES, LOW, HIGH)
def test_the_printed_equation_weights_the_likelihood_alone(seed, a, b):
    """Erratum E1: the same likelihood, with the range's probability weighted by alpha or by 1."""
    alpha = apply("weighted", seed).weights
    primary, printed = apply("range_truncated", seed, a=a, b=b), apply("range_truncated_printed", seed, a=a, b=b)
    assert (primary.weights == alpha).all() and (printed.weights == alpha).all()
    assert primary.sensitive.range == printed.sensitive.range == (a, b)
    assert (primary.sensitive.weights == alpha).all()
    assert (printed.sensitive.weights == alpha).all()
    assert (primary.sensitive.range_weights == alpha).all()
    assert (printed.sensitive.range_weights == 1).all()


def test_a_costly_result_is_kept_for_the_measure_step():
    records, parent, _ = STUDY[0]
    context = Context(FAMILY, records, Address(1, 1, 1, N, 0), [parent])
    first = MECHANISMS["range_averaged"].function(context, a=0.4, b=1.8)
    again = Context(FAMILY, records, Address(999, 9, 9, N, 9), [parent], replace(context.cache))
    assert (MECHANISMS["range_averaged"].function(again, a=0.4, b=1.8).weights == first.weights).all()


def test_many_records_have_predictions_of_fewer_draws(monkeypatch):
    records, parent, _ = STUDY[0]
    predict, draws = type(FAMILY).predict, []
    monkeypatch.setattr(type(FAMILY), "predict", lambda *given: draws.extend(given[3]["sigma"]) or predict(*given))
    monkeypatch.setattr("formalsynth.mechanisms.ranges.MOST_PREDICTIVE", N * N_DRAWS // 4)
    context = Context(FAMILY, records, Address(1, 1, 1, N, 0), [parent])
    MECHANISMS["range_averaged"].function(context, a=0.4, b=1.8)
    assert draws == parent.draws["sigma"][::4].tolist()


def test_many_records_have_predictions_in_parts(monkeypatch):
    """Each record with all draws, and with its own range."""
    monkeypatch.setattr(type(FAMILY), "predict", lambda _, generator, records, draws: np.outer(draws["sigma"], records.x))
    records, parent, _ = STUDY[0]
    context = Context(FAMILY, records, Address(1, 1, 1, N, 0), [parent])
    ends = parent.draws["sigma"].min(), np.median(parent.draws["sigma"])
    ranges = {"a": ends[0], "b": ends[1], "top": 0.3, "wide_a": 0.0, "wide_b": np.inf}
    whole, in_parts = [], []
    for form, block in ((whole, arrays.BLOCK), (in_parts, N - 1)):
        monkeypatch.setattr(arrays, "BLOCK", block)
        monkeypatch.setattr(arrays, "PART", 7)
        alone = replace(context, parents=[parent], cache=type(context.cache)())
        form += MECHANISMS["range_averaged"].function(alone, **ranges).weights.tolist()
    assert in_parts == whole
    assert len(set(whole)) > N / 2


def test_parameters_are_read_off_the_function():
    assert set(MECHANISMS["range_truncated"].parameters.model_fields) == {"a", "b", "c", "g", "top", "wide_a", "wide_b"}
    expected = {"c": 1.0, "g": 0.0, "top": 0.0, "wide_a": 0.0, "wide_b": np.inf}
    assert defaults(MECHANISMS["range_truncated"].parameters) == expected
    assert defaults(MECHANISMS["weighted"].parameters) == {"c": 1.0, "g": 0.0}
    assert not MECHANISMS["unweighted"].parameters.model_fields


IDS = {
    "unweighted": 1,
    "weighted": 2,
    "range_averaged": 3,
    "range_truncated": 4,
    "range_truncated_printed": 5,
    "weighted_e": 6,
    "censored_unweighted": 7,
    "perturbed_histogram": 8,
    "censored_weighted": 9,
    "isolation_weighted": 10,
    "scalar_weighted": 11,
    "reweighted": 12,
}


def test_the_ids_of_random_streams_never_change():
    assert {name: MECHANISMS[name].id for name in IDS} == IDS


@pytest.mark.parametrize("name", IDS)
def test_which_mechanisms_give_a_release_of_their_own(name):
    assert MECHANISMS[name].releases == (name == "perturbed_histogram")


@pytest.mark.parametrize("ends", [{"a": 0, "b": 2}, {"a": 0.5, "b": np.inf}, {"a": -np.inf, "b": 1}])
def test_ends_of_ranges_stay_as_given(ends):
    given = MECHANISMS["range_truncated"].parameters(**ends)
    assert [(type(value), value) for value in (given.a, given.b)] == [(type(value), value) for value in ends.values()]


def test_every_mechanism_names_the_kind_of_its_guarantee():
    """Never a bare "aDP", which elsewhere means approximate DP."""
    for name, entry in MECHANISMS.items():
        assert entry.guarantee, name
        assert "adp" not in entry.guarantee.lower().split(), name
