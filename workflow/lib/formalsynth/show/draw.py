"""Drawings, of nothing but tidy tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.runtime.files import whole

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import FigureDisplay

STAND_IN = "STAND-IN: simulated data, the records of the paper are absent"
"""Over a drawing that shows stand-in data."""


def draw_figure(display: FigureDisplay, table: pd.DataFrame, paths: Sequence[Path]) -> None:
    """Draw a tidy figure table and save it under each of the paths.

    Args:
        display: the figure.
        table: as made by :func:`formalsynth.show.tidy.figure_table`; rows without a value are left out.
        paths: files to write; the suffix chooses the format.

    Raises:
        OSError: a file cannot be written.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "formalsynth", "font.size": 9})
    matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    table = table.fillna({"panel": ""})
    table = table[table["value"].notna() | (table["density"].notna() if "density" in table else False)]
    drawing = display.figure.draw(display, table)
    if display.stand_in:
        drawing.suptitle(STAND_IN, fontsize=9, color="#a00000", fontweight="bold")
    for path in paths:
        with whole(path) as partial:
            drawing.savefig(partial, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
    plt.close(drawing)
