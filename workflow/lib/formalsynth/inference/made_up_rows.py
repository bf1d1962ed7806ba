"""Posterior given noisy tables for any family that declares a distribution function.

The family's own Stan program is sampled on made-up records with small weights: the middle of each bin, repeated according to the
noisy counts. Its draws are weighted by the likelihood of the noisy counts divided by that of these records. If only a few draws
have weight, the program is sampled again on records predicted by these draws. The prior cancels, so a family needs to declare
only a distribution function. Only public tables are used.

Source: importance sampling as in Robert and Casella (2004), Section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from formalsynth.core.arrays import Array, Draws, Integers, Records, blocks, count, take
from formalsynth.core.family import Family, StanData, log_likelihood, program
from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth.core.private import PublicTables
from formalsynth.core.tables import is_whole, lowest
from formalsynth.inference.tables_model import predictor_points, small_cells, small_polynomials

WEIGHT = 0.2
"""Weight of a made-up record, below 1 to make the draws more dispersed than the posterior."""
CLEAR = 3.0
"""Number of noise standard deviations below which a noisy count gets no made-up records: noise in a tail would weigh too much."""
CLOSED_POINTS = 3
"""Number of quadrature points in each bin of a closed predictor."""
TOTALS = 31
"""Number of points in the sum over the number of records in a row."""
REACH = 6.0
"""Distance of the first and last of these points from the noisy number, in standard deviations."""
FEWEST = 40.0
"""Minimum effective number of draws."""
ENOUGH = 80.0
"""Effective number of draws above which no further made-up records are tried."""
SEED = 1
"""Seed of predicted records, a constant, so the records depend on public tables only."""
BEST = 5.0
"""Minimum effective number of draws that predict records: few, because weights may be largest at the edge of the draws."""
PREDICTING = 50
"""Number of draws that predict records."""
AT_A_TIME = 40_000
"""Number of made-up records evaluated at a time, a multiple of :data:`PREDICTING`, to keep their matrix small."""
HALVINGS = 20
"""Maximum number of times that the exponent of the weights is halved to reach enough effective draws."""


@dataclass(frozen=True)
class RowsModel:
    """Posterior of a family with a distribution function, given tables of at most one predictor.

    Each row of the table (a bin of the predictor) has its own number of records, with a flat prior.
    """

    family: Family
    discrete: bool = False
    """True if all records of a row have the middle of its bin as their predictor."""
    closed: bool = False
    """True if the predictor is between its bounds, with any distribution; otherwise it is normal."""
    made_up: Records | None = None
    """Made-up records; None for the middles of bins, repeated according to the noisy counts."""

    @property
    def program(self) -> str:
        """Stan program of the family."""
        return self.family.program

    @property
    def parameters(self) -> tuple[str, ...]:
        """Parameters of the family."""
        return self.family.parameters

    def stan_data(self, public: PublicTables, priors: Mapping[str, float]) -> StanData:
        """Build the data of the family's program from made-up records."""
        records, weights = self._made_up(public)
        return self.family.stan_data(records, weights, priors)

    def inits(self, public: PublicTables, stan_data: StanData) -> StanData:
        """Choose the family's starting point."""
        return self.family.inits(stan_data)

    def draws(self, sampled: Draws, public: PublicTables) -> Draws:
        """Resample draws by the likelihood of the noisy counts divided by that of the made-up records.

        Raises:
            ValueError: the effective number of draws is below :data:`FEWEST`.
        """
        size = count(sampled)
        weight, effective = _normalised(self._log_weight(sampled, public))
        if effective < FEWEST:
            raise ValueError(
                f"noisy tables: {effective:.0f} effective draws of {size}, fewer than {FEWEST:.0f}: the family does not fit the "
                "noisy counts, or it needs more draws, different bins or a larger epsilon"
            )
        chosen = np.searchsorted(np.cumsum(weight), (np.arange(size) + 0.5) / size * (1 - 1e-12))
        return take(sampled, np.minimum(chosen, size - 1))

    def refined(self, sampled: Draws, public: PublicTables) -> RowsModel | None:
        """Return a model with made-up records that the best draws predict, or None if the draws are good enough."""
        log_weight = self._log_weight(sampled, public)
        weight, effective = _normalised(log_weight)
        if effective >= ENOUGH:
            return None
        for halving in range(1, HALVINGS):
            if effective >= BEST:
                break
            weight, effective = _normalised(log_weight / 2**halving)
        chosen = np.searchsorted(np.cumsum(weight), (np.arange(PREDICTING) + 0.5) / PREDICTING * (1 - 1e-12))
        better = take(sampled, np.minimum(chosen, count(sampled) - 1))
        return replace(self, made_up=self._predicted(better, public))

    def _predicted(self, draws: Draws, public: PublicTables) -> Records:
        """Draw as many records as the noisy counts imply, with a constant seed; clip those of a user's program to the bins."""
        points, share, row = self._points(public)
        totals = np.maximum(public.noisy.outcome[0].sum(axis=1), 1)
        design = np.repeat(points, np.rint(share * totals[row]).astype(int), axis=0)
        records, generator = Records(np.zeros(len(design)), design), np.random.default_rng(SEED)
        if program(self.family):
            records = replace(records, x=np.full(len(design), np.rint((public.outcome.low + public.outcome.high) / 2)))
        index = np.arange(len(design))
        x = np.concatenate([
            self.family.predict(generator, records.take(part), draws)[index[part] % PREDICTING, index[: len(index[part])]]
            for part in _parts(len(design))
        ])  # fmt: skip
        return replace(records, x=np.clip(x, public.outcome.low, public.outcome.high) if program(self.family) else x)

    def discrepancy(self, public: PublicTables, stan_data: StanData, draws: Draws) -> tuple[Array, int]:
        """Compute expected counts (cells,) of the best draw, in the order of ``by_column``, and the number of free values."""
        noisy, variance = public.noisy.outcome[0], discrete_laplace_variance(public.scale)
        p = self.cells(take(draws, np.unique(np.linspace(0, count(draws) - 1, 200).astype(int))), public)
        total = np.maximum(noisy.sum(axis=1), 1.0)[:, None] * np.ones((len(p), len(noisy), 1))
        for _ in range(5):
            spread = total * p + variance
            total = np.maximum((p * noisy / spread).sum(axis=2) / (p**2 / spread).sum(axis=2), 1e-3)[:, :, None]
        expected = total * p
        best = expected[np.argmin((((noisy - expected) ** 2) / (expected + variance)).sum(axis=(1, 2)))]
        free = sum(int(np.prod(draws[name].shape[1:])) for name in self.parameters)
        return best.T.ravel(), free + len(noisy)

    def cells(self, draws: Draws, public: PublicTables) -> Array:
        """Probabilities (S, rows, bins) of the outcome's bins in each row."""
        points, share, row = self._points(public)
        edges = public.outcome.edges[1:-1]
        ends = np.exp(edges) if public.outcome.log else edges
        upto = np.ceil(ends) - 1 if is_whole(self.family) else ends
        bins, rows = len(edges) + 1, int(row[-1]) + 1
        design = np.repeat(points, len(upto), axis=0)
        upper = np.tile(upto, len(points))
        records, lower = Records(upper, design), np.full(len(upper), lowest(self.family))
        log_below = self.family.log_interval_probability(records, draws, lower, upper)
        below = np.exp(log_below).reshape(-1, len(points), len(upto))
        ends_of = np.zeros((len(below), len(points), 1))
        p = np.maximum(np.diff(np.concatenate([ends_of, below, ends_of + 1], axis=2), axis=2), 1e-12)
        member = np.zeros((rows, len(points)))
        member[row, np.arange(len(points))] = share
        by_row: Array = np.einsum("rk,skb->srb", member, p)
        assert by_row.shape[2] == bins
        return by_row

    def _made_up(self, public: PublicTables) -> tuple[Records, Array]:
        """Make records at the middles of bins, and their weights."""
        if self.made_up is not None:
            return self.made_up, np.full(len(self.made_up), WEIGHT)
        noisy = public.noisy.outcome[0]
        least = CLEAR * math.sqrt(discrete_laplace_variance(public.scale))
        kept = np.array([_projected(np.where(line > least, line, 0)) for line in noisy])
        copies: Integers = np.ceil(WEIGHT * kept).astype(int)
        row, column = (np.repeat(index.ravel(), copies.ravel()) for index in np.indices(noisy.shape))
        edges = public.outcome.edges
        middles = (edges[1:] + edges[:-1]) / 2
        x = np.exp(middles) if public.outcome.log else np.rint(middles) if is_whole(self.family) else middles
        weights = (WEIGHT * kept / np.maximum(copies, 1))[row, column]
        return Records(x[column], _design(_middles(public), public)[row]), weights

    def _log_weight(self, draws: Draws, public: PublicTables) -> Array:
        """Log likelihood (S,) of the noisy counts minus that of the made-up records."""
        records, weights = self._made_up(public)
        noisy = public.noisy.outcome[0]
        log_weight: Array = np.zeros(count(draws))
        for part in _parts(len(records)):
            log_weight -= log_likelihood(self.family, records.take(part), draws) @ weights[part]
        p = self.cells(draws, public)
        for row, line in enumerate(noisy):
            likelihood = _RowLikelihood.of(line, public.scale)
            for part in blocks(len(p), TOTALS * noisy.shape[1]):
                log_weight[part] += likelihood(p[part, row])
        return log_weight

    def _points(self, public: PublicTables) -> tuple[Array, Array, Integers]:
        """Rows (k, q + 1) of the design, their shares (k,) of their bin, and the bin's number (k,).

        Within each bin, a closed predictor has a linear density, whose slope follows from the noisy numbers of the neighbouring
        bins. A predictor that is neither closed nor discrete has a normal density with the moments of the noisy counts.
        """
        middles = _middles(public)
        rows = len(middles)
        if self.discrete or rows == 1:
            return _design(middles, public), np.ones(rows), np.arange(rows)
        points, log_weight, row = predictor_points(rows)
        share = np.maximum(public.noisy.outcome[0].sum(axis=1), 0) + 1e-3
        share /= share.sum()
        if self.closed:
            points, weights, row = _closed_points(share)
            return _design(points, public), weights, row
        mean = float(share @ middles)
        variance = max(float(share @ (middles - mean) ** 2) - (2 / rows) ** 2 / 12, 0.01)
        density = log_weight - 0.5 * (points - mean) ** 2 / variance
        for k in range(rows):
            density[row == k] -= logsumexp(density[row == k])
        return _design(points, public), np.exp(density), row


