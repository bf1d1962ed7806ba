"""Planted violations of the proof of weighted DP-SGD, found in two ways, and the proved training, in which neither finds one.

An attack on a training with one parameter estimates delta from the exact likelihood ratio. A replay computes the noisy steps of
the real generator on two neighbours with the same earlier steps, batches and noise: they may differ by the weight of the record.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest
from one_parameter import IGNORED, PROVED, VIOLATIONS, attack, deltas

from formalsynth.reps.accounting import SubsampledCost
from formalsynth.reps.domain import MixedRecords
from formalsynth.reps.learners.dp_sgd import WeightedDPSGD, layout_of, weighted_gradient
from formalsynth.reps.stages import SCORERS, Budget, score

from .small_records import DOMAIN, small_records

SCORERS.find()
LAYOUT = layout_of(DOMAIN)
SIGMA = 1.5


def test_the_attack_finds_the_delta_of_the_theorem_and_no_more():
    cost = SubsampledCost(1.0, 0.2, 40, 2e-4)
    ratios = attack(PROVED, 8000, 1)
    for epsilon, least in ((0.0, 0.9), (0.25, 0.8)):
        estimate, limit = deltas(ratios, epsilon)
        claim = cost.delta(epsilon, 0.25)
        assert estimate >= 0.9 * claim and least * claim <= limit <= claim
    assert deltas(attack(IGNORED, 1000, 2), 0.0)[0] < 1e-12


@pytest.mark.parametrize("name", VIOLATIONS)
def test_the_attack_finds_planted_violations(name):
    training, epsilon = VIOLATIONS[name]
    claim = SubsampledCost(1.0, 0.2, 40).delta(epsilon, training.weight)
    assert deltas(attack(training, 1000, 3), epsilon)[1] > claim + 0.02


@dataclass(frozen=True)
class Real:
    """Training of the generator as proved, step by step; subclasses plant violations."""

    learner: WeightedDPSGD = field(default_factory=lambda: WeightedDPSGD(rate=0.4, clip=1.5))

    def prepared(self, records):
        """Records as training uses them."""
        return records

    def start(self, records):
        """First parameters."""
        return np.zeros_like(LAYOUT.mask)

    def threshold(self, tables, records):
        """Threshold tau: declared."""
        return 0.9

    def strength(self, records):
        """Strength lam: declared."""
        return 2.0

    def weights(self, tables, records):
        """Weights that decrease with the score above the threshold."""
        scores = tables.score(records)
        return np.exp(-self.strength(records) * np.maximum(scores - self.threshold(tables, records), 0))

    def batch(self, uniform):
        """Records of the batch."""
        return uniform < self.learner.rate

    def released(self, theta, codes, weights, noise, n):
        """Noisy step; n is the number of records."""
        return self.learner.released(LAYOUT, theta, codes, weights, SIGMA, noise, DOMAIN.n)


class WeightInside(Real):
    """Weight inside the loss."""

    def released(self, theta, codes, weights, noise, n):
        clipped = [
            weighted_gradient(LAYOUT, theta, code[None], np.ones(1), self.learner.clip / max(weight, 1e-9)) * weight
            for code, weight in zip(codes, weights, strict=True)
        ]
        total = np.sum(clipped, axis=0) + SIGMA * self.learner.clip * LAYOUT.mask * noise
        return total / (self.learner.rate * DOMAIN.n)


class NoiseOfMean(Real):
    """Noise for the mean added to the sum."""

    def released(self, theta, codes, weights, noise, n):
        divisor = self.learner.rate * DOMAIN.n
        return self.learner.released(LAYOUT, theta, codes, weights, SIGMA / divisor, noise, DOMAIN.n)


class DivisorOfBatch(Real):
    """Divisor from the batch."""

    def released(self, theta, codes, weights, noise, n):
        size = max(len(codes), 1) / self.learner.rate
        return self.learner.released(LAYOUT, theta, codes, weights, SIGMA, noise, size)


class DivisorOfRecords(Real):
    """Divisor from the number of records."""

    def released(self, theta, codes, weights, noise, n):
        return self.learner.released(LAYOUT, theta, codes, weights, SIGMA, noise, n)


class TauOfRecords(Real):
    """Tau from the records."""

    def threshold(self, tables, records):
        return np.quantile(tables.score(records), 0.7)


class Standardised(Real):
    """Standardised by the records."""

    def prepared(self, records):
        return MixedRecords(records.z / records.z.std(axis=0), records.categories, records.label)


class StartOfRecords(Real):
    """First parameters from the records."""

    def start(self, records):
        counts = np.bincount((DOMAIN.codes(records) + LAYOUT.starts).ravel(), minlength=LAYOUT.mask.shape[1])
        return np.vstack([np.zeros_like(LAYOUT.mask[1:]), np.log(counts + 1)])


class ClipOfBatch(Real):
    """Clipping norm from the batch."""

    def released(self, theta, codes, weights, noise, n):
        alone = [np.linalg.norm(weighted_gradient(LAYOUT, theta, code[None], np.ones(1), np.inf)) for code in codes]
        learner = WeightedDPSGD(rate=self.learner.rate, clip=float(np.median(alone)) if alone else 1.0)
        return learner.released(LAYOUT, theta, codes, weights, SIGMA, noise, DOMAIN.n)


class Rescaled(Real):
    """Weights rescaled to mean 1."""

    def weights(self, tables, records):
        weights = super().weights(tables, records)
        return weights / weights.mean()


class Shuffled(Real):
    """Weights shuffled."""

    def weights(self, tables, records):
        return np.random.default_rng(1).permutation(super().weights(tables, records))


class StrengthOfRecords(Real):
    """Lam from the loss of the records."""

    def strength(self, records):
        return 1 + records.z.var()


class FixedSize(Real):
    """Batches of a fixed size."""

    def batch(self, uniform):
        return uniform <= np.sort(uniform)[10]


def excess(real, i, generator, steps=4):
    """Largest difference of noisy steps between neighbours, in units of their noise, above what the record may add.

    Args:
        real: the training.
        i: position of the record that one of the neighbours lacks.
        generator: source of records, tables, batches, noise and earlier steps.
        steps: number of steps.

    Returns:
        Excess over all steps, with the record in the batch and not; infinite if the first parameters differ.
    """
    whole = small_records(generator)
    sides = [whole, whole.take(np.delete(np.arange(len(whole)), i))]
    tables = score(SCORERS["one_way"](), DOMAIN, whole, Budget(1.0, 1e-3), generator).tables
    # The weight of a record is a function of the tables and of itself.
    allowed = Real().weights(tables, whole)[i] / SIGMA
    prepared = [real.prepared(side) for side in sides]
    if not np.array_equal(*map(real.start, prepared)):
        return np.inf
    weights, codes = [real.weights(tables, side) for side in prepared], [DOMAIN.codes(side) for side in prepared]
    unit = SIGMA * real.learner.clip / (real.learner.rate * DOMAIN.n)
    largest = -np.inf
    for step in range(steps):
        theta = generator.normal(size=LAYOUT.mask.shape) * LAYOUT.mask
        noise, uniform = generator.normal(size=theta.shape), generator.random(len(whole))
        uniform[i] = 0.0 if step % 2 else 1.0
        released, scale = [], []
        for code, weight, kept in zip(codes, weights, (uniform, np.delete(uniform, i)), strict=True):
            chosen = real.batch(kept)
            with_noise, without = (real.released(theta, code[chosen], weight[chosen], z, len(code)) for z in (noise, 0 * noise))
            released.append(with_noise)
            scale.append(np.linalg.norm(with_noise - without) / np.linalg.norm(noise * LAYOUT.mask))
        difference = np.linalg.norm(released[0] - released[1]) / min(*scale, unit)
        largest = max(largest, difference - (allowed if step % 2 else 0.0))
        # noise of different scales reveals the record even if the means agree, and less noise costs more than stated
        largest = max(largest, abs(np.log(scale[0] / scale[1])), 1 - min(scale) / unit)
    return largest


def test_the_replay_finds_nothing_in_the_proved_training():
    assert max(excess(Real(), i, np.random.default_rng(i)) for i in range(40)) < 1e-12


@pytest.mark.parametrize("violation", Real.__subclasses__(), ids=lambda violation: violation.__name__)
def test_the_replay_finds_planted_violations(violation):
    assert any(excess(violation(), i, np.random.default_rng(i)) > 1e-3 for i in range(25))


def test_both_ways_try_the_same_violations():
    assert {f"{name.capitalize()}." for name in VIOLATIONS} == {violation.__doc__ for violation in Real.__subclasses__()}
