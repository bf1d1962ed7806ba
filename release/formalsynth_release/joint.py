"""Joint distribution of all columns: the closest one to independent columns that has the noisy margins and sums of pairs.

The log density is that of independent columns, plus a strength times the product that each sum adds up. Of all distributions
with these margins and sums, it has the largest entropy. Strengths have a small penalty, so correlations above 0.95 become weaker.
They are fitted to rows that are drawn from the distribution: in each round, weights of these rows reproduce the sums (entropy
balancing; Hainmueller 2012, Political Analysis 20, 25-46). Then rows are chosen by weight, moved by Gibbs sampling, and raked.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy  # imports its submodules on first use

from formalsynth_release.variables import Function, Variable

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array, Integers, Single

    Places = Mapping[str, Integers]
    """Levels (n,) of each column."""
POOL, MOST_POOL = 10_000, 500_000
"""Smallest and largest number of rows to which strengths are fitted: half of those of the file, so errors decrease with it."""
ROUNDS, STEPS = (3, 1), 15
"""Number of rounds of a fit, the number of them at the start that are not averaged, and largest number of steps in each."""
ROUNDS_OF_HATS, STEPS_OF_HATS = (5, 3), 8
"""The same with hats: many strengths need small changes, for which the rows of the pool still suffice."""
SWEEPS = 2  # number of times that each column is drawn, given the others, in a round of a fit and for rows that are asked for
MEMORY = 20  # number of former steps that a step takes into account
FARTHEST, FARTHEST_OF_HATS = 12.0, 3.0  # largest change of a strength in a round; few rows say something about a pair of hats
PENALTY = 30.0
"""Penalty of squared strengths, in units of the variances of the products, and divided by the number of rows of the pool."""
TRUST = 5.0  # penalty of squared changes, divided by the same number: few or no rows of the pool say little about a combination
RAKES = 5  # number of times that the weights of rows are adjusted to the shares of each column
SPREADS = np.geomspace(0.01, 1.0, 25)  # standard deviations of the parts of a mixture for the correlations of products
SHRINKING = 200  # number of rounds that estimate the weights of the mixture
LEAST = 1e-9  # smallest share of a level
CELLS = 20_000_000  # largest number of weights at a time, in drawing rows; a fit may need four times as many
CONSTANT = Function("", np.zeros(1, dtype=np.int64), np.ones((1, 1)))  # function of a column that does not exist


@dataclass(frozen=True)
class Term:
    """Products of functions of the levels of two columns, or functions of the levels of one."""

    first: Function
    second: Function = CONSTANT

    def index(self, places: Places) -> Integers:
        """Return the index (n,) of the combination of values of each row."""
        first = self.first.codes[places[self.first.column]]
        if self.second is CONSTANT:
            return first
        return first * len(self.second.values) + self.second.codes[places[self.second.column]]

    def exponents(self, strengths: Array) -> Array:
        """Compute the exponents of all combinations of values, from strengths (a * b,)."""
        return np.asarray((self.first.values @ strengths.reshape(self.shape) @ self.second.values.T).ravel())

    def means(self, weights: Array) -> Array:
        """Compute the means (a * b,) of the products, from the weights of all combinations of values."""
        table = weights.reshape(len(self.first.values), len(self.second.values))
        return np.asarray((self.first.values.T @ table @ self.second.values).ravel())

    def given(self, column: str, strengths: Array) -> tuple[Single, Single, Function]:
        """Return functions (levels, k) of a column, their factors (k, codes) for each code of the other one, and its function."""
        matrix = strengths.reshape(self.shape)
        if column == self.first.column:
            own, factors, other = self.first, self.second.values @ matrix.T, self.second
        else:
            own, factors, other = self.second, self.first.values @ matrix, self.first
        return own.of_levels.astype(np.float32), np.ascontiguousarray(factors.T, dtype=np.float32), other

    @property
    def hats(self) -> bool:
        """True if a function is one of hats."""
        return self.first.hats or self.second.hats

    @property
    def size(self) -> int:
        """Number of strengths."""
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of functions of both columns."""
        return self.first.values.shape[1], self.second.values.shape[1]

    @property
    def squared(self) -> Term:
        """Squares of the products."""
        return Term(self.first.squared, self.second.squared)


