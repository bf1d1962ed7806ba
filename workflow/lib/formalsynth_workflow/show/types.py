"""Types of pandas and matplotlib for annotations; the plan reads the kinds without importing these libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.axis
    import matplotlib.figure
    import matplotlib.lines
    import matplotlib.text
    import pandas

Axes: TypeAlias = "matplotlib.axes.Axes"
Axis: TypeAlias = "matplotlib.axis.Axis"
Canvas: TypeAlias = "matplotlib.figure.FigureBase"
"""A drawing, or a part of one."""
DataFrame: TypeAlias = "pandas.DataFrame"
Drawing: TypeAlias = "matplotlib.figure.Figure"
Handle: TypeAlias = "matplotlib.lines.Line2D"
"""Entry of a legend."""
Series: TypeAlias = "pandas.Series"
Text: TypeAlias = "matplotlib.text.Text"
