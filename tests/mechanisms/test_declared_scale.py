"""Weights on a declared scale."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.streams import Address
from formalsynth.core.weights import scaled_weights

for register in (FAMILIES, MECHANISMS):
    register.find()
SCALES = st.floats(1e-3, 1e3)
RISKS = st.lists(st.one_of(st.floats(0, 1e6), st.just(np.inf)), min_size=2, max_size=30).map(np.array)


@given(RISKS, SCALES)
def test_weights_fall_to_0_at_the_scale(risk, scale):
    """No weighted risk exceeds a quarter of the scale, and no other record plays a part."""
    expected = [max(1 - value / scale, 0.0) for value in risk]
    np.testing.assert_allclose(scaled_weights(risk, scale), expected, rtol=1e-12, atol=1e-12)


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
