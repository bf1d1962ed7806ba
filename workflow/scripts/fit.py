"""Fit one synthesizer to each replicate of a batch, and bound its records."""

from formalsynth_workflow.jobs.inputs import FitJob
from formalsynth_workflow.steps.begin import begin_step
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.fit import fit_batch
from formalsynth_workflow.steps.fits import read_fits, write_fits
from formalsynth_workflow.steps.program import program_of

job = begin_step(snakemake, FitJob)
executable = program_of(job, snakemake.input.executable)
parents = dict(zip(job.synthesizer.parents, map(read_fits, snakemake.input.parents), strict=True))
shared = next(map(read_fits, snakemake.input.shared), None)
write_fits(snakemake.output.fit, fit_batch(job, DataBatch.read(snakemake.input.data), parents, shared, executable))
