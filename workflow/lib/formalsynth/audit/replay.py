"""Mechanisms run again on neighbouring data sets, with exact posteriors in place of the sampler where a family has them.

Everything that a mechanism computes from the data is computed again: risks, weights, searched parameters, thresholds. The random
numbers behind it are the same for all data sets of a replay (common random numbers), unless another stream is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from formalsynth.audit.exact import Sampled, exact_posteriors
from formalsynth.audit.losses import Loss
from formalsynth.core.arrays import Array, Draws, Index, Records
from formalsynth.core.bounds import Bounds, Sensitive, record_bounds
from formalsynth.core.family import Family
from formalsynth.core.job import Search, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease, FitCache, Form, Parent
from formalsynth.core.search import Walk
from formalsynth.core.streams import Address, add_stages

STAGE = "audit"
"""Stage of the random streams of exact draws."""
add_stages({STAGE: 31})
STREAM = 1_000_000
"""Replicates that lie between two streams, so that a mechanism's own random numbers differ too."""


@dataclass(frozen=True)
class Outcome:
    """One synthesizer on one data set."""

    weights: Array
    """(N,) likelihood weights over the universe; 0 for what the data set lacks."""
    posterior: Any
    """The exact pseudo posterior, as its family has it, or a sampled one."""
    sensitive: Sensitive
    """What the bounds are the maxima of, over the records of the data set."""
    known: Array | None
    """(n,) the share of predicted values outside each record's sensitive range, where the mechanism has one."""
    draws: Draws | None
    """S draws, for those that others are built on and where bounds were asked for."""
    bounds: Bounds | None
    """Lipschitz bounds of the records of the data set, likewise."""
    shared: dict[Hashable, Array] = field(default_factory=dict)
    """What its children have computed for each other."""


