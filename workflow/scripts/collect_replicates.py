"""Collect the replicates of one scenario."""

from formalsynth.files import read_arrays, read_table, write_table
from formalsynth.jobs import log_to
from formalsynth.scenario import Scenario
from formalsynth.steps.collect import collect_replicates

log_to(snakemake.log[0])

scenario = Scenario.from_plain(snakemake.params.scenario)
data = [read_arrays(path) for path in snakemake.input.data]
tables = [read_table(path) for path in snakemake.input.rows]
write_table(snakemake.output.table, collect_replicates(scenario, snakemake.params.root, data, tables))
