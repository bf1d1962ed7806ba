"""Exact losses of normal releases against noncentral chi-square tails, nested integrals and simulated records."""

import doctest
import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from formalsynth.audit import normal_release as release
from formalsynth.audit.normal_release import FittedNormal
from formalsynth.core.gaussian import gaussian_delta, gaussian_epsilon

Z = 4.5
"""Largest accepted error of a simulated delta, in standard errors."""


def chi_square_delta(epsilon, records, shift, variance, other):
    """Delta of ``N(0, variance)`` against ``N(shift, other)``: the loss is affine in one noncentral chi-square variable."""
    change = variance - other
    edge = (2 * epsilon + records * math.log(variance / other) + records * shift**2 / change) / change
    tail = stats.ncx2.sf if change > 0 else stats.ncx2.cdf
    p = tail(edge * other, records, records * shift**2 * variance / change**2)
    return p - math.exp(epsilon) * tail(edge * variance, records, records * shift**2 * other / change**2)


def integrated_delta(epsilon, excess, shift):
    """Delta of a single record by integration of the densities over the plane."""
    x = np.linspace(-12, 12, 2401)
    p, q = (
        np.multiply.outer(*(stats.norm.pdf(x, centre, sd) for centre, sd in zip(centres, sds, strict=True)))
        for centres, sds in (((0, 0), np.sqrt(1 + excess)), (shift, (1, 1)))
    )
    return float(integrate.simpson(integrate.simpson(np.maximum(p - math.exp(epsilon) * q, 0), x=x), x=x))


def simulated_delta(epsilon, data, neighbour, records, draws, seed, added=0.0):
    """Delta between two data sets (n, p), with its standard error, from whole records of the fitted models."""
    fits = [stats.multivariate_normal(x.mean(axis=0), np.cov(x.T) + added) for x in (data, neighbour)]
    values = fits[0].rvs((draws, records), random_state=np.random.default_rng(seed)).reshape(draws, records, -1)
    loss = (fits[0].logpdf(values) - fits[1].logpdf(values)).reshape(draws, records).sum(axis=1)
    excess = np.maximum(0, 1 - np.exp(epsilon - loss))
    return excess.mean(), excess.std() / math.sqrt(draws)


def test_example():
    examples = doctest.testmod(release)
    assert examples.attempted > 1 and not examples.failed


@pytest.mark.parametrize(
    ("records", "u", "v", "n", "epsilon"),
    [
        (1000, 4.0, 0.0, 1000, 1.0), (1000, 0.0, 4.0, 1000, 2.0), (50, 1.4, -3.0, 400, 0.1), (5, 2.0, -1.0, 12, 0.5),
        (20_000, 0.3, -0.31, 1000, 0.02), (200, 7.8, 0.1, 1000, -0.5), (10, 0.1, 3.0, 10, 1.5),
    ],
)  # fmt: skip
def test_one_variable_is_two_noncentral_chi_square_tails(records, u, v, n, epsilon):
    result = release.release_delta(epsilon, records, *release.fitted_pair(np.array([[u]]), np.array([[v]]), n))
    expected = chi_square_delta(epsilon, records, (v - u) / n, 1 + u * u / n, 1 + v * v / n)
    assert result[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("shift", "records"), [(0.05, 400), (0.2, 1), (0.001, 10_000)])
def test_equal_variances_are_a_gaussian_mechanism(shift, records):
    result = release.release_delta(0.3, records, np.zeros((1, 2)), np.array([[0.6 * shift, 0.8 * shift]]))
    assert result[0] == pytest.approx(gaussian_delta(1, shift * math.sqrt(records), 0.3), rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.5])
def test_two_variables_by_integration_over_the_plane(epsilon):
    excess, shift = np.array([0.5, -0.3]), np.array([0.4, 0.2])
    result = release.release_delta(epsilon, 1, excess[None], shift[None])
    assert result[0] == pytest.approx(integrated_delta(epsilon, excess, shift), rel=2e-3)


