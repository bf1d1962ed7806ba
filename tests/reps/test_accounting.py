"""Cost of a record, against an independent numerical integration of the losses that brackets it."""

import math

import numpy as np
import pytest
from refute_weighted import replaced_delta, stated_delta
from scipy.special import ndtr

from formalsynth.core.gaussian import gaussian_epsilon
from formalsynth.reps.accounting import SubsampledCost, epsilons_by_level, rounded_up, sigma_for
from formalsynth.reps.stages import Budget, GaussianCost

DELTA = 1e-5
LEVELS = (1.0, 0.5, 0.25, 0.1)


def brackets(weight, other, sigma, rate, steps, epsilons, step=2e-4, span=16.0):
    """Lower and upper delta (epsilons,) of (1 - q) N(0) + q N(weight) against (1 - q) N(0) + q N(-other), composed.

    Losses on a fine grid are rounded down and up to multiples of a step, and convolved by a Fourier transform.
    """
    size = int(2 * span / step)
    y = np.linspace(-12 * sigma - other, 12 * sigma + weight, 100_001)
    a, b = weight / sigma**2, other / sigma**2
    ours = np.logaddexp(math.log1p(-rate), math.log(rate) + a * y - weight * a / 2)
    theirs = np.logaddexp(math.log1p(-rate), math.log(rate) - b * y - other * b / 2)
    loss, cdf = ours - theirs, (1 - rate) * ndtr(y / sigma) + rate * ndtr((y - weight) / sigma)
    values = np.fft.fftfreq(size, 1 / size) * step
    deltas = []
    for ends, rounding in ((loss[:-1], np.floor), (loss[1:], np.ceil)):
        single = np.bincount(rounding(ends / step).astype(int) % size, weights=np.diff(cdf), minlength=size)
        total = np.maximum(np.fft.irfft(np.fft.rfft(single) ** steps, size), 0)
        deltas.append([total @ np.maximum(0, 1 - np.exp(np.minimum(epsilon - values, 0))) for epsilon in epsilons])
    return np.array(deltas)


@pytest.mark.parametrize(("weight", "sigma", "rate", "steps"), [
    (1.0, 2.0, 0.05, 400), (0.5, 2.0, 0.05, 400), (0.25, 2.0, 0.05, 400), (0.1, 2.0, 0.05, 400), (1.0, 1.0, 0.2, 40),
    (0.25, 1.0, 0.2, 40), (1.0, 0.7, 0.01, 100), (0.5, 0.7, 0.3, 20), (1.0, 5.0, 0.9, 200), (0.3, 1.5, 1.0, 30),
])  # fmt: skip
def test_delta_of_a_record_is_between_the_bounds_of_another_integration(weight, sigma, rate, steps):
    cost = SubsampledCost(sigma, rate, steps, 2e-4)
    epsilons = [cost.epsilon(delta, weight) for delta in (1e-2, 1e-5)]
    rate = min(rate, 1 - 1e-12)
    added = brackets(0.0, weight, sigma, rate, steps, epsilons) if rate < 0.999 else np.zeros((2, 2))
    removed = brackets(weight, 0.0, sigma, rate, steps, epsilons)
    for epsilon, low, high in zip(epsilons, *np.maximum(added, removed), strict=True):
        given = cost.delta(epsilon, weight)
        assert low <= given * (1 + 1e-6) + 1e-12
        assert given <= high * 1.02 + 1e-9


@pytest.mark.parametrize(("weight", "alone", "both", "stated", "opposite", "hops"), [
    (1.0, 2.246, 2.342, 2.538, 4.377, 4.990), (0.5, 0.964, 1.144, 1.246, 1.991, 2.081),
    (0.25, 0.441, 0.735, 0.803, 0.926, 0.941), (0.1, 0.161, 0.592, 0.648, 0.341, 0.375),
])  # fmt: skip
def test_numbers_of_a_training_of_400_steps(weight, alone, both, stated, opposite, hops):
    """Ten tables with noise 20, then sigma 2, q 0.05: alone, with the tables, as one of four levels, and replaced."""
    cost, tables = SubsampledCost(2.0, 0.05, 400, 2e-4), math.sqrt(10) / 20
    assert cost.epsilon(DELTA, weight) == pytest.approx(alone, abs=1e-3)
    assert cost.epsilon(DELTA, weight, tables) == pytest.approx(both, abs=1e-3)
    level = next(entry for entry in epsilons_by_level(cost, LEVELS, DELTA, tables) if entry.weight == weight)
    assert level.epsilon == pytest.approx(stated, abs=1e-3) and level.scope == "of the release"
    assert cost.replaced_opposite(DELTA, weight) == pytest.approx(opposite, abs=1e-3)
    assert opposite < cost.replaced(DELTA, weight, weight) <= hops + 1e-3


