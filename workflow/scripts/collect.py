"""Collect the tables of all batches and synthesizers of a scenario."""

from pathlib import Path

from formalsynth.runtime.files import write_table, write_text
from formalsynth_workflow.jobs.inputs import CollectJob
from formalsynth_workflow.steps.begin import begin_step
from formalsynth_workflow.steps.collect import collect_scenario
from formalsynth_workflow.steps.tables import SAMPLE_TABLES

job = begin_step(snakemake, CollectJob)

data, replicates, audited = ([Path(path) for path in snakemake.input[name]] for name in ("data", "replicates", "audited"))
sample = {name: [Path(path) for path in snakemake.input[name]] for name in SAMPLE_TABLES}
for name, table in collect_scenario(job, data, replicates, audited, sample).items():
    write_table(snakemake.output[name], table)
write_text(snakemake.output.made_from, f"{snakemake.params.made_from}\n")
