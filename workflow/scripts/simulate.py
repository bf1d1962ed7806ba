"""Simulate the confidential data of a batch of replicates."""

from formalsynth_workflow.jobs.inputs import SimulateJob
from formalsynth_workflow.steps.begin import begin_step
from formalsynth_workflow.steps.simulate import simulate_batch

job = begin_step(snakemake, SimulateJob)
simulate_batch(job).write(snakemake.output.data)
