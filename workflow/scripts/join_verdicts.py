"""Combine the ledgers of all papers into one."""

import pandas as pd

from formalsynth.runtime.files import read_table, write_table
from formalsynth_workflow.jobs.begin import begin

begin(snakemake)

write_table(snakemake.output.ledger, pd.concat([read_table(path) for path in snakemake.input.ledgers], ignore_index=True))
