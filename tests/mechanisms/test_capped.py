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
def test_weights_are_the_limit_over_a_larger_risk(risk, limit):
    """No weighted risk exceeds the limit, and no other record plays a part."""
    expected = [1.0 if value <= limit else limit / value for value in risk]
    np.testing.assert_allclose(capped_weights(risk, limit), expected, rtol=1e-12)


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