@pytest.mark.parametrize(("weight", "other", "searched"), [(1.0, 0.25, 2.80), (0.25, 1.0, 2.55)])
def test_two_hops_cover_a_replacement_by_another_weight(weight, other, searched):
    """Opposite gradients are the worst, so the two hops must be above them."""
    low, high = brackets(weight, other, 2.0, 0.05, 400, [searched])
    assert low[0] < DELTA < high[0] < 2 * low[0]
    cost = SubsampledCost(2.0, 0.05, 400)
    assert searched < cost.replaced(DELTA, weight, other) == cost.replaced(DELTA, other, weight) < searched + 0.4


@pytest.mark.parametrize(("weight", "other"), [(1.0, 1.0), (0.7, 0.2)])
@pytest.mark.parametrize("epsilon", [-0.4, 0.0, 0.3])
def test_no_replacement_is_worse_than_the_opposite_one(weight, other, epsilon):
    """Delta of a step increases with the angle between two contributions and with their lengths, and is that of one dimension."""
    angles = np.linspace(0, math.pi, 7)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    deltas = [replaced_delta(weight * directions[0], other * direction, 0.8, 0.3, epsilon) for direction in directions]
    assert (np.diff(deltas) > 0).all()
    assert replaced_delta(0.9 * weight * directions[0], other * directions[-1], 0.8, 0.3, epsilon) < deltas[-1]
    assert replaced_delta(weight * directions[0], 0.9 * other * directions[-1], 0.8, 0.3, epsilon) < deltas[-1]
    low, high = brackets(weight, other, 0.8, 0.3, 1, [epsilon])
    assert low[0] - 1e-5 <= deltas[-1] <= high[0] + 1e-5


def test_the_fixed_epsilon_is_that_of_the_largest_weight():
    cost, tables = SubsampledCost(1.0, 0.1, 30), 0.3
    *release, fixed = epsilons_by_level(cost, LEVELS, 1e-3, tables)
    assert [entry.weight for entry in release] == list(LEVELS) and {entry.scope for entry in release} == {"of the release"}
    assert (fixed.scope, fixed.weight, fixed.epsilon) == ("fixed", 1.0, cost.epsilon(1e-3, 1.0, tables))
    assert fixed.epsilon < release[0].epsilon  # delta is not divided
    assert release[-1].epsilon > gaussian_epsilon(1.0, tables, 1e-3 / 4)  # the scores cost every record
    gaussian = epsilons_by_level(GaussianCost(0.5), LEVELS, 1e-3, tables)
    assert gaussian[1].epsilon == pytest.approx(gaussian_epsilon(1.0, math.hypot(0.25, tables), 1e-3 / 4))


def test_an_epsilon_of_the_release_is_not_fixed():
    """A noisy count decides between the weights 0.1 and 1: the smaller number, taken as fixed, fails; by level, it holds."""
    cost, delta, tables, weights = SubsampledCost(2.0, 0.2, 40), 1e-3, 0.5, (0.1, 1.0)
    sums = [gaussian_epsilon(2.0, 1.0, delta / 2) + cost.epsilon(delta / 2, weight) for weight in weights]
    assert sums == pytest.approx([1.594, 3.713], abs=2e-3)
    levels = {entry.weight: entry.epsilon for entry in epsilons_by_level(cost, weights, delta, tables)[:2]}
    by_level = [levels[weight] for weight in weights]
    assert by_level == pytest.approx([1.477, 2.820], abs=2e-3)

    def shown(epsilons, threshold=3):
        return stated_delta(lambda t: np.where(t < threshold, 0, 1), 1, epsilons, weights, 1 / tables, cost)

    assert shown((sums[0], sums[0])) > 10 * delta
    assert shown(sums) <= delta
    for threshold in (-2, 1, 3, 5):  # wherever the threshold is
        assert shown(by_level, threshold) <= delta


@pytest.mark.parametrize("before", [0.0, 0.08])
@pytest.mark.parametrize(("epsilon", "delta", "rate", "steps"), [(0.5, 1e-5, 0.05, 400), (4.0, 1 / 319, 0.2, 50)])
def test_sigma_spends_the_budget_and_no_more(epsilon, delta, rate, steps, before):
    sigma = sigma_for(Budget(epsilon, delta), rate, steps, before)
    assert epsilon * (1 - 1e-3) < SubsampledCost(sigma, rate, steps).epsilon(delta, 1.0, before) <= epsilon


def test_no_noise_and_spent_budgets():
    assert sigma_for(Budget(math.inf, 1e-5), 0.1, 10) == 0
    assert SubsampledCost(0.0, 0.1, 10).epsilon(1e-5) == math.inf
    assert SubsampledCost(0.0, 0.1, 10).epsilon(1e-5, weight=0.0) == 0
    with pytest.raises(ValueError, match="spent before the first step"):
        sigma_for(Budget(0.5, 1e-5), 0.1, 10, before=1.0)


def test_weights_are_rounded_up_to_levels():
    assert rounded_up(np.array([0.0, 0.1, 0.11, 0.5, 0.9, 1.0]), LEVELS).tolist() == [0.1, 0.1, 0.25, 0.5, 1.0, 1.0]
    with pytest.raises(ValueError, match=r"weights: given 0\.6; allowed"):
        rounded_up(np.array([0.6]), (0.25, 0.5))
