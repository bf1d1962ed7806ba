"""The audit's grid against densities summed from scipy on another grid, and its losses against hand-made distributions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import BetaPosterior
from scipy import stats

from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.papers.censor_audit.audit import (
    Loss,
    beta_grid,
    log_likelihood,
    moments,
    posterior,
    privacy_loss,
    record_risks,
    region,
)

PRIORS = BetaFamily().priors
GENERATOR = np.random.default_rng(1)
X = GENERATOR.beta(0.5, 2, 40)
WEIGHTS = GENERATOR.uniform(0.2, 1, 40)
GRID = beta_grid(0.2, 2.5, len(X), PRIORS)
ORACLE = BetaPosterior.equally_spaced(PRIORS)
SMALL = beta_grid(0.2, 2.5, 5, PRIORS)
RECORD = st.floats(-20, 20).map(lambda t: 1 / (1 + np.exp(-t)))


def losses(grid, x, extra, weights, threshold, epsilon):
    """Losses between the data and the data with each extra record, and between those, with delta at epsilon."""
    base = log_likelihood(grid, x, weights, threshold)
    more = [base + log_likelihood(grid, np.array([value]), np.ones(1), threshold) for value in extra]
    first, *others = (posterior(grid, values) for values in [base, *more])
    add = Loss.worst(loss(first, other, grid.log_prior, epsilon, 0.999) for other in others)
    return add, loss(*others, grid.log_prior, epsilon, 0.999)


def loss(base, other, log_prior, epsilon, share):
    """The loss with the regions of both that have this share of the mass."""
    return privacy_loss(base, other, region(base, log_prior, share) | region(other, log_prior, share), epsilon)


@pytest.mark.parametrize("threshold", [None, 0.8, 2.5])
def test_posterior_is_that_of_another_grid(threshold):
    ours = posterior(GRID, log_likelihood(GRID, X, WEIGHTS, threshold))
    theirs = np.exp(ORACLE.log_mass(X, WEIGHTS, threshold))
    for values, others in ((GRID.phi, ORACLE.phi), (np.log(GRID.lambda_), np.log(ORACLE.lambda_))):
        mean = theirs @ others
        sd = np.sqrt(theirs @ (others - mean) ** 2)
        assert moments(values, ours) == pytest.approx((mean, sd), abs=0.01 * sd)


@pytest.mark.parametrize("epsilon", [1.6, 5])
def test_losses_are_those_of_another_grid(epsilon):
    extra = (0.001, 0.99)
    add, replace = losses(GRID, X, extra, WEIGHTS, epsilon / 2, 0.2)
    first = ORACLE.log_mass(X, WEIGHTS, epsilon / 2)
    low, high = (ORACLE.log_mass(np.append(X, value), np.append(WEIGHTS, 1), epsilon / 2) for value in extra)
    assert add.support == pytest.approx(max(np.abs(first - low).max(), np.abs(first - high).max()), abs=0.01)
    assert replace.support == pytest.approx(np.abs(low - high).max(), abs=0.01)
    excess = [np.maximum(np.exp(base) - np.exp(0.2 + other), 0).sum() for base, other in ((low, high), (high, low))]
    assert max(excess) > 0.01
    # the excess has a kink, which sums over points see last
    assert replace.delta == pytest.approx(max(excess), rel=0.1)


@settings(max_examples=40, deadline=None)
@given(st.lists(RECORD, min_size=5, max_size=5), st.tuples(RECORD, RECORD), st.floats(0.1, 5))
def test_with_fixed_weights_the_loss_is_at_most_epsilon_or_twice_that(x, extra, epsilon):
    add, replace = losses(SMALL, np.array(x), extra, WEIGHTS[:5], epsilon / 2, epsilon)
    assert add.support <= epsilon + 1e-9
    assert add.delta == pytest.approx(0, abs=1e-9)
    assert replace.support <= 2 * epsilon + 1e-9
    assert replace.region <= replace.support


def test_loss_of_two_coins():
    """Heads 0.9 against 0.5: losses log 1.8 and log 5, excess 0.9 - e^eps 0.5 and 0.5 - e^eps 0.1."""
    base, other = np.log([0.9, 0.1]), np.log([0.5, 0.5])
    coins = loss(base, other, np.zeros(2), 0.3, 0.4)
    assert coins.support == pytest.approx(np.log(5))
    assert coins.delta == pytest.approx(max(0.9 - np.exp(0.3) * 0.5, 0.5 - np.exp(0.3) * 0.1))
    assert loss(base, base, np.zeros(2), 0.3, 0.4) == Loss(0, 0, 0)
    heavy = loss(np.log([0.9, 0.05, 0.05]), np.log([0.8, 0.19, 0.01]), np.zeros(3), 0.3, 0.7)
    assert heavy.region == pytest.approx(np.log(9 / 8))
    assert heavy.support == pytest.approx(np.log(5))


def test_region_has_the_highest_likelihood_and_its_share():
    log_mass = np.log([0.05, 0.5, 0.15, 0.3])
    assert list(region(log_mass, np.zeros(4), 0.7)) == [False, True, False, True]
    assert list(region(log_mass, np.zeros(4), 0.9)) == [False, True, True, True]
    assert list(region(log_mass, np.log([0.01, 0.9, 0.05, 0.04]), 0.32)) == [True, False, False, True]


def test_risks_are_maxima_over_the_points_inside():
    inside = np.zeros(len(GRID.phi), dtype=bool)
    inside[[100, 2000]] = True
    expected = [
        stats.beta.logpdf(X, lam * phi, lam * (1 - phi)) for phi, lam in zip(GRID.phi[inside], GRID.lambda_[inside], strict=True)
    ]
    np.testing.assert_allclose(record_risks(GRID, X, inside), np.abs(expected).max(axis=0))


def test_a_posterior_outside_the_fine_part_is_refused():
    x = np.random.default_rng(1).beta(0.5, 2, 2000)
    elsewhere = beta_grid(0.8, 200, len(x), PRIORS)
    with pytest.raises(ValueError, match="outside the fine part"):
        posterior(elsewhere, log_likelihood(elsewhere, x, np.ones(len(x))))
