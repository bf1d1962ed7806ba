"""Simulate the confidential data of one batch."""

from formalsynth.core.job import SimulateJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.logs import log_to
from formalsynth.steps.simulate import simulate_batch

log_to(snakemake.log[0])

job = SimulateJob.of(snakemake.params.job)
load(job.modules)
simulate_batch(job).write(snakemake.output.data, specification(job))
