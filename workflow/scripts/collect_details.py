"""Collect the details of one study."""

import pandas as pd
from formalsynth.core.job import specification
from formalsynth.runtime.files import check_made_from, read_table, write_table
from formalsynth.runtime.logs import log_to

log_to(snakemake.log[0])

told = snakemake.params.made_from
check_made_from(snakemake.input.tables, told)
details = pd.concat([read_table(path) for path in snakemake.input.tables], ignore_index=True)
write_table(snakemake.output.table, details, specification(None, told))
