"""Mechanisms: functions from a data set and its fits to weights and a sensitive log-likelihood.

Every pseudo posterior mechanism of the papers is one :class:`Form`: weights for the fit, a sensitive log-likelihood whose
maximum is the bound, and, for censoring, a threshold that the fit uses too. To add a mechanism, write a function decorated with
``@mechanism`` in a file of ``formalsynth/mechanisms``, and an entry in a paper's config.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args, get_type_hints

import numpy as np

from formalsynth.core.arrays import Array, Draws, Records, read_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.family import Family, Predictor, log_likelihood
from formalsynth.core.neighbours import EXACT_DRAWS, OF_RANGES, SENSITIVITY, Neighbours
from formalsynth.core.parameters import Parameters, defaults, parameters_of
from formalsynth.core.private import DiscreteLaplaceCounts, PrivateFit
from formalsynth.core.registry import DuplicateError, Registry
from formalsynth.core.selection import Selection
from formalsynth.core.streams import Address, MechanismAddress, number_of, parameter_words

ASYMPTOTIC = "asymptotic DP (local eps_x)"
PER_BOUND: Mapping[Neighbours, float] = {"add_remove": 2.0, "replace": 4.0, "move": 4.0}
"""Factor that converts a Lipschitz bound, or a threshold, to epsilon: replacing or moving a record removes one and adds one."""
Factor = float | Callable[[Mapping[str, float]], float | None]
"""Guaranteed multiple of the declared ``epsilon``, or a function of the parameters that returns it; None for no guarantee."""
STRICT_KINDS: Mapping[str, tuple[Neighbours, ...]] = {
    "DP": ("add_remove", "replace"), "DP (add/remove)": ("add_remove",), "DP (replace-one)": ("replace",),
    "DP (moves) | R": ("move",),
}  # fmt: skip
"""Kinds of guarantee that hold for every data set, with the neighbour relations that they cover."""
UNCONDITIONAL = re.compile(r"(\(eps, delta\)-|zC)?DP\b[^|]*")
"""Pattern of kinds of guarantee that name differential privacy without a condition."""


class BrokenContract(ValueError):
    """A mechanism breaks the contract of mechanisms."""

    def __init__(self, mechanism: str, problem: str) -> None:
        """Make the error for a mechanism; ``problem`` is the rest of the sentence."""
        super().__init__(f"mechanism {mechanism} {problem}")
        self.problem = problem


@dataclass(frozen=True)
class Parent:
    """Results of a parent synthesizer that a mechanism may use."""

    draws: Draws
    by_record: Array
    """(n,) its Lipschitz bounds."""
    weights: Array
    """(n,) its sensitive weights."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", {name: read_only(values) for name, values in self.draws.items()})
        object.__setattr__(self, "by_record", read_only(self.by_record))
        object.__setattr__(self, "weights", read_only(self.weights))


@dataclass
class FitCache:
    """Cache of costly results of a mechanism, for its next call on the same data, as in a search."""

    outside_share: Array | None = None
    """(n,) lambda: probability that a predicted value is outside the record's sensitive range."""
    risk: Array | None = None
    """(n,) largest absolute log-likelihood under the parent."""
    searched: float | None = None
    """Value of the searched parameter."""
    search_steps: int | None = None
    """Number of refits of the search."""
    noisy: Array | None = None
    """(cells,) noisy counts that the first stage of a mechanism has published."""


@dataclass
class Context:
    """Input of a mechanism for one replicate."""

    family: Family
    records: Records
    address: Address
    parents: Sequence[Parent] = ()
    cache: FitCache = field(default_factory=FitCache)

    def log_likelihood(self, draws: Draws) -> Array:
        """Log-likelihood (S, n) of the records under draws, such as those of a parent."""
        return log_likelihood(self.family, self.records, draws)


