"""Put the ledgers of all papers into one."""

import pandas as pd
from formalsynth.runtime.files import read_table, write_table
from formalsynth.runtime.logs import log_to
from formalsynth.runtime.private import keep_to_owner

keep_to_owner(snakemake.params.private)
log_to(snakemake.log[0])

write_table(snakemake.output.ledger, pd.concat([read_table(path) for path in snakemake.input.ledgers], ignore_index=True))
