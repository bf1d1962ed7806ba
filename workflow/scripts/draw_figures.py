"""Write the tidy table of each figure, draw it from that table, and write its caption."""

import shutil
from pathlib import Path

from formalsynth.core.registry import load
from formalsynth.runtime.files import check_made_from, read_table, whole, write_table, write_text
from formalsynth.runtime.logs import log_to
from formalsynth.show.captions import caption
from formalsynth.show.display import FigureDisplay
from formalsynth.show.draw import draw_figure
from formalsynth.show.tidy import figure_table

log_to(snakemake.log[0])
load(snakemake.params.modules)
check_made_from(snakemake.input.tables, snakemake.params.made_from)

folder = Path(snakemake.output[0]).parent
collected = [read_table(path) for path in snakemake.input.tables]
for figure in sorted(snakemake.params.figures, key=lambda figure: figure["same_as"]):
    display = FigureDisplay.of(figure["display"])
    table, png, svg, words = (folder / f"{figure['file']}.{kind}" for kind in ("csv", "png", "svg", "txt"))
    if figure["same_as"]:
        # The paper prints one figure under two numbers: the same drawing, and only the caption tells them apart.
        for path in (table, png, svg):
            with whole(path) as partial:
                shutil.copyfile(folder / f"{figure['same_as']}{path.suffix}", partial)
    else:
        write_table(table, figure_table(display, collected))
        draw_figure(display, read_table(table), [svg, png])
    write_text(words, caption(display))
