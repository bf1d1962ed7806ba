"""Run one batch of a study."""

from formalsynth.core.job import StudyJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.files import write_table
from formalsynth.runtime.jobs import begin
from formalsynth.runtime.sources import check_code, sources
from formalsynth.steps.study import run_study

begin(snakemake)

job, code = StudyJob.of(snakemake.params.job), snakemake.params.code
check_code(sources(run_study.__module__, *job.modules), code)
load(job.modules)
outcome = run_study(job)
write_table(snakemake.output.replicates, outcome.rows, specification(job.digest(), [code]))
write_table(snakemake.output.details, outcome.details, specification(job.digest(), [code]))
