"""Chains run again on neighbouring data sets, with exact posteriors instead of the sampler if the family has them.

The engine recomputes everything that depends on the data: risks, weights, searched parameters, thresholds. All data sets of a
replay use the same random numbers (common random numbers), unless the caller asks for another stream.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formalsynth.audit.exact import Exact, Sampled, exact_posteriors
from formalsynth.audit.losses import Loss, loss_of_counts
from formalsynth.core.arrays import Array, Draws, Index, Records, count, parts
from formalsynth.core.bounds import Bounds, Sensitive
from formalsynth.core.centring import Reference, centred
from formalsynth.core.family import Family, log_likelihood
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease, FitCache, Form, Parent
from formalsynth.core.private import DiscreteLaplaceCounts, PrivateFit
from formalsynth.core.streams import Address, add_stages
from formalsynth.core.synthesizer import Synthesizer
from formalsynth.engine.chain import PublicRequest, Request, WeightedPosterior, context_of, form_of, run_chain

STAGE = "audit"
"""Stage of the random streams of exact draws."""
add_stages({STAGE: 31})
STREAM = 1_000_000
"""Offset of the replicate number from one stream to the next, so the random numbers of mechanisms differ, too."""


@dataclass(frozen=True)
class Outcome:
    """One synthesizer on one data set."""

    weights: Array
    """(N,) likelihood weights over the universe; 0 for records outside the data set."""
    posterior: Any
    """Pseudo posterior: exact, in the form that its family provides, or sampled."""
    sensitive: Sensitive
    """Sensitive part of the log-likelihood of the records of the data set."""
    known: Array | None
    """(n,) share of predicted values outside each record's sensitive range; None for a mechanism without ranges."""
    draws: Draws | None
    """S draws; only for parents, and for outcomes with requested bounds."""
    bounds: Bounds | None
    """Lipschitz bounds of the records of the data set; only if there are draws."""
    counts: DiscreteLaplaceCounts | None = None
    """Counts of a private first stage, before their noise."""


