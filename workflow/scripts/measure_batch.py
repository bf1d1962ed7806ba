"""Measure the synthesizers that share one fit, on one batch."""

from formalsynth.files import read_arrays, read_parents, write_arrays, write_table
from formalsynth.jobs import log_to
from formalsynth.scenario import Scenario
from formalsynth.steps.measure import measure_batch

log_to(snakemake.log[0])

rows, arrays = measure_batch(
    Scenario.from_plain(snakemake.params.scenario),
    snakemake.wildcards.synthesizer,
    snakemake.params.root,
    read_arrays(snakemake.input.data),
    read_arrays(snakemake.input.fit),
    read_parents(snakemake.input.fits, snakemake.input.measures),
)
write_arrays(snakemake.output.arrays, arrays)
write_table(snakemake.output.rows, rows)
