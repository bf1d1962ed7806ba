"""Posterior given noisy tables: data of the Stan program ``noisy_tables``, from public tables only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_expit, logit

from formalsynth.core.arrays import Array, Draws, Integers
from formalsynth.core.family import StanData
from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth.core.private import Bins, PublicTables
from formalsynth.core.tables import (
    BETA,
    BETA_REGRESSION,
    GAMMA,
    NEGATIVE_BINOMIAL_REGRESSION,
    NORMAL,
    POISSON,
    Tabled,
    check,
)  # fmt: skip
from formalsynth.inference.covariance import whitening
from formalsynth.inference.density import TablesDensity, find_mode

Data = dict[str, int | float | Array | Integers]
INSIDE = 12
"""Number of quadrature points in each inner bin of an outcome with a density."""
STEP = 0.3
"""Step of the quadrature in the open end bins, in the logarithm of the distance from their edge."""
NEAREST, FARTHEST = -12.0, 7.0
"""Ends of the quadrature in the open end bins, on the same logarithmic scale."""
LONGEST = 3.4
"""Upper end of that quadrature above the mean of a gamma distribution, where the density is negligible."""
POINTS, END_POINTS = 5, 12
"""Numbers of quadrature points for a predictor: in each inner bin, and in each open end bin."""
FARTHEST_POINT = 8.0
"""Largest distance of such a point from its edge, in units of half the distance between the declared bounds."""
REACH = 3
"""Distance of an open bin's middle point from the bin's edge, in bin widths."""
PRIORS = 4
"""Length of the program's array of prior settings."""


SMALL = 12, 3
"""Noisy counts up to 12 plus 3 noise scales have the exact likelihood of Poisson counts and noise; larger ones, a normal one."""
TAIL = 9
"""Distance, in noise scales, beyond which the noise is neglected in the exact likelihood."""
LARGEST_SCALE = 10.0
"""Noise scale above which every count has a normal likelihood."""


@dataclass(frozen=True)
class TablesModel:
    """Posterior of a family's parameters given noisy tables."""

    tabled: Tabled
    program: str = "noisy_tables"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Stan variables that the sampler returns; a Poisson distribution has no spread."""
        return ("coefficient", "total") if self.tabled.kind == POISSON else ("coefficient", "spread", "total")

    def stan_data(self, public: PublicTables, priors: Mapping[str, float]) -> StanData:
        """Build the data of the Stan program.

        Raises:
            ValueError: the family has no model for this number of predictors, or the bins do not suit its outcome.
        """
        check(self.tabled, public.outcome, public.predictors)
        data = self._declared(public, priors) | _each_cell(public)
        if len(public.predictors) < 2:
            return data
        density = TablesDensity(data)
        whiten = whitening(density, density.point(self.inits(public, data)))
        return data | _likelihood(np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty((0, 1)), whiten)

    def _declared(self, public: PublicTables, priors: Mapping[str, float]) -> Data:
        """Collect the data that depend only on the declarations."""
        _, rows, bins = public.noisy.outcome.shape
        nodes = nodes_of(self.tabled.kind, public.outcome)
        settings = np.zeros(PRIORS)
        settings[: len(self.tabled.priors)] = [priors[name] for name in self.tabled.priors]
        points, log_weight, row = predictor_points(rows)
        return {
            "kind": self.tabled.kind,
            "q": len(public.predictors),
            "bins": bins,
            "rows": rows,
            "edges": public.outcome.edges[1:-1],
            "nodes": len(nodes.at),
            "at": nodes.at,
            "at_other": nodes.at_other,
            "log_weight": nodes.log_weight,
            "collect": np.eye(bins)[nodes.bin],
            "points": len(points),
            "x": points,
            "x_log_weight": log_weight,
            "first": np.searchsorted(row, np.arange(rows)) + 1,
            "last": np.searchsorted(row, np.arange(rows), side="right"),
            "x_edges": np.linspace(-1, 1, rows + 1)[1:-1] if public.predictors else np.empty(0),
            "x_centre": np.array([(bins.low + bins.high) / 2 for bins in public.predictors]),
            "x_half": np.array([(bins.high - bins.low) / 2 for bins in public.predictors]),
            "spread_from": float(priors[self.tabled.least_spread]) if self.tabled.least_spread else 0.0,
            "prior": settings,
        }

    def inits(self, public: PublicTables, stan_data: StanData) -> StanData:
        """Compute starting values from the moments of the tables, with negative counts taken as 0."""
        kept, q = np.maximum(public.noisy.outcome, 0) + 1e-3, len(public.predictors)
        theta, spread = _moments(self.tabled.kind, public.outcome, kept, q)
        least = stan_data["spread_from"]
        assert isinstance(least, float)
        hierarchical = self.tabled.kind == NEGATIVE_BINOMIAL_REGRESSION
        middles = np.linspace(-1, 1, 2 * kept.shape[1] + 1)[1::2]
        margins = kept.sum(axis=2) / kept.sum(axis=(1, 2))[:, None]
        mean = margins @ middles
        deviation = np.sqrt(np.maximum(margins @ middles**2 - mean**2, 0.01))
        return {
            "theta": theta,
            "log_spread": np.log([max(spread - least, 0.05)]) if self.tabled.kind != POISSON else np.empty(0),
            "log_total": float(np.log(max(public.noisy.flat.sum() / len(public.noisy), 1.0))),
            "x_mean": mean[:q],
            "log_x_sd": np.log(deviation[:q]),
            "x_correlation_factor": np.eye(max(q, 1)),
            "sd": np.ones(q + 1 if hierarchical else 0),
            "correlation_factor": np.eye(q + 1 if hierarchical else 1),
        }

    def draws(self, sampled: Draws, public: PublicTables) -> Draws:
        """Convert coefficients and spread to draws of the family's parameters."""
        return self.tabled.of(sampled["coefficient"], sampled.get("spread", np.ones(len(sampled["coefficient"]))))

    def refined(self, sampled: Draws, public: PublicTables) -> None:
        """Return None: the draws are those of the posterior."""

    def discrepancy(self, public: PublicTables, stan_data: StanData, draws: Draws) -> tuple[Array, int]:
        """Compute expected counts (cells,) at the mode, column by column, and the number of free values."""
        density = TablesDensity(stan_data).without_hierarchy()
        mode = find_mode(density, density.point(self.inits(public, stan_data)))
        return density.expected(mode[None])[0], density.dimension


