"""The general estimator against Gaussian posteriors, whose losses and normalisers are known."""

import math

import numpy as np
import pytest
from formalsynth.audit.bridge import bridge, log_ratio
from formalsynth.core.gaussian import gaussian_epsilon
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from small_audit import LW, PLAIN, linear, shares

SEEDS = st.integers(0, 2**32 - 1)


def gaussian(shift, constant, seed, n_draws=1000, others=1000):
    """The unnormalised log ratio of two normal densities at draws of each, with ``log(Z / Z')`` = constant."""
    generator = np.random.default_rng(seed)
    draws = generator.standard_normal(n_draws), shift + generator.standard_normal(others)
    return [constant + shift**2 / 2 - shift * x for x in draws]


@given(st.floats(0.05, 2), st.floats(-1e4, 1e4), SEEDS, st.integers(300, 3000))
def test_the_ratio_of_the_normalisers_is_found_within_its_error(shift, constant, seed, others):
    found = bridge(*gaussian(shift, constant, seed, others=others))
    assert found.log_ratio == pytest.approx(constant, abs=5.5 * found.error_of_ratio + 1e-8)
    assert 0 < found.overlap <= 1
    assert found.limits[0] - 5 * shift / math.sqrt(others) <= constant <= found.limits[1] + 5 * shift / math.sqrt(1000)


@settings(max_examples=25)
@given(st.floats(0.1, 2.5), SEEDS)
def test_the_audited_epsilon_is_that_of_the_curve(shift, seed):
    found = bridge(*gaussian(shift, 7.0, seed, 4000, 4000))
    assert found.enough
    band = 5 * (found.losses.error(1e-2) + found.error_of_ratio) + 0.02
    assert found.epsilon(1e-2) == pytest.approx(gaussian_epsilon(1, shift, 1e-2), abs=band)


@settings(max_examples=25)
@given(st.floats(6, 40), st.floats(-100, 100), SEEDS)
def test_without_overlap_a_bound_is_stated_that_needs_no_normaliser(shift, constant, seed):
    """Gaussian losses are the same in both directions, so the mean over the directions is all of the loss."""
    found = bridge(*gaussian(shift, constant, seed))
    assert not found.enough
    exact = gaussian_epsilon(1, shift, 1e-2)
    # the 1 % quantile of 1000 draws has an error of 0.12 standard deviations
    assert found.epsilon(1e-2) == pytest.approx(exact, abs=0.7 * shift)
    assert found.epsilon(1e-2) == found.at_least(1e-2)


@given(st.floats(0.1, 3), SEEDS)
def test_the_bound_without_normaliser_is_never_above_the_epsilon_from_draws_alone(shift, seed):
    one, other = gaussian(shift, 0.0, seed)
    found = bridge(one, other)
    shifted = bridge(one + 55, other + 55)
    assert shifted.at_least(1e-2) == pytest.approx(found.at_least(1e-2), abs=1e-9)
    assert found.at_least(1e-2) <= gaussian_epsilon(1, shift, 1e-2) + 0.7 * shift


def test_the_same_posterior_overlaps_with_itself():
    found = bridge(np.zeros(100), np.zeros(50))
    assert found.overlap == pytest.approx(1)
    assert found.error_of_ratio == pytest.approx(0, abs=1e-6)
    assert found.epsilon(1e-3) == pytest.approx(0, abs=1e-9)


def test_fewer_effective_draws_widen_the_error():
    draws = gaussian(1.0, 0.0, 1)
    assert bridge(*draws, (100, 100)).error_of_ratio == pytest.approx(math.sqrt(10) * bridge(*draws).error_of_ratio)


def test_what_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite"):
        bridge(np.array([0.0, np.nan]), np.zeros(2))
    with pytest.raises(ValueError, match="both posteriors"):
        bridge(np.empty(0), np.zeros(2))


@pytest.mark.parametrize("threshold", [None, 0.7])
def test_the_log_ratio_is_the_difference_of_the_weighted_log_likelihoods(threshold):
    replay, generator = shares(), np.random.default_rng(1)
    one, other = generator.random((2, len(replay.universe)))
    draws = {"phi": generator.random(5), "lambda": 1 + generator.random(5)}
    shape1, shape2 = draws["lambda"] * draws["phi"], draws["lambda"] * (1 - draws["phi"])
    each = stats.beta.logpdf(replay.universe.x, shape1[:, None], shape2[:, None])
    limit = np.inf if threshold is None else threshold
    expected = (np.clip(one * each, -limit, limit) - np.clip(other * each, -limit, limit)).sum(axis=1)
    np.testing.assert_allclose(log_ratio(replay.family, replay.universe, draws, one, other, threshold), expected)


@pytest.mark.parametrize("name", ["lognormal", "beta"])
@pytest.mark.parametrize("seed", range(3))
def test_losses_from_draws_are_the_exact_ones_within_their_error(name, seed):
    """A few of the pairs of bench/audit.py, whose 200 cover all families."""
    replay = linear((PLAIN, LW), seed=seed) if name == "lognormal" else shares((PLAIN, LW), seed=seed)
    data, generator = np.arange(60), np.random.default_rng(seed)
    base, near = replay.run(data)["lw"], replay.run(np.append(data, 61))["lw"]
    drawn = [
        log_ratio(replay.family, replay.universe, replay.draw(each.posterior, generator, 4000), base.weights, near.weights)
        for each in (base, near)
    ]
    found, exact = bridge(*drawn), replay.losses([base], [near]).epsilon(0.05)
    assert found.enough
    assert found.epsilon(0.05) == pytest.approx(exact, abs=5 * (found.error_of_ratio + found.losses.error(0.05)) + 0.05)
