"""Combine the replicates of all papers and studies into one table."""

from formalsynth.core.job import ScenarioColumns
from formalsynth.jobs.begin import begin
from formalsynth.results import table_of
from formalsynth.runtime.files import read_table, write_table

begin(snakemake)

scenarios = [ScenarioColumns.of(plain) for plain in snakemake.params.scenarios]
write_table(snakemake.output.results, table_of(zip(map(read_table, snakemake.input.replicates), scenarios, strict=True)))