@dataclass(frozen=True)
class Form:
    """General form of a pseudo posterior mechanism (range paper, Section 3.2)."""

    weights: Array
    """(n,) exponents of the likelihood in the fit."""
    sensitive: Sensitive
    """Sensitive log-likelihood, whose maximum is the bound; its threshold censors the fit too."""
    affected: int | None = None
    """Number of records whose weight the mechanism cut; None if it never cuts."""
    counts: DiscreteLaplaceCounts | None = None
    """Counts of a private first stage, whose noisy values give the reference; None without one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", read_only(self.weights))


@dataclass(frozen=True)
class LaplaceCounts:
    """Counts to which a direct release first adds independent Laplace noise."""

    counts: Array
    """Counts (bins,) without noise."""
    scale: float
    """Scale of the noise."""

    def noisy(self, generator: np.random.Generator, runs: int) -> Array:
        """Draw noisy counts (runs, bins), with independent noise in each run."""
        counts: Array = self.counts + generator.laplace(scale=self.scale, size=(runs, len(self.counts)))
        return counts


@dataclass(frozen=True)
class DirectRelease:
    """Result of a mechanism without a pseudo posterior: its own draws, and the predictor for synthetic data."""

    draws: Draws
    predictor: Predictor
    epsilon: float
    counts: LaplaceCounts | None = None
    """Noisy counts from which its draws are computed, if there are any."""
    selection: Selection | None = None
    """Selection among candidates from which its draws are computed, if there is one."""


Made = Form | DirectRelease | PrivateFit
"""Result of a mechanism: a weighted posterior of the records, a direct release, or private statistics with a fit to them."""
Counts = LaplaceCounts | DiscreteLaplaceCounts
"""Counts whose noise protects everything computed from them."""


@dataclass(frozen=True)
class Mechanism:
    """A registered mechanism."""

    name: str
    id: int
    """Integer that keys its random streams; never reused."""
    guarantee: str
    """Kind of its privacy guarantee."""
    parents: int
    """Number of parent synthesizers."""
    function: Callable[..., Form | DirectRelease | PrivateFit]
    parameters: type[Parameters]
    """Parameters that config may set."""
    censors: bool = False
    """True if it needs a family whose program can clip each record's log-likelihood."""
    truncates: bool = False
    """True if it needs a family with interval probabilities."""
    program: str = ""
    """Stan program that fits a family to its private statistics; empty for all other mechanisms."""
    strict: Mapping[Neighbours, Factor] = field(default_factory=dict)
    """Multiple of its declared ``epsilon`` guaranteed for every data set, by neighbour relation; empty without a guarantee."""
    selects: bool = False
    """True if it selects among declared candidates by their scores."""
    staged: bool = False
    """True if a private first stage publishes noisy counts before the posterior."""

    @functools.cached_property
    def releases(self) -> bool:
        """True if it is a release of its own, without bounds that children could use."""
        return get_type_hints(self.function).get("return") in (DirectRelease, PrivateFit)

    @property
    def fits_public(self) -> bool:
        """True if it returns private statistics and a fit to them."""
        return bool(self.program)

    @functools.cached_property
    def kind(self) -> str:
        """Kind of its guarantee, with the assumption of exact draws for a strict mechanism with a posterior."""
        return self.guarantee + EXACT_DRAWS * bool(self.strict and not self.releases)

    @functools.cached_property
    def _defaults(self) -> Mapping[str, float]:
        return defaults(self.parameters)

    def settings(self, parameters: Mapping[str, float]) -> dict[str, float]:
        """Return the parameters, with the defaults of those that are not given."""
        return {**self._defaults, **parameters}

    def claim(self, parameters: Mapping[str, float], neighbours: Neighbours | None = None) -> float | None:
        """Return the epsilon guaranteed for every data set, with delta 0 and exact draws; None if there is no such guarantee.

        Args:
            parameters: parameters of the mechanism.
            neighbours: neighbour relation; by default, the one that the kind of guarantee names.
        """
        relations = (neighbours,) if neighbours else STRICT_KINDS.get(self.guarantee, ())
        factors = [self._factor(parameters, relation) for relation in relations]
        if not factors or None in factors:
            return None
        return max(factor for factor in factors if factor is not None) * float(self.settings(parameters)["epsilon"])

    def _factor(self, parameters: Mapping[str, float], neighbours: Neighbours) -> float | None:
        factor = self.strict.get(neighbours)
        if factor is None and neighbours == "move":
            factor = self.strict.get("replace")  # a move is a replacement
        return factor(self.settings(parameters)) if callable(factor) else factor

    def apply(self, context: Context, parameters: Mapping[str, float]) -> Made:
        """Call the function with its own context, limited to the random streams of these settings, and check the result.

        Raises:
            BrokenContract: the function modifies its input, or its result breaks the contract.
            ValueError: the function refuses the data.
        """
        address = context.address
        if not isinstance(address, MechanismAddress):
            address = MechanismAddress(**vars(address))
        address = replace(address, key=self.key(parameters))
        try:
            made = self.function(replace(context, address=address, parents=tuple(context.parents)), **parameters)
        except ValueError as error:
            if "read-only" in str(error):
                problem = f"writes into an array that it was given ({error}): work on a copy"
                raise BrokenContract(self.name, problem) from error
            raise
        for problem in self._problems(made, len(context.records), parameters):
            raise BrokenContract(self.name, problem)
        return made

    def _problems(self, made: object, n: int, parameters: Mapping[str, float]) -> Iterator[str]:
        """Yield the problems of a result for n records, as sentences without their subject, the mechanism."""
        if isinstance(made, DirectRelease | PrivateFit):
            yield from self._problems_of_release(made, parameters)
        elif not isinstance(made, Form):
            yield f"returns {type(made).__name__}: it has to return a Form, a DirectRelease or a PrivateFit"
        else:
            given = {"weights": made.weights, "sensitive weights": made.sensitive.weights}
            given |= {} if made.sensitive.range_weights is None else {"range weights": made.sensitive.range_weights}
            wrong = [_wrong_weights(what, values, n) for what, values in given.items()]
            yield from filter(None, wrong)
            if not any(wrong):
                yield from self._problems_of_form(made, parameters)

    def _problems_of_release(self, made: DirectRelease | PrivateFit, parameters: Mapping[str, float]) -> Iterator[str]:
        claim = self.claim(parameters)
        if not 0 < made.epsilon < math.inf:
            yield f"returns epsilon {made.epsilon:g}: it has to be a positive number"
        elif claim is not None and not math.isclose(made.epsilon, claim):
            yield f"returns epsilon {made.epsilon:g}, but claims {claim:g} as {self.guarantee!r}: the two have to be equal"

    def _problems_of_form(self, made: Form, parameters: Mapping[str, float]) -> Iterator[str]:
        sensitive, threshold = made.sensitive, made.sensitive.threshold
        if threshold is not None and not self.censors:
            yield "returns a threshold, which bounds a record only if the program clips at it: register it with censors=True"
        elif threshold is not None and not threshold > 0:
            yield f"returns the threshold {threshold:g}: it has to be positive"
        for relation, per_bound in PER_BOUND.items():
            claim = self.claim(parameters, relation)
            first = 0.0 if made.counts is None else SENSITIVITY[relation] / made.counts.scale
            if claim is not None and (threshold is None or first + per_bound * threshold > claim * (1 + 1e-9)):
                after = f" after a first stage that costs {first:g}" if made.counts else ""
                yield (
                    f"claims epsilon {claim:g} for {relation} as {self.guarantee!r}, which needs Sensitive(weights, "
                    f"threshold={max(claim - first, 0) / per_bound:g}){after}, not the threshold {threshold}"
                )
        if (made.counts is not None) != self.staged:
            yield "has staged=True without counts of a first stage, or such counts without staged=True: return and declare both"
        part = sensitive.range is not None or bool((sensitive.weights < made.weights).any())
        if part and not self.guarantee.endswith(OF_RANGES):
            yield (
                "returns a sensitive range, or sensitive weights below the weights of the fit: epsilon would cover only a part "
                "of what a record adds; pass the weights of the fit to Sensitive(weights)"
            )

    def words(self, parameters: Mapping[str, float]) -> tuple[int, ...]:
        """Integer words for the random streams of this mechanism with these parameters."""
        return parameter_words(self.id, parameters, list(self.parameters.model_fields))

    def key(self, parameters: Mapping[str, float]) -> tuple[int, ...]:
        """Integer words that differ between any two settings, with defaults: they key the noise.

        A switch that is off by default adds no word while it is off, so a new switch changes no stream.
        """
        off = {name: 0 for name, default in self._defaults.items() if default == 0}
        return self.words({name: value for name, value in self.settings(parameters).items() if off.get(name) != value})


