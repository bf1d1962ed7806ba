"""Drawings, of nothing but tidy tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.runtime.files import whole
from formalsynth.show.drawing import plain_powers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

    from formalsynth.show.display import FigureDisplay

STYLE = {
    "svg.hashsalt": "formalsynth",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}
"""How all drawings look; a dollar sign in a label is a dollar sign."""
STAND_IN = "STAND-IN: simulated data, the records of the paper are absent"
"""Over a drawing that shows stand-in data."""
NOTHING = "no results: all fits failed"
"""In a drawing without any value."""


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

    matplotlib.rcdefaults()  # whatever the user's matplotlibrc says
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    matplotlib.rcParams.update(STYLE)  # type: ignore[arg-type] # its keys are a Literal of four hundred names
    table = table.fillna({"panel": ""})
    table = table[table["value"].notna() | (table["density"].notna() if "density" in table else False)]
    drawing = display.figure.draw(display, table) if len(table) else _nothing()
    plain_powers(drawing)
    if display.stand_in:
        drawing.suptitle(STAND_IN, fontsize=9, color="#a00000", fontweight="bold")
    for path in paths:
        with whole(path) as partial:
            drawing.savefig(partial, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
    plt.close(drawing)


def _nothing() -> Drawing:
    """A drawing that says that there is nothing to draw."""
    from matplotlib import pyplot as plt

    drawing, axis = plt.subplots(figsize=(3.2, 2.4))
    axis.set_axis_off()
    axis.text(0.5, 0.5, NOTHING, ha="center", va="center", transform=axis.transAxes)
    return drawing
