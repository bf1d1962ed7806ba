"""Collect the tables of all batches of a study."""

from pathlib import Path

from formalsynth.runtime.files import write_table, write_text
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.steps.collect import joined

begin(snakemake)

for name, batches in snakemake.input.items():
    write_table(snakemake.output[name], joined([Path(batch) for batch in batches]))
write_text(snakemake.output.made_from, f"{snakemake.params.made_from}\n")
