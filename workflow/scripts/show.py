"""Make figures and tables: the tidy table of each figure, its drawings and its caption, each table and its caption."""

import functools
import shutil
from pathlib import Path

import pandas as pd
from formalsynth.core.registry import load
from formalsynth.displays.display import DRAWINGS, FigureDisplay, TableDisplay
from formalsynth.runtime.files import check_made_from, checksum, read_table, sealed, write_table
from formalsynth.runtime.jobs import begin
from formalsynth.show.captions import caption, failures, not_drawn
from formalsynth.show.draw import draw_figure
from formalsynth.show.origin import Origin
from formalsynth.show.painter import painter_of
from formalsynth.show.tidy import figure_table, table_of

begin(snakemake)
load(snakemake.params.modules)
check_made_from(snakemake.input.tables, snakemake.params.made_from)


@functools.cache
def collected(place):
    """Read one of the collected tables."""
    return read_table(snakemake.input.tables[place])


def write_caption(path, text, origin, values):
    """Write a caption as a sealed file: the caption in one line, and the origin in another.

    A CSV file cannot carry its origin: a comment breaks readers, and columns with it would double the size of the largest tables.
    So its caption also has its checksum.
    """
    with sealed(path) as partial:
        partial.write_text(f"{text}{origin.words}. {values.name} has the sha256 {checksum(values)}.\n", encoding="utf-8")


for figure in sorted(snakemake.params.figures, key=lambda figure: figure["same_as"]):
    display, folder = FigureDisplay.of(figure["display"]), Path(snakemake.output.figures[0]).parent
    tables = [collected(place) for place in figure["reads"]]
    table, words = (folder / f"{figure['file']}.{kind}" for kind in ("csv", "txt"))
    origin = Origin.of(snakemake.params.origin, display, f"{folder / figure['file']}.png")
    drawings = [folder / f"{figure['file']}.{kind}" for kind in DRAWINGS]
    if figure["same_as"]:
        # The paper prints one figure under two numbers: the drawing is the same, only the caption differs.
        for path in (table, *drawings):
            with sealed(path) as partial:
                shutil.copyfile(folder / f"{figure['same_as']}{path.suffix}", partial)
    else:
        write_table(table, figure_table(display, tables))
        draw_figure(display, read_table(table), drawings, origin)
    tidy = read_table(table)
    left_out = ". ".join(sentence for sentence in (failures(display, tables), not_drawn(display, tidy)) if sentence)
    write_caption(words, caption(display, left_out, painter_of(display).printed_range(tidy)), origin, table)

for entry in snakemake.params.tables:
    shown, path = TableDisplay.of(entry["display"]), Path(snakemake.output.tables[0]).with_name(f"{entry['file']}.csv")
    by_name: dict[str, list[pd.DataFrame]] = {}
    for place in entry["reads"]:
        by_name.setdefault(Path(snakemake.input.tables[place]).stem, []).append(collected(place))
    read = {name: pd.concat(tables, ignore_index=True) for name, tables in by_name.items()}
    write_table(path, table_of(shown, read))
    origin = Origin.of(snakemake.params.origin, shown, str(path))
    write_caption(path.with_suffix(".txt"), caption(shown, failures(shown, [read[shown.table]])), origin, path)