@dataclass(frozen=True)
class Sum:
    """Noisy sums of the products of a pair of variables."""

    first: Variable
    second: Variable
    means: Array  # (a * b,) sums of products of at most 1, divided by the number of rows
    error: float  # standard deviation of their noise

    @functools.cached_property
    def term(self) -> Term:
        """The products."""
        return Term(self.first.function, self.second.function)

    @property
    def alone(self) -> Array:
        """Shares (codes, codes) of combinations of values if the columns are independent."""
        return np.outer(self.term.first.shares(self.first.shares), self.term.second.shares(self.second.shares))

    @functools.cached_property
    def independent(self) -> Array:
        """Means (a * b,) of the products if the columns are independent."""
        return self.term.means(self.alone)

    def differences(self) -> Array:
        """Compute the differences (a * b,) from independent columns.

        If the indicators of a variable add up to the same number in each row, its sums add up to a mean that its margin already
        has. What is left is noise of both, and is divided among the indicators by their means.
        """
        first, second = self.first.mean * self.first.share, self.second.mean * self.second.share
        table = self.means.reshape(self.term.shape) - np.outer(first, second)
        if self.first.complete:
            table -= np.outer(self.first.mean, table.sum(axis=0))
        if self.second.complete:
            table -= np.outer(table.sum(axis=1), self.second.mean)
        return np.asarray(table.ravel())

    def turned(self, sums: Array, back: bool = False) -> Array:
        """Express sums (a * b,) in the bases of both variables, or do the reverse."""
        first, second = (np.linalg.inv(basis) if back else basis for basis in (self.first.basis, self.second.basis))
        return np.asarray((first.T @ sums.reshape(self.term.shape) @ second).ravel())

    @property
    def spreads(self) -> Array:
        """Standard deviations (a * b,) of the products in the bases of both variables, if the columns are independent."""
        functions = zip((self.term.first, self.term.second), (self.first.basis, self.second.basis), strict=True)
        term = Term(*(replace(function, values=function.values @ basis) for function, basis in functions))
        variances = term.squared.means(self.alone) - term.means(self.alone) ** 2
        return np.asarray(np.sqrt(np.maximum(variances, LEAST)))

    @property
    def noise(self) -> Array:
        """Standard deviations (a * b,) of the noise in the bases of both variables."""
        norms = (np.linalg.norm(variable.basis, axis=0) for variable in (self.first, self.second))
        return np.asarray(self.error * np.outer(*norms).ravel())


@dataclass(frozen=True)
class Condition:
    """Means (a * b,) that the products of a term have in the distribution."""

    term: Term
    means: Array
    start: float = 0.0  # strength at the start of the fit


@dataclass(frozen=True)
class Target:
    """Estimated means of the products of a pair."""

    of_pair: Sum
    means: Array  # (a * b,) means of the products
    kept: Array | None = None
    """(a * b,) standard deviations that the noise leaves, relative to its own, in the bases of both; None if all of it."""

    def uncertain(self, noise: Array) -> Array:
        """Reduce noise (a * b,) of the sums to what it leaves uncertain."""
        if self.kept is None:
            return noise
        return self.of_pair.turned(self.of_pair.turned(noise) * self.kept, back=True)


