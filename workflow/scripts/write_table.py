"""Write one table and its caption."""

from pathlib import Path

import pandas as pd
from formalsynth.core.registry import load
from formalsynth.runtime.files import check_made_from, read_table, write_table, write_text
from formalsynth.runtime.logs import log_to
from formalsynth.show.captions import caption
from formalsynth.show.display import TableDisplay
from formalsynth.show.tidy import table_of

log_to(snakemake.log[0])
load(snakemake.params.modules)
check_made_from(snakemake.input.tables, snakemake.params.made_from)

display = TableDisplay.of(snakemake.params.display)
collected = {}
for path in snakemake.input.tables:
    collected.setdefault(Path(path).stem, []).append(read_table(path))
collected = {name: pd.concat(tables, ignore_index=True) for name, tables in collected.items()}
write_table(snakemake.output.table, table_of(display, collected))
write_text(snakemake.output.caption, caption(display))
