"""Log-likelihoods relative to their values at a reference parameter: the only module that subtracts these values.

A pseudo posterior does not change if a function of each record alone is subtracted from its log-likelihood. Clipping does
change: its centre is then the reference instead of a density of 1. Code that clips, bounds, sums or samples a log-likelihood
does not know about the reference: it is passed a :class:`Centred` family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Draws, Records, each
from formalsynth.core.family import Family, StanData, log_likelihood, starts, whole


@dataclass(frozen=True)
class Reference:
    """Reference parameter: a value, or a tuple of coefficients, for each parameter of a family."""

    values: tuple[tuple[str, float | tuple[float, ...]], ...]

    @classmethod
    def of(cls, draws: Draws) -> Reference:
        """Make the reference of a single draw."""
        parts = {name: np.asarray(values)[0] for name, values in draws.items()}
        return cls(tuple((name, tuple(part.tolist()) if part.ndim else float(part)) for name, part in parts.items()))

    @property
    def draws(self) -> dict[str, Array]:
        """Values as a single draw."""
        return {name: np.array([value], dtype=float) for name, value in self.values}


class CentringFamily(Family, Protocol):
    """Family whose program subtracts ``centre`` from the coefficients before it clips: its records have no offset."""

    def centre(self, records: Records, draws: Draws) -> Array:
        """Coefficients at a single draw, in the shape of the program's ``centre``."""


class Centred:
    """Family with ``log p(x | theta) - log p(x | reference)`` instead of the log-likelihood.

    Its program is that of the family, and interval probabilities are not differences.
    """

    def __init__(self, family: Family, reference: Reference) -> None:
        """Take over what does not depend on the reference."""
        self.family, self.reference = family, reference
        self.program, self.parameters, self.priors = family.program, family.parameters, family.priors
        self.censors, self.outcomes = family.censors, family.outcomes
        self.inits, self.predict = family.inits, family.predict
        self.log_interval_probability = family.log_interval_probability

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Build the data of the family, less the log-likelihood at the reference.

        A program subtracts it from its coefficients, as ``centre``, or has it in each record's ``offset`` or last term.

        Raises:
            ValueError: the family refuses the data, or its program does not clip.
        """
        data = self.family.stan_data(records, weights, priors, threshold)
        if "centre" in data:
            family: CentringFamily = self.family  # type: ignore[assignment]
            return {**data, "centre": finite(family.centre(records, self.reference.draws))}
        at_reference = finite(log_likelihood_at(self.family, records, self.reference.draws))
        if "offset" in data:
            return {**data, "offset": -at_reference}
        if threshold is None or "terms" not in data:
            raise ValueError("this family's likelihood cannot be clipped around a reference")
        terms, kept = np.array(data["terms"]), weights > 0
        terms[:, -1] -= (weights * at_reference)[kept]
        return {**data, "terms": terms}

    def far_start(self, stan_data: StanData) -> StanData | None:
        """Choose the second starting point of the family, if it has one."""
        return next(iter(starts(self.family, stan_data)[1:]), None)

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Return the family's factors, minus the left one at the reference; a record undefined there has to have weight 0."""
        both = {name: np.concatenate([values, draws[name]]) for name, values in self.reference.draws.items()}
        left, right = self.family.factors(records, both)
        return left[1:] - finite(left[:1]), right


class WholeCentred(Centred):
    """Such a family whose log-likelihood is given as a whole."""

    def log_likelihood(self, records: Records, draws: Draws) -> Array:
        """Return the log-likelihood (S, n) minus that at the reference; a record undefined there has to have weight 0."""
        at_reference = log_likelihood_at(self.family, records, self.reference.draws)
        return log_likelihood(self.family, records, draws) - finite(at_reference)


def centred(family: Family, reference: Reference | None) -> Family:
    """Return the family with differences from the reference; the family itself if there is no reference."""
    if reference is None:
        return family
    return WholeCentred(family, reference) if whole(family) else Centred(family, reference)


def log_likelihood_at(family: Family, records: Records, draws: Draws) -> Array:
    """Compute the log-likelihood (n,) at a single draw; NaN if it or the record is not finite.

    A record's value is a function of this record alone: non-finite coefficients of another record are left out of the matrix
    product of the factors, in which they would make all values undefined.
    """
    with np.errstate(all="ignore"):
        if evaluated := whole(family):
            values = np.array(evaluated.log_likelihood(records, draws)[0], dtype=float)
        else:
            left, right = family.factors(records, draws)
            values = (finite(left) @ each(right, finite).T)[0]
            undefined = ~np.isfinite(left)
            if undefined.any():
                values[_meets(undefined, each(right, _present))] = np.nan
            values[_meets(np.ones(left.shape, dtype=bool), each(right, _undefined))] = np.nan
        defined = np.isfinite(values) & np.isfinite(records.x) & np.isfinite(records.design).all(axis=1)
    return np.where(defined, values, np.nan)


def _meets(columns: NDArray[np.bool_], right: Array) -> NDArray[np.bool_]:
    """Return a mask (n,) of the rows that have a 1 in the selected columns (1, k)."""
    mask: NDArray[np.bool_] = (columns.astype(float) @ right.T)[0] > 0
    return mask


def _present(values: Array) -> Array:
    return np.where(values != 0, 1.0, 0.0)


def _undefined(values: Array) -> Array:
    return np.where(np.isfinite(values), 0.0, 1.0)


def finite(values: Array) -> Array:
    """Return the values with 0 for those that are not finite."""
    return np.where(np.isfinite(values), values, 0.0)
