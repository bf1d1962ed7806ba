"""Fit: the pseudo posterior of one synthesizer, and the bounds of its records, for each replicate of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease, FitCache
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import Synthesizer
from formalsynth.engine.chain import FAILURES, NoPosterior, Posteriors, PublicPosterior, Step, context_of
from formalsynth.posteriors import StanPosteriors
from formalsynth.stan.fit import Fit
from formalsynth_workflow.jobs.inputs import FitJob
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.fits import Fitted, of_fit
from formalsynth_workflow.steps.parts import EXACT, POSTERIORS


def fit_batch(
    job: FitJob,
    data: DataBatch,
    parents: Mapping[str, Sequence[Fitted]],
    shared: Sequence[Fitted] | None = None,
    executable: Path | None = None,
) -> list[Fitted]:
    """Fit one synthesizer to each replicate of a batch, and bound its records.

    Args:
        job: the synthesizer and the settings.
        data: the confidential data.
        parents: the results of its parents, by id.
        shared: the results of the synthesizer whose fit it shares; None if it has a fit of its own.
        executable: compiled Stan program of its fit; None if it needs none.

    Returns:
        Its result on each replicate. A failed replicate has a reason and no draws.
    """
    stan = StanPosteriors(executable or Path(), job.priors, job.sampler)
    posteriors = POSTERIORS[EXACT](job) if job.exact else stan
    fits = []
    for k, replicate in enumerate(data.replicate):
        context = Context(FAMILIES[job.family], data.records(k), Address.of(job.key, int(replicate)))
        of_parents = {id: results[k] for id, results in parents.items()}
        fits.append(_fit_replicate(job.synthesizer, context, of_parents, shared[k] if shared else None, posteriors))
    return fits


def _fit_replicate(
    synthesizer: Synthesizer, data: Context, parents: Mapping[str, Fitted], shared: Fitted | None, posteriors: Posteriors[Fit]
) -> Fitted:
    """Run a synthesizer on one data set, given the results of its parents and of the synthesizer whose fit it shares."""
    if shared is not None and not shared.ok:
        return shared
    owner = shared.owner() if shared else None
    try:
        ready = {id: parent.parent() for id, parent in parents.items() if parent.ok}
        context = context_of(synthesizer, data, ready, FitCache())
        result = Step(synthesizer, context, posteriors, owner).run(bounds=True)
    except NoPosterior as error:
        assert isinstance(error.attempt, Fit)
        return of_fit(replace(error.attempt, status="failed", reason=str(error), draws={}))
    except FAILURES as error:
        attempt = owner.posterior if owner else Fit("failed")
        return of_fit(replace(attempt, status="failed", reason=str(error), draws={}))
    if isinstance(result, DirectRelease):
        fit = Fit("ok", draws=dict(result.draws), seed=data.address.stan_seed(synthesizer.words), attempts=1)
        return of_fit(fit).with_release(result, data.family)
    fitted = of_fit(result.posterior)
    if isinstance(result, PublicPosterior):
        return fitted.with_release(result.fit, data.family)
    fitted = fitted.with_weighted(result, MECHANISMS[synthesizer.mechanism].claim(synthesizer.parameters))
    return replace(fitted, outside_share=shared.outside_share) if shared else fitted
