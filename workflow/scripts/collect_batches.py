"""Collect the tables of all batches of one scenario."""

from pathlib import Path

from formalsynth.runtime.files import check_made_from
from formalsynth.runtime.jobs import begin
from formalsynth.steps.collect import collect_tables

begin(snakemake)

for name, path in snakemake.output.items():
    batches = [Path(batch) for batch in snakemake.input.get(name)]
    check_made_from(batches, snakemake.params.batches_made_from)
    collect_tables(batches, Path(path), snakemake.params.made_from)
