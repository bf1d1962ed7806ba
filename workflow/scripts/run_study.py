"""Run one batch of a study."""

from formalsynth.files import write_table
from formalsynth.jobs import log_to
from formalsynth.scenario import Scenario
from formalsynth.steps.study import run_study

log_to(snakemake.log[0])

scenario = Scenario.from_plain(snakemake.params.scenario)
rows, details = run_study(scenario, snakemake.params.root, snakemake.params.replicates, snakemake.params.data_folder)
write_table(snakemake.output.rows, rows)
write_table(snakemake.output.details, details)
