"""Weights that hold each record's risk at a declared constant."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.streams import Address
from formalsynth.mechanisms.capped import capped_weights

for register in (FAMILIES, MECHANISMS):
    register.find()
FAMILY = FAMILIES["normal"]
LIMITS = st.floats(1e-3, 1e3)
RISKS = st.lists(st.one_of(st.floats(0, 1e6), st.just(np.inf)), min_size=2, max_size=30).map(np.array)
SEEDS = st.integers(0, 2**32 - 1)


def made(records, draws, limit):
    """The form, and the parent that it is built on: the plain posterior with these draws."""
    ones = np.ones(len(records))
    parent = Parent(draws, record_bounds(FAMILY, records, draws, [Sensitive(ones)])[0].by_record, ones)
    context = Context(FAMILY, records, Address(1, 1, 1, len(records), 0), [parent])
    return MECHANISMS["capped"].function(context, M=limit), parent


def sample(seed, n=40):
    generator = np.random.default_rng(seed)
    records = Records(generator.standard_t(3, n), np.ones((n, 1)))
    return records, {"beta": generator.normal(0, 0.1, (30, 1)), "sigma": generator.uniform(0.9, 1.4, 30)}


@given(RISKS, LIMITS)
def test_weights_are_from_0_to_1_and_never_rise_with_the_risk(risk, limit):
    weights = capped_weights(risk, limit)
    assert ((weights >= 0) & (weights <= 1)).all()
    assert (weights[risk <= limit] == 1).all()
    assert (weights[risk > limit] < 1).all()
    assert (np.diff(weights[np.argsort(risk, kind="stable")]) <= 0).all()


@given(RISKS, LIMITS)
def test_no_weighted_risk_exceeds_the_limit(risk, limit):
    finite = risk[np.isfinite(risk)]
    assert (capped_weights(finite, limit) * finite <= limit * (1 + 1e-12)).all()


def test_no_risk_is_weight_1_and_infinite_risk_is_weight_0():
    assert capped_weights(np.array([0.0, 1.0, 4.0, np.inf]), 2.0).tolist() == [1.0, 1.0, 0.5, 0.0]


@given(SEEDS, st.floats(0.1, 20))
def test_the_form_protects_what_it_fits_and_meets_the_limit_on_the_parents_draws(seed, limit):
    records, draws = sample(seed)
    form, parent = made(records, draws, limit)
    np.testing.assert_allclose(form.weights, np.minimum(1, limit / parent.by_record), rtol=1e-12)
    assert (form.sensitive.weights == form.weights).all()
    assert form.sensitive.range is None
    assert form.sensitive.threshold is None
    bounds = record_bounds(FAMILY, records, draws, [form.sensitive])[0].by_record
    np.testing.assert_allclose(bounds, np.minimum(parent.by_record, limit), rtol=1e-9)
    assert form.affected == (parent.by_record > limit).sum()


@given(SEEDS, SEEDS, st.floats(0.5, 5))
def test_records_in_another_order_have_their_weights_in_that_order(seed, other, limit):
    records, draws = sample(seed)
    order = np.random.default_rng(other).permutation(len(records))
    form, _ = made(records, draws, limit)
    again, _ = made(records.take(order), draws, limit)
    np.testing.assert_allclose(again.weights, form.weights[order], rtol=1e-12)
    assert again.affected == form.affected
