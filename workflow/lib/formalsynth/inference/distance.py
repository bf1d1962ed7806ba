"""Kolmogorov scores of candidates: largest difference between the records and a family's distribution, in whole numbers.

For the threshold ``t = k / K`` and a declared region of the predictors, each record in the region adds ``share - t``. For
outcomes with a density, the share is 1 if ``F(y | x, theta) <= t`` and 0 otherwise. For counts it is the part of the interval
from ``F(y - 1)`` to ``F(y)`` that is below ``t``, rounded to a declared grid (the nonrandomised probability integral transform of
Czado, Gneiting and Held 2009). A share is between 0 and 1 for every record and every theta; the proof needs nothing else.

A share is computed from its own record and declared numbers by elementwise operations, so neither the number nor the order of
the records changes a single bit of it. Sums of shares are sums of whole numbers below 2^53, which are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, expit, gammaincinv, ndtri

from formalsynth.core.arrays import Array, Integers, Records, product, read_only
from formalsynth.core.private import Bins
from formalsynth.core.tables import BETA, BETA_REGRESSION, GAMMA, NORMAL, POISSON

FINE = 50
"""Number of parts of 1 / K to which shares of counts are rounded."""
STEP = 0.1
"""Step of the grid to which linear predictors are rounded if they do not merely shift the outcome; larger for wide boxes."""
MOST_STEPS = 400
"""Largest number of steps of that grid."""
LARGEST_COUNT = 1e300
"""Count used instead of an infinite quantile."""
LARGEST_PREDICTOR = 300.0
"""Largest absolute linear predictor at which a distribution function is evaluated."""


@dataclass(frozen=True)
class Axes:
    """Axes of a lattice of candidates."""

    coefficients: tuple[Array, ...]
    """Location at the middle of the predictors' bounds, and one slope for each predictor."""
    log_spread: Array

    def candidates(self) -> Array:
        """All candidates (m, q + 2); the spread is the last column and varies fastest."""
        return product((*self.coefficients, self.log_spread))

    def narrowed(self, candidate: Array, factor: float) -> Axes:
        """Axes around a candidate (q + 2,), with as many points but narrower by a factor; an axis with one point is unchanged."""
        axes = [centre + factor * (axis - (axis[0] + axis[-1]) / 2) for centre, axis in zip(candidate, self._all, strict=True)]
        return Axes(tuple(axes[:-1]), axes[-1])

    @property
    def _all(self) -> tuple[Array, ...]:
        return (*self.coefficients, self.log_spread)


