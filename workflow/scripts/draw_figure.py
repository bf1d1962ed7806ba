"""Write one figure's tidy table, draw it from that table, and write its caption."""

from pathlib import Path

from formalsynth.design import Display
from formalsynth.files import read_table, write_table, write_text
from formalsynth.jobs import log_to
from formalsynth.steps.show import caption, draw_violins, figure_table

log_to(snakemake.log[0])

display = Display(**snakemake.params.display)
write_table(snakemake.output.table, figure_table(display, [read_table(path) for path in snakemake.input.tables]))
draw_violins(display, read_table(snakemake.output.table), [Path(snakemake.output.svg), Path(snakemake.output.png)])
write_text(snakemake.output.caption, caption(display))
