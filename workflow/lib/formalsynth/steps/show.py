"""Show: figures and tables. Tidy tables first, drawings of nothing but them, captions from the design."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from formalsynth.design import DATA, Display
from formalsynth.files import whole
from formalsynth.utility import statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS = ("paper", "scenario", "n", "replicate", "record", "set", "synthesizer")
BOUNDS = ("bound", "delta", "epsilon")
"""Values that are privacy numbers: they never travel without the kind of guarantee."""


def figure_table(display: Display, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The tidy table of a figure: one row for each value drawn, with the label it is drawn under.

    Args:
        display: the figure.
        collected: the collected table that the figure reads, for each scenario.
    """
    table = pd.concat(collected, ignore_index=True)
    table = table[table["synthesizer"].isin(display.ids)]
    names = [display.looks[id]["label"] for id in table["synthesizer"]]
    tidy = table[[key for key in KEYS if key in table]].assign(label=names, value=table[display.entry["value"]])
    if display.entry["value"] in BOUNDS:
        tidy["guarantee"] = [display.looks[id]["guarantee"] for id in tidy["synthesizer"]]
    position = tidy["synthesizer"].map({id: k for k, id in enumerate(display.ids)})
    return tidy.assign(_place=position).sort_values(["_place", "n"], kind="stable").drop(columns="_place").reset_index(drop=True)


def draw_violins(display: Display, table: pd.DataFrame, paths: Sequence[Path]) -> None:
    """Draw a tidy figure table as violins and save it under each of the paths.

    Args:
        display: the figure.
        table: as made by :func:`figure_table`; rows without a value are left out.
        paths: files to write; the suffix chooses the format.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "formalsynth", "font.size": 9})
    matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    panels = _panels if display.entry["panels"] == "synthesizer" else _one_panel
    drawing = panels(display, table.dropna(subset="value"))
    for path in paths:
        with whole(path) as partial:
            drawing.savefig(partial, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
    plt.close(drawing)


def _one_panel(display: Display, table: pd.DataFrame) -> Figure:
    from matplotlib import pyplot as plt

    ids = list(table["synthesizer"].unique())
    drawing, axis = plt.subplots(figsize=(max(4.0, 1.15 * len(ids) + 0.8), 3.6), layout="constrained")
    _violins(axis, table, "label", [display.looks[id]["colour"] for id in ids], display.entry["log"])
    axis.set(ylabel=display.entry["y"])
    axis.set_xticks(axis.get_xticks(), [wrapped(label) for label in table["label"].unique()])
    return drawing


def _panels(display: Display, table: pd.DataFrame) -> Figure:
    from matplotlib import pyplot as plt

    ids = list(table["synthesizer"].unique())
    across = min(3, len(ids))
    down = -(-len(ids) // across)
    drawing, axes = plt.subplots(down, across, figsize=(2.8 * across, 2.5 * down), layout="constrained", squeeze=False)
    for place, (axis, id) in enumerate(zip(axes.flat, ids, strict=False)):
        panel = table[table["synthesizer"] == id]
        _violins(axis, panel, "n", [display.looks[id]["colour"]] * panel["n"].nunique(), display.entry["log"])
        axis.set_title(panel["label"].iloc[0], fontsize=9)
        axis.set(ylabel=display.entry["y"] if place % across == 0 else "", xlabel="n" if place + across >= len(ids) else "")
    for axis in axes.flat[len(ids) :]:
        axis.set_visible(False)
    return drawing


def _violins(axis: Axes, table: pd.DataFrame, x: str, colours: Sequence[str], log: bool) -> None:
    """Violins of ``value`` over the groups of ``x``, in the table's order; a group without spread is a line."""
    import seaborn

    order = list(table[x].unique())
    seaborn.violinplot(
        data=table.assign(**{x: table[x].astype(str)}), x=x, y="value", order=[str(one) for one in order],
        hue=x, hue_order=[str(one) for one in order], palette=list(colours), legend=False, ax=axis,
        cut=0, density_norm="width", inner="quart", linewidth=0.8, width=0.85, log_scale=(False, True) if log else None,
    )  # fmt: skip
    for line in axis.lines:
        line.set_color("#111111")
    for place, name in enumerate(order):
        values = table.loc[table[x] == name, "value"]
        if values.nunique() == 1:
            axis.plot([place - 0.3, place + 0.3], [values.iloc[0]] * 2, color=colours[place], linewidth=2)
    axis.set_xlabel("")


def wrapped(label: str) -> str:
    """A label on two lines where it names a range and what is done with it."""
    head, found, tail = label.partition(") ")
    return f"{head})\n{tail}" if found else label


def statistics_table(display: Display, sets: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Statistics by synthesizer with the printed values beside ours.

    Args:
        display: the table.
        sets: statistics of each synthetic data set of the single sample; each entry is their median.
        values: values of the single sample, for the exact statistics of the confidential data.
    """
    data = statistics(values.loc[values["synthesizer"] == DATA, "value"].to_numpy())
    rows = []
    for statistic in display.entry["statistics"]:
        for id in display.ids:
            row: dict[str, Any] = {"statistic": statistic, "synthesizer": id, "label": display.looks[id]["label"]}
            if id == DATA:
                row |= {"estimate": data[statistic], "mcse": 0.0, "sets": 1}
            else:
                of_sets = sets.loc[sets["synthesizer"] == id, statistic].dropna()
                row |= {"estimate": of_sets.median(), "mcse": median_mcse(of_sets), "sets": len(of_sets)}
            rows.append(row | {"printed": display.entry["printed"].get(statistic, {}).get(row["label"])})
    return pd.DataFrame(rows)


def median_mcse(values: pd.Series) -> float:
    """Standard error of a median: half the distance of the quantiles one standard deviation of rank above and below."""
    if len(values) < 10:
        return float("nan")
    half = 0.5 / len(values) ** 0.5
    return float(values.quantile(0.5 + half) - values.quantile(0.5 - half)) / 2


def caption(display: Display) -> str:
    """The caption of a figure or table, from the design alone."""
    kind = "Figure" if "value" in display.entry else "Table"
    names = "; ".join(display.looks[id]["label"] for id in display.ids)
    sentences = [f"{kind} {display.number}. {display.entry['subject']}: {names}", _sizes(display)]
    if display.entry.get("value") in BOUNDS:
        sentences.append(_guarantees(display))
    return " ".join(f"{one.rstrip('.')}." for one in [*sentences, display.entry["note"]] if one) + "\n"


def _sizes(display: Display) -> str:
    """Sample sizes and replicates behind a figure or table."""
    n = ", ".join(str(one["n"]) for one in display.scenarios)
    first = display.scenarios[0]
    what = {
        "replicates": f"{first['replicates']} replicates of n = {n}",
        "records": f"one sample of n = {n}",
        "values": f"one sample of n = {n}",
        "sets": f"{first['synthetic_sets']} synthetic data sets from one sample of n = {n}",
    }[display.source]
    data = f"file {first['file']['name']}" if first["file"] else "simulated data"
    return f"{display.authors}, {first['place']}; {what} ({data}); scale {display.scale}"


def _guarantees(display: Display) -> str:
    by_kind: dict[str, list[str]] = {}
    for id in display.ids:
        if id != DATA:
            by_kind.setdefault(display.looks[id]["guarantee"], []).append(display.looks[id]["label"])
    return "Guarantees: " + "; ".join(f"{kind}: {', '.join(names)}" for kind, names in by_kind.items())
