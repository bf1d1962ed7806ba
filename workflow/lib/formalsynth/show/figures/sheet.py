"""Sheets: several figures printed under one number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from formalsynth.displays.figures.sheet import Sheet
from formalsynth.show.compose import Composition, compose, composition
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import COLUMN

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import FigureBase as Canvas

    from formalsynth.displays.display import FigureDisplay

OPTIONAL = ("density", "at", "printed_low", "printed_high", "printed_x", "common")
"""Columns that only some kinds have; in the table of a sheet, all parts have them."""


@painter("sheet")
class SheetPainter(Painter[Sheet]):
    """Painter of sheets: each part with its own title and legend."""

    def marked(self, table: pd.DataFrame) -> list[str]:
        """Return no synthesizers: the parts have their own legends."""
        return []

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, or of a page if there are more than two parts."""
        rows = self._rows(table)
        return COLUMN * len(rows[0]), sum(_height(row) for row in rows)

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw each part with its own title and legend."""
        rows = self._rows(table)
        places = canvas.subfigures(len(rows), len(rows[0]), squeeze=False, height_ratios=[_height(row) for row in rows])
        for row, canvases in zip(rows, places, strict=True):
            for (part, around), place in zip(row, canvases, strict=False):
                compose(part, place, around)

    def _rows(self, table: pd.DataFrame) -> list[list[tuple[FigureDisplay, Composition]]]:
        """Parts that have results, row by row."""
        parts = list(self._parts(table))
        across = 1 if len(parts) < 3 else 2
        return [parts[k * across : (k + 1) * across] for k in range(math.ceil(len(parts) / across))]

    def _parts(self, table: pd.DataFrame) -> Iterator[tuple[FigureDisplay, Composition]]:
        for letter, part in self.display.parts.items():
            own = table[table["part"] == letter]
            own = own.drop(columns=[name for name in OPTIONAL if name in own and own[name].isna().all()])
            if len(own):
                yield part, composition(part, own, f"{letter}  {part.figure.subject}")


def _height(row: list[tuple[FigureDisplay, Composition]]) -> float:
    return max(around.height for _, around in row)