def test_identical_data_sets_have_no_loss():
    same = np.array([[1.0, 2.0]])
    excess, shift = release.fitted_pair(same, same, 40)
    assert abs(excess).max() < 1e-15 and not shift.any()
    assert release.release_delta(0.1, 500, excess, shift)[0] == 0


@pytest.mark.parametrize(
    ("variables", "records", "added", "epsilon"), [(1, 40, 0, 0.5), (1, 40, 0.5, 0.5), (3, 60, 0, 0.5), (3, 60, 0, 2)]
)
def test_two_data_sets_by_simulation_from_whole_records(variables, records, added, epsilon):
    """The rank-one update and the whitening, too: the oracle fits both data sets again."""
    data = np.random.default_rng(1).normal(size=(30, variables)) @ (np.eye(variables) + 0.4 * np.eye(variables, k=1))
    neighbour = data.copy()
    data[-1], neighbour[-1] = (2.0, -1.0, 2.0)[:variables], (-1.5, 2.0, 0.5)[:variables]
    others = data[:-1]
    covariance = np.atleast_2d(np.cov(others.T, ddof=0)) + added
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    u, v = (whiten @ (x[-1] - others.mean(axis=0)) for x in (data, neighbour))
    result = release.release_delta(epsilon, records, *release.fitted_pair(u[None], v[None], 30))[0]
    mean, error = simulated_delta(epsilon, data, neighbour, records, 20_000, 2, added)
    assert abs(result - mean) < Z * error
    assert 0.02 < result < 0.98


@pytest.mark.parametrize("variables", [1, 2])
@pytest.mark.parametrize(("reach", "width"), [(4.0, 8.0), (4.0, 4.0), (7.9, 8.0)])
def test_no_possible_pair_is_worse_than_the_worst(variables, reach, width):
    """A grid of pairs within the bounds and on them, of which the worst is close to the one that the search finds."""
    fitted = FittedNormal(300, reach, width, variables)
    sizes, angles = (33, 2) if variables == 1 else (9, 13)
    a, b, angle = (
        x.ravel() for x in np.meshgrid(*[np.linspace(0, reach, sizes)] * 2, np.linspace(0, math.pi, angles), indexing="ij")
    )
    u, v = np.column_stack([a, 0 * a]), np.column_stack([b * np.cos(angle), b * np.sin(angle)])
    possible = np.linalg.norm(u - v, axis=1) <= width * (1 + 1e-12)
    tried = release.release_delta(1.0, 60, *release.fitted_pair(u[possible], v[possible], 300))
    worst = fitted.delta(1.0, 60)
    assert 0.8 * worst < tried.max() <= worst * (1 + 1e-9)


def test_added_variance_bounds_the_loss_of_every_data_set():
    """Small data sets of records at the bounds and between them, each with all replacements, fitted again."""
    n, d, added, records = 5, 1.0, 4.0, 30
    worst = FittedNormal.with_added_variance(n, d, added).delta(0.5, records)
    fits = {
        (others, x): (np.mean([*others, x]), np.var([*others, x], ddof=1) + added)
        for others in itertools.combinations_with_replacement((-d, 0.0, d), n - 1)
        for x in np.linspace(-d, d, 5)
    }
    result = [
        chi_square_delta(0.5, records, fits[others, y][0] - mean, variance, fits[others, y][1])
        for (others, x), (mean, variance) in fits.items()
        for y in np.linspace(-d, d, 5)
        if fits[others, y][1] != variance
    ]
    assert 0.5 * worst < max(result) <= worst


def test_smaller_bounds_and_larger_variances_are_safer():
    known = gaussian_epsilon(1 / math.sqrt(200), 8 / 1000, 1e-5)
    local, floor, every, safer = (
        fitted.epsilon(200, 1e-5)
        for fitted in (
            FittedNormal.at_centre(1000, 4, 1), FittedNormal.with_smallest_variance(1000, 4, 1),
            FittedNormal.with_added_variance(1000, 4, 1), FittedNormal.with_added_variance(1000, 4, 16),
        )
    )  # fmt: skip
    assert safer < known < local < floor < every


