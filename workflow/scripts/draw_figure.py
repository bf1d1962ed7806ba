"""Write one figure's tidy table, draw it from that table, and write its caption."""

import shutil
from pathlib import Path

from formalsynth.files import read_table, whole, write_table, write_text
from formalsynth.jobs import log_to
from formalsynth.scenario import Display
from formalsynth.steps.show import caption, draw_figure, figure_table

log_to(snakemake.log[0])

display = Display(**snakemake.params.display)
if snakemake.params.printed_again:
    # The paper prints one figure under two numbers: the same drawing, and only the caption tells them apart.
    for original in snakemake.input.tables:
        with whole(snakemake.output[Path(original).suffix[1:]]) as partial:
            shutil.copyfile(original, partial)
else:
    write_table(snakemake.output.csv, figure_table(display, [read_table(path) for path in snakemake.input.tables]))
    draw_figure(display, read_table(snakemake.output.csv), [Path(snakemake.output.svg), Path(snakemake.output.png)])
write_text(snakemake.output.txt, caption(display))
