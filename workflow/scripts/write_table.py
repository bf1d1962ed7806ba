"""Write one table and its caption."""

from pathlib import Path

from formalsynth.files import read_table, write_table, write_text
from formalsynth.jobs import log_to
from formalsynth.scenario import Display
from formalsynth.steps.show import caption, table_of

log_to(snakemake.log[0])

display = Display(**snakemake.params.display)
collected = {Path(path).stem: read_table(path) for path in snakemake.input.tables}
write_table(snakemake.output.table, table_of(display, collected))
write_text(snakemake.output.caption, caption(display))
