"""Checks that a log-likelihood belongs to a density, and that predictive values follow it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, kolmogorov

from formalsynth.core.arrays import Array, Draws, Records

LogDensity = Callable[[Array], Array]
"""Function that returns the log density (m,) of m values."""
ByRecord = Callable[[Records], Array]
"""Function that returns an array (1, m) for m records at one draw."""
NODES = 4001
MOST = 20_000
"""Largest number of integers in a sum."""
FAR = 14.0
"""Distance, as a power of e, by which the nodes extend beyond the scale of the predictive values."""
WRONG = 2e-3
"""Smallest distance of the total probability from 1 that is reported."""
APART = 0.01
"""Smallest distance of a declared distribution function from the integral of the density that is reported."""
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Levels of the quantiles of predictive values at which a declared distribution function is compared with the density."""
UNLIKELY = 1e-6
"""P value below which predictive values are reported not to follow a density."""


@dataclass(frozen=True)
class Support:
    """Possible values of an outcome."""

    lower: float
    upper: float
    whole: bool


def check_record(
    record: Records, draw: Draws, log_likelihood: Callable[[Records], Array], predicted: Array, support: Support, who: str = ""
) -> list[str]:
    """List the problems of one record's density at one draw, each as a sentence that names the draw.

    Args:
        record: a data set of one record; the density is that of its outcome.
        draw: the draw.
        log_likelihood: log-likelihood (1, m) of m records at the draw.
        predicted: (m,) predictive values of the record at the draw.
        support: possible outcomes.
        who: subject of the sentences; empty for none.
    """
    problems = check_density(lambda values: log_likelihood(record.repeated(values))[0], predicted, support)
    return [f"at {in_words(draw)} {who}{problem}" for problem in problems]


def check_distribution(
    record: Records, log_likelihood: ByRecord, distribution: ByRecord, predicted: Array, support: Support
) -> list[str]:
    """List the faults of a declared distribution function at one draw, each as the end of a sentence.

    Args:
        record: a data set of one record, whose density has passed :func:`check_density`.
        log_likelihood: log-likelihood (1, m) of m records at the draw.
        distribution: probability (1, m) of an outcome up to that of each of m records.
        predicted: (m,) predictive values of the record at the draw.
        support: possible outcomes.
    """
    with np.errstate(over="ignore"):
        values, masses = _masses(lambda values: log_likelihood(record.repeated(values))[0], predicted, support)
    at = np.unique(np.quantile(predicted, LEVELS, method="inverted_cdf"))
    declared = distribution(record.repeated(at))[0]
    for value, probability in zip(at, declared, strict=True):
        expected = float(masses[values <= value].sum())
        near = np.searchsorted(values, value) + np.array([-1, 0])
        coarse = 0.0 if value in values else float(masses[np.clip(near, 0, len(masses) - 1)].max())
        if not abs(probability - expected) <= APART + coarse:
            return [
                f"declares the probability {probability:.3g} for outcomes up to {value:.3g}, but its density integrates to "
                f"{expected:.3g}"
            ]
    return []


def in_words(draw: Draws) -> str:
    """Format the parameters of a draw as text."""
    return ", ".join(f"{name} = {np.ravel(values)[0]:.3g}" for name, values in draw.items())


def check_density(log_density: LogDensity, predicted: Array, support: Support) -> list[str]:
    """List the problems of a density at one point of the parameters, each as the end of a sentence.

    Args:
        log_density: log density of a record.
        predicted: (m,) predictive values of the record.
        support: possible values of its outcome.
    """
    if not np.isfinite(predicted).all():
        return ["returns predictive values that are not finite"]
    if ((predicted < support.lower) | (predicted > support.upper)).any():
        ends = f"{support.lower:g} to {support.upper:g}"
        return [f"returns predictive values outside {ends}: all values that it can return must be in this interval"]
    with np.errstate(over="ignore"):
        values, masses = _masses(log_density, predicted, support)
    total = float(masses.sum())
    if not abs(total - 1) <= WRONG:
        return [f"has a density that integrates to {total:.3g} instead of 1, so epsilon would be wrong"]
    distance = _distance(values, masses, predicted)
    if kolmogorov(distance * len(predicted) ** 0.5) < UNLIKELY:
        return [f"returns predictive values that do not follow its density: the distribution functions differ by {distance:.2g}"]
    return []


def _masses(log_density: LogDensity, predicted: Array, support: Support) -> tuple[Array, Array]:
    """Values in increasing order, with the probability of each value or of the interval around it."""
    if support.whole:
        low = max(support.lower, predicted.min() - 1000) if np.isfinite(support.lower) else predicted.min() - 1000
        values = np.arange(low, min(support.upper, max(4 * predicted.max() + 1000, low), low + MOST) + 1)
        with np.errstate(over="ignore"):  # the sum shows that this is not a density
            return values, np.exp(log_density(values))
    different, number = np.unique(predicted, return_counts=True)
    atoms = different[number > 1]
    smooth = predicted[~np.isin(predicted, atoms)]
    values, lengths = _nodes(smooth if len(smooth) else predicted, support)
    inside = ~np.isin(values, atoms)
    values, lengths = np.concatenate([values[inside], atoms]), np.concatenate([lengths[inside], np.ones(len(atoms))])
    order = np.argsort(values, kind="stable")
    return values[order], np.exp(log_density(values[order])) * lengths[order]


def _nodes(predicted: Array, support: Support) -> tuple[Array, Array]:
    """Nodes over the support, dense near values and at finite ends, and the length of each node's interval."""
    low, high = support.lower, support.upper
    scale = float(np.median(np.abs(predicted - np.median(predicted)))) or 1.0
    if np.isfinite(low) and np.isfinite(high):
        t = np.linspace(-30, 30, NODES)
        values, slope = low + (high - low) * expit(t), (high - low) * expit(t) * expit(-t)
    elif np.isfinite(low) or np.isfinite(high):
        t = np.linspace(np.log(scale) - 2 * FAR, np.log(scale) + FAR, NODES)
        values, slope = (low + np.exp(t) if np.isfinite(low) else high - np.exp(t)), np.exp(t)
    else:
        t = np.linspace(-FAR, FAR, NODES)
        values, slope = np.median(predicted) + scale * np.sinh(t), scale * np.cosh(t)
    return values, slope * (t[1] - t[0])


def _distance(values: Array, masses: Array, predicted: Array) -> float:
    """Largest distance between the distribution functions of a density and of predictive values, at the values of the density."""
    below = np.searchsorted(np.sort(predicted), values, side="right") / len(predicted)
    continuous = np.cumsum(masses) - np.where(np.isin(values, predicted), 0, masses / 2)
    return float(np.abs(continuous - below).max())
