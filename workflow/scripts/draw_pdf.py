"""Draw the PDF of a figure from its tidy table."""

from pathlib import Path

from formalsynth.core.registry import load
from formalsynth.displays.display import FigureDisplay
from formalsynth.runtime.files import read_table
from formalsynth.runtime.jobs import begin
from formalsynth.show.draw import draw_figure

begin(snakemake)
load(snakemake.params.modules)

draw_figure(FigureDisplay.of(snakemake.params.display), read_table(snakemake.input.table), [Path(snakemake.output.pdf)])
