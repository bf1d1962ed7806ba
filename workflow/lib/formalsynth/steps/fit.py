"""Fit: the pseudo posterior of one synthesizer for each replicate of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from formalsynth.core.arrays import Draws
from formalsynth.core.family import StanData
from formalsynth.core.job import FitJob, SamplerSettings
from formalsynth.core.mechanism import DirectRelease, FitCache
from formalsynth.engine.chain import FAILURES, NoPosterior, Posteriors, PublicRequest, Request, Step
from formalsynth.inference.goodness_of_fit import p_value
from formalsynth.stan.fit import Fit
from formalsynth.stan.sample import sample
from formalsynth.steps.batch import FitBatch, FitResult, Fitted, context_in
from formalsynth.steps.data import DataBatch
from formalsynth.steps.parts import EXACT, POSTERIORS

ROUNDS = 6
"""Largest number of times that a fit to public tables is sampled."""


def unmoved(inits: StanData) -> StanData:
    """Return the starting point unchanged."""
    return inits


@dataclass(frozen=True)
class StanPosteriors:
    """Source of pseudo posteriors sampled by CmdStan."""

    executable: Path
    """Compiled Stan program of the family, or of the fit to public tables."""
    priors: Mapping[str, float]
    settings: SamplerSettings
    moved: Callable[[StanData], StanData] = unmoved
    """Function that moves the starting point of each chain."""

    def posterior(self, request: Request) -> Fit:
        """Return a fit that passed the diagnostic gate.

        Raises:
            NoPosterior: it did not pass.
            ValueError: the family rejects the data.
        """
        context, form = request.context, request.form
        family = form.sensitive.of(context.family)
        data = family.stan_data(context.records, form.weights, self.priors, form.sensitive.threshold)
        seed = context.address.stan_seed(request.synthesizer.words)
        return self._sampled(data, family.inits(data), family.parameters, seed)

    def given_public(self, request: PublicRequest) -> Fit:
        """Return a fit to public tables that passed the diagnostic gate.

        Raises:
            NoPosterior: it did not pass.
            ValueError: the model rejects the tables, or has too few effective draws.
        """
        model, public, seed = request.model, request.public, request.address.stan_seed(request.synthesizer.words)
        for attempt in range(ROUNDS):
            data = model.stan_data(public, self.priors)
            fit = self._sampled(data, model.inits(public, data), model.parameters, seed)
            better = model.refined(fit.draws, public) if attempt < ROUNDS - 1 else None
            if better is None:
                break
            model = better
        draws = dict(model.draws(fit.draws, public))
        return replace(fit, draws=draws, fit_p=p_value(model, public, data, draws))

    def _sampled(self, data: StanData, inits: StanData, parameters: tuple[str, ...], seed: int) -> Fit:
        fit = sample(self.executable, data, self.moved(inits), parameters, seed, self.settings)
        if fit.status != "ok":
            raise NoPosterior(fit.reason, fit)
        return fit

    def draws(self, request: Request, posterior: Fit) -> Draws:
        """Return the draws of a fit."""
        return posterior.draws


def fit_batch(job: FitJob, data: DataBatch, fitted: Mapping[str, Fitted], executable: Path) -> FitBatch:
    """Fit one synthesizer to each replicate of a batch.

    Args:
        job: the synthesizer and the settings.
        data: the confidential data.
        fitted: the fits of its parents, by id.
        executable: compiled Stan program of the family, or of the fit to public tables.

    Returns:
        Draws, diagnostics and caches of the mechanism. A failed replicate has NaN draws and a reason.
    """
    posteriors = POSTERIORS[EXACT](job) if job.exact else StanPosteriors(executable, job.priors, job.sampler)
    return FitBatch.of([_fit_replicate(job, data, k, fitted, posteriors) for k in range(len(data.replicate))])


def _fit_replicate(job: FitJob, data: DataBatch, k: int, fitted: Mapping[str, Fitted], posteriors: Posteriors[Fit]) -> FitResult:
    synthesizer, cache = job.synthesizer, FitCache()
    try:
        context = context_in(job, synthesizer, data, k, fitted, cache)
        result = Step(synthesizer, context, posteriors).run()
    except NoPosterior as error:
        assert isinstance(error.attempt, Fit)
        return FitResult(replace(error.attempt, status="failed", reason=str(error), draws={}), cache)
    except FAILURES as error:
        return FitResult(Fit("failed", str(error)))
    if isinstance(result, DirectRelease):
        seed = context.address.stan_seed(synthesizer.words)
        return FitResult(Fit("ok", draws=dict(result.draws), seed=seed, attempts=1), cache)
    cache.fit_p = result.posterior.fit_p
    return FitResult(result.posterior, cache)
