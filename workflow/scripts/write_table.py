"""Write one table and its caption."""

from pathlib import Path

import pandas as pd
from formalsynth.files import read_table, write_table, write_text
from formalsynth.jobs import log_to
from formalsynth.scenario import Display
from formalsynth.steps.show import caption, table_of

log_to(snakemake.log[0])

display = Display(**snakemake.params.display)
collected = {}
for path in snakemake.input.tables:
    collected.setdefault(Path(path).stem, []).append(read_table(path))
collected = {name: pd.concat(tables, ignore_index=True) for name, tables in collected.items()}
write_table(snakemake.output.table, table_of(display, collected))
write_text(snakemake.output.caption, caption(display))
