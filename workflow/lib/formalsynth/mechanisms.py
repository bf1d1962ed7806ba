"""Mechanisms: from what is known of a data set to fit weights and a sensitive log-likelihood.

Every pseudo posterior mechanism of the papers is one :class:`Form`: weights for the fit, a sensitive log-likelihood whose
maximum is the bound, and, for censoring, a threshold that the fit uses too. A new mechanism is one function here with the
``@mechanism`` line above it, and an entry in a paper's config.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import numpy as np

from formalsynth.allowed import Finite, NotNegative, Positive, Share, WholeOrZero
from formalsynth.bounds import Sensitive, record_bounds
from formalsynth.families import Array, Draws, Family, Predictor, Records, blocks, count, take
from formalsynth.histogram import BinPredictor, perturb
from formalsynth.isolation import isolation_weights
from formalsynth.streams import Address, parameter_words
from formalsynth.weights import known_share, lipschitz_weights

ASYMPTOTIC = "asymptotic DP (local eps_x)"
AVERAGED = "range-averaged | R"
TRUNCATED = "range-truncated | R"
PURE = "DP (replace-one)"


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
    """What the bound is the maximum of; its threshold censors the fit too."""
    affected: int | None = None
    """Records whose weight the mechanism cut; None where it cuts none."""


@dataclass(frozen=True)
class Release:
    """What a mechanism without a pseudo posterior gives: its own draws, and who turns them into synthetic data."""

    draws: Draws
    predictor: Predictor
    epsilon: float


@dataclass(frozen=True)
class Mechanism:
    """A registered mechanism."""

    id: int
    """Integer that keys its random streams; never reused."""
    guarantee: str
    """The kind of privacy number it gives."""
    parents: int
    """How many synthesizers it is built on."""
    function: Callable[..., Any]
    study: str = ""
    """Study that it belongs to; empty for those that the fit and measure steps run."""
    censors: bool = False
    """Whether it needs a family whose program can clip each record's log-likelihood."""

    @property
    def releases(self) -> bool:
        """Whether it gives a release of its own, with neither fit nor bounds that others could use."""
        return get_type_hints(self.function).get("return") is Release

    def parameters(self) -> dict[str, Any]:
        """What config may set, with defaults; ``inspect.Parameter.empty`` where there is none."""
        return _settings(self.function)

    def words(self, parameters: Mapping[str, Any]) -> tuple[int, ...]:
        """Integer words for the random streams of this mechanism with these parameters."""
        return parameter_words(self.id, parameters, list(self.parameters()))


@functools.cache
def _settings(function: Callable[..., Any]) -> dict[str, Any]:
    own = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in own if p.kind is p.KEYWORD_ONLY and not p.name.startswith("_")}


MECHANISMS: dict[str, Mechanism] = {}


def mechanism(
    id: int, guarantee: str, parents: int = 1, study: str = "", censors: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function under its own name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        MECHANISMS[function.__name__] = Mechanism(id, guarantee, parents, function, study, censors)
        return function

    return register


@mechanism(1, ASYMPTOTIC, parents=0)
def unweighted(context: Context) -> Form:
    """The plain posterior: all weights 1."""
    ones = np.ones(len(context.records["x"]))
    return Form(ones, Sensitive(ones))


@mechanism(2, ASYMPTOTIC)
def weighted(context: Context, *, c: NotNegative = 1.0, g: Finite = 0.0) -> Form:
    """LW weights from the risks of the parent, the unweighted synthesizer (range paper, Section 1.1)."""
    alpha = _alpha(context, c, g)
    return Form(alpha, Sensitive(alpha))


@mechanism(3, AVERAGED)
def range_averaged(
    context: Context,
    *,
    a: float,
    b: float,
    top: Share = 0.0,
    wide_a: float = 0.0,
    wide_b: float = 0.0,
    c: NotNegative = 1.0,
    g: Finite = 0.0,
) -> Form:  # fmt: skip
    """Range-averaged weights ``lambda + (1 - lambda) alpha`` (range paper, Equations 5 to 7).

    The share ``top`` of the largest records has the sensitive range ``[wide_a x, wide_b x]`` (Section 4.3).
    """
    alpha = _alpha(context, c, g)
    x = context.records["x"]
    in_top = x > np.quantile(x, 1 - top)
    known = _known(context, np.where(in_top, wide_a, a), np.where(in_top, wide_b, b))
    return Form(known + (1 - known) * alpha, Sensitive((1 - known) * alpha))


@mechanism(4, TRUNCATED)
def range_truncated(context: Context, *, a: float, b: float, c: NotNegative = 1.0, g: Finite = 0.0) -> Form:
    """LW weights on the likelihood truncated to the sensitive range: bound ``|alpha (f - log gamma)|``.

    Source: range paper, Definition 4. The printed Equation 15 leaves ``alpha`` off ``log gamma`` and contradicts the
    results printed with it (erratum E1): see :func:`range_truncated_printed`.
    """
    alpha = _alpha(context, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), alpha))


