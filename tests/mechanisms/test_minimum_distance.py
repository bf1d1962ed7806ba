"""Minimum distance: scores by brute force, probabilities of neighbours, and parameters that are found."""

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.private import Bins
from formalsynth.core.selection import Selection, log_ratio
from formalsynth.core.streams import Address
from formalsynth.core.tables import tabled
from formalsynth.inference.distance import Axes, Distance
from formalsynth.mechanisms.minimum_distance import ratio

for register in (FAMILIES, MECHANISMS):
    register.find()


def logistic(x):
    return 1 / (1 + math.exp(-x))


DISTRIBUTIONS = {
    # family: distribution at a linear predictor and spread, and outcomes
    "normal": (lambda eta, s: stats.norm(eta, s), [-2.0, 0.1, 0.7, 3.0, 1e300]),
    "lognormal": (lambda eta, s: stats.lognorm(s, scale=math.exp(eta)), [0.0, 1e-9, 0.7, 3.0, 1e300]),
    "beta": (lambda eta, s: stats.beta(s * logistic(eta), s * (1 - logistic(eta))), [0.0, 0.02, 0.3, 0.9, 0.99]),
    "beta_regression": (lambda eta, s: stats.beta(s * logistic(eta), s * (1 - logistic(eta))), [0.0, 0.02, 0.3, 0.9, 0.99]),
    "gamma_regression": (lambda eta, s: stats.gamma(s, scale=math.exp(eta) / s), [1e-9, 0.2, 0.9, 3.0, 1e300]),
    "poisson": (lambda eta, s: stats.poisson(math.exp(eta)), [0.0, 1.0, 2.0, 5.0, 1e15]),
    "negative_binomial": (lambda eta, s: stats.nbinom(1 / s, 1 / (1 + s * math.exp(eta))), [0.0, 1.0, 2.0, 5.0, 1e15]),
    "negative_binomial_regression": (
        lambda eta, s: stats.nbinom(1 / s, 1 / (1 + s * math.exp(eta))), [0.0, 1.0, 2.0, 5.0, 1e15],
    ),
}  # fmt: skip
WITH_PREDICTORS = [name for name in DISTRIBUTIONS if tabled(FAMILIES[name]).predictors != 0]


def share(distribution, y, t):
    """Part of the interval from F(y-) to F(y) below t."""
    upto = distribution.cdf(y)
    if isinstance(distribution.dist, stats.rv_continuous):
        return float(upto <= t)
    before = distribution.cdf(y - 1)
    return 1.0 if upto <= t else 0.0 if before >= t else (t - before) / (upto - before)


def brute_force(family, records, axes, thresholds, bins):
    """Scores of all candidates, one record, threshold and region at a time."""
    scores = []
    for location, *slopes, log_spread in axes.candidates():
        worst = 0.0
        for k, j in itertools.product(range(1, thresholds), range(len(slopes) or 1)):
            total = [0.0] * (bins.number if slopes else 1)
            for y, row in zip(records.x, records.design, strict=True):
                eta = location + sum(slope * (x - (bins.low + bins.high) / 2) for slope, x in zip(slopes, row[1:], strict=True))
                more = share(DISTRIBUTIONS[family][0](eta, math.exp(log_spread)), y, k / thresholds) - k / thresholds
                place = bins.of(row[1 + j : 2 + j])[0] if slopes else 0
                for end in range(place, len(total)):
                    total[end] += more
            worst = max(worst, *map(abs, total))
        scores.append(worst)
    return np.array(scores)


