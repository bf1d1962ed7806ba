"""Risk-weighted DP-SGD against each record by itself: gradients by complex steps of a density written out in loops."""

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest

from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.learners.dp_sgd import MaskedSoftmax, WeightedDPSGD, layout_of, weighted_gradient
from formalsynth.reps.stages import Budget

DOMAIN = Domain(n=12, numbers=1, levels=(3, 2), clip=2.0, bins=4)
LAYOUT = layout_of(DOMAIN)


def records_of(generator, n, spread=1.0):
    """Records whose columns depend on each other."""
    z = spread * generator.normal(size=(n, 1))
    first = np.clip(np.round(1 + z[:, 0]), 0, 2).astype(int)
    label = (generator.random(n) < 1 / (1 + np.exp(-2 * z[:, 0]))).astype(int)
    return MixedRecords(z, np.column_stack([first, generator.integers(2, size=n)]), label)


def log_density(theta, code):
    """Log probability of a record, column by column."""
    total, ends = 0.0, np.cumsum(LAYOUT.sizes)
    for j, (end, size) in enumerate(zip(ends, LAYOUT.sizes, strict=True)):
        logits = theta[-1, end - size : end].copy()
        for before in range(j):
            logits += theta[ends[before] - LAYOUT.sizes[before] + code[before], end - size : end]
        total += logits[code[j]] - np.log(np.exp(logits).sum())
    return total


def gradient(theta, code):
    """Gradient of minus the log density of one record, entry by entry, by steps in the imaginary direction."""
    result = np.zeros_like(theta)
    for at in np.ndindex(theta.shape):
        moved = theta.astype(complex)
        moved[at] += 1e-30j
        result[at] = -log_density(moved, code).imag / 1e-30
    return result


@pytest.mark.parametrize("clip", [0.3, 1.0, 100.0])
@pytest.mark.parametrize("scale", [0.0, 1.0, 5.0])
def test_a_step_is_the_weighted_sum_of_clipped_gradients(clip, scale):
    generator = np.random.default_rng(1)
    theta = scale * generator.normal(size=LAYOUT.mask.shape) * LAYOUT.mask
    codes, weights = DOMAIN.codes(records_of(generator, 5)), np.array([1.0, 0.5, 0.25, 0.0, 1.0])
    total = np.zeros_like(theta)
    for code, weight in zip(codes, weights, strict=True):
        own = gradient(theta, code)
        clipped = own * min(1, clip / np.linalg.norm(own))
        assert np.linalg.norm(weight * clipped) <= weight * clip * (1 + 1e-12)
        total += weight * clipped
        alone = weighted_gradient(LAYOUT, theta, code[None], np.array([weight]), clip)
        assert np.abs(alone - weight * clipped).max() <= 1e-12
    assert np.abs(weighted_gradient(LAYOUT, theta, codes, weights, clip) - total).max() <= 1e-12


def test_probabilities_of_all_records_add_up_to_one():
    theta = 2 * np.random.default_rng(2).normal(size=LAYOUT.mask.shape) * LAYOUT.mask
    codes = np.array(list(itertools.product(*map(range, LAYOUT.sizes))))
    model = MaskedSoftmax(DOMAIN, theta)
    records = DOMAIN.spread(codes, np.random.default_rng(3))
    assert np.array_equal(DOMAIN.codes(records), codes)
    density = model.log_density(records)
    assert np.exp(density).sum() == pytest.approx(1)
    assert density == pytest.approx([log_density(theta, code) for code in codes])
    drawn = DOMAIN.codes(model.sample(np.random.default_rng(4), 40_000))
    cells = np.ravel_multi_index(codes.T, LAYOUT.sizes)
    shares = np.bincount(np.ravel_multi_index(drawn.T, LAYOUT.sizes), minlength=len(codes))[cells] / len(drawn)
    assert np.abs(shares - np.exp(density)).max() < 4 * np.sqrt(0.25 / len(drawn))


def test_training_without_noise_learns_how_columns_depend_on_each_other():
    generator = np.random.default_rng(5)
    records, held_out = records_of(generator, 1500), records_of(generator, 1500)
    learned = WeightedDPSGD(steps=150).fit(
        Domain(1500, 1, (3, 2), 2.0, 4), records, np.ones(1500), Budget(np.inf, 1e-5), generator
    )
    codes = DOMAIN.codes(held_out)
    independent = sum(
        np.log(np.bincount(column, minlength=size) / len(column))[column].mean()
        for column, size in zip(codes.T, LAYOUT.sizes, strict=True)
    )
    assert learned.model.log_density(held_out).mean() > independent + 0.4
    assert learned.cost.epsilon(1e-5) == np.inf


def test_noise_meets_the_budget_and_weights_reduce_what_records_pay():
    learner, budget = WeightedDPSGD(steps=20), Budget(2.0, 1e-3)
    learned = learner.fit(DOMAIN, records_of(np.random.default_rng(6), 12), np.ones(12), budget, np.random.default_rng(7))
    epsilons = [learned.cost.epsilon(1e-3, weight) for weight in (1.0, 0.5, 0.25)]
    assert 1.99 < epsilons[0] <= 2.0 and epsilons[1] < epsilons[0] / 2 and epsilons[2] < epsilons[1] / 2
    assert np.isfinite(learned.model.theta).all() and not learned.model.theta[LAYOUT.mask == 0].any()


@dataclass(frozen=True)
class Recorded(WeightedDPSGD):
    """Training that records the input of its steps."""

    inputs: list = field(default_factory=list)

    def released(self, layout, theta, codes, weights, sigma, noise, n):
        self.inputs.append((codes, weights, sigma, noise, n))
        return super().released(layout, theta, codes, weights, sigma, noise, n)


def test_each_step_has_a_poisson_batch_new_noise_and_declared_numbers():
    generator, learner = np.random.default_rng(10), Recorded(steps=300, rate=0.1)
    records, weights = records_of(generator, 100), generator.random(100)
    learned = learner.fit(DOMAIN, records, weights, Budget(3.0, 1e-3), generator)
    sizes = np.array([len(codes) for codes, *_ in learner.inputs])
    assert len(sizes) == learned.cost.steps == 300 and learned.cost.rate == 0.1
    assert abs(sizes.mean() - 10) < 4 * np.sqrt(9 / 300) and 6 < sizes.var() < 13  # binomial with variance 9
    of_code = {tuple(code) for code in DOMAIN.codes(records).tolist()}
    assert all({tuple(code) for code in codes.tolist()} <= of_code for codes, *_ in learner.inputs)
    assert all(np.isin(given, weights).all() for _, given, *_ in learner.inputs)
    assert {(sigma, n) for _, _, sigma, _, n in learner.inputs} == {(learned.cost.sigma, DOMAIN.n)}
    noises = np.array([noise[LAYOUT.mask > 0] for *_, noise, _ in learner.inputs])
    assert abs(noises.std() - 1) < 0.02 and np.abs(np.corrcoef(noises[:20])[np.triu_indices(20, 1)]).max() < 0.5


@pytest.mark.parametrize("weight", [-0.1, 1.1, np.nan])
def test_weights_outside_zero_and_one_are_refused(weight):
    records = records_of(np.random.default_rng(8), 2)
    with pytest.raises(ValueError, match="weights: allowed"):
        WeightedDPSGD().fit(DOMAIN, records, np.array([1.0, weight]), Budget(1, 1e-5), np.random.default_rng(9))
