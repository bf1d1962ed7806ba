"""Mechanisms: from what is known of a data set to fit weights and a sensitive log-likelihood.

Every pseudo posterior mechanism of the papers is one :class:`Form`: weights for the fit, a sensitive log-likelihood whose
maximum is the bound, and, for censoring, a threshold that the fit uses too. A new mechanism is one function with the
``@mechanism`` line above it, in a file of ``formalsynth/mechanisms``, and an entry in a paper's config.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_type_hints

import numpy as np

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.bounds import Sensitive
from formalsynth.core.family import Family, Predictor
from formalsynth.core.parameters import Parameters, parameters_of
from formalsynth.core.registry import DuplicateError, Registry
from formalsynth.core.streams import Address, number_of, parameter_words

ASYMPTOTIC = "asymptotic DP (local eps_x)"


@dataclass(frozen=True)
class Parent:
    """What a synthesizer may use of one that was fitted before it."""

    draws: Draws
    by_record: Array
    """(n,) its Lipschitz bounds."""
    weights: Array
    """(n,) its sensitive weights."""
    children: Sequence[tuple[str, Mapping[str, float]]] = ()
    """Mechanisms and parameters of those that build on it, for which one of them may compute together what all need."""
    shared: dict[Hashable, Array] = field(default_factory=dict)
    """What they have computed so, by what it depends on beside this replicate and these draws."""


@dataclass
class Findings:
    """Costly results of the fit step, which the measure step finds here instead of computing them again."""

    known: Array | None = None
    """(n,) lambda, the probability that a predicted value is outside the record's sensitive range."""
    risk: Array | None = None
    """(n,) largest absolute log-likelihood under the parent."""
    searched: float | None = None
    """Value of the searched parameter."""
    search_steps: int | None = None
    """Refits of the search."""


@dataclass
class Context:
    """Everything a mechanism may look at for one replicate."""

    family: Family
    records: Records
    address: Address
    parents: Sequence[Parent] = ()
    found: Findings = field(default_factory=Findings)


@dataclass(frozen=True)
class Form:
    """The one general form (range paper, Section 3.2)."""

    weights: Array
    """(n,) exponents of the likelihood in the fit."""
    sensitive: Sensitive
    """What the bound is the maximum of; its threshold censors the fit too."""
    affected: int | None = None
    """Records whose weight the mechanism cut; None where it cuts none."""


@dataclass(frozen=True)
class LaplaceCounts:
    """Counts to which a direct release adds independent Laplace noise, before it makes anything else of them."""

    counts: Array
    """(bins,)."""
    scale: float
    """Of the noise."""

    def noisy(self, generator: np.random.Generator, runs: int) -> Array:
        """(runs, bins) noisy counts, each run with noise of its own."""
        found: Array = self.counts + generator.laplace(scale=self.scale, size=(runs, len(self.counts)))
        return found


@dataclass(frozen=True)
class DirectRelease:
    """What a mechanism without a pseudo posterior gives: its own draws, and who turns them into synthetic data."""

    draws: Draws
    predictor: Predictor
    epsilon: float
    counts: LaplaceCounts | None = None
    """What its draws are made of alone, if that is noisy counts."""


@dataclass(frozen=True)
class Mechanism:
    """A registered mechanism."""

    name: str
    id: int
    """Integer that keys its random streams; never reused."""
    guarantee: str
    """The kind of privacy number it gives."""
    parents: int
    """How many synthesizers it is built on."""
    function: Callable[..., Form | DirectRelease]
    parameters: type[Parameters]
    """What config may set."""
    censors: bool = False
    """Whether it needs a family whose program can clip each record's log-likelihood."""
    truncates: bool = False
    """Whether it needs a family with interval probabilities."""

    @functools.cached_property
    def releases(self) -> bool:
        """Whether it gives a release of its own, with neither fit nor bounds that others could use."""
        return get_type_hints(self.function).get("return") is DirectRelease

    def words(self, parameters: Mapping[str, float]) -> tuple[int, ...]:
        """Integer words for the random streams of this mechanism with these parameters."""
        return parameter_words(self.id, parameters, list(self.parameters.model_fields))


MECHANISMS: Registry[Mechanism] = Registry("mechanism", "mechanisms/*.py", "papers/*/mechanism*.py")


def mechanism(
    guarantee: str, parents: int = 1, censors: bool = False, id: int | None = None, truncates: bool = False
) -> Callable[[Callable[..., Form | DirectRelease]], Callable[..., Form | DirectRelease]]:
    """Register a function under its own name; its keyword-only parameters are what config may set.

    Args:
        guarantee: the kind of privacy number it gives.
        parents: how many synthesizers it is built on.
        censors: whether it needs a family whose program can clip each record's log-likelihood.
        id: integer that keys its random streams; left out, it is made from the function's name.
        truncates: whether it needs a family with interval probabilities.

    Raises:
        DuplicateError: another mechanism has this name or id.
    """

    def register(function: Callable[..., Form | DirectRelease]) -> Callable[..., Form | DirectRelease]:
        name = function.__name__
        number = number_of(name) if id is None else id
        entry = Mechanism(name, number, guarantee, parents, function, parameters_of(function), censors, truncates)
        for other in MECHANISMS.values():
            if other.id == number and other.name != name:
                both = f"{other.name} ({MECHANISMS.module(other.name)}) and {name} ({function.__module__})"
                raise DuplicateError(f"mechanisms {both} both have the id {number}: give one of them another, or none")
        MECHANISMS.add(name, entry, function.__module__)
        return function

    return register
