"""Tidy tables of figures and tables, one row for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from formalsynth.core.model import DATA
from formalsynth_workflow.show.display import BOUNDS, Panel
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.table import Entry, Table, TableDisplay

KEYS = ("paper", "scenario", "n", "replicate", "record", "set", "draw", "neighbour", "synthesizer")
TITLES = {"q15": "15 % quantile", "q90": "90 % quantile", "mean": "mean", "median": "median"}
"""Titles of frames, by the statistic that they show."""
STAND_IN = "STAND-IN"
"""Value of the column ``data`` in rows with stand-in data."""


def figure_table(display: FigureDisplay, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the tidy table of a figure: one row for each drawn value, with its frame and its label.

    Args:
        display: the figure.
        collected: the collected tables that it reads, for each scenario.

    Raises:
        ValueError: no table has the drawn columns.
    """
    if display.parts:
        return _sheet_table(display, collected)
    figure, columns = display.figure, display.figure.columns()
    table = pd.concat([table for table in collected if set(columns) <= set(table)], ignore_index=True)
    for column, value in figure.rows.items():
        table = table[table[column] == value]
    panels = [_panel(display, table, panel, column) for panel in display.panels for column in columns]
    tidy = figure.extended(display, pd.concat(panels, ignore_index=True), collected)
    if display.at:
        tidy["at" if figure.x_column else "x"] = tidy["synthesizer"].map(display.at)
    tidy.insert(len(tidy.columns) - 1, "label", [display.looks[id].label for id in tidy["synthesizer"]])
    if not BOUNDS.isdisjoint(columns):
        tidy["guarantee"] = [display.looks[id].guarantee for id in tidy["synthesizer"]]
    if display.stand_in:
        stand_ins = {scenario.id for scenario in display.scenarios if scenario.stand_in}
        tidy["data"] = [STAND_IN if id in stand_ins else "" for id in tidy["scenario"]]
    return tidy


def _sheet_table(display: FigureDisplay, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Combine the tidy tables of the parts of a sheet, with the letters of the parts."""
    names = display.figure.tables()
    scenarios = len(collected) // len(names)
    by_name = {name: collected[k * scenarios : (k + 1) * scenarios] for k, name in enumerate(names)}
    tables = []
    for letter, part in display.parts.items():
        read = [table for name in part.figure.tables() for table in by_name[name]]
        tables.append(figure_table(part, read).assign(part=letter))
    return pd.concat(tables, ignore_index=True)


def _panel(display: FigureDisplay, table: pd.DataFrame, panel: Panel, column: str) -> pd.DataFrame:
    """Return the rows of one frame, in the order of its synthesizers."""
    figure = display.figure
    part = table[table["synthesizer"].isin(panel.ids)]
    drawn = {"value": part[column]} | ({"x": part[figure.x_column]} if figure.x_column else {})
    drawn |= {"common": part[figure.common]} if figure.common else {}
    statistic = TITLES.get(column, column) if len(figure.columns()) > 1 else ""
    if "reason" in part and (failed := part[column].isna() & part["reason"].notna()).any():
        drawn["reason"] = part["reason"].where(failed)
    place = part["synthesizer"].map({id: k for k, id in enumerate(panel.ids)})
    part = part[[key for key in KEYS if key in part]].assign(
        **drawn,
        **_printed(display, part, column),
        panel=", ".join(title for title in (panel.title, statistic) if title),
        line=figure.line_at(display, panel, column),
        _place=place,
    )
    return part.sort_values(["_place", "n"], kind="stable").drop(columns="_place")


def _printed(display: FigureDisplay, part: pd.DataFrame, column: str) -> dict[str, list[float]]:
    """Look up the printed number or interval for each row's cell, and the printed x if x is a result."""
    cells = list(zip(part["scenario"], part["synthesizer"], strict=True)) if display.printed else []
    ends = {"printed_low": (column, "low"), "printed_high": (column, "high"), "printed_x": (display.figure.x_column, "low")}
    columns = {}
    for name, (printed_column, end) in ends.items():
        values = {(cell.scenario, cell.id): getattr(cell, end) for cell in display.printed if cell.column == printed_column}
        if values:
            columns[name] = [values.get(cell, float("nan")) for cell in cells]
    return columns


def table_of(display: TableDisplay, collected: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a tidy table: one row for each statistic and synthesizer, with the printed value, ours and the difference.

    Parameters that differ between synthesizers with the same label are columns before the estimate.

    Args:
        display: the table.
        collected: the tables that it reads, by name.
    """
    entry, rows = display.entry, []
    names = dict.fromkeys(name for parameters in display.parameters.values() for name in parameters)
    estimates = {id: _estimates(entry, collected, id) for id in display.ids}
    for statistic in entry.statistics:
        for id in display.ids:
            look, number = display.looks[id], estimates[id][statistic]
            row: dict[str, object] = {"statistic": statistic, "synthesizer": id, "label": look.label, "guarantee": look.guarantee}
            row |= {name: display.parameters.get(id, {}).get(name) for name in names}
            row |= {"estimate": number.value, "mcse": number.mcse, "from": number.number}
            printed = entry.printed.get(id, {}).get(statistic)
            rows.append(row | {"printed": printed, "difference": None if printed is None else number.value - printed})
    table = pd.DataFrame(rows)
    return table.assign(data=STAND_IN) if display.stand_in else table


def _estimates(entry: Table, collected: Mapping[str, pd.DataFrame], id: str) -> dict[str, Entry]:
    """Estimate the numbers of one synthesizer by row, from its results and those of the confidential data only."""
    own = {
        name: table[table["synthesizer"].isin([id, DATA])] if "synthesizer" in table else table
        for name, table in collected.items()
    }
    return {statistic: entry.estimate(own, statistic, id) for statistic in entry.statistics}