class Replay:
    """One replicate whose synthesizers can be run on any data set from a universe of records."""

    def __init__(
        self,
        family: Family,
        priors: Mapping[str, float],
        universe: Records,
        synthesizers: Sequence[Synthesizer],
        address: Address,
        draws: int = 1000,
        sampled: Sampled[Any] | None = None,
    ) -> None:
        """Prepare the posteriors.

        Args:
            family: the family; one that :mod:`formalsynth.audit.exact` knows, unless its posteriors are sampled.
            priors: its priors.
            universe: the N records of which D and its neighbours are made.
            synthesizers: those that are audited and those that they are built on, parents first.
            address: of the replicate; the random numbers of all data sets are those of D.
            draws: S, over which risks and bounds are maxima.
            sampled: the posteriors from a sampler; by default they are exact.

        Raises:
            KeyError: the family has no exact posterior.
        """
        self.family, self.universe, self.synthesizers = family, universe, tuple(synthesizers)
        self._sampled = sampled
        self._exact = exact_posteriors(family, universe, priors) if sampled is None else sampled
        self._address, self._draws = address, draws
        self._ids = [each.id for each in synthesizers]
        self._parents = {parent for each in synthesizers for parent in each.parents}

    def run(
        self,
        index: Index,
        stream: int = 0,
        bounds: bool = False,
        only: Collection[str] | None = None,
        known: Mapping[str, Array] | None = None,
        near: Mapping[str, Outcome] | None = None,
        failed: dict[str, str] | None = None,
    ) -> dict[str, Outcome]:
        """Every synthesizer on the data set of the records at ``index`` of the universe; a direct release is none of them.

        Args:
            index: (n,) positions.
            stream: which random numbers; the same ones for all data sets by default.
            bounds: whether the bounds of all are wanted, and not only those that others need.
            only: the synthesizers that are wanted, with those they are built on; all of them by default.
            known: (N,) shares of predicted values outside the sensitive ranges of the universe, by synthesizer, to be taken as
                they are and not computed again: for a first look.
            near: every synthesizer on D, for a first look: the draws of sampled posteriors may stand for those of others.
            failed: where to put why a synthesizer has no outcome. Without it the reason is raised.

        Raises:
            ValueError: a mechanism or an exact posterior refuses the data set.
        """
        address = replace(self._address, replicate=self._address.replicate + STREAM * stream)
        chain = self._chain(self._ids if only is None else only)
        told = {} if known is None else {id: values[index] for id, values in known.items()}
        data_set = _DataSet(index, self.universe.take(index), address, chain, told, near or {})
        found: dict[str, Outcome] = {}
        for synthesizer in chain:
            try:
                # what has to be sampled is sampled here, so that a failure has its place
                wanted = bounds or synthesizer.id in self._parents or (self._sampled is not None and near is None)
                found[synthesizer.id] = _Step(self, synthesizer, data_set, found).outcome(wanted)
            except (ValueError, np.linalg.LinAlgError, _ParentFailed) as error:
                if failed is None:
                    raise
                failed[synthesizer.id] = str(error)
        return found

    def release(self, synthesizer: Synthesizer, index: Index) -> DirectRelease:
        """What a direct release gives on the data set of the records at ``index`` of the universe.

        Raises:
            ValueError: its mechanism is none.
        """
        context = Context(self.family, self.universe.take(index), self._address)
        made = MECHANISMS[synthesizer.mechanism].apply(context, synthesizer.parameters)
        if not isinstance(made, DirectRelease):
            raise ValueError(f"{synthesizer.id}: {synthesizer.mechanism} has a pseudo posterior and releases nothing else")
        return made

    def _chain(self, ids: Collection[str]) -> tuple[Synthesizer, ...]:
        """Synthesizers behind those that they are built on, in the order in which they run."""
        wanted = set(ids)
        for each in reversed(self.synthesizers):
            if each.id in wanted:
                wanted |= set(each.parents)
        return tuple(each for each in self.synthesizers if each.id in wanted and not MECHANISMS[each.mechanism].releases)

    def known(self, base: Mapping[str, Outcome], n: int) -> dict[str, Array]:
        """``known`` for :meth:`run`, (N,) for each synthesizer that has it: of D, and of the other records under D's own fits.

        Args:
            base: every synthesizer on D, the first n records of the universe.
            n: records of D.
        """
        rest = np.arange(n, len(self.universe))
        found = {}
        for each in self.synthesizers:
            outcome = base.get(each.id)
            if outcome is not None and outcome.known is not None and len(rest):
                more = _Step(self, each, _DataSet(rest, self.universe.take(rest), self._address), base).known()
                found[each.id] = np.append(outcome.known, more)
        return found

    def posterior(self, weights: Array, threshold: float | None, near: Outcome | None = None) -> Any:
        """The pseudo posterior with weights (N,) over the universe; where it is sampled, perhaps by the draws of a near one."""
        if self._sampled is not None and near is not None:
            return self._sampled.close_to(near.posterior, weights, threshold)
        return self._exact.posterior(weights, threshold)

    def fixed(self, outcome: Outcome, weights: Array, threshold: float | None = None) -> Outcome:
        """The outcome with weights (N,) that are given and not computed, for the loss with fixed weights."""
        return replace(outcome, weights=weights, posterior=self.posterior(weights, threshold), draws=None, bounds=None)

    def draw(self, posterior: Any, generator: np.random.Generator, size: int) -> Draws:
        """Independent draws of a posterior, ``size`` of them."""
        return self._exact.draws(posterior, generator.random((size, self._exact.dimension)))

    def losses(self, one: Sequence[Outcome], other: Sequence[Outcome]) -> Loss:
        """The privacy loss between outcomes on D and on D': of one each, or of several streams whose number is not told."""
        ours, theirs = ([each.posterior for each in side] for side in (one, other))
        return self._exact.losses(ours, theirs, seed=self._address.replicate)

    def divergence(self, one: Outcome, other: Outcome) -> float:
        """The mean loss in the direction in which it is the larger: for a first look at many neighbours."""
        return 0.0 if one.posterior is other.posterior else self._exact.divergence(one.posterior, other.posterior)

    @property
    def draws(self) -> int:
        """S."""
        return self._draws


class _ParentFailed(KeyError):
    """A synthesizer that another is built on has no outcome."""

    def __str__(self) -> str:
        return f"its parent {self.args[0]} has no outcome before it"


@dataclass(frozen=True)
class _DataSet:
    """D or a neighbour, as one run of the mechanisms sees it."""

    index: Index
    records: Records
    address: Address
    chain: Sequence[Synthesizer] = ()
    """The synthesizers that run on it."""
    known: Mapping[str, Array] = field(default_factory=dict)
    """(n,) for each synthesizer whose shares of predicted values are given."""
    near: Mapping[str, Outcome] = field(default_factory=dict)
    """Every synthesizer on D, at a first look."""


