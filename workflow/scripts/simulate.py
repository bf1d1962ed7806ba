"""Simulate the confidential data of a batch of replicates."""

from formalsynth.core.job import SimulateJob
from formalsynth.steps.begin import begin_step
from formalsynth.steps.simulate import simulate_batch

job = begin_step(snakemake, SimulateJob)
simulate_batch(job).write(snakemake.output.data)
