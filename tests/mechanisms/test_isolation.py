"""Isolation risks against brute force in exact arithmetic."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.mechanisms.isolation import isolation_risk, isolation_weights


def brute_force(x, radius):
    """Exact risks: whole values and rational radii."""
    return np.array([float(Fraction(sum(abs(b - a) > r for b in x), len(x))) for a, r in zip(x, radius, strict=True)])


@given(
    st.lists(st.integers(-300, 300), min_size=1, max_size=60),
    st.sampled_from([Fraction(n, d) for n, d in ((0, 1), (1, 10), (3, 20), (1, 5), (3, 10), (1, 3), (1, 1), (3, 1))]),
)
def test_risk_is_exact_also_at_the_edge_of_the_ball(x, r):
    """Whole values put many records exactly on the edge; floating point must not push them out."""
    values = np.array(x, dtype=float)
    expected = brute_force(x, [r * abs(value) for value in x])
    np.testing.assert_allclose(isolation_risk(values, float(r) * np.abs(values)), expected, atol=1e-12)
    np.testing.assert_allclose(isolation_weights(values, float(r)), 1 - expected, atol=1e-12)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e6)), min_size=1, max_size=40))
def test_each_record_has_its_own_radius(pairs):
    x, radius = np.array(pairs).T
    distance, tolerance = np.abs(x[:, None] - x), 1e-12 * (np.abs(x)[:, None] + np.abs(x) + radius[:, None])
    surely_outside = (distance > radius[:, None] + tolerance).mean(axis=1)
    maybe_outside = (distance > radius[:, None] - tolerance).mean(axis=1)
    risk = isolation_risk(x, radius)
    assert (risk >= surely_outside - 1e-12).all()
    assert (risk <= maybe_outside + 1e-12).all()


def test_one_radius_for_all_and_order_does_not_matter():
    generator = np.random.default_rng(0)
    x = generator.normal(size=500)
    order = generator.permutation(500)
    risk = isolation_risk(x, 0.3)
    np.testing.assert_array_equal(risk, isolation_risk(x, np.full(500, 0.3)))
    np.testing.assert_array_equal(risk[order], isolation_risk(x[order], 0.3))


def test_a_known_case():
    x = np.array([0.0, 0, 10, 11, 12, 100])
    # Radii 0, 0, 2, 2.2, 2.4, 20: the zeros see each other, 10 to 12 see each other, 100 is alone.
    np.testing.assert_allclose(isolation_risk(x, 0.2 * x), np.array([4, 4, 3, 3, 3, 5]) / 6)
    np.testing.assert_allclose(isolation_weights(x, 0.2, c=2, g=-0.5), np.clip(2 * np.array([2, 2, 3, 3, 3, 1]) / 6 - 0.5, 0, 1))


def test_risk_of_a_record_alone_stays_below_one():
    assert isolation_risk(np.array([1.0, 50.0]), 0).max() == 0.5