@dataclass(frozen=True)
class _Step:
    """One synthesizer on one data set, when its parents are done."""

    replay: Replay
    synthesizer: Synthesizer
    data: _DataSet
    found: Mapping[str, Outcome]

    def outcome(self, bounds: bool) -> Outcome:
        """The outcome, with draws and bounds if they are wanted."""
        search = self.synthesizer.search
        return self._at({}, FitCache(self._known), bounds) if search is None else self._searched(search)

    def known(self) -> Array:
        """The shares of predicted values outside the records' ranges, for records that its parents have not seen."""
        findings, unseen = FitCache(), np.ones(len(self.data.index))
        self._made({}, findings, [Parent(each.draws, unseen, unseen) for each in self._fitted()])
        return unseen if findings.outside_share is None else findings.outside_share

    def _searched(self, search: Search) -> Outcome:
        """The outcome at the searched parameter.

        Raises:
            ValueError: the target is not within reach in as many steps as are allowed.
        """
        first = self._parent(self.synthesizer.parents[0]).bounds if search.target == "parent" else None
        walk, findings = Walk(search, first.epsilon if first is not None else float(search.target)), FitCache(self._known)
        for _ in range(search.steps):
            found = self._at({search.parameter: walk.value}, findings, True)
            epsilon = float("nan") if found.bounds is None else found.bounds.epsilon
            if walk.ends(epsilon):
                return found
        raise ValueError(f"{walk.missed(epsilon)} after {search.steps} steps")

    @property
    def _known(self) -> Array | None:
        return self.data.known.get(self.synthesizer.id)

    def _at(self, parameters: Mapping[str, float], findings: FitCache, bounds: bool) -> Outcome:
        form = self._form(parameters, findings)
        weights = np.zeros(len(self.replay.universe))
        weights[self.data.index] = form.weights
        owner = self.found.get(self.synthesizer.fit)
        shares = owner is not None and owner.sensitive.threshold == form.sensitive.threshold
        if shares and owner is not None and np.array_equal(owner.weights, weights):
            posterior = owner.posterior
        else:
            near = self.data.near.get(self.synthesizer.id)
            owner, posterior = None, self.replay.posterior(weights, form.sensitive.threshold, near)
        plain = Outcome(weights, posterior, form.sensitive, findings.outside_share, None, None)
        if not bounds:
            return plain
        draws = owner.draws if owner is not None and owner.draws is not None else self._draws(posterior)
        found = record_bounds(self.replay.family, self.data.records, draws, [form.sensitive])[0]
        return replace(plain, draws=draws, bounds=found)

    def _draws(self, posterior: Any) -> Draws:
        generator = self.data.address.generator(STAGE, self._words())
        return self.replay.draw(posterior, generator, self.replay.draws)

    def _form(self, parameters: Mapping[str, float], findings: FitCache) -> Form:
        parents = []
        for name, fitted in zip(self.synthesizer.parents, self._fitted(), strict=True):
            children = [(each.mechanism, each.parameters) for each in self.data.chain if each.parents[:1] == (name,)]
            parents.append(replace(fitted, children=children))
        return self._made(parameters, findings, parents)

    def _made(self, parameters: Mapping[str, float], findings: FitCache, parents: Sequence[Parent]) -> Form:
        context = Context(self.replay.family, self.data.records, self.data.address, parents, findings)
        made = MECHANISMS[self.synthesizer.mechanism].apply(context, {**self.synthesizer.parameters, **parameters})
        if not isinstance(made, Form):
            raise ValueError(f"{self.synthesizer.id}: {self.synthesizer.mechanism} releases directly and has no pseudo posterior")
        return made

    def _fitted(self) -> list[Parent]:
        parents = []
        for name in self.synthesizer.parents:
            parent = self._parent(name)
            if parent.draws is None or parent.bounds is None:
                raise ValueError(f"{self.synthesizer.id}: its parent {name} has no bounds")
            parents.append(Parent(parent.draws, parent.bounds.by_record, parent.sensitive.weights, shared=parent.shared))
        return parents

    def _parent(self, name: str) -> Outcome:
        if name not in self.found:
            raise _ParentFailed(name)
        return self.found[name]

    def _words(self) -> tuple[int, ...]:
        """Of the synthesizer whose fit it uses."""
        owners = [each for each in self.replay.synthesizers if each.id == self.synthesizer.fit]
        return owners[0].words if owners else self.synthesizer.words
