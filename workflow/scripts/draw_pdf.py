"""Draw the PDF of a figure from its tidy table."""

from pathlib import Path

from formalsynth.core.registry import load
from formalsynth.runtime.files import read_table
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.show.draw import draw_figure
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.origin import Origin

begin(snakemake)
load(snakemake.params.modules)

display, path = FigureDisplay.of(snakemake.params.display), snakemake.output.pdf
draw_figure(display, read_table(snakemake.input.table), [Path(path)], Origin.of(snakemake.params.origin, display, path))
