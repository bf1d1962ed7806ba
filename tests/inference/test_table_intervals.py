"""Intervals from noisy tables alone: their coverage, the analyses without one, and what the test of fit can detect."""

import math

import numpy as np
import pytest

from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables, Tables
from formalsynth.inference.goodness_of_fit import p_value
from formalsynth.inference.intervals import contradicted
from formalsynth.inference.table_intervals import NO_LIMITS, Limits, OutcomeTable

UNIT = Limits(0, 1)


def noisy_table(values, bins, epsilon, generator, limits=UNIT, whole=False):
    """A noisy table of one data set without predictors."""
    counts = np.bincount(bins.of(values), minlength=bins.number).astype(float)
    noisy = DiscreteLaplaceCounts(counts, 1 / epsilon).noisy(generator, 1)[0]
    tables = Tables(noisy.reshape(1, 1, -1), np.empty((0, 1, 1)))
    return OutcomeTable.of(PublicTables(bins, (), tables, 1 / epsilon, epsilon), limits, whole)


def without_noise(counts, edges=None, **given):
    edges = np.linspace(0, 1, len(counts) + 1) if edges is None else np.asarray(edges, dtype=float)
    return OutcomeTable(edges, np.asarray(counts, dtype=float), 1e-12, **{"limits": UNIT} | given)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
@pytest.mark.parametrize("n", [250, 2000])
def test_intervals_cover_whatever_the_distribution_within_bins(n, epsilon):
    """Values are at the lower or upper ends of their bins; 270 of 300 are covered (p < 1e-4 at 95 %)."""
    generator, bins = np.random.default_rng([n, round(10 * epsilon)]), Bins(0, 1, 10)
    shares = np.array([0.4, 0.2, 0.1, 0.02, 0.01, 0.02, 0.05, 0.1, 0.07, 0.03])
    for at in (0.0, 0.999):
        points = bins.edges[:-1] + at / 10
        true, covered = {"mean": shares @ points, "share": 0.7, "median": points[1], "q90": points[7]}, []
        for _ in range(300):
            table = noisy_table(generator.choice(points, n, p=shares), bins, epsilon, generator)
            intervals = {
                "mean": table.mean(),
                "share": table.share_below(bins.edges[3]),
                "median": table.quantile(0.5),
                "q90": table.quantile(0.9),
            }
            covered.append(
                [intervals[name].low <= true[name] + 1e-9 and true[name] - 1e-9 <= intervals[name].high for name in true]
            )
        assert np.sum(covered, axis=0).min() >= 270


def test_the_interval_of_a_share_is_that_of_wilson_without_noise():
    low, high = without_noise([30, 70], [0, 0.5, 1]).share_below(0.5)
    assert (low, high) == pytest.approx((0.2189, 0.3958), abs=1e-4)  # Wilson's interval of 30 of 100
    assert without_noise([30, 70], [0, 0.5, 1]).share_below(0.4) is None
    assert without_noise([0, 100], [0, 0.5, 1]).share_below(0.5) == pytest.approx((0, 0.0370), abs=1e-4)


def test_quantiles_have_intervals_of_whole_bins():
    table = without_noise([400, 100, 300, 200], limits=NO_LIMITS)
    assert table.quantile(0.5) == (0.25, 0.75)  # the share below 0.5 is that of the level
    assert table.quantile(0.6) == (0.5, 0.75)
    assert table.quantile(0.95) == (0.75, math.inf)
    assert without_noise([400, 100, 300, 200]).quantile(0.95) == (0.75, 1)


def test_a_mean_has_an_interval_only_if_values_have_limits():
    assert without_noise([400, 100, 300, 200], limits=NO_LIMITS).mean() is None
    assert without_noise([400, 100, 300, 200], limits=Limits(0, math.inf)).mean() is None
    low, high = without_noise([40_000, 10_000, 30_000, 20_000]).mean()
    assert 0.32 < low < 0.325
    assert 0.575 < high < 0.58
    counts = without_noise([40_000, 60_000], [0, 1, 2], limits=Limits(0, 1), whole=True)
    assert counts.mean() == pytest.approx((0.597, 0.603), abs=1e-3)  # a bin for each number: only sampling error


def test_bins_on_the_logarithmic_scale_and_of_predictors_are_added_up():
    tables = Tables(np.arange(12.0).reshape(2, 2, 3), np.zeros((1, 2, 2)))
    public = PublicTables(Bins(1, 1000, 3, True), (Bins(0, 1, 2),) * 2, tables, 2.0, 1.5)
    table = OutcomeTable.of(public)
    assert table.edges == pytest.approx([1, 10, 100, 1000])
    assert table.counts.tolist() == [9, 11, 13]
    assert table.variance == pytest.approx(discrete_laplace_variance(2.0))


@pytest.mark.parametrize("counts", [[-5, -3, 2], [0, 0, 0], [-20, 30, 4]])
def test_noise_that_exceeds_the_counts_gives_wide_intervals(counts):
    table = OutcomeTable(np.linspace(0, 1, 4), np.array(counts, dtype=float), 200.0, UNIT)
    for limits in (table.share_below(1 / 3), table.quantile(0.5), table.mean()):
        assert 0 <= limits.low < limits.high <= 1
        assert limits.high - limits.low > 0.6


class Fixed:
    """Family whose expected counts are known."""

    def __init__(self, expected):
        self.expected = expected

    def discrepancy(self, *_):
        return self.expected, 0


@pytest.mark.parametrize(("n", "epsilon"), [(400, 1.0), (2000, 0.5)])
def test_a_tenth_of_misfits_of_the_stated_size_is_not_detected(n, epsilon):
    """The test of fit detects between 80 and 97 % of 400 noisy tables; 90 % have a standard error of 1.5 %."""
    generator, bins = np.random.default_rng(n), Bins(0, 1, 10)
    expected, middles = n * np.linspace(0.16, 0.04, 10), bins.edges[:-1] + 0.05
    table = OutcomeTable(bins.edges, expected, discrete_laplace_variance(1 / epsilon))
    shift = table.undetected(middles, 10)
    variances = expected + table.variance
    centred = middles - variances @ middles / variances.sum()
    moved = expected + n * shift * variances * centred / (variances @ centred**2)
    assert (moved > 0).all()
    assert moved @ middles / n == pytest.approx(expected @ middles / n + shift)
    detected = []
    for _ in range(400):
        noisy = DiscreteLaplaceCounts(generator.poisson(moved).astype(float), 1 / epsilon).noisy(generator, 1)[0]
        public = PublicTables(bins, (), Tables(noisy.reshape(1, 1, -1), np.empty((0, 1, 1))), 1 / epsilon, epsilon)
        detected.append(contradicted(p_value(Fixed(expected), public, {}, {})))
    assert 0.8 < np.mean(detected) < 0.97
