"""Run one batch of a study."""

from formalsynth.runtime.files import write_table
from formalsynth_workflow.jobs.inputs import StudyJob
from formalsynth_workflow.steps.begin import begin_step
from formalsynth_workflow.steps.study import run_study

outcome = run_study(begin_step(snakemake, StudyJob))
write_table(snakemake.output.replicates, outcome.rows)
write_table(snakemake.output.details, outcome.details)
