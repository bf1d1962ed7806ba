"""Write one table and its caption."""

from formalsynth.design import Display
from formalsynth.files import read_table, write_table, write_text
from formalsynth.jobs import log_to
from formalsynth.steps.show import caption, statistics_table

log_to(snakemake.log[0])

display = Display(**snakemake.params.display)
write_table(
    snakemake.output.table,
    statistics_table(display, read_table(snakemake.input.sets[0]), read_table(snakemake.input.values[0])),
)
write_text(snakemake.output.caption, caption(display))
