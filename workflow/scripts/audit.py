"""Audit the synthesizers of a batch on the neighbours of its data sets."""

from formalsynth.runtime.files import write_table
from formalsynth_workflow.jobs.inputs import AuditJob
from formalsynth_workflow.steps.audit import audit_batch
from formalsynth_workflow.steps.begin import begin_step
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.program import program_of

job = begin_step(snakemake, AuditJob)
executable = program_of(job, snakemake.input.executable)
write_table(snakemake.output.audit, audit_batch(job, DataBatch.read(snakemake.input.data), executable))
