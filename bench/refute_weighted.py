"""Attempts to refute the proof of weighted DP-SGD: python bench/refute_weighted.py [--runs 200000].

The statement is that a record of weight w pays at most epsilon(w), whatever the other records are. A lower limit of delta or of
epsilon above the stated one, with 99.9 % confidence (95 % for attacks on released parameters), would refute it. Output:
bench/tables/attempts_weighted.csv, and the delta of each planted violation in bench/tables/violations_weighted.csv.
"""

import argparse
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from one_parameter import IGNORED, OTHERS, PROVED, VIOLATIONS, Training, attack, deltas
from page import show

from formalsynth.audit.attack import attack_bound
from formalsynth.core.arrays import Array
from formalsynth.reps.accounting import SubsampledCost, epsilons_by_level
from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.learners.dp_sgd import WeightedDPSGD, layout_of, weighted_gradient
from formalsynth.reps.stages import Budget

COST = SubsampledCost(PROVED.sigma, PROVED.rate, PROVED.steps, 2e-4)
"""Cost of the training with one parameter."""


def of_training(training: Training, runs: int) -> str:
    """Attack a training with one parameter at several epsilons."""
    ratios = attack(training, runs, 1)
    shown = [(*deltas(ratios, epsilon), COST.delta(epsilon, training.weight)) for epsilon in (0.0, 0.25, 0.5, 1.0)]
    wrong = any(limit > claim for _, limit, claim in shown)
    estimate, limit, claim = shown[0]
    return f"δ = {estimate:.4f} at ε = 0, at least {limit:.4f}; stated {claim:.4f}: {'refuted' if wrong else 'holds'}"


def last_parameter(runs: int) -> str:
    """Attack the last parameter alone."""
    generator = np.random.default_rng(2)
    ours, theirs = (PROVED.log_ratios(generator, runs, present)[1] for present in (True, False))
    return against(attack_bound(ours, theirs, 0.01).epsilon, COST.epsilon(0.01, PROVED.weight))


