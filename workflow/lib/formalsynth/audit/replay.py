"""Mechanisms run again on neighbouring data sets, with exact posteriors in place of the sampler.

Everything that a mechanism computes from the data is computed again: risks, weights, searched parameters, thresholds. The random
numbers behind it are the same for all data sets of a replay (common random numbers), unless another stream is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.losses import Losses
from formalsynth.audit.search import searched_value
from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.bounds import Bounds, Index, record_bounds
from formalsynth.core.family import Family
from formalsynth.core.job import Synthesizer
from formalsynth.core.mechanism import MECHANISMS, Context, Findings, Form, Parent
from formalsynth.core.streams import Address, add_stages

add_stages({"audit": 31})
STREAM = 1_000_000
"""Replicates that lie between two streams, so that a mechanism's own random numbers differ too."""


@dataclass(frozen=True)
class Outcome:
    """One synthesizer on one data set."""

    weights: Array
    """(N,) likelihood weights over the universe; 0 for what the data set lacks."""
    posterior: Any
    """The exact pseudo posterior, as its family has it."""
    draws: Draws | None
    """S draws, for those that others are built on and where bounds were asked for."""
    bounds: Bounds | None
    """Lipschitz bounds of the records of the data set, likewise."""


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
    ) -> None:
        """Prepare the exact posteriors.

        Args:
            family: a family that :mod:`formalsynth.audit.exact` knows.
            priors: its priors.
            universe: the N records of which D and its neighbours are made.
            synthesizers: those that are audited and those that they are built on, parents first. None may release directly.
            address: of the replicate; the random numbers of all data sets are those of D.
            draws: S, over which risks and bounds are maxima.

        Raises:
            KeyError: the family has no exact posterior.
        """
        self.family, self.universe, self.synthesizers = family, universe, tuple(synthesizers)
        self._exact = exact_posteriors(family, universe, priors)
        self._address, self._draws = address, draws
        self._parents = {parent for each in synthesizers for parent in each.parents}

    def run(self, index: Index, stream: int = 0, bounds: bool = False, only: str | None = None) -> dict[str, Outcome]:
        """Every synthesizer on the data set of the records at ``index`` of the universe.

        Args:
            index: (n,) positions.
            stream: which random numbers; the same ones for all data sets by default.
            bounds: whether the bounds of all are wanted, and not only those that others need.
            only: the one synthesizer that is wanted, with those it is built on; all of them by default.

        Raises:
            ValueError: a mechanism or an exact posterior refuses the data set.
        """
        records = self.universe.take(index)
        address = replace(self._address, replicate=self._address.replicate + STREAM * stream)
        found: dict[str, Outcome] = {}
        for synthesizer in self.synthesizers if only is None else self._chain(only):
            step = _Step(self, synthesizer, index, records, address, found)
            found[synthesizer.id] = step.outcome(bounds or synthesizer.id in self._parents)
        return found

    def _chain(self, id: str) -> list[Synthesizer]:
        """A synthesizer behind those that it is built on, in the order in which they run."""
        wanted = {id}
        for each in reversed(self.synthesizers):
            if each.id in wanted:
                wanted |= set(each.parents)
        return [each for each in self.synthesizers if each.id in wanted]

    def posterior(self, weights: Array, threshold: float | None) -> Any:
        """The exact pseudo posterior with weights (N,) over the universe."""
        return self._exact.posterior(weights, threshold)

    def fixed(self, outcome: Outcome, weights: Array, threshold: float | None = None) -> Outcome:
        """The outcome with weights (N,) that are given and not computed, for the loss with fixed weights."""
        return replace(outcome, weights=weights, posterior=self.posterior(weights, threshold), draws=None, bounds=None)

    def draw(self, posterior: Any, generator: np.random.Generator, size: int) -> Draws:
        """Independent draws of a posterior, ``size`` of them."""
        return self._exact.draws(posterior, generator.random((size, self._exact.dimension)))

    def losses(self, one: Sequence[Outcome], other: Sequence[Outcome], fine: bool = True) -> Losses:
        """The privacy loss between outcomes on D and on D': of one each, or of several streams whose number is not told."""
        ours, theirs = ([each.posterior for each in side] for side in (one, other))
        return self._exact.losses(ours, theirs, seed=self._address.replicate, fine=fine)

    @property
    def draws(self) -> int:
        """S."""
        return self._draws


@dataclass(frozen=True)
class _Step:
    """One synthesizer on one data set, when its parents are done."""

    replay: Replay
    synthesizer: Synthesizer
    index: Index
    records: Records
    address: Address
    found: Mapping[str, Outcome]

    def outcome(self, bounds: bool) -> Outcome:
        """The outcome, with draws and bounds if they are wanted."""
        synthesizer = self.synthesizer
        if synthesizer.search is None:
            return self._at({}, bounds)
        search = synthesizer.search
        first = self.found[synthesizer.parents[0]].bounds if synthesizer.parents else None
        target = first.epsilon if search.target == "parent" and first is not None else float(search.target)

        def epsilon_at(value: float) -> float:
            tried = self._at({search.parameter: value}, True).bounds
            return tried.epsilon if tried is not None else float("nan")

        return self._at({search.parameter: searched_value(search, target, epsilon_at)}, bounds)

    def _at(self, parameters: Mapping[str, float], bounds: bool) -> Outcome:
        form = self._form(parameters)
        weights = np.zeros(len(self.replay.universe))
        weights[self.index] = form.weights
        posterior = self.replay.posterior(weights, form.sensitive.threshold)
        if not bounds:
            return Outcome(weights, posterior, None, None)
        generator = self.address.generator("audit", self._words())
        draws = self.replay.draw(posterior, generator, self.replay.draws)
        found = record_bounds(self.replay.family, self.records, draws, [form.sensitive])[0]
        return Outcome(weights, posterior, draws, found)

    def _form(self, parameters: Mapping[str, float]) -> Form:
        parents = []
        for name in self.synthesizer.parents:
            parent = self.found[name]
            if parent.draws is None or parent.bounds is None:
                raise ValueError(f"{self.synthesizer.id}: its parent {name} comes after it")
            parents.append(Parent(parent.draws, parent.bounds.by_record, parent.weights[self.index]))
        context = Context(self.replay.family, self.records, self.address, parents, Findings())
        made = MECHANISMS[self.synthesizer.mechanism].function(context, **{**self.synthesizer.parameters, **parameters})
        if not isinstance(made, Form):
            raise ValueError(f"{self.synthesizer.id}: {self.synthesizer.mechanism} releases directly and has no pseudo posterior")
        return made

    def _words(self) -> tuple[int, ...]:
        """Of the synthesizer whose fit it uses."""
        owners = [each for each in self.replay.synthesizers if each.id == self.synthesizer.fit]
        return owners[0].words if owners else self.synthesizer.words
