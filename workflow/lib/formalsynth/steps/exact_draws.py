"""Exact draws: independent draws of a pseudo posterior that is known in closed form or on a lattice, in place of Stan's."""

from __future__ import annotations

import time

import numpy as np

from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.replay import STAGE
from formalsynth.core.job import FitJob
from formalsynth.core.mechanism import Context, Form
from formalsynth.stan.diagnostics import diagnose
from formalsynth.stan.fit import Fit
from formalsynth.steps.drawings import DRAWINGS, EXACTLY


def exact_draws(job: FitJob, context: Context, form: Form) -> Fit:
    """As many draws as Stan would give, from the random numbers that the audit of the same replicate has.

    Args:
        job: what to fit.
        context: the confidential data.
        form: weights and censoring threshold.

    Raises:
        ValueError: the family is not known exactly with a threshold, or no lattice holds the posterior.
    """
    start = time.perf_counter()
    exact = exact_posteriors(context.family, context.records, job.priors)
    posterior = exact.posterior(form.weights, form.sensitive.threshold)
    generator = context.address.generator(STAGE, job.synthesizer.words)
    draws = exact.draws(posterior, generator.random((job.sampler.draws, exact.dimension)))
    rhat, bulk, tail = diagnose(np.column_stack([values.reshape(len(values), -1) for values in draws.values()]))
    seconds = time.perf_counter() - start
    return Fit("ok", draws=draws, rhat_max=rhat, ess_bulk_min=bulk, ess_tail_min=tail, attempts=1, seconds=seconds)


DRAWINGS.add(EXACTLY, exact_draws, __name__)
