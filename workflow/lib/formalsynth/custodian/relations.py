"""Relations between columns: sums of products of scores for each pair, and latent normal correlations that explain them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from formalsynth.core.arrays import Array, Integers

STEPS = 20
"""Scores are whole numbers from -STEPS to STEPS."""
LIMIT = 0.97
"""Largest absolute latent correlation."""
LEAST_EIGENVALUE = 1e-3
PROJECTIONS = 100
"""Largest number of steps towards a positive definite matrix."""
TERMS = 24
"""Terms of the expansion of a covariance in powers of the correlation."""
SPREADS = np.geomspace(0.1, 1.0, 21)
"""Standard deviations of the parts of a mixture for latent correlations; smaller ones would bias weak relations."""
ROUNDS = 200
"""Number of rounds that estimate the weights of the mixture."""
GRID = np.linspace(-LIMIT, LIMIT, 389)


@dataclass(frozen=True)
class Variable:
    """Member of a pair: a column, or the kind of its values."""

    name: str
    shares: Array
    """(levels,) shares of its levels among the values that are not missing."""
    there: float
    """Share of the rows that have a value."""
    ordered: bool

    @functools.cached_property
    def scores(self) -> Integers:
        """Scores (levels,) of an ordered variable: middle ranks, whose mean is about 0, clipped to -STEPS and STEPS."""
        ranks = np.cumsum(self.shares) - self.shares / 2 - 0.5
        scores = STEPS * ranks / max(np.abs(ranks).max(), 1e-9)
        return np.asarray(np.clip(np.rint(scores), -STEPS, STEPS), dtype=np.int64)

    @property
    def width(self) -> int:
        """Number of its indicators."""
        return 1 if self.ordered else len(self.shares)

    @property
    def largest(self) -> int:
        """Largest absolute value of its indicators."""
        return STEPS if self.ordered else 1

    def indicators(self, places: Integers) -> Integers:
        """Return scores (n, 1), or indicators (n, levels) of categories; 0 for a missing value."""
        if self.ordered:
            return np.where(places < 0, 0, self.scores[places])[:, None]
        return np.asarray(places[:, None] == np.arange(len(self.shares)), dtype=np.int64)

    @functools.cached_property
    def splits(self) -> Array:
        """Probability (levels - 1,) of each category, given that it or a later one occurs; an ordered variable has one split."""
        if self.ordered:
            return np.array([0.5])
        after = np.cumsum(self.shares[::-1])[::-1]
        return np.clip(self.shares[:-1] / np.maximum(after[:-1], 1e-12), 1e-6, 1 - 1e-6)

    @functools.cached_property
    def coefficients(self) -> Array:
        """Coefficients (splits, TERMS) of scores, or of the indicator of each split, in orthonormal Hermite polynomials."""
        if self.ordered:
            edges = special.ndtri(np.clip(np.cumsum(self.shares)[:-1], 1e-9, 1 - 1e-9))
            return (np.diff(self.scores) @ _steps(edges))[None, :]
        return _steps(special.ndtri(1 - self.splits))

    def mean(self) -> float:
        """Mean score of an ordered variable."""
        return float(self.scores @ self.shares)


def _steps(edges: Array) -> Array:
    """Return coefficients (k, TERMS) of the functions that step from 0 to 1 at edges (k,)."""
    polynomials = np.zeros((len(edges), TERMS))
    polynomials[:, 0] = 1.0
    if TERMS > 1:
        polynomials[:, 1] = edges
    for order in range(2, TERMS):
        polynomials[:, order] = (edges * polynomials[:, order - 1] - np.sqrt(order - 1) * polynomials[:, order - 2]) / np.sqrt(
            order
        )
    density = np.exp(-(edges**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(density[:, None] * polynomials / np.sqrt(np.arange(1, TERMS + 1)))


def products(first: Integers, second: Integers) -> Integers:
    """Sum the products (a, b) of the indicators of two variables over the rows; a row contributes to at most one of the sums."""
    return np.asarray(first.T @ second, dtype=np.int64)


def correlations(
    variables: Sequence[Variable], sums: Mapping[tuple[int, int], Array], rows: float, variances: Mapping[tuple[int, int], float]
) -> Array:
    """Compute latent correlations (d, d) of all splits of all variables.

    Args:
        variables: the variables.
        sums: noisy sums of products, keyed by the indices of two variables, the smaller one first.
        rows: number of rows.
        variances: variance of the noise of each sum.
    """
    starts = np.concatenate([[0], np.cumsum([len(variable.splits) for variable in variables])])
    matrix = np.eye(starts[-1])
    latents = [
        (starts[i] + a, starts[j] + b, *latent)
        for (i, j), of_pair in sums.items()
        for (a, b), latent in _estimates(variables[i], variables[j], of_pair, rows, np.sqrt(variances[i, j]))
    ]
    if latents:
        row, column, values, errors = (np.array(part) for part in zip(*latents, strict=True))
        matrix[row, column] = matrix[column, row] = shrunk(values, errors)
    splits = [np.arange(start, end) for start, end in itertools.pairwise(starts)]
    return completed(matrix, [np.concatenate([splits[i], splits[j]]) for i, j in sums])


def errors(
    variables: Sequence[Variable], rows: float, variances: Mapping[tuple[int, int], float]
) -> dict[tuple[int, int], float]:
    """Compute the largest noise standard error of the latent correlations of each pair, from the margins alone."""
    nothing = {pair: np.zeros((variables[pair[0]].width, variables[pair[1]].width)) for pair in variances}
    return {
        (i, j): max(error for _, (_, error) in _estimates(variables[i], variables[j], sums, rows, np.sqrt(variances[i, j])))
        for (i, j), sums in nothing.items()
    }


def shrunk(values: Array, errors: Array) -> Array:
    """Shrink estimates towards 0 by their standard errors: posterior means under a prior that is a mixture of normals.

    The weights of the mixture are estimated, with a prior that weighs as much as one estimate, so a few strong relations among
    many weak ones stay strong (adaptive shrinkage; Stephens 2017, Biostatistics 18, 275-294).
    """
    total = SPREADS[:, None] ** 2 + errors**2
    log_density = -(np.log(total) + values**2 / total) / 2
    density = np.exp(log_density - log_density.max(axis=0))
    weight = np.full((len(SPREADS), 1), 1 / len(SPREADS))
    for _ in range(ROUNDS):
        posterior = weight * density / (weight * density).sum(axis=0)
        weight = (posterior.sum(axis=1, keepdims=True) + 1 / len(SPREADS)) / (len(values) + 1)
    return np.asarray(values * (posterior * SPREADS[:, None] ** 2 / total).sum(axis=0))


Latent = tuple[float, float]
"""Latent correlation, and its standard error due to noise."""


def _estimates(
    first: Variable, second: Variable, sums: Array, rows: float, error: float
) -> Iterator[tuple[tuple[int, int], Latent]]:
    """Yield the indices of two splits and their latent correlation."""
    n = rows * first.there * second.there
    if first.ordered and second.ordered:
        covariance = float(sums[0, 0]) / n - first.mean() * second.mean()
        yield (0, 0), _latent(first.coefficients[0], second.coefficients[0], covariance, error / n)
    elif first.ordered:
        for (a, b), latent in _estimates(second, first, sums.T, rows, error):
            yield (b, a), latent
    elif second.ordered:
        yield from _with_categories(first, second, sums[:, 0], n, error)
    else:
        yield from _of_categories(first, second, sums, n, error)


def _with_categories(
    first: Variable, second: Variable, sums: Array, n: float, error: float
) -> Iterator[tuple[tuple[int, int], Latent]]:
    """Yield correlations of the splits of categories with an ordered variable."""
    mean = second.mean()
    for level, share in enumerate(first.splits):
        left = max(n * first.shares[level:].sum(), 1.0)
        inside = sums[level] - n * first.shares[level] * mean
        outside = sums[level + 1 :].sum() - n * first.shares[level + 1 :].sum() * mean
        others = len(first.shares) - level - 1
        wrong = error * np.sqrt((1 - share) ** 2 + share**2 * others) / left
        covariance = float(inside * (1 - share) - outside * share) / left
        yield (level, 0), _latent(first.coefficients[level], second.coefficients[0], covariance, wrong)


def _of_categories(
    first: Variable, second: Variable, table: Array, n: float, error: float
) -> Iterator[tuple[tuple[int, int], Latent]]:
    """Yield correlations of the splits of two variables with categories."""
    for a, share in enumerate(first.splits):
        for b, other in enumerate(second.splits):
            left = max(n * first.shares[a:].sum() * second.shares[b:].sum(), 1.0)
            covariance = float(table[a, b]) / left - share * other
            yield (a, b), _latent(first.coefficients[a], second.coefficients[b], covariance, error / left)


def _latent(first: Array, second: Array, covariance: float, error: float) -> Latent:
    """Return the latent correlation at which two functions of normal variables have a given covariance.

    Args:
        first: coefficients (TERMS,) of a function in Hermite polynomials, from the first order on.
        second: coefficients of the other one.
        covariance: their covariance.
        error: standard error of the covariance.
    """
    terms = first * second
    powers = np.polynomial.polynomial.polyval(GRID, np.concatenate([[0.0], terms]))
    value = float(np.interp(covariance, np.maximum.accumulate(powers), GRID))
    return value, float(error / max(terms[0], 1e-12))


def completed(matrix: Array, pairs: Sequence[Integers]) -> Array:
    """Complete a positive definite correlation matrix; unmeasured correlations are those of maximum entropy, given the others.

    Args:
        matrix: (d, d) correlations.
        pairs: indices of the splits of each pair of variables whose correlations were measured.
    """
    measured = np.eye(len(matrix), dtype=bool)
    for pair in pairs:
        measured[np.ix_(pair, pair)] = True
    matrix = _feasible(matrix, measured)
    if measured.all():
        return matrix
    # iterative proportional scaling (Speed and Kiiveri 1986, Annals of Statistics 14, 138-150), in terms of covariances
    fitted = np.eye(len(matrix))
    for _ in range(50):
        before = fitted.copy()
        for pair in pairs:
            inside = fitted[np.ix_(pair, pair)]
            slopes = np.linalg.solve(inside, fitted[pair])
            fitted += slopes.T @ (matrix[np.ix_(pair, pair)] - inside) @ slopes
        if np.abs(fitted - before).max() < 1e-6:
            break
    return positive(fitted)


def _feasible(matrix: Array, measured: NDArray[np.bool_]) -> Array:
    """Find a positive definite matrix with the measured correlations, or with close ones if there is none.

    Alternating projections (Higham 2002, IMA Journal of Numerical Analysis 22, 329-343): unmeasured entries are free. If they
    were 0, a column with two strong relations to columns that are not paired would lose both.
    """
    current = matrix
    for _ in range(PROJECTIONS):
        values, vectors = np.linalg.eigh(current)
        if values[0] > LEAST_EIGENVALUE / 2:
            break
        current = np.where(measured, matrix, (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T)
    return positive(current)


def positive(matrix: Array) -> Array:
    """Replace small and negative eigenvalues of a symmetric matrix, and scale it to correlations."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    repaired = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    size = np.sqrt(np.diag(repaired))
    return np.asarray(repaired / size / size[:, None])


