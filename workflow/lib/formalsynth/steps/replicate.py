"""One replicate of a batch: what its mechanism may look at, and what the mechanism makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from formalsynth.core.family import FAMILIES
from formalsynth.core.job import FitJob, MeasureJob, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease, FitCache, Form, Parent
from formalsynth.core.streams import Address
from formalsynth.steps.batch import Fitted
from formalsynth.steps.data import DataBatch


class ParentFailed(ValueError):
    """A replicate has no context, because a fit that it builds on failed."""


def context_of(
    job: FitJob | MeasureJob, synthesizer: Synthesizer, data: DataBatch, k: int, fitted: Mapping[str, Fitted], found: FitCache
) -> Context:
    """What the mechanism of a synthesizer may look at in the k-th replicate of a batch.

    Raises:
        ParentFailed: a parent has no draws there.
    """
    parents = []
    for parent in synthesizer.parents:
        other = fitted[job.fits[parent]]
        if not other.fit.ok(k):
            raise ParentFailed(f"its parent {parent} failed")
        member = other.measure.members[parent]
        shared = other.shared.setdefault(k, {})
        parents.append(Parent(other.fit.draws_of(k), member.by_record[k], member.weights[k], other.children, shared))
    address = Address.of(job.key, int(data.replicate[k]))
    return Context(FAMILIES[job.family], data.records(k), address, parents, replace(found))


def form_of(synthesizer: Synthesizer, context: Context, value: float | None = None) -> Form | DirectRelease:
    """What the synthesizer's mechanism makes of a context.

    Args:
        synthesizer: the synthesizer.
        context: what its mechanism may look at.
        value: value of a searched parameter; by default the one that the fit step found.

    Raises:
        ValueError: the mechanism refuses the data, or breaks its contract.
    """
    parameters = dict(synthesizer.parameters)
    searched = context.cache.searched if value is None else value
    if synthesizer.search and searched is not None:
        parameters[synthesizer.search.parameter] = float(searched)
    return MECHANISMS[synthesizer.mechanism].apply(context, parameters)
