"""Diagnostics of one chain: rank-normalised R-hat, and effective sample sizes of its bulk and of its tails.

Source: Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16(2); the autocorrelations are cut off by
Geyer's (1992) initial monotone sequence. A chain is compared with itself: R-hat is computed from its four quarters, an effective
sample size from its two halves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from formalsynth.core.arrays import Array

FEWEST = 8
"""Minimum number of draws, with two in each quarter."""
CONSTANT = 1e-15
"""Largest range of values that counts as constant."""
TAILS = (0.05, 0.95)
"""Levels of the quantiles at which the tails begin."""


def diagnose(draws: Array) -> tuple[float, float, float]:
    """Largest R-hat, and smallest bulk and tail effective sample sizes, of one chain.

    All are NaN if a draw is not finite or there are too few draws; R-hat is also NaN if a variable never moves.

    Args:
        draws: (S, k) draws of k variables.
    """
    size = len(draws)
    if size < FEWEST or not np.isfinite(draws).all():
        return float("nan"), float("nan"), float("nan")
    k, half = draws.shape[1], size // 2
    quarter = half // 2
    quarters = _pieces(draws, [0, half - quarter, half, 2 * half - quarter], quarter)
    folded = np.abs(quarters - np.median(quarters, axis=(0, 1)))
    rhat = _rhat(_scores(np.concatenate([quarters, folded], axis=2))).reshape(2, k)
    halves = _pieces(draws, [0, size - half], half)
    tails = [halves <= end for end in np.quantile(draws, TAILS, axis=0)]
    effective = _effective(np.concatenate([_scores(halves), *tails], axis=2))
    # When folded, a variable with two values is constant and has no R-hat: use that of the bulk.
    return (
        float(np.max(np.where(rhat[1] > rhat[0], rhat[1], rhat[0]))),
        float(np.min(effective[:k])),
        float(np.min(effective[k:])),
    )


def _pieces(draws: Array, starts: Sequence[int], length: int) -> Array:
    """Pieces of a chain, (pieces, length, k)."""
    return np.stack([draws[start : start + length] for start in starts])


def _scores(pieces: Array) -> Array:
    """Compute normal scores of average ranks among all pieces, variable by variable."""
    values = pieces.reshape(-1, pieces.shape[-1])
    order = values.argsort(axis=0)
    ordered = np.take_along_axis(values, order, axis=0)
    place = np.arange(len(values))[:, None]
    steps = np.ones((len(values) + 1, values.shape[1]), dtype=bool)
    steps[1:-1] = ordered[1:] != ordered[:-1]
    # Equal values share the mean of their first and last ranks.
    first = np.maximum.accumulate(np.where(steps[:-1], place, 0), axis=0)
    last = np.minimum.accumulate(np.where(steps[1:], place, len(values))[::-1], axis=0)[::-1]
    ranks = np.empty_like(values)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=0)
    scores: Array = ndtri((ranks - 3 / 8) / (len(values) + 1 / 4))
    return scores.reshape(pieces.shape)


def _rhat(pieces: Array) -> Array:
    """R-hat (k,): the square root of the total variance divided by the variance within the pieces."""
    n = pieces.shape[1]
    between, within = n * pieces.mean(axis=1).var(axis=0, ddof=1), pieces.var(axis=1, ddof=1).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = np.sqrt((between / within + n - 1) / n)
    return ratio


def _effective(pieces: Array) -> Array:
    """Effective sample size (k,) for the mean; for a constant, the number of draws."""
    count, n, k = pieces.shape
    covariance = _autocovariance(pieces).mean(axis=0)
    total = covariance[0] + pieces.mean(axis=1).var(axis=0, ddof=1)
    moves = np.ptp(pieces, axis=(0, 1)) >= CONSTANT
    correlation = 1 - (covariance[0] * n / (n - 1) - covariance) / np.where(moves, total, 1)
    correlation[0] = 1
    # In theory, sums of two neighbouring autocorrelations are positive and decrease: where they do not, noise begins.
    last = max(0, (n - 1) // 2 - 1)
    pairs = correlation[: 2 * last + 2].reshape(last + 1, 2, k).sum(axis=1)
    noise = pairs <= 0
    noise[last] = True
    stop, column = noise.argmax(axis=0), np.arange(k)
    before = np.vstack([np.zeros(k), np.minimum.accumulate(pairs, axis=0).cumsum(axis=0)])[stop, column]
    even = correlation[2 * stop, column]
    time = 2 * before - 1 + np.where((even > 0) | (pairs[stop, column] >= 0), even, 0)
    size = count * n
    effective: Array = np.where(moves, size / np.maximum(time, 1 / np.log10(size)), size)
    return effective


def _autocovariance(pieces: Array) -> Array:
    """Autocovariances at all lags, (pieces, n, k), by the fast Fourier transform."""
    n = pieces.shape[1]
    padded = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft((pieces - pieces.mean(axis=1, keepdims=True)).transpose(0, 2, 1), n=padded)
    covariance: Array = np.fft.irfft(spectrum * spectrum.conj(), n=padded)[..., :n] / n
    return covariance.transpose(0, 2, 1)
