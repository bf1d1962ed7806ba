"""E13: an attack that uses the non-members as its reference set."""

import numpy as np
from check import Interval, Row, at_most, near, numeric_check

from formalsynth_workflow.papers.reps.attacks import DECILES, advantage_limit, attack_scores, prepare_targets, weighted_auc
from formalsynth_workflow.papers.reps.prepare import load_split, prepare
from formalsynth_workflow.papers.reps.release import Replicate
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.tables import encode

K, DIMENSION, MEMBERS, OTHERS, REPEATS = 5, 2, 1500, 1500, 6
"""Numbers of neighbours, features, members, non-members and data sets; the records are uniform in a square."""
LARGEST, EPSILON, TRAIN = 0.667, 0.5, 2800
"""Printed top-decile advantage of uniform weights on the simulated data, its ε, and the number of training records."""


@numeric_check(
    "E13",
    printed="a held-out reference reveals nothing by itself: advantage 0; with the release, at most that of its (ε, δ)",
    derived="a non-member is its own nearest reference record, at distance 0: a large advantage, with or without a release",
)
def advantage_of_the_reference():
    """Distance to the reference set without a release, for members and non-members of one distribution."""
    advantages = np.array([advantages_in(np.random.default_rng([13, k])) for k in range(REPEATS)])
    printed, fair = (near(float(column.mean()), 4 * float(column.std(ddof=1)) / REPEATS**0.5 + 0.01) for column in advantages.T)
    how = f"the paper's attack on {REPEATS} data sets of points in a square, without synthetic records"
    return [
        Row("advantage with the non-members as reference", 0.0, own_reference(), printed, how),
        Row("advantage with the own record left out", 0.0, 0.0, fair, how),
        Row("top-decile advantage at ε = 0.5", at_most(limit()), without_the_records(), LARGEST, "printed in Appendix B"),
    ]


def own_reference():
    """Advantage for one density: 2 Pr(mean(D₁ … D_k) > mean(0, D'₁ … D'_(k−1))) − 1; D_j^d are times of a Poisson process."""
    generator = np.random.default_rng(13)

    def distances(size):
        return np.cumsum(generator.exponential(1.0, (200_000, size)), axis=1) ** (1 / DIMENSION)

    member, other = distances(K).mean(axis=1), distances(K - 1).sum(axis=1) / K
    return near(2 * float((member > other).mean()) - 1, 8 * 0.5 / np.sqrt(200_000))


def limit():
    """Largest advantage that the guarantee of the release allows."""
    return advantage_limit(EPSILON, 1 / TRAIN)


def without_the_records():
    """Interval from the limit to the top-decile advantage on synthetic data made without the attacked records.

    The synthetic data are made from statistics of another draw of the benchmark, without noise.
    """
    attacked, other = (replicate(k) for k in range(2))
    synthetic = other.synthesize(np.ones(other.prepared.n), 0.0)
    scores = attack_scores(attacked.targets, encode(synthetic.table, attacked.prepared.space), attacked.settings.neighbours)
    top = attacked.targets.decile == DECILES
    return Interval(limit(), advantage(attacked.targets, scores["domias_printed"], top))


def replicate(k):
    """Replicate of the paper's simulated benchmark."""

    def streams(name):
        return np.random.default_rng([13, k, *name.encode()])

    settings = ExperimentSettings()
    return Replicate(prepare("simulated", load_split("simulated", "", streams), settings), settings, streams)


def advantages_in(generator):
    """Compute the advantage with each of the two references, in one data set."""
    train, test = generator.random((MEMBERS, DIMENSION)), generator.random((OTHERS, DIMENSION))
    targets = prepare_targets(train, test, np.arange(MEMBERS + OTHERS), K, generator)
    everyone = np.ones(len(targets.member), dtype=bool)
    return [advantage(targets, scores, everyone) for scores in (targets.reference_printed, targets.reference)]


def advantage(targets, scores, chosen):
    """Advantage 2 AUC - 1 of scores on the chosen records."""
    return 2 * float(weighted_auc(scores[chosen], targets.member[chosen], targets.weight[chosen, None])[0]) - 1
