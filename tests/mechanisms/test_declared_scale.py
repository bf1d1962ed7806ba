"""Weights on a declared scale."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.streams import Address
from formalsynth.core.weights import lipschitz_weights, scaled_weights

for register in (FAMILIES, MECHANISMS):
    register.find()
SCALES = st.floats(1e-3, 1e3)
RISKS = st.lists(st.one_of(st.floats(0, 1e6), st.just(np.inf)), min_size=2, max_size=30).map(np.array)


@given(RISKS, SCALES)
def test_weights_are_from_0_to_1_and_hold_the_risk_at_a_quarter_of_the_scale(risk, scale):
    weights = scaled_weights(risk, scale)
    assert ((weights >= 0) & (weights <= 1)).all()
    assert (weights[risk >= scale] == 0).all()
    finite = np.isfinite(risk)
    assert (weights[finite] * risk[finite] <= scale / 4 * (1 + 1e-12)).all()


@given(st.lists(st.floats(0.1, 50), min_size=3, max_size=20, unique=True).map(np.array))
def test_with_a_scale_at_the_largest_risk_and_one_of_no_risk_they_are_lw_weights(risk):
    risk = np.append(risk, 0.0)
    np.testing.assert_allclose(scaled_weights(risk, risk.max()), lipschitz_weights(risk), atol=1e-12)


@given(RISKS, SCALES, st.floats(0, 1e6))
def test_another_record_moves_no_weight(risk, scale, another):
    assert (scaled_weights(np.append(risk, another), scale)[:-1] == scaled_weights(risk, scale)).all()


@given(st.integers(0, 2**32 - 1), st.floats(1, 50))
def test_the_form_protects_what_it_fits(seed, scale):
    generator = np.random.default_rng(seed)
    records = Records(generator.standard_t(3, 30), np.ones((30, 1)))
    draws = {"beta": generator.normal(0, 0.1, (20, 1)), "sigma": generator.uniform(0.9, 1.4, 20)}
    family, ones = FAMILIES["normal"], np.ones(30)
    parent = Parent(draws, record_bounds(family, records, draws, [Sensitive(ones)])[0].by_record, ones)
    form = MECHANISMS["declared_scale"].function(Context(family, records, Address(1, 1, 1, 30, 0), [parent]), scale=scale)
    np.testing.assert_array_equal(form.weights, scaled_weights(parent.by_record, scale))
    assert (form.sensitive.weights == form.weights).all()
    assert form.affected == (form.weights == 0).sum()
    assert record_bounds(family, records, draws, [form.sensitive])[0].delta <= scale / 4 * (1 + 1e-9)