def drawn(
    variables: Sequence[Variable], matrix: Array, rows: int, generator: np.random.Generator
) -> Iterator[tuple[Integers, Array]]:
    """Yield the levels (rows,) of each variable and the positions within them, from normal variables."""
    normal = generator.standard_normal((rows, len(matrix))) @ np.linalg.cholesky(matrix).T
    start = 0
    for variable in variables:
        end = start + len(variable.splits)
        of_splits = normal[:, start:end]
        yield _ordered(variable, of_splits[:, 0]) if variable.ordered else (_category(variable, of_splits), np.zeros(rows))
        start = end


def _ordered(variable: Variable, normal: Array) -> tuple[Integers, Array]:
    uniform, edges = special.ndtr(normal), np.cumsum(variable.shares)
    place = np.minimum(np.searchsorted(edges, uniform, side="right"), len(edges) - 1)
    low = np.concatenate([[0.0], edges])[place]
    share = (uniform - low) / np.maximum(variable.shares[place], 1e-12)
    return place.astype(np.int64), np.clip(share, 0.0, 1 - 1e-12)


def _category(variable: Variable, normal: Array) -> Integers:
    """Return the first category whose split is passed; the last one if none is."""
    passed = np.column_stack([normal > special.ndtri(1 - variable.splits), np.ones(len(normal), dtype=bool)])
    return np.asarray(np.argmax(passed, axis=1), dtype=np.int64)
