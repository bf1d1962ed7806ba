"""Distributions of single columns from noisy counts."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
import scipy  # imports its submodules on first use

from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth_release.levels import Levels

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array, Integers

ORDER = 3  # order of the differences of log densities that are penalized
STIFFNESSES = np.geomspace(0.01, 1000, 11)  # penalty weights that are averaged over
LEAST_WEIGHT = 1e-6  # smallest weight of a count, which keeps matrices invertible
LEAST = 0.001  # smallest fitted count
STEPS, CLOSE = 60, 1e-4  # largest number of steps of a fit, and the change of log densities below which it ends
STANDING_OUT = 5.0
"""Standard deviations of the noise above which a count is not noise alone: such noise has a probability of 0.0004."""
PRECISION = 0.03
"""Precision of the number that is subtracted from all counts, relative to twice the standard deviation of the noise."""
FINER = 16  # number of points in each bin at which a distribution function is interpolated


def shares_of(levels: Levels, numbers: Array, scale: float, rows: float) -> Array:
    """Compute shares from noisy counts: runs of bins are smoothed as the noise requires, other counts are cut at 0.

    Smoothing and cutting make counts larger on average. So the same number is subtracted from all noisy counts, such that the
    result adds up to the number of rows. Dividing by the sum instead would lower large counts, which are hardly wrong.
    """
    wide = [(run.start, levels.widths[run]) for run in levels.smooth if run.stop - run.start > ORDER + 1]
    runs = tuple((start, tuple((widths / widths.mean()).tolist())) for start, widths in wide)
    return _remembered(tuple(numbers.tolist()), runs, discrete_laplace_variance(scale), rows)


@functools.lru_cache(maxsize=64)
def _remembered(noisy: tuple[float, ...], runs: tuple[tuple[int, tuple[float, ...]], ...], variance: float, rows: float) -> Array:
    """Cache shares, which a release needs both for the scores of its sums and for its model."""

    @functools.cache
    def counts(shift: float) -> Array:
        numbers = np.array(noisy) - shift
        cut = np.maximum(numbers, 0.0)
        for start, wide in runs:
            run, widths = slice(start, start + len(wide)), np.array(wide)
            cut[run] = smoothed(decreasing_outwards(numbers[run], variance, widths), variance, widths)
        return cut

    total = max(rows, 10 * LEAST * len(noisy))  # smoothed counts are at least LEAST

    def excess(shift: float) -> float:
        return float(counts(shift).sum()) - total

    reach = 2 * np.sqrt(variance) + LEAST
    while excess(-reach) < 0 or excess(reach) > 0:
        reach *= 4
    fitted = counts(scipy.optimize.brentq(excess, -reach, reach, xtol=PRECISION * reach))
    if fitted.sum() <= 0:
        fitted = np.ones(len(noisy))
    shares: Array = fitted / fitted.sum()
    shares.setflags(write=False)
    return shares


def decreasing_outwards(noisy: Array, variance: float, widths: Array) -> Array:
    """Replace noisy counts (k,) at both ends, beyond those that stand out, by those whose densities decrease outwards.

    The last bins are held by few differences, so smoothing alone keeps noise in an empty last bin as a second mode, which can
    double a high quantile. The sum of the replaced counts stays the same (isotonic regression).
    """
    standing = np.flatnonzero(noisy > STANDING_OUT * np.sqrt(variance))
    if not len(standing):
        return noisy
    first, last = standing[0], standing[-1] + 1
    decreasing = noisy.copy()
    for end, up in ((slice(first), True), (slice(last, None), False)):
        if len(of_end := widths[end]):
            density = scipy.optimize.isotonic_regression(noisy[end] / of_end, weights=of_end, increasing=up).x
            decreasing[end] = density * of_end
    return decreasing


def smoothed(noisy: Array, variance: float, widths: Array) -> Array:
    """Smooth noisy counts (k,) of adjacent bins, given their widths relative to the mean.

    The third differences of log densities are penalized, so a tail without counts continues like that of a lognormal
    distribution; with second differences it would be far too heavy. They are averaged over stiffnesses by the marginal likelihood
    (Laplace's approximation); the likelihood is normal with the variance of the noise and of the count. A rate above its count
    has a larger weight than in Fisher scoring: otherwise, steps are too long where a count is below 0, and do not converge.
    """
    penalty, wider = _penalty(len(noisy)), np.log(widths)
    point = np.tile(np.log(np.maximum(noisy, max(noisy.mean(), 1.0) / 10)) - wider, (len(STIFFNESSES), 1))
    least, most = np.log(LEAST) - wider, np.log(max(noisy.max(), 1.0) + np.sqrt(variance)) - wider
    for _ in range(STEPS):  # iterated least squares of the log densities (stiffnesses, k)
        rate = np.exp(point + wider)
        share = rate / (rate + variance)
        weight = np.maximum(share * (rate + np.maximum(rate - noisy, 0.0) * (1 - share)), LEAST_WEIGHT)
        target = weight * point + share * (noisy - rate)
        solution = _solved(_banded(penalty, weight), target)
        step = np.minimum(np.maximum(solution - point, -1.0), 1.0)
        before, point = point, np.minimum(np.maximum(point + step, least), most)
        if np.abs(point - before).max() < CLOSE:
            break
    rate = np.exp(point + wider)
    total = rate + variance
    factor = scipy.linalg.cholesky_banded(_banded(penalty, np.maximum(rate**2 / total, LEAST_WEIGHT)))
    size = 2 * np.log(factor[ORDER]).reshape(point.shape).sum(axis=1)
    rough = STIFFNESSES * (np.diff(point, ORDER, axis=1) ** 2).sum(axis=1)
    loss = ((noisy - rate) ** 2 / total + np.log(total)).sum(axis=1) + rough
    likelihood = ((len(noisy) - ORDER) * np.log(STIFFNESSES) - loss - size) / 2
    return np.asarray(np.exp(scipy.special.softmax(likelihood) @ point + wider))


@functools.lru_cache(maxsize=64)
def _penalty(count: int) -> Array:
    """Penalties (stiffnesses, count, diagonals), the main diagonal last."""
    third = np.diff(np.eye(count), ORDER, axis=0)
    diagonals = np.zeros((len(STIFFNESSES), count, ORDER + 1))
    for k in range(ORDER + 1):
        diagonals[:, k:, ORDER - k] = np.multiply.outer(STIFFNESSES, np.diagonal(third.T @ third, k))
    diagonals.setflags(write=False)
    return diagonals


def _banded(penalty: Array, weight: Array) -> Array:
    """Add weights to the main diagonals of penalties, and join them to one block matrix in LAPACK's format."""
    matrix = penalty.copy()
    matrix[:, :, ORDER] += weight
    return matrix.reshape(-1, ORDER + 1).T


def _solved(matrix: Array, right: Array) -> Array:
    """Solve a banded system; ``scipy.linalg.solveh_banded`` takes as long to check these small ones as to solve them."""
    *_, solution, info = scipy.linalg.lapack.dpbsv(matrix, right.ravel(), overwrite_ab=1)
    if info:
        raise np.linalg.LinAlgError(f"dpbsv: {info}")
    return np.asarray(solution).reshape(right.shape)


def inside(shares: Array, widths: Array, places: Integers, within: Array) -> Array:
    """Move values inside bins so the density follows adjacent bins: in a tail, it decreases within each bin.

    A monotone distribution function interpolates the shares (bins,) (Fritsch and Carlson 1980). It turns positions ``within`` the
    bins, from 0 to 1, by probability into those by width.
    """
    ends, edges = (np.concatenate([[0.0], np.cumsum(parts)]) for parts in (shares, widths))
    grid = np.interp(np.arange(len(shares) * FINER + 1) / FINER, np.arange(len(edges)), edges)
    heights = scipy.interpolate.PchipInterpolator(edges, ends)(grid)
    through = np.interp(ends[places] + within * shares[places], heights, grid) - edges[places]
    return np.asarray(np.clip(through / widths[places], 0.0, 1 - 1e-12))


def inside_levels(levels: Levels, shares: Array, places: Integers, within: Array) -> Array:
    """Apply :func:`inside` to each run of adjacent bins of a column; values in runs of one or two bins are unchanged."""
    moved = within.copy()
    for run in levels.smooth:
        of_run = (places >= run.start) & (places < run.stop)
        if run.stop - run.start > 2:
            moved[of_run] = inside(shares[run], levels.widths[run], places[of_run] - run.start, within[of_run])
    return moved