def _each_cell(public: PublicTables) -> Data:
    """Noisy counts with a separate likelihood for each, which is exact for small counts if there is a single table."""
    noisy = public.noisy.by_column
    small = small_cells(noisy, public.scale) & (len(public.noisy) == 1)
    polynomials = small_polynomials(noisy[small], public.scale)
    counts: Data = {"noisy": noisy, "noise_variance": discrete_laplace_variance(public.scale)}
    return counts | _likelihood(np.flatnonzero(small) + 1, np.flatnonzero(~small) + 1, polynomials, np.empty((0, 0)))


def _likelihood(small: Integers, large: Integers, polynomials: Array, whiten: Array) -> Data:
    """Collect the data that define the likelihood of each cell."""
    return {
        "small": len(small), "small_cell": small, "large": len(large), "large_cell": large,
        "degree": polynomials.shape[1] - 1, "polynomial": polynomials, "whitened": len(whiten), "whiten": whiten,
    }  # fmt: skip


def small_cells(noisy: Array, scale: float) -> NDArray[np.bool_]:
    """Mask (cells,) of the cells whose noisy count has the exact likelihood."""
    return (noisy <= _most_small(scale)) & (scale <= LARGEST_SCALE)


def _most_small(scale: float) -> int:
    """Largest noisy count with the exact likelihood."""
    return SMALL[0] + math.ceil(SMALL[1] * scale)


def small_polynomials(noisy: Array, scale: float) -> Array:
    """Coefficients (cells, degree + 1) of ``exp(m) P(noisy | m)`` in the expected count m, up to a factor for each cell.

    A Poisson count j has the probability ``exp(-m) m^j / j!``. The noise is then ``noisy - j``, with its discrete Laplace
    probability.
    """
    scale = min(scale, LARGEST_SCALE)
    j = np.arange(_most_small(scale) + math.ceil(TAIL * scale) + 1)
    nearest = -np.minimum(noisy, 0) / scale
    coefficients: Array = np.exp(nearest[:, None] - np.abs(noisy[:, None] - j) / scale - gammaln(j + 1))
    return coefficients


@dataclass(frozen=True)
class Nodes:
    """Points at which the density or the mass of the outcome is summed, each with its bin."""

    at: Array
    at_other: Array
    log_weight: Array
    bin: Integers


