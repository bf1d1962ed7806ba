"""Mechanisms: from what is known of a data set to fit weights and a sensitive log-likelihood.

Every pseudo posterior mechanism of the papers is one :class:`Form`: weights for the fit, a sensitive log-likelihood whose
maximum is the bound, and, for censoring, a threshold that the fit uses too. A new mechanism is one function here with the
``@mechanism`` line above it, and an entry in a paper's config.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from formalsynth.bounds import Sensitive
from formalsynth.families import Array, Draws, Family, Records
from formalsynth.streams import Address, parameter_words
from formalsynth.weights import known_share, lipschitz_weights

ASYMPTOTIC = "asymptotic DP (local eps_x)"
AVERAGED = "range-averaged | R"
TRUNCATED = "range-truncated | R"


@dataclass(frozen=True)
class Parent:
    """What a synthesizer may use of one that was fitted before it."""

    draws: Draws
    by_record: Array
    """(n,) its Lipschitz bounds."""
    weights: Array
    """(n,) its sensitive weights."""


@dataclass
class Context:
    """Everything a mechanism may look at for one replicate."""

    family: Family
    records: Records
    address: Address
    parents: Sequence[Parent] = ()
    found: dict[str, Array] = field(default_factory=dict)
    """Costly results of the fit step, which the measure step finds here instead of computing them again."""


@dataclass(frozen=True)
class Form:
    """The one general form (range paper, Section 3.2)."""

    weights: Array
    """(n,) exponents of the likelihood in the fit."""
    sensitive: Sensitive


@dataclass(frozen=True)
class Mechanism:
    """A registered mechanism."""

    id: int
    """Integer that keys its random streams; never reused."""
    guarantee: str
    """The kind of privacy number it gives."""
    parents: int
    """How many synthesizers it is built on."""
    function: Callable[..., Form]

    def parameters(self) -> dict[str, Any]:
        """Its parameters with their defaults; ``inspect.Parameter.empty`` where there is none."""
        signature = inspect.signature(self.function)
        return {name: p.default for name, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY}

    def words(self, parameters: Mapping[str, Any]) -> tuple[int, ...]:
        """Integer words for the random streams of this mechanism with these parameters."""
        return parameter_words(self.id, parameters)


MECHANISMS: dict[str, Mechanism] = {}


def mechanism(id: int, guarantee: str, parents: int = 1) -> Callable[[Callable[..., Form]], Callable[..., Form]]:
    """Register a function under its own name."""

    def register(function: Callable[..., Form]) -> Callable[..., Form]:
        MECHANISMS[function.__name__] = Mechanism(id, guarantee, parents, function)
        return function

    return register


@mechanism(1, ASYMPTOTIC, parents=0)
def unweighted(context: Context) -> Form:
    """The plain posterior: all weights 1."""
    ones = np.ones(len(context.records["x"]))
    return Form(ones, Sensitive(ones))


@mechanism(2, ASYMPTOTIC)
def weighted(context: Context, *, c: float = 1.0, g: float = 0.0) -> Form:
    """LW weights from the risks of the parent, the unweighted synthesizer (range paper, Section 1.1)."""
    alpha = _alpha(context, c, g)
    return Form(alpha, Sensitive(alpha))


@mechanism(3, AVERAGED)
def range_averaged(context: Context, *, a: float, b: float, c: float = 1.0, g: float = 0.0) -> Form:
    """Range-averaged weights ``lambda + (1 - lambda) alpha`` (range paper, Equations 5 to 7)."""
    alpha = _alpha(context, c, g)
    known = _known(context, a, b)
    return Form(known + (1 - known) * alpha, Sensitive((1 - known) * alpha))


@mechanism(4, TRUNCATED)
def range_truncated(context: Context, *, a: float, b: float, c: float = 1.0, g: float = 0.0) -> Form:
    """LW weights on the likelihood truncated to the sensitive range: bound ``|alpha (f - log gamma)|``.

    Source: range paper, Definition 4. The printed Equation 15 leaves ``alpha`` off ``log gamma`` and contradicts the
    results printed with it (erratum E1): see :func:`range_truncated_printed`.
    """
    alpha = _alpha(context, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), alpha))


@mechanism(5, TRUNCATED)
def range_truncated_printed(context: Context, *, a: float, b: float, c: float = 1.0, g: float = 0.0) -> Form:
    """The bound as printed: ``|alpha f - log gamma|`` (range paper, Equation 15)."""
    alpha = _alpha(context, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), np.ones_like(alpha)))


def _alpha(context: Context, c: float, g: float) -> Array:
    return lipschitz_weights(context.parents[0].by_record, c, g)


def _known(context: Context, a: float | Array, b: float | Array) -> Array:
    """``lambda`` from one predictive value for each draw of the parent, the unweighted synthesizer.

    All ranges of a replicate see the same predictive values, so that their differences are not noise.
    """
    if "known" not in context.found:
        generator = context.address.generator("predict")
        predictive = context.family.predict(generator, context.records, context.parents[0].draws)
        context.found["known"] = known_share(context.records["x"], predictive, a, b)
    return context.found["known"]
