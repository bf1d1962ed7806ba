"""Run one batch of a study."""

from formalsynth.core.job import StudyJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.files import write_table
from formalsynth.runtime.jobs import begin
from formalsynth.steps.study import run_study

begin(snakemake)

job = StudyJob.of(snakemake.params.job)
load(job.modules)
outcome = run_study(job)
write_table(snakemake.output.replicates, outcome.rows, specification(job, [snakemake.params.code]))
write_table(snakemake.output.details, outcome.details, specification(job, [snakemake.params.code]))