@dataclass(frozen=True)
class Joint:
    """Distribution of the levels of all columns."""

    shares: Mapping[str, Array]  # shares (levels,) of each column
    fields: Mapping[str, Array]  # log weights (levels,) of the levels of each column, which give it its shares
    terms: tuple[Term, ...]
    strengths: tuple[Array, ...]  # strengths of the products of each term
    pool: Places  # levels of rows with this distribution, from which drawn rows start, of the columns of the terms

    def drawn(self, number: int, generator: np.random.Generator, sample: bool = False) -> Places:
        """Draw the levels (number,) of each column: independent rows for a sample, as in a file; otherwise, its shares."""
        most = _most_rows(self.fields, self.terms)
        blocks = [self._block(min(most, number - start), generator, sample) for start in range(0, number, most)]
        places = {column: np.concatenate([block[column] for block in blocks]) for column in self.fields}
        return places if sample else raked(places, self.shares, generator)

    def _block(self, number: int, generator: np.random.Generator, sample: bool) -> Places:
        others = {column: share for column, share in self.shares.items() if column not in self.pool}
        places = {column: generator.choice(len(share), number, p=share) for column, share in others.items()}
        if self.terms:
            size = len(next(iter(self.pool.values())))
            index = generator.integers(size, size=number) if sample else generator.permutation(np.resize(np.arange(size), number))
            places |= self.moved({column: place[index] for column, place in self.pool.items()}, generator, sample).pool
        return places

    def moved(self, pool: Places, generator: np.random.Generator, sample: bool = False) -> Joint:
        """Move rows by Gibbs sampling, and correct the fields so that each column of the pool has its shares.

        Rows of a sample are moved without that: their shares vary as those of independent rows do.
        """
        fields, places = dict(self.fields), dict(pool)
        for _ in range(SWEEPS):
            for column in pool:
                share = self.shares[column]
                weights, index = replace(self, fields=fields).weights(column, places)
                if sample:
                    places[column] = _chosen(weights, index, generator)
                    continue
                rows = np.float32(1) if index is None else np.bincount(index, minlength=weights.shape[1]).astype(np.float32)
                mean = weights @ (rows / weights.sum(axis=0)) / len(places[column])
                factor = np.maximum(share, LEAST) / np.maximum(mean, LEAST)
                fields[column] = fields[column] + np.log(factor)
                places[column] = _chosen(weights * factor[:, None].astype(np.float32), index, generator)
        return replace(self, fields=fields, pool=places)

    def weights(self, column: str, places: Places) -> tuple[Single, Integers | None]:
        """Compute weights (levels, c) of a column for each combination of other columns' values, and that (n,) of each row.

        If there are hardly fewer combinations than rows, return weights (levels, n) for each row, and None.
        """
        of = zip(self.terms, self.strengths, strict=True)
        given = [term.given(column, strengths) for term, strengths in of if column in (term.first.column, term.second.column)]
        functions, factors, others = zip(*given, strict=True)
        codes, index = tuple(other.codes[places[other.column]] for other in others), None
        sizes = tuple(len(other.values) for other in others)
        if 2 * math.prod(sizes) <= len(codes[0]):
            codes, index = np.unravel_index(np.arange(math.prod(sizes)), sizes), np.ravel_multi_index(codes, sizes)
        taken = [factor.take(code, axis=1) for factor, code in zip(factors, codes, strict=True)]
        exponents: Single = np.hstack(functions) @ np.vstack(taken)
        exponents += self.fields[column][:, None].astype(np.float32)
        exponents -= exponents.max(axis=0)
        np.exp(exponents, out=exponents)
        return exponents, index

    def tilts(self, places: Places) -> dict[str, Array]:
        """Compute the changes (n,) of the log density across the levels of rows that follow from the levels of the other columns.

        Their mean in each level is 0: the margin already has it. Without them, relations of values would be those of levels.
        """
        tilts: dict[str, Array] = {}
        for term, strengths in zip(self.terms, self.strengths, strict=True):
            for function in (term.first, term.second):
                if function.across is not None:
                    _, factors, other = term.given(function.column, strengths)
                    of_others = factors.T[other.codes[places[other.column]]]
                    of_rows = np.einsum("nk,nk->n", function.across[places[function.column]], of_others)
                    tilts[function.column] = tilts.get(function.column, 0.0) + of_rows
        for column, tilt in tilts.items():
            counts = np.maximum(np.bincount(places[column]), 1)
            tilts[column] = tilt - (np.bincount(places[column], tilt) / counts)[places[column]]
        return tilts


def raked(places: Places, shares: Mapping[str, Array], generator: np.random.Generator) -> Places:
    """Choose rows by weight so that each column has its shares: this corrects most of what chance and an inexact fit changed.

    Weights are adjusted to each column in turn (raking; Deming and Stephan 1940, Ann. Math. Statist. 11, 427-444).
    """
    number = len(next(iter(places.values())))
    weights = np.ones(number)
    for _ in range(RAKES):
        for column, share in shares.items():
            there = np.bincount(places[column], weights, len(share))
            weights = weights * (share * number / np.maximum(there, LEAST))[places[column]]
    chosen = generator.permutation(_by_weight(weights, generator))
    return {column: place[chosen] for column, place in places.items()}


def _by_weight(weights: Array, generator: np.random.Generator) -> Integers:
    """Choose rows (n,) by weight, each as often as its weight, rounded up or down (systematic sampling)."""
    points = (np.arange(len(weights)) + generator.random()) / len(weights)
    chosen = np.searchsorted(np.cumsum(weights / weights.sum()), points, side="right")
    return np.minimum(chosen, len(weights) - 1)


