"""Noisy moments: noisy sums of declared, bounded functions of each record, and the parameters that have these moments.

There are two mechanisms. :func:`noisy_moments`, with discrete Laplace noise, is epsilon-DP for adding or removing a record.
AdaSSP (Wang 2018, Algorithm 2), with Gaussian noise, is (epsilon, delta)-DP for the same neighbours. No library implements either
in a form that keeps its guarantee: ``diffprivlib.models.LinearRegression`` 0.6.6 scales the noise of squares by the lower bound
only, so it adds none if that bound is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.private import DiscreteLaplaceCounts
from formalsynth.core.tables import BETA, NEGATIVE_BINOMIAL, NORMAL

from .tasks import Task

UNIT = 1000
"""Number of units in 1: the contributions of a record are rounded to whole units, so the noise is discrete."""
DELTA = 1e-5
"""Delta of AdaSSP."""
FAILURE = 0.05
"""Probability that the ridge of AdaSSP is too small for its bound; Wang's value."""
KINDS = (NORMAL, BETA, NEGATIVE_BINOMIAL)
"""Kinds of families whose parameters can be computed from moments."""


def unit_values(task: Task, records: Records) -> Array:
    """Predictors and outcome (n, q), with their declared bounds mapped to [-1, 1], and clipped; NaN becomes 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        outcome = task.scaled(np.maximum(records.x, 0) if task.log else records.x)
    values = np.column_stack([records.design[:, 1:], outcome])
    centre, half = _bounds(task, values.shape[1])
    return np.nan_to_num(np.clip((values - centre) / half, -1, 1))


def _bounds(task: Task, q: int) -> tuple[Array, Array]:
    """Centres and half-widths (q,) of the declared bounds, those of the outcome last."""
    edges = task.bins.edges
    ends = np.array([task.predictor[:2]] * (q - 1) + [(edges[0], edges[-1])], dtype=float)
    return ends.mean(axis=1), np.diff(ends, axis=1)[:, 0] / 2


def contributions(values: Array) -> Array:
    """Contributions of records (n, moments) to the sums: whole numbers, at most :data:`UNIT` in absolute value.

    They are 1, each value, each square minus 1/2, and each product of two values.

    Args:
        values: (n, q) values in [-1, 1].
    """
    first, second = np.triu_indices(values.shape[1], 1)
    columns = [np.ones((len(values), 1)), values, values**2 - 0.5, values[:, first] * values[:, second]]
    return np.asarray(np.rint(UNIT * np.hstack(columns)))


def sensitivity(q: int) -> float:
    """Largest L1 norm of the contribution of a record with q values, in units of 1: at a corner, every part is at its bound."""
    return 1 + q + q / 2 + q * (q - 1) / 2


def moment_sums(task: Task, records: Records, epsilon: float) -> DiscreteLaplaceCounts:
    """Sum the contributions of all records; the noise is on the scale of the sums."""
    values = unit_values(task, records)
    return DiscreteLaplaceCounts(contributions(values).sum(axis=0), UNIT * sensitivity(values.shape[1]) / epsilon)


def noisy_moments(task: Task, records: Records, epsilon: float, generator: np.random.Generator) -> Draws:
    """Estimate the parameters (one draw) from noisy moments."""
    sums = moment_sums(task, records, epsilon)
    noisy = sums.noisy(generator, 1)[0] / UNIT
    return parameters(task, from_sums(noisy, records.design.shape[1], sums.scale / UNIT))


@dataclass(frozen=True)
class Moments:
    """Mean (q,) and covariance (q, q) of values in [-1, 1]."""

    mean: Array
    covariance: Array


def from_sums(noisy: Array, q: int, scale: float) -> Moments:
    """Compute moments from noisy sums; eigenvalues of the covariance are raised to at least the error from noise."""
    n = max(noisy[0], q + 2.0)
    mean = np.clip(noisy[1 : q + 1] / n, -1, 1)
    second = np.diag(noisy[q + 1 : 2 * q + 1] / n + 0.5 * noisy[0] / n)
    above = np.triu_indices(q, 1)
    second[above] = noisy[2 * q + 1 :] / n
    second = second + np.triu(second, 1).T
    return Moments(mean, raised(second - np.outer(mean, mean), math.sqrt(2) * scale / n))


def raised(matrix: Array, least: float) -> Array:
    """Raise the eigenvalues of a symmetric matrix to at least ``least``."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, max(least, 1e-6))) @ vectors.T)


