"""Interface of a model family, and the register of families."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from formalsynth.core.arrays import Array, Draws, Integers, Records
from formalsynth.core.constraints import Allowed
from formalsynth.core.registry import Registry

StanData = Mapping[str, int | float | Array | Integers]
"""Data or starting values of a Stan program, by the names of its variables."""


class Predictor(Protocol):
    """Converter of draws to synthetic values."""

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Draw a predictive value for each draw and record, at the record's predictors: (S, n)."""


class Family(Predictor, Protocol):
    """A likelihood with its prior: the Stan program that samples it and the arithmetic on its draws."""

    @property
    def program(self) -> str:
        """Name of the Stan program in ``stan/``."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Stan variables that the sampler returns as draws."""

    @property
    def priors(self) -> Mapping[str, float]:
        """Prior settings with their defaults."""

    @property
    def censors(self) -> bool:
        """True if the program can clip each record's weighted log-likelihood."""

    @property
    def outcomes(self) -> Allowed:
        """Allowed outcomes (n,) of its records."""

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Build the data of the Stan program for the pseudo posterior with likelihood weights (n,), clipped at the threshold."""

    def inits(self, stan_data: StanData) -> StanData:
        """Choose a starting point in the bulk of the posterior."""

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Low-rank factors A (S, k) and B (n, k) of the log-likelihood: ``f[s, i] = A[s] . B[i]``."""

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """``log P(lower_i <= x_i <= upper_i | theta_s)`` as an (S, n) array; the ends are included."""


class FamilyWithPrior(Family, Protocol):
    """Family that can also draw from its prior without Stan."""

    def prior_draws(self, generator: np.random.Generator, priors: Mapping[str, float], size: int) -> Draws:
        """Draw ``size`` times from the prior."""


class ConcaveFamily(Family, Protocol):
    """Family whose log-likelihood is concave in a reparametrization, such as the natural parameters of an exponential family.

    The log-likelihood truncated to an interval has to be concave in these parameters too. This holds for an exponential family:
    truncation gives another exponential family with the same natural parameters.
    """

    def natural(self, draws: Draws) -> Array:
        """Return the parameters (S, d) in which it is concave."""

    def of_natural(self, natural: Array) -> Draws:
        """Return the draws with these natural parameters (S, d); NaN if outside the family's parameter space."""


class BoundedFamily(Family, Protocol):
    """Family in which the probability of an outcome has an upper bound below 1."""

    def largest_log_likelihood(self, x: Array) -> Array:
        """Log-likelihood (n,) of outcomes at the parameters that make each most probable."""


class BracketedFamily(Family, Protocol):
    """Family whose program can add the log probability of each record's range, and clip only the rest of its likelihood."""

    def with_ranges(self, data: StanData, records: Records, weights: Array, low: Array, high: Array, base: Array) -> StanData:
        """Add the ranges (n,) of the records to the data of a clipped fit.

        Args:
            data: data of the program, with the terms of the records of positive weight.
            records: n records.
            weights: (n,) likelihood weights.
            low: (n,) lower ends.
            high: (n,) upper ends.
            base: (n,) log probabilities that are subtracted inside the clipped part.
        """


class Evaluate(Protocol):
    """Call that runs a compiled program on draws."""

    def __call__(self, data: StanData, draws: Draws, seed: int) -> Mapping[str, Array]:
        """Compute generated quantities for S draws, with the draws along their first axis."""


class WholeFamily(Family, Protocol):
    """Family that gives its log-likelihood as a whole instead of low-rank factors."""

    def log_likelihood(self, records: Records, draws: Draws) -> Array:
        """``log f(x_i | theta_s)`` as an (S, n) array."""


class ProgramFamily(WholeFamily, Protocol):
    """Family that is a Stan program; :meth:`bind` gives it the compiled program."""

    @property
    def numbers(self) -> list[str]:
        """Names of the constants that config must set."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of further columns of the records that it declares."""

    @property
    def integers(self) -> tuple[str, ...]:
        """Names of its data that are integers."""

    @property
    def whole(self) -> bool:
        """True if its outcomes are integers."""

    def bind(self, evaluate: Evaluate, priors: Mapping[str, float], start: Callable[[StanData], StanData] | None = None) -> None:
        """Set the function that runs the compiled program, its fixed numbers and, optionally, a function for starting points."""


FAMILIES: Registry[Family] = Registry("family", "families/*.py")
Kind = TypeVar("Kind", bound=type)


def program_name(path: Path) -> str:
    """Name of the family and the compiled program of a user's own file: the file's name and a checksum of its content."""
    name = re.sub(r"\W", "_", path.stem)
    return f"{name}_{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"


def draws_from_prior(family: Family) -> FamilyWithPrior | None:
    """Return the family if it can draw from its prior."""
    return family if hasattr(family, "prior_draws") else None  # type: ignore[return-value]


def array_in(stan_data: StanData, name: str) -> Array:
    """Read an array from the data of a Stan program."""
    return np.asarray(stan_data[name])


def number_in(stan_data: StanData, name: str) -> float:
    """Read a number from the data of a Stan program, integer or not."""
    value = stan_data[name]
    assert not isinstance(value, np.ndarray)
    return value


def whole(family: Family) -> WholeFamily | None:
    """Return the family if it gives its log-likelihood as a whole."""
    return family if hasattr(family, "log_likelihood") else None  # type: ignore[return-value]


def starts(family: Family, stan_data: StanData) -> tuple[StanData, ...]:
    """Return the starting points of a fit: one, or two far apart if records are clipped and the family declares a second one.

    A clipped log-likelihood can have several modes. Chains that started apart and do not agree fail the gate.
    """
    far = getattr(family, "far_start", None) if stan_data.get("n") else None
    start = far(stan_data) if far else None
    return (family.inits(stan_data), *([] if start is None else [start]))


def log_likelihood(family: Family, records: Records, draws: Draws) -> Array:
    """Log-likelihood (S, n) of any family."""
    if evaluated := whole(family):
        return evaluated.log_likelihood(records, draws)
    left, right = family.factors(records, draws)
    return np.asarray(left @ right.T)


def program(family: Family) -> ProgramFamily | None:
    """Return the family if it runs a compiled program."""
    return family if hasattr(family, "bind") else None  # type: ignore[return-value]


def concave(family: Family) -> ConcaveFamily | None:
    """Return the family if it provides parameters in which its log-likelihood is concave."""
    return family if hasattr(family, "natural") else None  # type: ignore[return-value]


def bounded(family: Family) -> BoundedFamily | None:
    """Return the family if its log-likelihoods have an upper bound."""
    return family if hasattr(family, "largest_log_likelihood") else None  # type: ignore[return-value]


def brackets(family: Family) -> BracketedFamily | None:
    """Return the family if its program can add the probability of ranges to a clipped likelihood."""
    return family if hasattr(family, "with_ranges") else None  # type: ignore[return-value]


def family(*names: str, **settings: object) -> Callable[[Kind], Kind]:
    """Register a family class under its names; ``settings`` are passed to its constructor."""

    def register(kind: Kind) -> Kind:
        for name in names:
            FAMILIES.add(name, kind(**settings), kind.__module__)
        return kind

    return register
