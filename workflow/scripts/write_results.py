"""Combine the replicates of all papers and studies into one table."""

from formalsynth.runtime.files import read_table, write_table
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.jobs.inputs import ScenarioColumns
from formalsynth_workflow.results import table_of

begin(snakemake)

scenarios = [ScenarioColumns.of(plain) for plain in snakemake.params.scenarios]
write_table(snakemake.output.results, table_of(zip(map(read_table, snakemake.input.replicates), scenarios, strict=True)))