def _wrong_weights(what: str, values: Array, n: int) -> str:
    """Describe the problem with the weights of n records, as the second half of a sentence; empty if there is none."""
    if values.shape != (n,):
        return f"returns {what} of shape {values.shape}: there has to be one for each of the {n} records"
    if not np.isfinite(values).all():
        return f"returns {what} that are not finite: a record with infinite risk should get weight 0"
    if values.min(initial=0) < 0 or values.max(initial=1) > 1:
        ends = f"from {values.min():.3g} to {values.max():.3g}"
        return f"returns {what} {ends}: they have to be from 0 to 1 (divide by the largest one, not by their mean)"
    return ""


MECHANISMS: Registry[Mechanism] = Registry("mechanism", "mechanisms/*.py")


def mechanism(
    guarantee: str, parents: int = 1, censors: bool = False, id: int | None = None, truncates: bool = False,
    strict: Mapping[Neighbours, Factor] | None = None, program: str = "", selects: bool = False, staged: bool = False,
) -> Callable[[Callable[..., Made]], Callable[..., Made]]:  # fmt: skip
    """Register a function under its own name; config may set its keyword-only parameters.

    Args:
        guarantee: kind of its privacy guarantee.
        parents: number of parent synthesizers.
        censors: True if it needs a family whose program can clip each record's log-likelihood.
        id: integer that keys its random streams; by default, it is derived from the function's name.
        truncates: True if it needs a family with interval probabilities.
        strict: multiple of the declared parameter ``epsilon`` guaranteed for every data set, by neighbour relation. The kinds of
            guarantee ``DP``, ``DP (add/remove)`` and ``DP (replace-one)`` need it, and no other kind may have it.
        program: Stan program that fits a family to its private statistics; a function that returns a ``PrivateFit`` needs it.
        selects: True if it selects among declared candidates by their scores.
        staged: True if a private first stage publishes noisy counts before the posterior.

    Raises:
        DuplicateError: another mechanism has this name or id.
        ValueError: the kind of guarantee and ``strict`` contradict each other.
    """

    def register(function: Callable[..., Made]) -> Callable[..., Made]:
        name = function.__name__
        number = number_of(name) if id is None else id
        model = parameters_of(function)
        entry = Mechanism(
            name, number, guarantee, parents, function, model, censors, truncates, program, strict or {}, selects, staged
        )
        _check_guarantee(entry)
        if entry.fits_public != (get_type_hints(function).get("return") is PrivateFit):
            raise ValueError(f"mechanism {name}: give program= if, and only if, the function is annotated to return a PrivateFit")
        for other in MECHANISMS.values():
            if other.id == number and other.name != name:
                both = f"{other.name} ({MECHANISMS.module(other.name)}) and {name} ({function.__module__})"
                raise DuplicateError(f"mechanisms {both} both have the id {number}: give one of them a different id, or none")
        MECHANISMS.add(name, entry, function.__module__)
        return function

    return register


