"""Weights of drawn rows that reproduce the noisy sums of pairs.

Latent normal variables alone would make some relations too weak: those of categories without an order, whose splits have
independent latent variables, and those of values that only some rows have, such as the hours of people who work. Rows are
therefore weighted by exp(strength . terms of the row): of all distributions with the noisy sums, as far as their noise allows,
this is the closest to the model (entropy balancing; Hainmueller 2012, Political Analysis 20, 25-46).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from formalsynth.core.arrays import Array, Index, Integers
from formalsynth.custodian.relations import Variable

Pair = tuple[str, str]
Places = Mapping[str, Integers]
"""Levels (n,) of each variable, below 0 where it has no value."""
STRONGEST = 4.0
"""Largest strength of a term."""
SHRINKAGE = 0.1
"""Weight of the sums' noise relative to their distance from the model's sums; chosen on Adult and German credit."""
LEAST_SHRINKAGE = 0.01
"""Penalty if there is no noise, in units of the variances of the terms."""
STEPS = 200


@dataclass(frozen=True)
class Tilt:
    """Weights of rows."""

    variables: Mapping[str, Variable]
    pairs: tuple[Pair, ...]
    strength: Array
    """(k,) strength of each term."""

    def weights(self, places: Places) -> Array:
        """Weights (n,) of rows, which add up to 1."""
        exponent = terms(self.variables, self.pairs, places) @ self.strength
        weight = np.exp(exponent - exponent.max())
        return np.asarray(weight / weight.sum())


def tilt_of(
    variables: Mapping[str, Variable], sums: Mapping[Pair, Array], variances: Mapping[Pair, float], rows: float, places: Places
) -> Tilt:
    """Find the weights that give rows of the model the noisy sums.

    Args:
        variables: variables by name.
        sums: noisy sums of products of the indicators of pairs.
        variances: variance of the noise of each sum.
        rows: rows of the file.
        places: levels of rows of the model.
    """
    pairs = tuple(sums)
    values = terms(variables, pairs, places)
    largest = {pair: variables[pair[0]].largest * variables[pair[1]].largest for pair in pairs}
    margins = [_margin(variables[name]) for name in _named(pairs)]
    target = np.concatenate([*margins, *(sums[pair].ravel() / rows / largest[pair] for pair in pairs)])
    noise = [np.full(sums[pair].size, variances[pair] / rows / largest[pair] ** 2) for pair in pairs]
    penalty = SHRINKAGE * np.concatenate([*map(np.zeros_like, margins), *noise]) + LEAST_SHRINKAGE * values.var(axis=0)

    def loss(strength: Array) -> tuple[float, Array]:
        exponent = values @ strength
        weight = np.exp(exponent - exponent.max())
        total = weight.sum()
        size = exponent.max() + np.log(total / len(weight)) - target @ strength + (penalty * strength**2).sum() / 2
        return float(size), weight @ values / total - target + penalty * strength

    bounds = [(-STRONGEST, STRONGEST)] * len(target)
    start = np.zeros(len(target))
    solution = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
    return Tilt(variables, pairs, np.asarray(solution.x))


def terms(variables: Mapping[str, Variable], pairs: tuple[Pair, ...], places: Places) -> Array:
    """Compute terms (n, k) of rows, at most 1: those of the margin of each variable, then products of indicators of each pair.

    The terms of a margin are indicators of categories, or scores and their squares.
    """
    names = _named(pairs)
    indicators = {name: variables[name].indicators(places[name]) / variables[name].largest for name in names}
    parts = [_with_squares(indicators[name]) if variables[name].ordered else indicators[name] for name in names]
    ends = np.cumsum([part.shape[1] for part in parts] + [variables[a].width * variables[b].width for a, b in pairs])
    rows = len(next(iter(indicators.values())))
    values = np.empty((rows, ends[-1]))
    for part, end in zip(parts, ends, strict=False):
        values[:, end - part.shape[1] : end] = part
    for (a, b), end in zip(pairs, ends[len(parts) :], strict=True):
        products = np.einsum("ij,ik->ijk", indicators[a], indicators[b])
        values[:, end - products[0].size : end] = products.reshape(rows, -1)
    return values


def chosen(weight: Array, number: int, generator: np.random.Generator) -> tuple[Index, Array]:
    """Draw rows with probabilities given by their weights, systematically, so few are drawn twice.

    Returns:
        Indices (number,) of the rows in random order, and True where a row was drawn before.
    """
    points = (np.arange(number) + generator.random()) / number
    index = generator.permutation(np.minimum(np.searchsorted(np.cumsum(weight), points, side="right"), len(weight) - 1))
    again = np.ones(number, dtype=bool)
    again[np.unique(index, return_index=True)[1]] = False
    return index, again


def _margin(variable: Variable) -> Array:
    """Return the means of the terms of a margin."""
    if not variable.ordered:
        return variable.shares * variable.there
    return _with_squares(variable.scores[:, None] / variable.largest).T @ variable.shares * variable.there


def _with_squares(scores: Array) -> Array:
    return np.hstack([scores, scores**2])


def _named(pairs: tuple[Pair, ...]) -> list[str]:
    """List the variables in pairs."""
    return list(dict.fromkeys(name for pair in pairs for name in pair))
