"""Make one figure: its tidy table, its drawings and its caption."""

from pathlib import Path

from formalsynth.core.registry import load
from formalsynth.runtime.files import read_table, write_table
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.show.captions import caption, details, failures, not_drawn, write_caption
from formalsynth_workflow.show.draw import draw_figure
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.origin import Origin
from formalsynth_workflow.show.tidy import figure_table

begin(snakemake)
load(snakemake.params.modules)

display, output = FigureDisplay.of(snakemake.params.display), snakemake.output
origin = Origin.of(snakemake.params.origin, display, output.png)
tables = [read_table(path) for path in snakemake.input.tables]
write_table(output.table, figure_table(display, tables))
drawn = read_table(output.table)
draw_figure(display, drawn, [Path(output.svg), Path(output.png)], origin)
left_out = ". ".join(filter(None, (failures(display, tables), not_drawn(display, drawn))))
words = caption(display, left_out, display.figure.printed_range(drawn)) + details(display)
write_caption(output.caption, words, origin, Path(output.table))
