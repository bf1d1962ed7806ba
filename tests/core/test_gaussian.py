"""Every formula against a computation that does not use it: quadrature of the two output densities, or another library."""

import math

import pytest
from densities import hockey_stick
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from formalsynth.core import gaussian

sampled = settings(deadline=None, derandomize=True)
deltas = st.floats(-30, -0.3).map(math.exp)


@pytest.mark.parametrize(
    ("sigma", "sensitivity", "epsilon"), [(1, 1, 1), (2, 0.5, 0.1), (0.4, 1, 4), (3, 2, 0), (0.05, 0.008, 0.5)]
)
def test_gaussian_delta_by_quadrature(sigma, sensitivity, epsilon):
    def loss_density(x):
        return max(stats.norm.pdf(x, 0, sigma) - math.exp(epsilon) * stats.norm.pdf(x, sensitivity, sigma), 0.0)

    edge = sensitivity / 2 - epsilon * sigma**2 / sensitivity  # where the densities are e^epsilon apart
    delta = integrate.quad(loss_density, edge - 12 * sigma, edge, epsabs=1e-13)[0]
    assert gaussian.gaussian_delta(sigma, sensitivity, epsilon) == pytest.approx(delta, rel=1e-7)


@pytest.mark.parametrize(
    ("sigma", "epsilon", "delta"),
    [
        (1.0, 1.0, 0.12693673750664392),
        (2.0, 0.5, 0.05244032328766968),
        (0.5, 4.0, 0.08495331867107113),
        (1.0, 8.0, 3.650821687421959e-15),
    ],
)
def test_gaussian_delta_agrees_with_dp_accounting(sigma, epsilon, delta):
    """Values of dp-accounting 0.6.0, ``GaussianPrivacyLoss(sigma).get_delta_for_epsilon(epsilon)``."""
    assert gaussian.gaussian_delta(sigma, 1.0, epsilon) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [(0.5, 1e-5, 7.0318266755825), (1, 1e-5, 3.7306316348159374), (4, 1e-5, 1.0811618495202397), (10, 1e-9, 0.6502469189586543)],
)
def test_analytic_sigma_agrees_with_dp_accounting(epsilon, delta, sigma):
    """Values of dp-accounting 0.6.0, ``get_sigma_gaussian(epsilon, delta)``."""
    assert gaussian.analytic_sigma(1.0, epsilon, delta) == pytest.approx(sigma, rel=1e-9)


@sampled
@given(st.floats(1e-3, 1e3), st.floats(0.01, 100), deltas)
def test_analytic_sigma_meets_the_curve_and_is_the_smallest(sensitivity, epsilon, delta):
    sigma = gaussian.analytic_sigma(sensitivity, epsilon, delta)
    assert gaussian.gaussian_delta(sigma, sensitivity, epsilon) <= delta
    assert gaussian.gaussian_delta(sigma * (1 - 1e-6), sensitivity, epsilon) > delta


@sampled
@given(st.floats(0.01, 100), st.floats(1e-3, 1e3), deltas)
def test_gaussian_epsilon_is_where_the_curve_meets_delta(sigma, sensitivity, delta):
    epsilon = gaussian.gaussian_epsilon(sigma, sensitivity, delta)
    smallest = gaussian.gaussian_delta(sigma, sensitivity, epsilon)
    assert smallest <= delta * (1 + 1e-6)
    if epsilon > 0:
        assert smallest == pytest.approx(delta, rel=1e-6)


def test_smallest_epsilon_inverts_a_curve():
    assert gaussian.smallest_epsilon(lambda epsilon: math.exp(-epsilon), 1e-4) == pytest.approx(math.log(1e4))
    assert gaussian.smallest_epsilon(lambda epsilon: 0.3 * math.exp(-epsilon), 0.5) == 0.0


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_analytic_sigma_meets_the_curve_by_quadrature(epsilon):
    sigma = gaussian.analytic_sigma(1.0, epsilon, 1e-5)
    p, q = (stats.norm(mean, sigma).pdf for mean in (0, 1))
    assert hockey_stick(p, q, epsilon, -14 * sigma, 1) == pytest.approx(1e-5, rel=1e-6)


@sampled
@given(st.floats(0.01, 0.99), deltas.filter(lambda delta: delta < 0.5))
def test_classical_sigma_is_safe_below_epsilon_1(epsilon, delta):
    assert gaussian.gaussian_delta(gaussian.classical_sigma(1.0, epsilon, delta), 1.0, epsilon) <= delta


def test_classical_sigma_wastes_noise_and_then_fails():
    def excess(epsilon):
        return gaussian.gaussian_delta(gaussian.classical_sigma(1.0, epsilon, 1e-5), 1.0, epsilon) / 1e-5

    assert gaussian.classical_sigma(1.0, 4.0, 1e-5) / gaussian.analytic_sigma(1.0, 4.0, 1e-5) == pytest.approx(1.12, abs=0.01)
    assert excess(8.0) < 1 < excess(9.0)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: gaussian.analytic_sigma(1.0, 0.0, 1e-5), "epsilon"),
        (lambda: gaussian.classical_sigma(1.0, 1.0, 1.0), "delta"),
        (lambda: gaussian.gaussian_delta(0.0, 1.0, 1.0), "sigma"),
        (lambda: gaussian.gaussian_epsilon(1.0, math.inf, 1e-5), "sensitivity"),
        (lambda: gaussian.smallest_epsilon(lambda epsilon: 0.0, 0.0), "delta"),
    ],
)
def test_values_out_of_range_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