def _closed_points(share: Array) -> tuple[Array, Array, Integers]:
    """Quadrature over a predictor from -1 to 1 in bins of equal width, none of them open.

    Args:
        share: (rows,) share of each bin.

    Returns:
        Points, their shares of their bin, and the bin's number.
    """
    rows = len(share)
    at, weight = np.polynomial.legendre.leggauss(CLOSED_POINTS)
    rise = np.clip(np.gradient(share) / 2 / share, -1, 1)
    points = np.linspace(-1, 1, 2 * rows + 1)[1::2, None] + at / rows
    within: Array = weight / 2 * (1 + rise[:, None] * at)
    return points.ravel(), within.ravel(), np.repeat(np.arange(rows), CLOSED_POINTS)


def _parts(records: int) -> list[slice]:
    """Slices of at most :data:`AT_A_TIME` records; at least one slice."""
    return [slice(start, start + AT_A_TIME) for start in range(0, max(records, 1), AT_A_TIME)]


def _normalised(log_weight: Array) -> tuple[Array, float]:
    """Normalise weights (S,), and compute the effective number of draws, which is 0 if a weight is not finite."""
    weight: Array = np.exp(log_weight - logsumexp(log_weight))
    return weight, 1 / float((weight**2).sum()) if np.isfinite(weight).all() else 0.0