def test_number_of_records_is_the_inverse_of_the_loss():
    fitted = FittedNormal.with_added_variance(1000, 4, 4)
    records = fitted.records(0.5, 1e-5)
    assert fitted.delta(0.5, records) <= 1e-5 < fitted.delta(0.5, records + 1)
    assert fitted.epsilon(records, 1e-5) <= 0.5 < fitted.epsilon(records + 1, 1e-5)
    assert FittedNormal.with_added_variance(5, 4, 0.01).records(0.1, 1e-5) == 0


def test_box_sensitivity_is_reached_by_a_vertex_and_by_no_record():
    rng = np.random.default_rng(4)
    root = rng.normal(size=(3, 3))
    covariance, d = root @ root.T + 0.3 * np.eye(3), np.array([2.0, 1.0, 3.0])
    result = release.box_sensitivity(covariance, d, 40)

    def moves(first, second):
        step = (first - second) / 40
        return np.sqrt(np.einsum("ki,ij,kj->k", step, np.linalg.inv(covariance), step)).max()

    corners = d * np.array(list(itertools.product((-1, 1), repeat=3)))
    assert moves(corners, -corners) == pytest.approx(result, rel=1e-12)
    assert moves(*rng.uniform(-d, d, (2, 20_000, 3))) < result
    many = release.box_sensitivity(np.kron(np.eye(7), covariance), np.tile(d, 7), 40)
    assert many >= math.sqrt(7) * result * (1 - 1e-12)


def test_clamped_records_move_the_mean_by_at_most_the_ball_sensitivity():
    covariance, centre = np.array([[1.0, 0.9], [0.9, 2.0]]), np.array([1.0, -1.0])
    records = np.random.default_rng(5).normal(size=(500, 2)) * 5
    clamped = release.clamp_to_ball(records, centre, covariance, 2.0)
    norms = np.sqrt(np.einsum("ki,ij,kj->k", clamped - centre, np.linalg.inv(covariance), clamped - centre))
    assert norms.max() == pytest.approx(2) and norms.min() < 1.9
    inside = norms < 1.9
    np.testing.assert_allclose(clamped[inside], records[inside])
    apart = clamped[:, None] - clamped
    steps = np.sqrt(np.einsum("abi,ij,abj->ab", apart, np.linalg.inv(covariance), apart)) / 50
    assert 0.97 * release.ball_sensitivity(2.0, 50) < steps.max() <= release.ball_sensitivity(2.0, 50) * (1 + 1e-12)


@pytest.mark.parametrize("order", [1.001, 2, 64])
@pytest.mark.parametrize("bayes", [False, True])
def test_rho_is_that_of_the_joint_normal_distribution(order, bayes):
    """Renyi divergence of all records of m data sets: both joint distributions have the same covariance matrix."""
    n, n_syn, m, covariance = 40, 6, 2, np.array([[1.0, 0.6], [0.6, 2.0]])
    shift = np.array([2.0, -1.0]) * 2 / n
    sensitivity = math.sqrt(shift @ np.linalg.solve(covariance, shift))
    joint = np.kron(np.eye(m), np.kron(np.eye(n_syn) + bayes * np.ones((n_syn, n_syn)) / n, covariance))
    apart = np.tile(shift, m * n_syn)
    divergence = order / 2 * apart @ np.linalg.solve(joint, apart)
    rho = release.rho_of_records(sensitivity, n_syn, m, n if bayes else math.inf)
    assert divergence / order == pytest.approx(rho, rel=1e-10)
    assert release.records_of_rho(sensitivity, rho, m, n if bayes else math.inf) == pytest.approx(n_syn)


def test_bayesian_synthesis_has_a_ceiling():
    ceiling = 1000 * 0.008**2 / 2
    assert release.records_of_rho(0.008, 0.03, n=1000) == pytest.approx(15_000)
    assert release.records_of_rho(0.008, ceiling * (1 - 1e-9), n=1000) > 1e11
    assert release.records_of_rho(0.008, ceiling, n=1000) == math.inf
    assert release.rho_of_records(0.008, 1e12, n=1000) == pytest.approx(ceiling)