def nodes_of(kind: int, outcome: Bins) -> Nodes:
    """Nodes of an outcome; if the distribution function is known, a single unused node."""
    if kind == NORMAL:
        return Nodes(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1, dtype=int))
    if kind >= POISSON:
        counts = np.arange(np.ceil(outcome.edges[-2]))
        return Nodes(counts, np.maximum(counts - 1, 0), -gammaln(counts + 1), outcome.of(counts))
    inner = logit(outcome.edges[1:-1]) if kind in (BETA, BETA_REGRESSION) else outcome.edges[1:-1]
    points, weights, bins = _line(inner, LONGEST if kind == GAMMA else FARTHEST)
    if kind == GAMMA:
        return Nodes(points, np.exp(points), np.log(weights), bins)
    return Nodes(log_expit(points), log_expit(-points), np.log(weights), bins)


def _line(inner: Array, farthest: float) -> tuple[Array, Array, Integers]:
    """Quadrature over the real line, split at the inner edges.

    Args:
        inner: (bins - 1,) edges.
        farthest: logarithm of the largest distance above the last edge.

    Returns:
        Points, their weights, and their bins.
    """
    gauss, weight = np.polynomial.legendre.leggauss(INSIDE)
    half = np.diff(inner)[:, None] / 2
    middle = ((inner[1:] + inner[:-1]) / 2)[:, None]
    below, above = (np.exp(np.arange(NEAREST, end, STEP)) for end in (FARTHEST, farthest))
    points = np.concatenate([inner[0] - below, (middle + half * gauss).ravel(), inner[-1] + above])
    weights = np.concatenate([STEP * below, (half * weight).ravel(), STEP * above])
    sizes = [len(below), *[INSIDE] * (len(inner) - 1), len(above)]
    return points, weights, np.repeat(np.arange(len(inner) + 1), sizes)


def predictor_points(rows: int) -> tuple[Array, Array, Integers]:
    """Quadrature over a predictor from -1 to 1 in bins of equal width, with open end bins.

    In an open bin at distance ``t`` from its edge, the points are Gauss-Legendre points in ``t / (t + scale)``.

    Returns:
        Points, logarithms of their weights (relative within a bin), and their bins.
    """
    if rows == 1:
        return np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64)
    gauss, weight = np.polynomial.legendre.leggauss(POINTS)
    width, edges = 2 / rows, np.linspace(-1, 1, rows + 1)[1:-1]
    inner = (edges[:-1, None] + width * (gauss + 1) / 2).ravel()
    end, end_weight = np.polynomial.legendre.leggauss(END_POINTS)
    share = (end + 1) / 2
    beyond = np.minimum(REACH * width * share / (1 - share), FARTHEST_POINT)
    log_end = np.log(end_weight) - 2 * np.log1p(-share)
    points = np.concatenate([edges[0] - beyond, inner, edges[-1] + beyond])
    row = np.repeat(np.arange(rows), [END_POINTS, *[POINTS] * (rows - 2), END_POINTS])
    return points, np.concatenate([log_end, np.tile(np.log(weight), rows - 2), log_end]), row


def _moments(kind: int, outcome: Bins, kept: Array, q: int) -> tuple[Array, float]:
    """Intercept and slopes (q + 1,) on the scale of the bounds, and the spread, from tables of positive counts."""
    values = (outcome.edges[1:] + outcome.edges[:-1]) / 2
    margin = kept.sum(axis=(0, 1)) / kept.sum()
    mean = float(margin @ values)
    variance = float(margin @ (values - mean) ** 2)
    rows = kept.sum(axis=2)[:q]
    row_means = kept[:q] @ values / rows
    middles = np.linspace(-1, 1, 2 * kept.shape[1] + 1)[1::2]
    linked, centre = _linked(kind, row_means), float(_linked(kind, np.array(mean)))
    slopes = [float(np.polyfit(middles, line, 1, w=np.sqrt(weight))[0]) for line, weight in zip(linked, rows, strict=True)]
    x_mean = [float(weight @ middles / weight.sum()) for weight in rows]
    theta = np.array([centre - float(np.dot(slopes, x_mean)), *slopes])
    if kind == NORMAL:
        return theta, float(np.sqrt(max(variance / 2 if q else variance, 1e-6)))
    if kind in (BETA, BETA_REGRESSION):
        return theta, float(np.clip(mean * (1 - mean) / variance - 1, 0.5, 100))
    if kind == GAMMA:
        return theta, float(np.clip(1 / variance, 0.2, 100))
    return theta, float(np.clip((variance - mean) / mean**2, 0.05, 5))


def _linked(kind: int, means: Array) -> Array:
    """Linear predictors that give the outcome approximately these means."""
    if kind in (BETA, BETA_REGRESSION):
        return np.asarray(logit(np.clip(means, 0.02, 0.98)))
    return means if kind in (NORMAL, GAMMA) else np.log(np.maximum(means, 0.1))