def is_strict(kind: str) -> bool:
    """Check whether a kind of guarantee holds for every data set, possibly for exact draws only."""
    return kind.removesuffix(EXACT_DRAWS) in STRICT_KINDS


def _check_guarantee(entry: Mechanism) -> None:
    """Check that the kind of guarantee and the strict claim agree.

    Raises:
        ValueError: they do not agree.
    """
    named, kind = STRICT_KINDS.get(entry.guarantee), f"mechanism {entry.name}: guarantee {entry.guarantee!r}"
    if named is None and (entry.strict or UNCONDITIONAL.fullmatch(entry.guarantee)):
        raise ValueError(
            f"{kind} is not a strict kind; allowed: {', '.join(STRICT_KINDS)} with strict=, or without strict= a kind that names "
            "its condition after a bar, such as 'DP | fixed weights'"
        )
    if entry.guarantee.endswith(EXACT_DRAWS):
        raise ValueError(f"{kind} ends with {EXACT_DRAWS!r}, which is added to the kinds of strict posteriors: leave it out")
    if missing := [relation for relation in named or () if relation not in entry.strict]:
        example = f'strict={{"{missing[0]}": 1.0}}'
        raise ValueError(f"{kind} needs {example}: the factor by which epsilon holds for every data set")
    for relation, factor in entry.strict.items():
        if relation not in get_args(Neighbours):
            raise ValueError(f"{kind}: strict: given {relation!r}; allowed: {', '.join(get_args(Neighbours))}")
        if not callable(factor) and not 0 < factor < math.inf:
            raise ValueError(f"{kind}: strict: {relation}: given {factor!r}; allowed: a positive number")
    if entry.strict and "epsilon" not in entry.parameters.model_fields:
        raise ValueError(f"{kind} needs a parameter called epsilon: a strict claim is declared, not computed from the data")
