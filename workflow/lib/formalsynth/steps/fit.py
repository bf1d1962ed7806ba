"""Fit: the pseudo posterior of one synthesizer for each replicate of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.core.bounds import record_bounds
from formalsynth.core.family import StanData
from formalsynth.core.job import FitJob, Search
from formalsynth.core.mechanism import Context, DirectRelease, FitCache, Form
from formalsynth.core.search import Walk
from formalsynth.stan.fit import Fit
from formalsynth.stan.sample import sample
from formalsynth.steps.batch import FitBatch, FitResult, Fitted
from formalsynth.steps.data import DataBatch
from formalsynth.steps.drawings import DRAWINGS, EXACTLY
from formalsynth.steps.replicate import ParentFailed, context_of, form_of


def as_it_is(inits: StanData) -> StanData:
    """The starting point itself."""
    return inits


def fit_batch(
    job: FitJob, data: DataBatch, fitted: Mapping[str, Fitted], executable: Path, moved: Callable[[StanData], StanData] = as_it_is
) -> FitBatch:
    """Fit one synthesizer to each replicate of a batch.

    Args:
        job: what to fit.
        data: the confidential data.
        fitted: the fits that its mechanism needs, by id.
        executable: compiled Stan program of the family.
        moved: moves the starting point of a chain, where it is not to follow from the data.

    Returns:
        Draws, diagnostics and what the mechanism found. A failed replicate has NaN draws and a reason.
    """
    return FitBatch.of([_fit_replicate(job, data, k, fitted, executable, moved) for k in range(len(data.replicate))])


def _fit_replicate(
    job: FitJob, data: DataBatch, k: int, fitted: Mapping[str, Fitted], executable: Path, moved: Callable[[StanData], StanData]
) -> FitResult:
    try:
        context = context_of(job, job.synthesizer, data, k, fitted, FitCache())
        fitter = _Fitter(job, context, executable, moved)
        fit = fitter.search(job.synthesizer.search) if job.synthesizer.search else fitter.run()[0]
    except (ParentFailed, ValueError, np.linalg.LinAlgError) as error:
        return FitResult(Fit("failed", str(error)))
    return FitResult(fit, context.cache)


@dataclass(frozen=True)
class _Fitter:
    """The fits of one replicate, all with the same Stan seed."""

    job: FitJob
    context: Context
    executable: Path
    moved: Callable[[StanData], StanData]

    def run(self, value: float | None = None) -> tuple[Fit, Form | DirectRelease]:
        """One fit; ``value`` is that of the searched parameter."""
        synthesizer, context = self.job.synthesizer, self.context
        seed = context.address.stan_seed(synthesizer.words)
        form = form_of(synthesizer, context, value)
        if isinstance(form, DirectRelease):
            return Fit("ok", draws=dict(form.draws), seed=seed, attempts=1), form
        if self.job.exact:
            return DRAWINGS[EXACTLY](self.job, context, form), form
        family = context.family
        stan_data = family.stan_data(context.records, form.weights, self.job.priors, form.sensitive.threshold)
        inits = self.moved(family.inits(stan_data))
        fit = sample(self.executable, stan_data, inits, family.parameters, seed, self.job.sampler)
        return fit, form

    def epsilon(self, fit: Fit, form: Form | DirectRelease) -> float:
        """The budget that a fit has."""
        if isinstance(form, DirectRelease):
            return form.epsilon
        return record_bounds(self.context.family, self.context.records, fit.draws, [form.sensitive])[0].epsilon

    def search(self, search: Search) -> Fit:
        """Refit until epsilon is the target: by bisection, or from above in even steps."""
        target = 2 * self.context.parents[0].by_record.max() if search.target == "parent" else search.target
        walk = Walk(search, float(target))
        for step in range(1, search.steps + 1):
            value = walk.value
            fit, form = self.run(value)
            self.context.cache.searched, self.context.cache.search_steps = value, step
            if fit.status != "ok":
                return fit
            epsilon = self.epsilon(fit, form)
            if walk.ends(epsilon):
                return fit
        fit.status, fit.draws = "failed", {}
        fit.reason = f"{walk.missed(epsilon)} after {step} refits"
        return fit