def joint_of(shares: Mapping[str, Array], conditions: Sequence[Condition], rows: float, released: float | None = None) -> Joint:
    """Fit the distribution to shares (levels,) of columns, and to means of products, for a file with a number of rows.

    If it simulates a file that is released with more rows, penalties are for these: larger ones would hide a part of the noise.
    """
    fields = {column: np.log(np.maximum(share, LEAST)) for column, share in shares.items()}
    terms = tuple(condition.term for condition in conditions)
    if not terms:
        return Joint(shares, fields, (), (), {})
    generator, most = np.random.default_rng(0), min(MOST_POOL, 4 * _most_rows(fields, terms))
    number, penalized = (int(max(min(of_file / 2, most), POOL)) for of_file in (rows, released or rows))
    paired = {function.column for term in terms for function in (term.first, term.second)}
    pool = {column: generator.choice(len(share), number, p=share) for column, share in shares.items() if column in paired}
    strengths = tuple(np.full(condition.term.size, condition.start) for condition in conditions)
    joint = Joint(shares, fields, terms, strengths, pool)
    if any(condition.start for condition in conditions):
        joint = joint.moved(pool, generator)
    functions: dict[tuple[str, bytes], Function] = {}
    for function in (function for term in terms for function in (term.first, term.second)):
        functions.setdefault((function.column, function.codes.tobytes()), function)
    # the means of indicators, scores and their squares in single columns stay
    margins = [Term(function.with_squares if function.scored else function) for function in functions.values()]
    of_margins = [margin.means(margin.first.shares(shares[margin.first.column])) for margin in margins]
    means = np.concatenate([*of_margins, *(condition.means for condition in conditions)])
    hats = any(term.hats for term in terms)
    (rounds, first), steps = (ROUNDS_OF_HATS, STEPS_OF_HATS) if hats else (ROUNDS, STEPS)
    fit = _Fit(margins, means, steps, penalized)
    for done in range(rounds):
        joint = fit.nearer(joint, 1 / max(done - first + 1, 1), generator)
        joint = joint.moved(joint.pool, generator)
    return joint


