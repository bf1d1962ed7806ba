"""Run one batch of a study."""

from formalsynth.core.job import StudyJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.files import write_table
from formalsynth.runtime.logs import log_to
from formalsynth.runtime.private import keep_to_owner
from formalsynth.runtime.sources import check_code
from formalsynth.steps.study import run_study

keep_to_owner(snakemake.params.private)
log_to(snakemake.log[0])
check_code(snakemake.input.code, snakemake.params.code)

job = StudyJob.of(snakemake.params.job)
load(job.modules)
outcome = run_study(job)
write_table(snakemake.output.replicates, outcome.rows, specification(job))
write_table(snakemake.output.details, outcome.details, specification(job))