class Replay:
    """Chain of one replicate, which runs on any data set from a universe of records."""

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
            family: the family; it must be registered in :mod:`formalsynth.audit.exact`, unless its posteriors are sampled.
            priors: its priors.
            universe: the N records of D and its neighbours.
            synthesizers: the audited synthesizers and all that they build on, parents first.
            address: address of the replicate; all data sets use the same random numbers as D.
            draws: number S of draws over which risks and bounds are maximised.
            sampled: posteriors from a sampler; by default they are exact.

        Raises:
            KeyError: the family has no exact posterior.
        """
        words = {synthesizer.id: synthesizer.words for synthesizer in synthesizers}
        self.family, self.universe = family, universe
        self.synthesizers = tuple(
            synthesizer.model_copy(update={"words": words.get(synthesizer.fit, synthesizer.words)})
            for synthesizer in synthesizers
        )
        self._sampled = sampled
        self._priors = priors
        self._sources: dict[Reference | None, Exact[Any]] = {}
        self._source(None)
        self._address, self.draws = address, draws
        self._parents = {parent for synthesizer in synthesizers for parent in synthesizer.parents}
        self._published: dict[str, Array] = {}

    def outcomes_on(
        self,
        index: Index,
        stream: int = 0,
        bounds: bool = False,
        only: Collection[str] | None = None,
        known: Mapping[str, Array] | None = None,
        near: Mapping[str, Outcome] | None = None,
        failed: dict[str, str] | None = None,
    ) -> dict[str, Outcome]:
        """Outcomes of the synthesizers on the data set of the records at ``index`` of the universe, without direct releases.

        The noisy counts of a private first stage are those of the first run, on D: the losses are conditional on these counts.

        Args:
            index: (n,) positions.
            stream: stream of random numbers; by default all data sets use the same one.
            bounds: if True, compute bounds for all outcomes, not only for those of parents.
            only: ids of the synthesizers to run, with all that they build on; by default, all synthesizers.
            known: (N,) shares of predicted values outside the sensitive ranges of the universe, by synthesizer. Mechanisms use
                them without recomputing them: for a first look.
            near: outcomes on D, for a first look: draws of their sampled posteriors may be reused instead of new draws.
            failed: collects the reason for each synthesizer without an outcome; if it is None, the first error is raised.

        Raises:
            ValueError: a mechanism or an exact posterior rejects the data set.
        """
        data = self._data(index)
        data.address = replace(self._address, replicate=self._address.replicate + STREAM * stream)
        chain = self._chain(only)
        # sampled posteriors are sampled in their own step, which then reports the reason for a failure
        all_bounds = bounds or (self._sampled is not None and near is None)
        wanted = [synthesizer.id for synthesizer in chain if all_bounds or synthesizer.id in self._parents]
        caches = {id: FitCache(values[index]) for id, values in (known or {}).items()}
        caches |= {id: FitCache(noisy=noisy) for id, noisy in self._published.items()}
        results = run_chain(chain, data, _Universal(self, index, near or {}), wanted, caches, failed)
        for id, result in results.items():
            if isinstance(result, WeightedPosterior) and result.cache.noisy is not None:
                self._published.setdefault(id, result.cache.noisy)
        return {id: self._outcome(index, result) for id, result in results.items() if isinstance(result, WeightedPosterior)}

    def _data(self, index: Index) -> Context:
        return Context(self.family, self.universe.take(index), self._address)

    def _outcome(self, index: Index, result: WeightedPosterior[Any]) -> Outcome:
        form, weights = result.form, self.over_universe(index, result.form)
        known = result.cache.outside_share
        return Outcome(weights, result.posterior, form.sensitive, known, result.draws, result.bounds, form.counts)

    def over_universe(self, index: Index, form: Form) -> Array:
        """Likelihood weights (N,) of the records at ``index``; 0 for the others."""
        weights = np.zeros(len(self.universe))
        weights[index] = form.weights
        return weights

    def release(self, synthesizer: Synthesizer, index: Index) -> DirectRelease | PrivateFit:
        """Run a mechanism with noisy counts on the data set of the records at ``index`` of the universe.

        Raises:
            ValueError: its mechanism has a pseudo posterior.
        """
        made = form_of(synthesizer, self._data(index))
        if not isinstance(made, DirectRelease | PrivateFit):
            raise ValueError(f"{synthesizer.id}: {synthesizer.mechanism} has a pseudo posterior and does not release directly")
        return made

    def _chain(self, only: Collection[str] | None) -> tuple[Synthesizer, ...]:
        """Synthesizers to run: the requested ones with all that they build on, without direct releases."""
        wanted = {synthesizer.id for synthesizer in self.synthesizers} if only is None else set(only)
        for synthesizer in reversed(self.synthesizers):
            if synthesizer.id in wanted:
                wanted |= set(synthesizer.parents)
        chain = [synthesizer for synthesizer in self.synthesizers if synthesizer.id in wanted]
        return tuple(synthesizer for synthesizer in chain if not MECHANISMS[synthesizer.mechanism].releases)

    def known(self, base: Mapping[str, Outcome], n: int) -> dict[str, Array]:
        """Compute ``known`` for :meth:`outcomes_on`: shares (N,) for D, and for the other records under the fits on D.

        Args:
            base: outcomes on D, the first n records of the universe.
            n: number of records of D.
        """
        rest = np.arange(n, len(self.universe))
        unseen, shares = np.ones(len(rest)), {}
        parents = {id: Parent(outcome.draws, unseen, unseen) for id, outcome in base.items() if outcome.draws is not None}
        for synthesizer in self.synthesizers if len(rest) else ():
            known = base[synthesizer.id].known if synthesizer.id in base else None
            if known is not None:
                context = context_of(synthesizer, self._data(rest), parents, FitCache())
                form_of(synthesizer, context)
                more = unseen if context.cache.outside_share is None else context.cache.outside_share
                shares[synthesizer.id] = np.append(known, more)
        return shares

    def _source(self, reference: Reference | None) -> Exact[Any]:
        """Pseudo posteriors of log-likelihoods, or of their differences from those at a reference; made once."""
        if reference not in self._sources:
            if self._sampled is None:
                source = exact_posteriors(centred(self.family, reference), self.universe, self._priors)
            else:
                source = self._sampled if reference is None else self._sampled.relative_to(reference)
            self._sources[reference] = source
        return self._sources[reference]

    def posterior(
        self, weights: Array, threshold: float | None, near: Outcome | None = None, reference: Reference | None = None
    ) -> Any:
        """Pseudo posterior with weights (N,) over the universe; a sampled one may use the draws of a near one."""
        if self._sampled is not None and near is not None and near.sensitive.reference == reference:
            return self._sampled.close_to(near.posterior, weights, threshold)
        return self._source(reference).posterior(weights, threshold)

    def fixed(self, outcome: Outcome, weights: Array, threshold: float | None = None) -> Outcome:
        """Outcome with given weights (N,), for the loss with fixed weights."""
        posterior = self.posterior(weights, threshold, reference=outcome.sensitive.reference)
        return replace(outcome, weights=weights, posterior=posterior, draws=None, bounds=None)

    def draw(self, outcome: Outcome, generator: np.random.Generator, size: int) -> Draws:
        """Make ``size`` independent draws of the posterior of an outcome."""
        return self.sample(outcome.posterior, generator, size, outcome.sensitive.reference)

    def sample(self, posterior: Any, generator: np.random.Generator, size: int, reference: Reference | None) -> Draws:
        """Make ``size`` independent draws of a posterior with this reference."""
        source = self._source(reference)
        return source.draws(posterior, generator.random((size, source.dimension)))

    def losses(self, base: Sequence[Outcome], other: Sequence[Outcome]) -> Loss:
        """Privacy loss between outcomes on D and on D', of one stream each or mixed over several streams.

        Raises:
            ValueError: the outcomes have different references.
        """
        ours, theirs = ([outcome.posterior for outcome in side] for side in (base, other))
        loss = self._common([*base, *other]).losses(ours, theirs, seed=self._address.replicate)
        mine, its = base[0].counts, other[0].counts
        return loss if mine is None or its is None else loss.after(loss_of_counts(mine, its))

    def oscillation(self, base: Outcome, other: Outcome) -> float:
        """Bound of the loss between two outcomes: oscillation of the difference of their log-likelihoods over the draws of both.

        The densities differ by the factor ``exp(h) / E exp(h)``, with ``h = sum_i (w_i - w'_i) log p(x_i | theta)`` over the
        universe. So no loss at these draws exceeds ``max h - min h``. NaN without draws, or with a threshold, whose loss has a
        declared bound.
        """
        if base.draws is None or other.draws is None or base.sensitive.threshold is not None:
            return float("nan")
        changed = np.flatnonzero(base.weights != other.weights)
        ends = []
        for draws in (base.draws, other.draws):
            h = np.zeros(count(draws))
            for part in parts(len(changed)):
                index = changed[part]
                difference = base.weights[index] - other.weights[index]
                h += log_likelihood(self.family, self.universe.take(index), draws) @ difference
            ends += [h.min(), h.max()]
        return float(np.ptp(ends))

    def divergence(self, base: Outcome, other: Outcome) -> float:
        """Larger of the mean losses in the two directions, for a first look at many neighbours.

        Raises:
            ValueError: the outcomes have different references.
        """
        if base.posterior is other.posterior:
            return 0.0
        return self._common([base, other]).divergence(base.posterior, other.posterior)

    def _common(self, outcomes: Sequence[Outcome]) -> Exact[Any]:
        references = {outcome.sensitive.reference for outcome in outcomes}
        if len(references) > 1:
            raise ValueError("the loss between posteriors that are clipped around different references is unknown")
        return self._source(references.pop())


@dataclass(frozen=True)
class _Universal:
    """Source of the posteriors of one data set, given as weights over the universe."""

    replay: Replay
    index: Index
    near: Mapping[str, Outcome]
    """Outcomes on D, for a first look."""

    def posterior(self, request: Request) -> Any:
        """Exact pseudo posterior of a form, or a sampled one.

        Raises:
            ValueError: the likelihood is clipped inside ranges.
        """
        weights, sensitive = self.replay.over_universe(self.index, request.form), request.form.sensitive
        if sensitive.known is not None:
            raise ValueError("no audit of a likelihood that is clipped inside ranges: its exact test tries all small data sets")
        near = self.near.get(request.synthesizer.id)
        return self.replay.posterior(weights, sensitive.threshold, near, sensitive.reference)

    def given_public(self, request: PublicRequest) -> Any:
        """Raise an error: the audit of noisy counts needs no fit to them.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{request.synthesizer.id}: the audit does not fit public tables")

    def draws(self, request: Request, posterior: Any) -> Draws:
        """Draws with the random numbers of the fit that the synthesizer uses."""
        generator = request.context.address.generator(STAGE, request.synthesizer.words)
        return self.replay.sample(posterior, generator, self.replay.draws, request.form.sensitive.reference)
