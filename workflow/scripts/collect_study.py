"""Collect the tables of all batches of a study."""

from pathlib import Path

from formalsynth.runtime.files import write_table
from formalsynth.runtime.jobs import begin
from formalsynth.steps.collect import joined

begin(snakemake)

for name, path in snakemake.output.items():
    write_table(path, joined([Path(batch) for batch in snakemake.input[name]]))