@dataclass(frozen=True)
class Distance:
    """Score of candidates on one data set; everything but the records is declared."""

    kind: int
    """Kind of the family."""
    records: Records
    predictors: tuple[Bins, ...]
    """Bins of each predictor; the regions are the half-lines up to the upper edge of each bin."""
    thresholds: int
    """Number K of parts: the thresholds are 1 / K to (K - 1) / K."""
    log: bool
    """True if a normal outcome is on the logarithmic scale."""
    reach: tuple[float, float]
    """Ends of the grid of linear predictors."""

    @property
    def unit(self) -> int:
        """Number of units in a share of 1, which is the sensitivity of the score."""
        return self.thresholds * (FINE if self.kind >= POISSON else 1)

    def scores(self, axes: Axes) -> Integers:
        """Scores (m,) of the candidates of a lattice, in units."""
        return self._without_predictors(axes) if not self.predictors else self._with_predictors(axes)

    def _with_predictors(self, axes: Axes) -> Integers:
        (locations, *slopes), spread = axes.coefficients, np.exp(axes.log_spread)
        of_predictors = self._by_rank(spread) if self.kind in (NORMAL, GAMMA) else self._by_share(spread)
        scores = [of_predictors(self._predictors(locations, at)) for at in product(slopes)]
        return np.stack(scores, axis=1).ravel().astype(np.int64)

    def _predictors(self, locations: Array, slopes: Array) -> Iterator[Array]:
        """Yield the linear predictors (n,) for each location."""
        with np.errstate(invalid="ignore", over="ignore"):
            effects = [slope * x for slope, x in zip(slopes, self._centred(), strict=True)]
        for location in locations:
            with np.errstate(invalid="ignore", over="ignore"):
                predictor = sum(effects, start=location)
            yield np.asarray(predictor)

    def _by_share(self, spread: Array) -> Callable[[Iterable[Array]], Array]:
        """Return a function from some linear predictors (n,) to their scores (k, spreads), computed as sums of shares."""
        regions, shares = self._regions(), self._shares(spread)
        expected = np.outer(regions.sum(axis=1), self._steps)

        def scores(predictors: Iterable[Array]) -> Array:
            every = [[np.abs(regions @ share - expected).max() for share in shares(predictor)] for predictor in predictors]
            return np.array(every)

        return scores

    def _by_rank(self, spread: Array) -> Callable[[Iterable[Array]], Array]:
        """Return the same function for outcomes that are shifted by their linear predictor, computed from sorted records.

        The records are sorted by their outcome minus their linear predictor. Predictors with the same slopes have the same order,
        unless rounding changes it, and share one table: the number of records in each region among the first, the first two, etc.
        """
        outcome, regions, unit = self._outcome(), self._regions(), float(self.unit)
        quantile = self._quantiles(np.zeros(1), spread)[0][:, 0]
        expected = np.outer(self._steps, regions.sum(axis=1))

        def scores(predictors: Iterable[Array]) -> Array:
            order, rows = np.arange(len(outcome)), list[Array]()
            for predictor in predictors:
                above = _less(outcome, predictor)
                ordered = above[order]
                if not rows or not (ordered[1:] >= ordered[:-1]).all():
                    order = np.argsort(above)
                    ordered = above[order]
                    among_first = np.vstack([np.zeros(len(regions)), regions[:, order].cumsum(axis=1).T])
                upto = among_first.take(np.searchsorted(ordered, quantile, side="right"), axis=0)
                upto *= unit
                upto -= expected
                rows.append(np.abs(upto, out=upto).max(axis=(1, 2)))
            return np.stack(rows)

        return scores

    def _without_predictors(self, axes: Axes) -> Integers:
        """Scores from the numbers of records up to each quantile."""
        ordered, spread = np.sort(self._outcome()), np.exp(axes.log_spread)
        quantile, part = (
            table.swapaxes(0, 1).reshape(-1, len(self._steps)) for table in self._quantiles(axes.coefficients[0], spread)
        )
        below, upto = (np.searchsorted(ordered, quantile, side=side) for side in ("left", "right"))
        total = below * float(self.unit) + (upto - below) * part
        return np.asarray(np.abs(total - len(ordered) * self._steps).max(axis=1), dtype=np.int64)

    @property
    def _steps(self) -> Array:
        """Thresholds (K - 1,) in units."""
        return np.arange(1.0, self.thresholds) * (self.unit // self.thresholds)

    def _centred(self) -> list[Array]:
        """Predictors (n,) with the middle of their bounds at 0."""
        return [self.records.design[:, k + 1] - (bins.low + bins.high) / 2 for k, bins in enumerate(self.predictors)]

    def _places(self) -> list[tuple[Integers, Bins]]:
        """Bin (n,) of each record and the bins, for each predictor."""
        return [(bins.of(self.records.design[:, k + 1]), bins) for k, bins in enumerate(self.predictors)]

    def _regions(self) -> Array:
        """Regions (regions, n): 1 for the records in each."""
        rows = [at <= end for at, bins in self._places() for end in range(bins.number)]
        return np.array(rows, dtype=float).reshape(len(rows), len(self.records))

    def _outcome(self) -> Array:
        """Outcomes (n,) on the scale of the quantiles; NaN is placed below all others."""
        x = np.where(np.isnan(self.records.x), -np.inf, self.records.x)
        if self.log or self.kind == GAMMA:  # one logarithm at a time
            return np.array([math.log(value) if value > 0 else -math.inf for value in x.tolist()])
        return np.floor(x) if self.kind >= POISSON else x

    def _quantiles(self, location: Array, spread: Array) -> tuple[Array, Array]:
        """Quantiles of the outcome, and the shares, in units, of outcomes equal to them; both are (spreads, locations, K - 1)."""
        return _declared_quantiles(self.kind, self.thresholds, self.unit, tuple(location.tolist()), tuple(spread.tolist()))

    def _shares(self, spread: Array) -> Callable[[Array], Iterator[Array]]:
        """Return a function from linear predictors (n,) to the shares (n, K - 1) of the records at each spread, in units."""
        outcome, unit = self._outcome()[:, None], float(self.unit)
        steps = min(math.ceil((self.reach[1] - self.reach[0]) / STEP - 1e-9), MOST_STEPS)
        grid = np.linspace(*self.reach, steps + 1)
        quantile, part = self._quantiles(grid, spread)
        # difference in units: a count below the quantile has a full share, a count equal to it the quantile's part
        upto, own = quantile * unit + part, outcome * unit
        if self.kind == BETA_REGRESSION:
            return lambda predictor: ((outcome <= table[_nearest(grid, predictor)]) * unit for table in quantile)
        return lambda predictor: (np.clip(table[_nearest(grid, predictor)] - own, 0, unit) for table in upto)


@lru_cache(maxsize=16)
def _declared_quantiles(
    kind: int, thresholds: int, unit: int, locations: tuple[float, ...], spreads: tuple[float, ...]
) -> tuple[Array, Array]:
    """Quantiles and shares as in ``Distance._quantiles``; nothing here depends on records."""
    levels, location = np.arange(1, thresholds) / thresholds, np.array(locations)[:, None]
    spread = np.array(spreads)[:, None, None]
    if kind >= POISSON:
        return _count_quantiles(kind, unit, levels, location, spread)
    with np.errstate(divide="ignore"):
        if kind in (BETA, BETA_REGRESSION):
            quantile = betaincinv(spread * expit(location), spread * expit(-location), levels)
        else:
            shifted = spread * ndtri(levels) if kind == NORMAL else np.log(gammaincinv(spread, levels) / spread)
            quantile = location + shifted
    quantile = np.nan_to_num(quantile, nan=0.0)
    return read_only(quantile), read_only(np.full(quantile.shape, float(unit)))


def _count_quantiles(kind: int, unit: int, levels: Array, location: Array, spread: Array) -> tuple[Array, Array]:
    """Quantiles of counts, and the part of each quantile's probability that is below the threshold, in units."""
    from scipy.stats import nbinom, poisson

    mean = np.exp(np.clip(location, -LARGEST_PREDICTOR, LARGEST_PREDICTOR))
    counts = poisson(mean) if kind == POISSON else nbinom(1 / spread, 1 / (1 + spread * mean))
    shape = len(spread), len(location), len(levels)
    quantile = np.nan_to_num(np.broadcast_to(counts.ppf(levels), shape), nan=0.0, posinf=LARGEST_COUNT)
    before, at = counts.cdf(quantile - 1), counts.cdf(quantile)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.clip(np.nan_to_num((levels - before) / (at - before), nan=0.0), 0, 1)
    return read_only(quantile), read_only(np.rint(part * unit))


def _less(outcome: Array, predictor: Array) -> Array:
    """Outcome minus the linear predictor; NaN is placed above all thresholds."""
    with np.errstate(invalid="ignore"):
        return np.asarray(outcome - predictor)


def _nearest(grid: Array, predictor: Array) -> Integers:
    """Position (n,) of the nearest point of a grid of equal steps; the first one for NaN."""
    place = np.rint((np.where(np.isnan(predictor), -np.inf, predictor) - grid[0]) / (grid[1] - grid[0]))
    return np.asarray(np.clip(place, 0, len(grid) - 1), dtype=np.int64)
