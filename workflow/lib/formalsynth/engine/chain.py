"""A chain of synthesizers on one data set: contexts, mechanisms, searches, shared fits, record bounds and reasons for failures.

In a chain, parents come before children, and the owner of a fit before those that share it. The run and the audit
differ only in their data sets and in the source of their pseudo posteriors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from formalsynth.core.arrays import Draws
from formalsynth.core.bounds import Bounds, record_bounds
from formalsynth.core.family import StanData
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease, FitCache, Form, Made, Parent
from formalsynth.core.private import PrivateFit, PublicModel, PublicTables
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import Search, Synthesizer
from formalsynth.engine.search import Walk

P = TypeVar("P")
Sampler = Callable[[StanData, int], tuple[Draws, float]]
"""Function from a Stan program's data and a seed to draws and their effective sample size; raises ValueError with a reason."""
FAILURES = (ValueError, np.linalg.LinAlgError)
"""Errors that count as the failure of one synthesizer on one data set; all others end the job."""


class NoPosterior(ValueError):
    """Error for a pseudo posterior that cannot be used."""

    def __init__(self, reason: str, attempt: object) -> None:
        """Store the attempt, for its diagnostics."""
        super().__init__(reason)
        self.attempt = attempt


@dataclass(frozen=True)
class Request:
    """Request for the pseudo posterior of one form."""

    synthesizer: Synthesizer
    """The synthesizer; its words key the random numbers."""
    context: Context
    form: Form


@dataclass(frozen=True)
class PublicRequest:
    """Request for the posterior given public tables; it contains no records."""

    synthesizer: Synthesizer
    """The synthesizer; its words key the random numbers."""
    address: Address
    public: PublicTables
    model: PublicModel


class Posteriors(Protocol[P]):
    """Source of pseudo posteriors and their draws: a sampler, exact posteriors or given draws."""

    def posterior(self, request: Request) -> P:
        """Return the pseudo posterior of a form, possibly not sampled yet.

        Raises:
            NoPosterior: it was sampled and failed.
            ValueError: the family rejects the data.
        """

    def draws(self, request: Request, posterior: P) -> Draws:
        """Return S draws from a posterior.

        Raises:
            ValueError: it cannot be sampled.
        """

    def given_public(self, request: PublicRequest) -> P:
        """Return the posterior given public tables.

        Raises:
            NoPosterior: it was sampled and failed.
            ValueError: the model rejects the tables, or this source has no such posterior.
        """


@dataclass(frozen=True)
class PublicPosterior(Generic[P]):
    """Result of a mechanism with private statistics: these statistics, and the posterior given the public ones."""

    fit: PrivateFit
    posterior: P


@dataclass(frozen=True)
class WeightedPosterior(Generic[P]):
    """Result of a mechanism with a weighted pseudo posterior of the records."""

    form: Form
    posterior: P
    cache: FitCache
    draws: Draws | None = None
    """S draws, if bounds were requested."""
    bounds: Bounds | None = None

    def parent(self) -> Parent:
        """Return the input of the children; requires draws and bounds."""
        assert self.draws is not None and self.bounds is not None
        return Parent(self.draws, self.bounds.by_record, self.form.sensitive.weights)


Result = WeightedPosterior[P] | DirectRelease | PublicPosterior[P]


def context_of(synthesizer: Synthesizer, data: Context, parents: Mapping[str, Parent], cache: FitCache) -> Context:
    """Return the input of a synthesizer's mechanism.

    Args:
        synthesizer: the synthesizer.
        data: family, records and address.
        parents: the results so far, by id.
        cache: costly results of an earlier run of the mechanism on the same data; the mechanism adds its own.

    Raises:
        ValueError: a parent has no result.
    """
    for parent in synthesizer.parents:
        if parent not in parents:
            raise ValueError(f"its parent {parent} failed")
    return replace(data, parents=[parents[parent] for parent in synthesizer.parents], cache=cache)


def form_of(synthesizer: Synthesizer, context: Context) -> Made:
    """Return the output of the synthesizer's mechanism, at the searched parameter if the context has one.

    Raises:
        ValueError: the mechanism rejects the data, or breaks its contract.
    """
    parameters = dict(synthesizer.parameters)
    if synthesizer.search and context.cache.searched is not None:
        parameters[synthesizer.search.parameter] = float(context.cache.searched)
    return MECHANISMS[synthesizer.mechanism].apply(context, parameters)