@pytest.mark.parametrize(
    ("name", "q"), [(name, 0) for name in DISTRIBUTIONS] + [(name, 1) for name in WITH_PREDICTORS] + [("normal", 2)]
)
def test_scores_are_those_of_brute_force(name, q):
    rng, (_, outcomes) = np.random.default_rng(7), DISTRIBUTIONS[name]
    x = rng.choice(outcomes, 8)
    # linear predictors on the grid to which some families round them
    records = Records(x, np.column_stack([np.ones(8), rng.choice([-9.0, -1.0, 0.0, 1.0], (8, q))]))
    bins = Bins(-2, 2, 3)
    axes = Axes((np.array([-0.5, 0.6]), *[np.array([-0.3, 0.4])] * q), np.array([-0.4, 0.7]))
    declared = tabled(FAMILIES[name])
    distance = Distance(declared.kind, records, (bins,) * q, 5, declared.log, (-6.0, 6.0))
    # shares of counts are rounded to 1 / 250
    rounding = 8 * 0.5 / distance.unit if "poisson" in name or "negative" in name else 1e-9
    np.testing.assert_allclose(distance.scores(axes) / distance.unit, brute_force(name, records, axes, 5, bins), atol=rounding)


def test_scores_are_exact_where_rounding_changes_the_order_of_records():
    """Each record is compared with each quantile on its own: the sensitivity is that of such a score, to the last digit."""
    kind, bins, generator = tabled(FAMILIES["normal"]).kind, Bins(0, 10, 3), np.random.default_rng(8)
    log_spread = np.log([1e16])  # neighbouring numbers near the quantiles differ by 1, as outcomes and predictors do
    quantile = np.exp(log_spread) * special.ndtri([0.25, 0.5, 0.75])
    for _ in range(20):
        x, z = generator.uniform(0, 10, (2, 40))
        distance = Distance(kind, Records(x, np.column_stack([np.ones(40), z])), (bins,), 4, False, (-6.0, 6.0))
        axes = Axes((np.array([0.0, *(-quantile[0] + np.arange(-8, 20))]), np.array([-1.0, 0.0, 0.7])), log_spread)
        expected = []
        for location, slope, _ in axes.candidates():
            above = x - (location + slope * (z - 5))
            upto = (above[:, None] <= quantile) * 4 - np.arange(1, 4)
            expected.append(max(np.abs(upto[bins.of(z) <= end].sum(axis=0)).max() for end in range(3)))
        np.testing.assert_array_equal(distance.scores(axes), expected)


BOX = {"low": -2.0, "high": 2.0, "spread_low": 0.5, "spread_high": 2.0, "points": 3, "thresholds": 4, "x_bins": 3}


CASES = [(name, 1) for name in DISTRIBUTIONS if name != "beta"] + [("poisson", 2)]


@pytest.mark.parametrize(("name", "stages"), CASES)
@pytest.mark.parametrize("epsilon", [0.5, 12.0])
def test_no_neighbour_has_a_larger_ratio_than_claimed(name, stages, epsilon):
    """Outcomes and predictors that are extreme, infinite or not a number, added, removed and replaced."""
    q = int(tabled(FAMILIES[name]).predictors != 0)
    rng = np.random.default_rng(3)
    values = [*DISTRIBUTIONS[name][1], 1.0, math.inf, math.nan]
    grid = [(y, *x) for y in values for x in ([(-7.0,), (0.5,), (math.inf,), (math.nan,)] if q else [()])]
    declared = BOX | {"epsilon": epsilon, "stages": stages}

    def data(rows):
        x = np.array([row[0] for row in rows], dtype=float)
        return Records(x, np.array([(1.0, *row[1:]) for row in rows], dtype=float).reshape(len(rows), q + 1))

    for n in (0, 1, 2, 3, 1000):
        for _ in range(1 if n == 1000 else 6):
            rows = [grid[k] for k in rng.integers(len(grid), size=n)]
            added, other = (grid[k] for k in rng.integers(len(grid), size=2))
            assert ratio(declared, data(rows), data([*rows, added]), name) <= epsilon * 0.75 + 1e-9
            assert ratio(declared, data([*rows, other]), data([*rows, added]), name) <= epsilon + 1e-9


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_order_of_records_changes_nothing(name):
    rng = np.random.default_rng(2)
    q = int(name in WITH_PREDICTORS)
    records = Records(rng.choice(DISTRIBUTIONS[name][1], 257), np.column_stack([np.ones(257), rng.normal(0, 3, (257, q))]))
    assert ratio(BOX | {"epsilon": 5.0, "stages": 1}, records, records.take(rng.permutation(257)), name) == 0


