"""Tests of losses between output distributions with a known privacy curve."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from densities import delta_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from formalsynth.audit import losses as module
from formalsynth.audit.losses import Losses
from formalsynth.core.gaussian import gaussian_delta, gaussian_epsilon

GRID = np.linspace(-12, 14, 8001)
SIZES = st.floats(0.05, 4)


def losses_of(base, other):
    """Losses from two log masses on the same points, each up to a constant."""
    log_p, log_q = (mass - special.logsumexp(mass) for mass in (base, other))
    with np.errstate(invalid="ignore"):
        loss = np.where(np.isneginf(log_p) & np.isneginf(log_q), 0.0, log_p - log_q)
    return Losses(loss, np.exp(log_p), np.exp(log_q))


def delta_at(losses, epsilon):
    """Smallest delta at which this epsilon holds in both directions."""
    return max(delta_of(losses.forward, epsilon), delta_of(losses.backward, epsilon))


def gaussian(shift):
    """Losses of the Gaussian mechanism with sigma 1 and this sensitivity."""
    return losses_of(-0.5 * GRID**2, -0.5 * (GRID - shift) ** 2)


@given(SIZES, st.sampled_from([1e-2, 1e-3, 1e-5]))
def test_the_gaussian_mechanism_has_its_exact_curve(shift, delta):
    losses = gaussian(shift)
    assert losses.epsilon(delta) == pytest.approx(gaussian_epsilon(1, shift, delta), abs=1e-3)
    assert delta_at(losses, 0.7) == pytest.approx(float(gaussian_delta(1, shift, 0.7)), abs=1e-5)


@settings(max_examples=15)
@given(st.floats(0.05, 1.5), st.integers(2, 6), st.sampled_from([1e-3, 1e-5]))
def test_composed_releases_are_rounded_down_by_little(shift, releases, delta):
    exact = gaussian_epsilon(1, shift * math.sqrt(releases), delta)
    composed = gaussian(shift).epsilon(delta, releases)
    assert exact - 2e-3 * releases <= composed <= exact + 1e-3


@given(SIZES, st.sampled_from([1e-2, 1e-3]))
def test_one_release_agrees_with_the_accounting_library(shift, delta):
    from dp_accounting.pld.privacy_loss_distribution import from_two_probability_mass_functions

    coarse = np.linspace(-9, 13, 200)
    base, other = -0.5 * coarse**2, -0.5 * (coarse - shift) ** 2
    losses = losses_of(base, other)
    lower, upper = (dict(enumerate(np.log(mass))) for mass in (losses.other, losses.mass))
    interval = 1e-4
    theirs = from_two_probability_mass_functions(lower, upper, value_discretization_interval=interval)
    assert 0 <= theirs.get_epsilon_for_delta(delta) - losses.forward.epsilon(delta) <= interval + 1e-6


@settings(max_examples=10)
@given(st.floats(0.05, 2.5), st.integers(2, 6), st.sampled_from([1e-3, 1e-5]))
def test_composed_releases_agree_with_the_accounting_library(shift, releases, delta):
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    theirs = from_gaussian_mechanism(1 / shift, value_discretization_interval=1e-3, use_connect_dots=False).self_compose(releases)
    # the library rounds losses up, this package rounds down
    limit = (1e-3 + 2 * 14 * shift / 8000) * releases + 2e-3
    assert 0 <= theirs.get_epsilon_for_delta(delta) - gaussian(shift).epsilon(delta, releases) <= limit


def test_equal_distributions_have_loss_zero():
    same = losses_of(-0.5 * GRID**2, 3 - 0.5 * GRID**2)
    for delta in (0, 1e-5, 1e-3):
        assert same.epsilon(delta) == pytest.approx(0, abs=1e-9)
        assert same.epsilon(delta, 5) == pytest.approx(0, abs=1e-9)
    assert same.error(1e-3) == pytest.approx(0)


def test_disjoint_distributions_have_no_finite_epsilon():
    disjoint = losses_of(np.array([0.0, -np.inf]), np.array([-np.inf, 0.0]))
    assert math.isinf(disjoint.epsilon(1e-3))
    assert math.isinf(disjoint.epsilon(0))
    assert math.isinf(disjoint.epsilon(1e-3, 5))
    assert delta_at(disjoint, 20) == 1


@pytest.mark.parametrize("releases", [1, 3])
@pytest.mark.parametrize("delta", [0, 1e-5, 0.5])
def test_losses_made_as_disjoint_are_infinite_in_both_directions(delta, releases):
    assert Losses.disjoint().epsilons(delta, releases) == (math.inf, math.inf)
    assert delta_at(Losses.disjoint(), 20) == 1
    assert Losses.disjoint().forward.epsilon(1, releases) == 0


def test_a_rare_leak_matters_only_for_a_delta_below_its_probability():
    leaks = losses_of(np.array([np.log(0.999), np.log(0.001), -np.inf]), np.array([np.log(0.999), -np.inf, np.log(0.001)]))
    assert math.isinf(leaks.epsilon(5e-4))
    assert leaks.epsilon(2e-3) == 0
    assert delta_at(leaks, 10) == pytest.approx(1e-3)


@given(st.floats(0.1, 5))
def test_laplace_noise_on_a_histogram_costs_its_epsilon(epsilon):
    """Replacing a record changes two counts, each with Laplace noise of scale 2 / epsilon."""
    scale, count = 2 / epsilon, np.linspace(-3, 4, 141)
    stays, moved = (-np.abs(count - at) / scale for at in (0, 1))
    losses = losses_of(np.add.outer(stays, moved).ravel(), np.add.outer(moved, stays).ravel())
    assert losses.epsilon(0) == pytest.approx(epsilon)
    assert 0 < losses.epsilon(1e-5) <= epsilon


def test_two_coins():
    """Heads 0.9 against 0.5: losses log 1.8 and log 5."""
    coins = losses_of(np.log([0.9, 0.1]), np.log([0.5, 0.5]))
    assert coins.epsilon(0) == pytest.approx(math.log(5))
    assert delta_at(coins, 0.3) == pytest.approx(0.5 - math.exp(0.3) * 0.1)
    assert coins.forward.epsilon(0.2) == pytest.approx(math.log(0.7 / 0.5))
    assert coins.backward.epsilon(0.2) == pytest.approx(math.log(0.3 / 0.1))


@given(SIZES, st.integers(0, 2**32 - 1))
def test_draws_give_the_curve_within_their_error(shift, seed):
    generator = np.random.default_rng(seed)
    half = 20_000
    x = np.concatenate([generator.standard_normal(half), shift + generator.standard_normal(half)])
    loss = shift**2 / 2 - shift * x
    losses = Losses.weighted(loss, -np.logaddexp(0, -loss))
    error = losses.error(1e-2)
    assert error > 0
    assert losses.epsilon(1e-2) == pytest.approx(gaussian_epsilon(1, shift, 1e-2), abs=5 * error + 0.02)


@given(SIZES, st.floats(0, 3), st.floats(1e-6, 0.5))
def test_epsilon_is_the_inverse_of_delta_and_falls_with_it(shift, epsilon, delta):
    losses = gaussian(shift)
    assert delta_at(losses, losses.epsilon(delta)) <= delta * (1 + 1e-6)
    assert losses.epsilon(delta) >= losses.epsilon(min(1.0, 2 * delta))
    assert delta_at(losses, epsilon) >= delta_at(losses, epsilon + 0.1)


@given(SIZES, st.floats(1e-9, 1), st.integers(1, 4))
def test_the_largest_losses_are_enough(shift, delta, releases):
    some = gaussian(shift).epsilons(delta, releases)
    with patch.object(module, "GAP", math.inf):
        assert gaussian(shift).epsilons(delta, releases) == some


def test_a_distribution_without_mass_is_refused():
    with pytest.raises(ValueError, match="no mass"):
        Losses.weighted(np.zeros(3), np.full(3, -np.inf))