def parameters(task: Task, moments: Moments) -> Draws:
    """Compute the parameters (one draw) with which the family has these moments.

    Raises:
        ValueError: the family's parameters cannot be computed from moments.
    """
    q = len(moments.mean)
    centre, half = _bounds(task, q)
    mean, covariance = centre + half * moments.mean, moments.covariance * np.outer(half, half)
    m, v = float(mean[-1]), float(covariance[-1, -1])
    declared = task.tabled
    if declared.kind == NORMAL:
        slopes = np.linalg.solve(covariance[:-1, :-1], covariance[:-1, -1])
        spread = math.sqrt(max(v - float(slopes @ covariance[:-1, -1]), 1e-4 * half[-1] ** 2))
        return declared.of(np.array([[m - float(slopes @ mean[:-1]), *slopes]]), np.array([spread]))
    if q > 1 or declared.kind not in KINDS:
        raise ValueError(f"the parameters of the family {task.family} cannot be computed from moments")
    if declared.kind == BETA:
        m = min(max(m, 0.001), 0.999)
        return declared.of(np.array([[math.log(m / (1 - m))]]), np.array([min(max(m * (1 - m) / v - 1, 0.11), 1e4)]))
    m = max(m, 0.1)
    return declared.of(np.array([[math.log(m)]]), np.array([min(max((v - m) / m**2, 1e-4), 20.0)]))


def gaussian_scale(epsilon: float, delta: float) -> float:
    """Smallest standard deviation of Gaussian noise for an L2 sensitivity of 1 (Balle and Wang 2018, Theorem 8)."""

    def excess(scale: float) -> float:
        half, shift = 1 / (2 * scale), epsilon * scale
        return float(norm.cdf(half - shift) - np.exp(epsilon + norm.logcdf(-half - shift))) - delta

    return float(brentq(excess, 1e-3, 1e6, xtol=1e-12))


QUERIES = 4
"""Number of queries of AdaSSP: smallest eigenvalue, squares of the design, products with the outcome, squares of the outcome."""


def adassp_scales(d: int, epsilon: float) -> Mapping[str, float]:
    """Compute the standard deviation of the noise of each query of AdaSSP, for d columns of the design.

    Entries of the design, the constant included, are in [-1, 1], so the norm of a row is at most sqrt(d); outcomes are in
    [-1, 1]. All queries together are one Gaussian mechanism: if each is divided by its own sensitivity, their joint sensitivity
    is sqrt(:data:`QUERIES`).
    """
    unit = math.sqrt(QUERIES) * gaussian_scale(epsilon, DELTA)
    return {"eigenvalue": d * unit, "design": d * unit, "products": math.sqrt(d) * unit, "squares": unit}


def adassp(task: Task, records: Records, epsilon: float, generator: np.random.Generator) -> Draws:
    """Fit a regression by AdaSSP (Wang 2018, Algorithm 2) on declared bounds, with a fourth query for the spread.

    The noise is calibrated exactly and for all queries jointly, so there is less of it than in the paper.
    """
    values = unit_values(task, records)
    q = values.shape[1]
    x, y = np.column_stack([np.ones(len(values)), values[:, :-1]]), values[:, -1]
    scales = adassp_scales(q, epsilon)
    square = x.T @ x
    eigenvalue = float(np.linalg.eigvalsh(square)[0]) + scales["eigenvalue"] * generator.standard_normal()
    eigenvalue = max(eigenvalue - scales["eigenvalue"] * math.sqrt(2 * math.log(6 / DELTA)) / 2, 0.0)
    ridge = max(scales["design"] * math.sqrt(q * math.log(2 * q**2 / FAILURE)) - eigenvalue, 0.0)
    noise = np.triu(generator.normal(0, scales["design"], (q, q)))
    noisy = square + noise + np.triu(noise, 1).T + ridge * np.eye(q)
    products = x.T @ y + generator.normal(0, scales["products"], q)
    total = float(y @ y) + scales["squares"] * generator.standard_normal()
    coefficient = np.linalg.lstsq(noisy, products, rcond=None)[0]
    size = max(float(noisy[0, 0] - ridge), q + 2.0)
    residual = (total - 2 * coefficient @ products + coefficient @ (noisy - ridge * np.eye(q)) @ coefficient) / size
    centre, half = _bounds(task, q)
    slopes = half[-1] * coefficient[1:] / half[:-1]
    intercept = centre[-1] + half[-1] * coefficient[0] - slopes @ centre[:-1]
    return task.tabled.of(np.array([[intercept, *slopes]]), np.array([half[-1] * math.sqrt(max(residual, 1e-4))]))
