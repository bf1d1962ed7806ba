"""Draw the PDF of a figure from its tidy table."""

from pathlib import Path

from formalsynth.core.registry import load
from formalsynth.jobs.begin import begin
from formalsynth.runtime.files import read_table
from formalsynth.show.draw import draw_figure
from formalsynth.show.figure import FigureDisplay
from formalsynth.show.origin import Origin

begin(snakemake)
load(snakemake.params.modules)

display, path = FigureDisplay.of(snakemake.params.display), snakemake.output.pdf
draw_figure(display, read_table(snakemake.input.table), [Path(path)], Origin.of(snakemake.params.origin, display, path))
