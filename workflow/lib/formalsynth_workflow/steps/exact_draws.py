"""Exact draws: independent draws from a pseudo posterior known in closed form or on a lattice, instead of Stan's."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.replay import STAGE
from formalsynth.core.arrays import Draws
from formalsynth.engine.chain import PublicRequest, Request
from formalsynth.stan.diagnostics import diagnose
from formalsynth.stan.fit import Fit
from formalsynth_workflow.jobs.inputs import FitJob
from formalsynth_workflow.steps.parts import EXACT, POSTERIORS


@dataclass(frozen=True)
class ExactDraws:
    """Source of exact draws, from the same random numbers as the audit of the same replicate."""

    job: FitJob

    def posterior(self, request: Request) -> Fit:
        """Make as many draws as Stan would.

        Raises:
            ValueError: the posterior is not known exactly with a threshold, or does not fit on a lattice.
        """
        start, context, form = time.perf_counter(), request.context, request.form
        exact = exact_posteriors(form.sensitive.of(context.family), context.records, self.job.priors)
        posterior = exact.posterior(form.weights, form.sensitive.threshold)
        generator = context.address.generator(STAGE, request.synthesizer.words)
        draws = exact.draws(posterior, generator.random((self.job.sampler.draws, exact.dimension)))
        rhat, bulk, tail = diagnose(np.column_stack([values.reshape(len(values), -1) for values in draws.values()]))
        seconds = time.perf_counter() - start
        return Fit("ok", draws=draws, rhat_max=rhat, ess_bulk_min=bulk, ess_tail_min=tail, attempts=1, seconds=seconds)

    def given_public(self, request: PublicRequest) -> Fit:
        """Raise an error: there are no exact posteriors given public tables.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{request.synthesizer.id}: a fit to public tables has no exact posterior; leave out exact: true")

    def draws(self, request: Request, posterior: Fit) -> Draws:
        """Return the draws of a posterior."""
        return posterior.draws


POSTERIORS.add(EXACT, ExactDraws, __name__)
