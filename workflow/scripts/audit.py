"""Audit the synthesizers of a batch on the neighbours of its data sets."""

from formalsynth.core.job import AuditJob
from formalsynth.runtime.files import write_table
from formalsynth.steps.audit import audit_batch
from formalsynth.steps.begin import begin_step, program_of
from formalsynth.steps.data import DataBatch

job = begin_step(snakemake, AuditJob)
executable = program_of(job, snakemake.input.executable)
write_table(snakemake.output.audit, audit_batch(job, DataBatch.read(snakemake.input.data), executable))
