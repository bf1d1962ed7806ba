"""Collect the details of one study."""

import pandas as pd
from formalsynth.runtime.files import read_table, write_table
from formalsynth.runtime.logs import log_to

log_to(snakemake.log[0])

write_table(snakemake.output.table, pd.concat([read_table(path) for path in snakemake.input.tables], ignore_index=True))
