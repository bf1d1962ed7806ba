"""Collect the tables of all batches of one scenario."""

from pathlib import Path

from formalsynth.runtime.files import check_made_from
from formalsynth.runtime.logs import log_to
from formalsynth.runtime.private import keep_to_owner
from formalsynth.runtime.sources import check_code
from formalsynth.steps.collect import collect_tables

keep_to_owner(snakemake.params.private)
log_to(snakemake.log[0])
check_code(snakemake.input.code, snakemake.params.code)

for name, path in snakemake.output.items():
    batches = [Path(batch) for batch in snakemake.input.get(name)]
    check_made_from(batches, snakemake.params.batches_made_from)
    collect_tables(batches, Path(path), snakemake.params.made_from)