def _most_rows(fields: Mapping[str, Array], terms: Sequence[Term]) -> int:
    """Return the number of rows whose weights for any column, with all they are computed from, fit into CELLS."""
    return max(CELLS // (max(map(len, fields.values())) + 3 * sum(sum(term.shape) for term in terms)), 1)


def estimated(sums: Sequence[Sum]) -> list[Target]:
    """Estimate sums from noisy ones: they are shrunk towards those of independent columns as their noise requires."""
    if not sums:
        return []
    parts = [(of_pair.turned(of_pair.differences()), of_pair.spreads, of_pair.noise) for of_pair in sums]
    differences, spreads, noise = (np.concatenate(kind) for kind in zip(*parts, strict=True))
    closer, errors = shrunk(differences / spreads, noise / spreads)
    ends = np.cumsum([of_pair.term.size for of_pair in sums])[:-1]
    means, kept = np.split(spreads * closer, ends), np.split(spreads * errors / np.maximum(noise, LEAST), ends)
    targets = zip(sums, means, kept, strict=True)
    return [Target(of, of.independent + of.turned(own, back=True), of_kept) for of, own, of_kept in targets]


def consistent(sums: Sequence[Sum]) -> list[Target]:
    """Remove the noise of margins from noisy sums, without shrinking them."""
    return [Target(of_pair, of_pair.independent + of_pair.differences()) for of_pair in sums]


@dataclass(frozen=True)
class _Rows:
    """Rows of a pool, with the index (n,) of their combination of levels in each term."""

    terms: Sequence[Term]
    index: Sequence[Integers]

    def split(self, strengths: Array) -> list[Array]:
        """Split strengths (k,) by term."""
        return np.split(strengths, np.cumsum([term.size for term in self.terms])[:-1])

    def exponents(self, strengths: Array) -> Array:
        """Add up the exponents (n,) of all terms."""
        parts = zip(self.terms, self.index, self.split(strengths), strict=True)
        return np.asarray(sum(term.exponents(of_term)[index] for term, index, of_term in parts))

    def weights(self, strengths: Array) -> Array:
        """Compute the weights (n,) of rows, which add up to 1."""
        exponents = self.exponents(strengths)
        weights = np.exp(exponents - exponents.max())
        return np.asarray(weights / weights.sum())

    def means(self, weights: Array) -> Array:
        """Compute the weighted means (k,) of all products."""
        named = zip(self.terms, self.index, strict=True)
        sized = [(term, index, len(term.first.values) * len(term.second.values)) for term, index in named]
        return np.concatenate([term.means(np.bincount(index, weights, size).astype(float)) for term, index, size in sized])

    def variances(self) -> Array:
        """Compute the variances (k,) of all products."""
        equal = np.full(len(self.index[0]), 1 / len(self.index[0]))
        return replace(self, terms=[term.squared for term in self.terms]).means(equal) - self.means(equal) ** 2


@dataclass(frozen=True)
class _Fit:
    """Round of a fit, which changes strengths and chooses rows."""

    margins: Sequence[Term]
    means: Array  # (k,) means that the products of margins and terms have in the end
    steps: int  # largest number of steps
    penalized: int  # number of rows for which penalties are made

    def nearer(self, joint: Joint, share: float, generator: np.random.Generator) -> Joint:
        """Make a share of the change with which the weighted rows of the pool have the means, and choose rows by weight."""
        terms = [*self.margins, *joint.terms]
        rows = _Rows(terms, [term.index(joint.pool) for term in terms])
        before = np.concatenate([*(np.zeros(margin.size) for margin in self.margins), *joint.strengths])
        change = share * self._change(rows, before)
        chosen = generator.permutation(_by_weight(rows.weights(change), generator))
        changes, fields = rows.split(change), dict(joint.fields)
        for margin, of_margin in zip(self.margins, changes, strict=False):
            column = margin.first.column
            fields[column] = fields[column] + margin.exponents(of_margin)[margin.first.codes]
        strengths = tuple(old + new for old, new in zip(joint.strengths, changes[len(self.margins) :], strict=True))
        pool = {column: place[chosen] for column, place in joint.pool.items()}
        return replace(joint, fields=fields, strengths=strengths, pool=pool)

    def _change(self, rows: _Rows, before: Array) -> Array:
        """Find the change of strengths that gives the weighted rows the means, by a penalized likelihood."""
        variances = rows.variances()
        penalty, trust = PENALTY / self.penalized * variances, TRUST / self.penalized
        scale = 1 / np.sqrt(variances + trust)

        def loss(scaled: Array) -> tuple[float, Array]:
            change = scaled * scale
            exponents = rows.exponents(change)
            most = exponents.max()
            weights = np.exp(exponents - most)
            total, after = weights.sum(), before + change
            value = most + np.log(total) - self.means @ change + penalty @ after**2 / 2 + trust * (change @ change) / 2
            return float(value), (rows.means(weights / total) - self.means + penalty * after + trust * change) * scale

        farthest = [np.full(term.size, FARTHEST_OF_HATS if term.hats else FARTHEST) for term in rows.terms]
        ends = np.concatenate(farthest) / scale
        start, bounds = np.zeros(len(before)), list(zip(-ends, ends, strict=True))
        solution = scipy.optimize.minimize(
            loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": self.steps, "maxcor": MEMORY}
        )
        return np.asarray(solution.x) * scale


def _chosen(weights: Single, index: Integers | None, generator: np.random.Generator) -> Integers:
    """Draw a level (n,) for each row, from what :meth:`Joint.weights` returns."""
    edges = weights
    for below, level in itertools.pairwise(edges):  # several times faster than cumsum along this axis
        level += below
    of_rows = edges if index is None else edges.take(index, axis=1)
    points = generator.random(of_rows.shape[1], dtype=np.float32) * of_rows[-1]
    return np.asarray((of_rows[:-1] <= points).sum(axis=0, dtype=np.min_scalar_type(len(edges))), dtype=np.int64)


def shrunk(values: Array, errors: Array) -> tuple[Array, Array]:
    """Shrink estimates towards 0 by their standard errors, and return posterior means and standard deviations.

    The prior is a mixture of normals, whose weights are estimated with a prior that weighs as much as one estimate. So a few
    strong relations among many weak ones stay strong (adaptive shrinkage; Stephens 2017, Biostatistics 18, 275-294).
    """
    total = SPREADS[:, None] ** 2 + errors**2
    log_density = -(np.log(total) + values**2 / total) / 2
    density = np.exp(log_density - log_density.max(axis=0))
    weight = np.full((len(SPREADS), 1), 1 / len(SPREADS))
    for _ in range(SHRINKING):
        posterior = weight * density / (weight * density).sum(axis=0)
        weight = (posterior.sum(axis=1, keepdims=True) + 1 / len(SPREADS)) / (len(values) + 1)
    kept = SPREADS[:, None] ** 2 / total
    means = values * (posterior * kept).sum(axis=0)
    squares = (posterior * (kept * errors**2 + (kept * values) ** 2)).sum(axis=0)
    return np.asarray(means), np.sqrt(np.maximum(squares - means**2, 0.0))
