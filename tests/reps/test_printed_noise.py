"""Exact cost of printed noise: values from an independent derivation, checked there with another accounting library."""

import math

import pytest

from formalsynth.core.gaussian import analytic_sigma, classical_sigma, gaussian_delta
from formalsynth.reps.printed_noise import classical_limit, printed_epsilon

STATED = (0.5, 1, 2, 4, 8)


@pytest.mark.parametrize(("n", "single", "four", "limit"), [
    (319, (0.243, 0.582, 1.380, 3.320, 8.337), (0.084, 0.212, 0.511, 1.212, 2.904), 7.15),
    (560, (0.261, 0.609, 1.416, 3.346, 8.250), (0.096, 0.232, 0.542, 1.260, 2.965), 7.31),
    (6720, (0.317, 0.695, 1.531, 3.439, 8.024), (0.133, 0.292, 0.641, 1.411, 3.159), 7.91),
    (25324, (0.337, 0.726, 1.574, 3.477, 7.960), (0.145, 0.314, 0.677, 1.467, 3.233), 8.17),
])  # fmt: skip
def test_exact_cost_of_one_block_and_of_four(n, single, four, limit):
    delta = 1 / n
    assert [printed_epsilon(epsilon, delta, 1) for epsilon in STATED] == pytest.approx(single, abs=6e-4)
    assert [printed_epsilon(epsilon, delta, 4) for epsilon in STATED] == pytest.approx(four, abs=6e-4)
    assert classical_limit(delta) == pytest.approx(limit, abs=6e-3)
    for epsilon, holds in ((0.999 * classical_limit(delta), True), (1.001 * classical_limit(delta), False)):
        assert bool(gaussian_delta(classical_sigma(1.0, epsilon, delta), 1.0, epsilon) <= delta) == holds


def test_scores_and_four_blocks():
    exact = [printed_epsilon(epsilon, 1 / 6720, 4, scoring=0.2) for epsilon in STATED]
    assert exact == pytest.approx((0.115, 0.254, 0.558, 1.227, 2.736), abs=6e-4)


def test_noise_of_four_blocks_against_one_release():
    """The printed noise is two to four times the smallest noise for the same budget."""
    ratios = [
        4 * classical_sigma(1.0, epsilon, delta / 4) / analytic_sigma(2.0, epsilon, delta)
        for delta in (1 / 319, 1 / 25324)
        for epsilon in (0.5, 4)
    ]
    assert min(ratios) > 2 and max(ratios) < 4.1


@pytest.mark.parametrize(("delta", "limit"), [(1e-5, 8.42), (1e-6, 8.78)])
def test_limits_of_smaller_deltas(delta, limit):
    assert classical_limit(delta) == pytest.approx(limit, abs=6e-3) and not math.isinf(limit)