@mechanism(5, TRUNCATED)
def range_truncated_printed(context: Context, *, a: float, b: float, c: NotNegative = 1.0, g: Finite = 0.0) -> Form:
    """The bound as printed: ``|alpha f - log gamma|`` (range paper, Equation 15)."""
    alpha = _alpha(context, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), np.ones_like(alpha)))


@mechanism(6, ASYMPTOTIC)
def weighted_e(context: Context, *, epsilon: Positive) -> Form:
    """The parent's weights, but 0 for a record whose bound under the parent exceeds epsilon / 2 (censor paper, Section 2.2)."""
    parent = context.parents[0]
    cut = parent.by_record > epsilon / 2
    weights = np.where(cut, 0.0, parent.weights)
    return Form(weights, Sensitive(weights), affected=int(cut.sum()))


@mechanism(7, "DP (add/remove)", parents=0, censors=True)
def censored_unweighted(context: Context, *, epsilon: Positive) -> Form:
    """Censor_uw: every log-likelihood clipped to ``[-epsilon / 2, epsilon / 2]`` (censor paper, Equations 3.5 and 3.6).

    The bound is strict for adding or removing a record; for replacing one, as in the paper's Definition 1, it is
    2 epsilon (erratum E5).
    """
    ones = np.ones(len(context.records["x"]))
    return Form(ones, Sensitive(ones, threshold=epsilon / 2))


@mechanism(9, "DP | fixed weights", censors=True)
def censored_weighted(context: Context, *, epsilon: Positive) -> Form:
    """Censor_w: the parent's weighted log-likelihood clipped to ``[-epsilon / 2, epsilon / 2]`` (censor paper, as above).

    Strict only while the weights of the other records stay as they are; they do not when they are computed again on a
    neighbouring data set (erratum E6).
    """
    weights = context.parents[0].weights
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


@mechanism(8, PURE, parents=0)
def perturbed_histogram(context: Context, *, epsilon: Positive, low: Finite, high: Finite, bins: WholeOrZero = 0) -> Release:
    """Histogram with Laplace noise on declared bounds, synthetic values uniform inside a bin (censor paper, Section 2.3).

    ``bins`` = 0 takes the whole part of sqrt(n), which the paper names as a choice that does not look at the data.
    """
    x = context.records["x"]
    generator = context.address.generator("mechanism", parameter_words(8, {"epsilon": epsilon}))
    probability = perturb(x, low, high, int(bins) or math.isqrt(len(x)), epsilon, generator)
    return Release({"probability": probability[None]}, BinPredictor(low, high), epsilon)


@mechanism(10, ASYMPTOTIC, parents=0)
def isolation_weighted(context: Context, *, r: Positive, c: NotNegative = 1.0, g: Finite = 0.0) -> Form:
    """CW weights from the share of records outside a ball of radius ``r x_i`` (reweight paper, Section 2.2)."""
    alpha = isolation_weights(context.records["x"], r, c, g)
    return Form(alpha, Sensitive(alpha))


@mechanism(11, ASYMPTOTIC, parents=2)
def scalar_weighted(context: Context) -> Form:
    """SW: one weight for all records, the ratio of the bounds of the first and the second parent (reweight paper, Section 2.2).

    With the LW and the unweighted synthesizer as parents this is the exponential mechanism at the LW synthesizer's epsilon.
    """
    weighted, unweighted = (float(parent.by_record.max()) for parent in context.parents)
    alpha = np.full(len(context.records["x"]), min(1.0, weighted / unweighted))
    return Form(alpha, Sensitive(alpha))


@mechanism(12, ASYMPTOTIC)
def reweighted(context: Context, *, k: Positive) -> Form:
    """The parent's weights moved toward its largest bound: ``min(1, k alpha_i Delta / Delta_i)`` (reweight paper, Equation 3.1).

    ``Delta_i = alpha_i max_s |f[s, i]|``, so the old weight cancels and ``k Delta / max_s |f[s, i]|`` remains. It is used as
    such: for a record of weight 0 the printed form is 0 / 0, and this is its limit. ``affected`` counts the weights that the
    limit 1 cuts.
    """
    parent = context.parents[0]
    if "risk" not in context.found:
        plain = Sensitive(np.ones_like(parent.weights))
        context.found["risk"] = record_bounds(context.family, context.records, parent.draws, [plain])[0].by_record
    raised = k * parent.by_record.max() / context.found["risk"]
    weights = np.minimum(raised, 1.0)
    return Form(weights, Sensitive(weights), affected=int((raised > 1).sum()))


def _alpha(context: Context, c: float, g: float) -> Array:
    return lipschitz_weights(context.parents[0].by_record, c, g)


def _known(context: Context, a: float | Array, b: float | Array) -> Array:
    """``lambda`` from one predictive value for each draw of the parent, the unweighted synthesizer.

    All ranges of a replicate see the same predictive values, so that their differences are not noise.
    """
    if "known" not in context.found:
        generator = context.address.generator("predict")
        records, draws = context.records, context.parents[0].draws
        parts = (take(draws, block) for block in blocks(count(draws), len(records["x"])))
        predictive = (context.family.predict(generator, records, part) for part in parts)
        context.found["known"] = known_share(records["x"], predictive, a, b)
    return context.found["known"]