def sharing(owner: str, form: Form, other: Made) -> Form:
    """Return the form of a synthesizer that shares a fit.

    Args:
        owner: id of the owner of the fit.
        form: form of the owner.
        other: output of the mechanism of the synthesizer that shares its fit.

    Raises:
        ValueError: their likelihoods differ in weights, threshold or reference.
    """
    alike = isinstance(other, Form) and np.array_equal(other.weights, form.weights)
    if not isinstance(other, Form) or not alike or not other.sensitive.clips_like(form.sensitive):
        raise ValueError(
            f"it shares the fit of {owner}, but its likelihood has different weights, or a different threshold or reference"
        )
    return other


@dataclass(frozen=True)
class Step(Generic[P]):
    """One synthesizer on one data set."""

    synthesizer: Synthesizer
    context: Context
    posteriors: Posteriors[P]
    owner: WeightedPosterior[P] | None = None
    """Result of the synthesizer whose fit it shares; None if it has its own fit."""

    def run(self, bounds: bool = False) -> Result[P]:
        """Run the synthesizer, with draws and record bounds if requested.

        Raises:
            NoPosterior: the pseudo posterior, or the search, failed.
            ValueError: the mechanism or the family rejects the data.
        """
        if self.synthesizer.search:
            return self._searched(self.synthesizer.search)
        form = form_of(self.synthesizer, self.context)
        if isinstance(form, PrivateFit):
            request = PublicRequest(self.synthesizer, self.context.address, form.public, form.model)
            return PublicPosterior(form, self.posteriors.given_public(request))
        return form if isinstance(form, DirectRelease) else self.weighted(form, bounds)

    def _searched(self, search: Search) -> WeightedPosterior[P]:
        """Search for the parameter; every step uses the same random numbers."""
        cache = self.context.cache
        target = 2 * self.context.parents[0].by_record.max() if search.target == "parent" else search.target
        walk = Walk(search, float(target))
        for step in range(1, search.steps + 1):
            cache.searched, cache.search_steps = walk.value, step
            form = form_of(self.synthesizer, self.context)
            assert isinstance(form, Form)
            result = self.weighted(form, bounds=True)
            assert result.bounds is not None
            if walk.ends(epsilon := result.bounds.epsilon):
                return result
        raise NoPosterior(f"{walk.missed(epsilon)} after {step} refits", result.posterior)

    def weighted(self, form: Form, bounds: bool) -> WeightedPosterior[P]:
        """Return the pseudo posterior of a form, with draws and record bounds if requested.

        Raises:
            NoPosterior: the pseudo posterior failed.
            ValueError: the family rejects the data, or the likelihood differs from that of the shared fit.
        """
        request, owner = Request(self.synthesizer, self.context, form), self.owner
        if owner is None:
            result = WeightedPosterior(form, self.posteriors.posterior(request), self.context.cache)
        else:
            form = sharing(self.synthesizer.fit, owner.form, form)
            result = replace(owner, form=form, cache=self.context.cache, bounds=None)
        if not bounds:
            return result
        draws = self.posteriors.draws(request, result.posterior) if result.draws is None else result.draws
        (of_records,) = record_bounds(self.context.family, self.context.records, draws, [form.sensitive])
        return replace(result, draws=draws, bounds=of_records)


def run_chain(
    chain: Sequence[Synthesizer],
    data: Context,
    posteriors: Posteriors[P],
    bounds: Collection[str] = (),
    caches: Mapping[str, FitCache] | None = None,
    failed: dict[str, str] | None = None,
) -> dict[str, Result[P]]:
    """Run the synthesizers of a chain on one data set, and return their results.

    Args:
        chain: parents before children, owners of fits before those that share them.
        data: family, records and address.
        posteriors: source of the pseudo posteriors.
        bounds: ids of synthesizers whose record bounds are requested; parents always have them.
        caches: costly results that mechanisms reuse, by synthesizer.
        failed: dictionary to which the reason for each missing result is added; without it, the first error is raised.

    Raises:
        ValueError: a mechanism, the family or a posterior failed.
        LinAlgError: in the same cases.
    """
    wanted = {parent for synthesizer in chain for parent in synthesizer.parents}
    results: dict[str, Result[P]] = {}
    parents: dict[str, Parent] = {}
    for synthesizer in chain:
        id, owner = synthesizer.id, results.get(synthesizer.fit)
        if failed and synthesizer.fit in failed:
            failed[id] = failed[synthesizer.fit]
            continue
        try:
            context = context_of(synthesizer, data, parents, (caches or {}).get(id) or FitCache())
            shared = owner if isinstance(owner, WeightedPosterior) else None
            results[id] = result = Step(synthesizer, context, posteriors, shared).run(id in wanted or id in bounds)
            if isinstance(result, WeightedPosterior) and id in wanted:
                parents[id] = result.parent()
        except FAILURES as error:
            if failed is None:
                raise
            failed[id] = str(error)
    return results