def _projected(noisy: Array) -> Array:
    """Return the nearest nonnegative counts (bins,) with the same sum, or with sum 1 if the sum is smaller.

    Source: Euclidean projection on a simplex, as in Duchi, Shalev-Shwartz, Singer and Chandra (2008).
    """
    total = max(float(noisy.sum()), 1.0)
    ordered = np.sort(noisy)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(noisy) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    counts: Array = np.maximum(noisy - excess[last], 0)
    return counts


def _middles(public: PublicTables) -> Array:
    """Middles (rows,) of the predictor's bins, on the scale of the bounds."""
    rows = public.noisy.outcome.shape[1]
    return np.linspace(-1, 1, 2 * rows + 1)[1::2]


def _design(points: Array, public: PublicTables) -> Array:
    """Rows (k, q + 1) of the design at points (k,) of the predictor, on the scale of the bounds."""
    columns = [(bins.low + bins.high) / 2 + (bins.high - bins.low) / 2 * points for bins in public.predictors]
    return np.column_stack([np.ones(len(points)), *columns])


@dataclass(frozen=True)
class _RowLikelihood:
    """Likelihood of the noisy counts of one row, summed over the number of its records."""

    noisy: Array
    small: Any
    """(bins,) True for counts with the exact likelihood."""
    polynomial: Array
    totals: Array
    variance: float

    @classmethod
    def of(cls, noisy: Array, scale: float) -> _RowLikelihood:
        """Prepare the likelihood of noisy counts (bins,)."""
        small, variance = small_cells(noisy, scale), discrete_laplace_variance(scale)
        centre = max(float(noisy.sum()), 0.0)
        reach = REACH * math.sqrt(centre + len(noisy) * variance + 1)
        totals = np.linspace(max(centre - reach, 0.01), centre + reach, TOTALS)
        return cls(noisy, small, small_polynomials(noisy[small], scale), totals, variance)

    def __call__(self, p: Array) -> Array:
        """Log likelihood (S,) at probabilities (S, bins)."""
        mean = self.totals[:, None] * p[:, None, :]
        at, large = mean[:, :, self.small], mean[:, :, ~self.small]
        spread = large + self.variance
        result = -0.5 * ((self.noisy[~self.small] - large) ** 2 / spread + np.log(spread)).sum(axis=2)
        with np.errstate(divide="ignore"):
            exact = np.polynomial.polynomial.polyval(at, self.polynomial.T[:, None, None, :], tensor=False)
            result += (np.log(exact) - at).sum(axis=2)
        summed: Array = np.asarray(logsumexp(result, axis=1))
        return summed
