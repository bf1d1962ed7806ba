"""Tests of bridge sampling on Gaussian posteriors with known losses and normalisers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from small_audit import LW, PLAIN, linear, shares

from formalsynth.audit.bridge import bridge, ratio_of_targets
from formalsynth.core.gaussian import gaussian_epsilon

SEEDS = st.integers(0, 2**32 - 1)


def gaussian(shift, constant, seed, n_draws=1000, others=1000):
    """The unnormalised log ratio of two normal densities at draws of each, with ``log(Z / Z')`` = constant."""
    generator = np.random.default_rng(seed)
    draws = generator.standard_normal(n_draws), shift + generator.standard_normal(others)
    return [constant + shift**2 / 2 - shift * x for x in draws]


@given(st.floats(0.05, 2), st.floats(-1e4, 1e4), SEEDS, st.integers(300, 3000))
def test_the_ratio_of_the_normalisers_is_estimated_within_its_error(shift, constant, seed, others):
    bridged = bridge(*gaussian(shift, constant, seed, others=others))
    assert bridged.log_ratio == pytest.approx(constant, abs=5.5 * bridged.error_of_ratio + 1e-8)
    assert 0 < bridged.overlap <= 1
    assert bridged.limits[0] - 5 * shift / math.sqrt(others) <= constant <= bridged.limits[1] + 5 * shift / math.sqrt(1000)


@settings(max_examples=25)
@given(st.floats(0.1, 2.5), SEEDS)
def test_the_audited_epsilon_is_that_of_the_curve(shift, seed):
    bridged = bridge(*gaussian(shift, 7.0, seed, 4000, 4000))
    assert bridged.enough
    band = 5 * (bridged.losses.error(1e-2) + bridged.error_of_ratio) + 0.02
    assert bridged.epsilon(1e-2) == pytest.approx(gaussian_epsilon(1, shift, 1e-2), abs=band)


@settings(max_examples=25)
@given(st.floats(6, 40), st.floats(-100, 100), SEEDS)
def test_without_overlap_the_epsilon_is_a_bound_without_normaliser(shift, constant, seed):
    """Gaussian losses are equal in both directions, so the mean over the directions is the loss."""
    bridged = bridge(*gaussian(shift, constant, seed))
    assert not bridged.enough
    exact = gaussian_epsilon(1, shift, 1e-2)
    # the 1 % quantile of 1000 draws has an error of 0.12 standard deviations
    assert bridged.epsilon(1e-2) == pytest.approx(exact, abs=0.7 * shift)
    assert bridged.epsilon(1e-2) == bridged.at_least(1e-2)


@given(st.floats(0.1, 3), SEEDS)
def test_the_bound_without_normaliser_is_never_above_the_epsilon_from_draws_alone(shift, seed):
    base, other = gaussian(shift, 0.0, seed)
    bridged = bridge(base, other)
    shifted = bridge(base + 55, other + 55)
    assert shifted.at_least(1e-2) == pytest.approx(bridged.at_least(1e-2), abs=1e-9)
    assert bridged.at_least(1e-2) <= gaussian_epsilon(1, shift, 1e-2) + 0.7 * shift


def test_the_same_posterior_overlaps_with_itself():
    bridged = bridge(np.zeros(100), np.zeros(50))
    assert bridged.overlap == pytest.approx(1)
    assert bridged.error_of_ratio == pytest.approx(0, abs=1e-6)
    assert bridged.epsilon(1e-3) == pytest.approx(0, abs=1e-9)


def test_fewer_effective_draws_widen_the_error():
    draws = gaussian(1.0, 0.0, 1)
    assert bridge(*draws, (100, 100)).error_of_ratio == pytest.approx(math.sqrt(10) * bridge(*draws).error_of_ratio)


def test_the_error_of_epsilon_joins_those_of_the_curve_and_of_the_ratio():
    bridged = bridge(*gaussian(1.0, 0.0, 1, 4000, 4000))
    curve = bridged.losses.error(1e-2)
    assert bridged.epsilons(1e-2) == bridged.losses.epsilons(1e-2, 1)
    assert 0 < curve < bridged.error(1e-2) == pytest.approx(math.sqrt(curve**2 + bridged.error_of_ratio**2))
    assert math.isnan(bridge(*gaussian(20.0, 0.0, 1)).error(1e-2))


def test_infinite_log_ratios_are_refused():
    with pytest.raises(ValueError, match="finite"):
        bridge(np.array([0.0, np.nan]), np.zeros(2))
    with pytest.raises(ValueError, match="both posteriors"):
        bridge(np.empty(0), np.zeros(2))


@pytest.mark.parametrize("threshold", [None, 0.7])
def test_the_log_ratio_is_the_difference_of_the_weighted_log_likelihoods(threshold):
    replay, generator = shares(), np.random.default_rng(1)
    base, other = generator.random((2, len(replay.universe)))
    draws = {"phi": generator.random(5), "lambda": 1 + generator.random(5)}
    shape1, shape2 = draws["lambda"] * draws["phi"], draws["lambda"] * (1 - draws["phi"])
    log_likelihood = stats.beta.logpdf(replay.universe.x, shape1[:, None], shape2[:, None])
    limit = np.inf if threshold is None else threshold
    expected = (np.clip(base * log_likelihood, -limit, limit) - np.clip(other * log_likelihood, -limit, limit)).sum(axis=1)
    factors = replay.family.factors(replay.universe, draws)
    np.testing.assert_allclose(ratio_of_targets(*factors, base, other, (threshold, threshold)), expected)


@pytest.mark.parametrize("name", ["lognormal", "beta"])
@pytest.mark.parametrize("seed", range(3))
def test_losses_from_draws_agree_with_exact_losses_within_their_error(name, seed):
    replay = linear((PLAIN, LW), seed=seed) if name == "lognormal" else shares((PLAIN, LW), seed=seed)
    data, generator = np.arange(60), np.random.default_rng(seed)
    base, near = replay.outcomes_on(data)["lw"], replay.outcomes_on(np.append(data, 61))["lw"]
    factors = [replay.family.factors(replay.universe, replay.draw(outcome, generator, 4000)) for outcome in (base, near)]
    drawn = [ratio_of_targets(*of, base.weights, near.weights, (None, None)) for of in factors]
    bridged, exact = bridge(*drawn), replay.losses([base], [near]).epsilon(0.05)
    assert bridged.enough
    assert bridged.epsilon(0.05) == pytest.approx(exact, abs=5 * (bridged.error_of_ratio + bridged.losses.error(0.05)) + 0.05)