def test_stages_share_epsilon_and_follow_the_selected_candidate():
    context = Context(FAMILIES["normal"], intercept_only(np.array([0.3, 0.8])), Address(1, 1, 1, 2, 0))
    first = MECHANISMS["minimum_distance"].apply(context, BOX | {"epsilon": 3.0, "stages": 2}).selection
    second = first.following(8)
    assert (first.rate, second.rate) == (1.5 / (2 * 4), 1.5 / (2 * 4))
    assert second.following is None
    np.testing.assert_allclose(first.candidates[8], [2, math.log(2)])
    np.testing.assert_allclose(second.candidates[[0, -1]], first.candidates[8] + np.outer([-1, 1], [1, math.log(2) / 2]))


@pytest.mark.parametrize(("stages", "parts"), [(1, [1]), (3, [2, 1, 2]), (4, [2, 1, 1, 2])])
def test_the_first_and_last_stage_have_twice_the_epsilon_of_the_others(stages, parts):
    context = Context(FAMILIES["normal"], intercept_only(np.array([0.3, 0.8])), Address(1, 1, 1, 2, 0))
    stage = MECHANISMS["minimum_distance"].apply(context, BOX | {"epsilon": 3.0, "stages": stages}).selection
    rates = [stage.rate]
    while stage.following:
        stage = stage.following(0)
        rates.append(stage.rate)
    np.testing.assert_allclose(rates, 3.0 / 8 * np.array(parts) / sum(parts), rtol=1e-12)


def test_the_ratio_of_two_stages_is_that_of_all_pairs():
    rng = np.random.default_rng(1)

    def made(seed):
        later = [Selection(np.arange(3.0)[:, None], np.random.default_rng([seed, k]).integers(9, size=3), 0.3) for k in range(4)]
        return Selection(np.arange(4.0)[:, None], np.random.default_rng(seed).integers(9, size=4), 0.2, later.__getitem__)

    ours, theirs = made(rng.integers(99)), made(rng.integers(99))
    both = list(itertools.product(range(4), range(3)))
    pairs = [[side.log_probability[i] + side.following(i).log_probability[j] for i, j in both] for side in (ours, theirs)]
    assert log_ratio(ours, theirs) == pytest.approx(np.abs(np.subtract(*pairs)).max())
    assert log_ratio(ours, Selection(ours.candidates, ours.scores, 0.2)) == math.inf
    assert log_ratio(ours.following(0), Selection(np.arange(3.0)[:, None] + 1, ours.following(0).scores, 0.3)) == math.inf


def test_draws_have_the_stated_probabilities():
    selection = Selection(np.arange(3.0)[:, None], np.array([0, 3, 6]), 0.2)
    generator = np.random.default_rng(4)
    counts = np.bincount([selection.drawn(generator) for _ in range(20_000)], minlength=3)
    weights = np.exp([0, -0.6, -1.2])
    np.testing.assert_allclose(counts / 20_000, weights / weights.sum(), atol=0.017)


def test_a_regression_is_found():
    """Errors have standard deviations near 0.03 at this epsilon."""
    rng = np.random.default_rng(5)
    x = rng.normal(2, 1, 3000)
    data = Records(np.exp(1 + x + rng.standard_normal(3000)), np.column_stack([np.ones(3000), x]))
    box = {"low": -3.0, "high": 9.0, "slope": 3.0, "x_low": -2.0, "x_high": 6.0, "spread_low": 0.2, "spread_high": 5.0}
    context = Context(FAMILIES["lognormal"], data, Address(1, 1, 1, 3000, 0))
    made = MECHANISMS["minimum_distance"].apply(context, box | {"epsilon": 10.0, "points": 9})
    np.testing.assert_allclose(made.draws["beta"], [[1, 1]], atol=0.4)
    np.testing.assert_allclose(made.draws["sigma"], [1], atol=0.25)
    assert made.epsilon == 10.0
