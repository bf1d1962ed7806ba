"""Collect the record-level tables of one scenario's single sample."""

from formalsynth.files import read_arrays, write_table
from formalsynth.jobs import log_to
from formalsynth.scenario import Scenario
from formalsynth.steps.collect import collect_sample

log_to(snakemake.log[0])

scenario = Scenario.from_plain(snakemake.params.scenario)
fits = {id: read_arrays(path) for id, path in zip(scenario.fits(), snakemake.input.fits, strict=True)}
measures = {id: read_arrays(path) for id, path in zip(scenario.fits(), snakemake.input.measures, strict=True)}
tables = collect_sample(scenario, snakemake.params.root, read_arrays(snakemake.input.data), fits, measures)
for name, table in tables.items():
    write_table(snakemake.output[name], table)
