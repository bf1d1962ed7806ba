"""Make one table, with its caption."""

from pathlib import Path

import pandas as pd

from formalsynth.core.registry import load
from formalsynth.runtime.files import read_table, write_table
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.show.captions import caption, details, failures, write_caption
from formalsynth_workflow.show.origin import Origin
from formalsynth_workflow.show.table import TableDisplay
from formalsynth_workflow.show.tidy import table_of

begin(snakemake)
load(snakemake.params.modules)

display, output = TableDisplay.of(snakemake.params.display), snakemake.output
by_name: dict[str, list[pd.DataFrame]] = {}
for path in snakemake.input.tables:
    by_name.setdefault(Path(path).stem, []).append(read_table(path))
collected = {name: pd.concat(tables, ignore_index=True) for name, tables in by_name.items()}
write_table(output.table, table_of(display, collected))
origin = Origin.of(snakemake.params.origin, display, output.table)
words = caption(display, failures(display, [collected[display.table]])) + details(display)
write_caption(output.caption, words, origin, Path(output.table))