def trained_generator(runs: int) -> str:
    """Attack complete trainings of the generator, by the density of the record under the released parameters."""
    domain, learner, budget = Domain(8, 0, (2, 2), 1.0), WeightedDPSGD(rate=0.5, steps=4), Budget(2.0, 0.01)
    codes = np.array([[0, 0]] * 7 + [[1, 1]])
    weights, generator, sides = np.append(np.ones(7), 0.5), np.random.default_rng(3), []
    records = MixedRecords(np.empty((8, 0)), codes, codes[:, 0])
    for kept in (8, 7):
        part = records.take(np.arange(kept))
        trained = [learner.fit(domain, part, weights[:kept], budget, generator) for _ in range(runs // 20)]
        sides.append(np.array([output.model.log_density(records.take(np.array([7])))[0] for output in trained]))
    return against(attack_bound(*sides, 0.01).epsilon, trained[0].cost.epsilon(0.01, 0.5))


def largest_contribution(runs: int) -> str:
    """Search records and parameters, up to huge ones, for a contribution above the weight times the clipping norm."""
    layout, generator, largest = layout_of(Domain(1, 2, (3, 5), 1.0, 4)), np.random.default_rng(4), 0.0
    for _ in range(runs // 100):
        theta = 10.0 ** generator.uniform(-3, 100) * generator.standard_t(1, size=layout.mask.shape) * layout.mask
        code = np.array([[generator.integers(size) for size in layout.sizes]])
        weight = generator.random(1)
        largest = max(largest, float(np.linalg.norm(weighted_gradient(layout, theta, code, weight, 1.0)) / weight[0]))
    return against(largest, 1.0, "norm / weight")


def extreme_record(runs: int) -> str:
    """Compare noisy steps with and without a record whose numbers are extreme, with equal batches and noise."""
    generator, learner, largest = np.random.default_rng(5), WeightedDPSGD(), 0.0
    domain = Domain(20, 2, (3,), 4.0, 8)
    layout, weights = layout_of(domain), generator.random(20)
    for value in (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0):
        z = np.vstack([generator.normal(size=(19, 2)), [value, -value]])
        codes = domain.codes(MixedRecords(z, generator.integers(3, size=(20, 1)), generator.integers(2, size=20)))
        theta, noise = generator.normal(size=(2, *layout.mask.shape)) * layout.mask
        ours, theirs = (learner.released(layout, theta, codes[:kept], weights[:kept], 1.0, noise, domain.n) for kept in (20, 19))
        largest = max(largest, float(np.linalg.norm(ours - theirs)) * learner.rate * domain.n / weights[19])
    return against(largest, 1.0, "norm / weight")


def stated_delta(
    level: Callable[[Array], Array],
    others: float,
    epsilons: Sequence[float],
    weights: Sequence[float],
    sigma: float,
    cost: SubsampledCost,
) -> float:
    """Delta, in the worse direction, of stating epsilon by the weight that a noisy count gives, by integrating over the count.

    Args:
        level: position in ``weights`` of the weight of the record, for noisy counts (t,).
        others: number of other records in the record's cell.
        epsilons: epsilon that is stated with each weight.
        weights: the declared weights.
        sigma: noise of the count.
        cost: cost of stage 2.
    """
    t = np.linspace(others - 12 * sigma, others + 1 + 12 * sigma, 2401)
    chosen, result = level(t), []
    for own, other in ((others + 1, others), (others, others + 1)):
        density = np.exp(-((t - own) ** 2) / (2 * sigma**2)) * (t[1] - t[0]) / math.sqrt(2 * math.pi) / sigma
        left = np.asarray(epsilons)[chosen] - ((t - other) ** 2 - (t - own) ** 2) / (2 * sigma**2)
        total = 0.0
        for k, weight in enumerate(weights):
            distinct, place = np.unique(np.round(np.abs(left[chosen == k]), 2), return_inverse=True)
            known = np.array([cost.delta(value, weight) for value in distinct])[place]
            # at a negative epsilon, 1 - exp(epsilon) (1 - delta of the swapped pair at -epsilon) is an upper estimate
            below = 1 - np.exp(np.minimum(left[chosen == k], 0)) * (1 - known)
            total += float(density[chosen == k] @ np.where(left[chosen == k] >= 0, known, below))
        result.append(total)
    return max(result)


def weight_of_count(runs: int) -> str:
    """Let a noisy count choose among weights, with every threshold, and with weights that alternate from count to count."""
    cost, weights, delta = SubsampledCost(2.0, 0.2, 40), (0.0, 0.1, 0.5, 1.0), 1e-3
    epsilons = [entry.epsilon for entry in epsilons_by_level(cost, weights, delta, 0.5)[len(weights) - 1 :: -1]]
    ways: list[Callable[[Array], Array]] = [lambda t, at=at: np.where(t < at, 0, 3) for at in (-4, -1, 1, 3, 6)]
    ways += [lambda t, by=by: np.floor(t / by).astype(int) % 4 for by in (0.1, 1.0, 3.0)]
    return against(max(stated_delta(way, 1, epsilons, weights, 2.0, cost) for way in ways), delta, "δ")


def release_as_fixed(runs: int) -> str:
    """Take the epsilon that a release with a small weight states as one that was fixed in advance."""
    cost, delta = SubsampledCost(2.0, 0.2, 40), 1e-3
    small = epsilons_by_level(cost, (0.1, 1.0), delta, 0.5)[1].epsilon
    shown = stated_delta(lambda t: np.where(t < 3, 0, 1), 1, (small, small), (0.1, 1.0), 2.0, cost)
    return against(shown, delta, "δ") + ", as the card states"


def replaced_delta(ours: Array, theirs: Array, sigma: float, rate: float, epsilon: float) -> float:
    """Delta of one step between two contributions (2,) of a record, by a sum over a grid in the plane."""
    axis = np.linspace(-8 * sigma - 1, 8 * sigma + 1, 401)
    squares = [[(axis - contribution[k]) ** 2 for k in range(2)] for contribution in (np.zeros(2), ours, theirs)]
    none, left, right = (np.exp(-(x[:, None] + y) / (2 * sigma**2)) for x, y in squares)
    excess = (1 - rate) * (1 - math.exp(epsilon)) * none + rate * (left - math.exp(epsilon) * right)
    return float(np.maximum(excess, 0).sum()) * (axis[1] - axis[0]) ** 2 / (2 * math.pi * sigma**2)


def replaced_record(runs: int) -> str:
    """Replace contributions by others in any direction, up to their weights, against the opposite ones of these weights."""
    generator, largest = np.random.default_rng(6), 0.0
    for _ in range(runs // 1000):
        (sigma, rate), epsilon = generator.uniform((0.4, 0.01), (3.0, 0.99)), generator.uniform(-1, 1)
        weights, angles = generator.random(2), generator.uniform(0, 2 * math.pi, size=2)
        lengths = weights * generator.choice([1.0, 0.8, 0.0], size=2, p=[0.6, 0.3, 0.1])
        turned = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        opposite = weights[:, None] * np.array([[1.0, 0.0], [-1.0, 0.0]])
        stated = replaced_delta(*opposite, sigma, rate, epsilon)
        largest = max(largest, replaced_delta(*turned, sigma, rate, epsilon) - stated)
    return against(largest, 1e-9, "excess of δ")


def against(shown: float, stated: float, name: str = "ε") -> str:
    """Format the number that an attempt shows, and the stated one."""
    return f"{name} = {shown:.4g}, stated {stated:.4g}: {'refuted' if shown > stated * (1 + 1e-9) else 'holds'}"


ATTEMPTS: Sequence[tuple[str, Callable[[int], str]]] = (
    ("an attacker who knows all other records, their batches and every step", lambda runs: of_training(PROVED, runs)),
    ("the same for a record of weight 0", lambda runs: of_training(IGNORED, runs // 10)),
    ("long steps, after which all other gradients depend on the record", lambda runs: of_training(
        replace(PROVED, step_size=40.0), runs // 4)),
    ("all other records have weight 0", lambda runs: of_training(
        replace(PROVED, weights=lambda t, present: np.zeros(len(OTHERS))), runs // 4)),
    ("the last parameter alone", lambda runs: last_parameter(runs // 4)),
    ("complete trainings of the generator", trained_generator),
    ("a search for records and parameters with a large contribution", largest_contribution),
    ("a record that is not a number, infinite, or as large as a number can be", extreme_record),
    ("a noisy count that chooses the weight, in many ways", weight_of_count),
    ("replacements in all directions, against the opposite gradient", replaced_record),
    ("the epsilon of a release, taken as fixed in advance", release_as_fixed),
)  # fmt: skip


def main() -> None:
    """Run all attempts and violations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200_000)
    runs = parser.parse_args().runs
    show("attempts_weighted", ["attempt", "outcome"], [[what, attempt(runs)] for what, attempt in ATTEMPTS])
    rows = []
    for name, (training, epsilon) in VIOLATIONS.items():
        estimate, limit = deltas(attack(training, runs // 4, 3), epsilon)
        claim = COST.delta(epsilon, training.weight) if training.weight else 0.0
        rows.append([name, f"{training.weight:g}", f"{epsilon:g}", f"{estimate:.3f}", f"{limit:.3f}", f"{claim:.4f}"])
    show("violations_weighted", ["violation", "weight", "ε", "δ shown", "at least", "δ stated"], rows)


if __name__ == "__main__":
    main()
