"""Show: figures and tables. Tidy tables first, drawings of nothing but them, captions from the design."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from formalsynth.files import whole
from formalsynth.populations import truth
from formalsynth.scenario import DATA, PRIOR, Display
from formalsynth.utility import statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS = ("paper", "scenario", "n", "replicate", "record", "set", "draw", "synthesizer")
BOUNDS = ("bound", "delta", "epsilon")
"""Values that are privacy numbers: they never travel without the kind of guarantee."""
STAND_IN = "STAND-IN: simulated data, the records of the paper are absent"
NOT_SYNTHETIC = (DATA, PRIOR)
LINES = {
    "half_epsilon": "Dashed line: ε / 2",
    "population": "Dashed line: the value in the simulated population",
    "delta": "Dashed lines: Δ, the largest bound",
}
NAMES = {"q15": "15 % quantile", "q90": "90 % quantile", "mean": "mean", "median": "median"}
"""Titles of frames that show one statistic each."""
SPREAD: dict[str, Callable[[pd.Series], float]] = {
    "min": pd.Series.min,
    "q1": lambda values: values.quantile(0.25),
    "median": pd.Series.median,
    "mean": pd.Series.mean,
    "q3": lambda values: values.quantile(0.75),
    "max": pd.Series.max,
    "sd": pd.Series.std,
}
"""How a column is distributed over replicates, by the row names of a table."""


def figure_table(display: Display, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The tidy table of a figure: one row for each value drawn, with its frame and the label it is drawn under.

    Args:
        display: the figure.
        collected: the collected table that the figure reads, for each scenario.
    """
    columns = display.entry["value"] if isinstance(display.entry["value"], list) else [display.entry["value"]]
    table = pd.concat([one for one in collected if set(columns) <= set(one)], ignore_index=True)
    for column, value in display.entry["rows"].items():
        table = table[table[column] == value]
    panels = [_panel(display, table, panel, column, len(columns) > 1) for panel in display.panels for column in columns]
    tidy = pd.concat(panels, ignore_index=True)
    if display.entry["exact"]:
        exact = pd.concat([one for one in collected if "density" in one], ignore_index=True)
        tidy = pd.concat([tidy, exact[exact["synthesizer"].isin(display.ids)].assign(panel="")], ignore_index=True)
    if display.at:
        tidy["at"] = tidy["synthesizer"].map(display.at)
    tidy.insert(len(tidy.columns) - 1, "label", [display.looks[id]["label"] for id in tidy["synthesizer"]])
    if set(columns) & set(BOUNDS):
        tidy["guarantee"] = [display.looks[id]["guarantee"] for id in tidy["synthesizer"]]
    return _marked(display, tidy)


def _marked(display: Display, table: pd.DataFrame) -> pd.DataFrame:
    """The table, with a column that says so when it speaks of stand-in data."""
    return table.assign(data="STAND-IN") if display.scenarios[0]["stand_in"] else table


def _panel(display: Display, table: pd.DataFrame, panel: Mapping[str, Any], column: str, several: bool) -> pd.DataFrame:
    """The rows of one frame, in the order of its synthesizers."""
    part = table[table["synthesizer"].isin(panel["ids"])]
    drawn = {"value": part[column]} | ({"x": part[display.entry["x"]]} if display.entry["x"] else {})
    title = ", ".join(one for one in (panel["title"], NAMES.get(column, column) if several else "") if one)
    place = part["synthesizer"].map({id: k for k, id in enumerate(panel["ids"])})
    part = part[[key for key in KEYS if key in part]].assign(
        **drawn, panel=title, line=_line(display, panel, column), _place=place
    )
    return part.sort_values(["_place", "n"], kind="stable").drop(columns="_place")


def _line(display: Display, panel: Mapping[str, Any], column: str) -> float:
    """Where a frame has its dashed line; NaN for none."""
    line = display.entry["line"]
    if line == "half_epsilon":
        return panel["epsilon"] / 2
    if line == "population":
        return truth(display.scenarios[0]["population"], column)
    return float("nan") if line in ("none", "delta") else float(line)


def draw_figure(display: Display, table: pd.DataFrame, paths: Sequence[Path]) -> None:
    """Draw a tidy figure table and save it under each of the paths.

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
    table = table.fillna({"panel": ""})
    table = table[table["value"].notna() | (table["density"].notna() if "density" in table else False)]
    draw = {"density": _densities, "line": _lines, "scatter": _scatter, "violin": _violin_figure}[display.entry["kind"]]
    drawing = draw(display, table)
    if display.scenarios[0]["stand_in"]:
        drawing.suptitle(STAND_IN, fontsize=9, color="#a00000", fontweight="bold")
    for path in paths:
        with whole(path) as partial:
            drawing.savefig(partial, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
    plt.close(drawing)


def _violin_figure(display: Display, table: pd.DataFrame) -> Figure:
    if display.entry["panels"] == "synthesizer":
        return _by_size(display, table)
    frames = [(title, frame) for title, frame in table.groupby("panel", sort=False)]
    across = max(frame["synthesizer"].nunique() for _, frame in frames)
    width = max(3.2, (0.85 if len(frames) > 1 else 1.15) * across + 0.8)
    drawing, axes = _frames(len(frames), display.entry["stacked"], width, not isinstance(display.entry["value"], list))
    for place, (axis, (title, frame)) in enumerate(zip(axes, frames, strict=True)):
        ids = list(frame["synthesizer"].unique())
        _violins(axis, frame, "synthesizer", [display.looks[id]["colour"] for id in ids], display.entry["log"])
        axis.set_xticks(range(len(ids)), [wrapped(display.looks[id]["label"]) for id in ids])
        axis.set_title(title, fontsize=9)
        axis.set_ylabel(display.entry["y"] if place == 0 or display.entry["stacked"] else "")
        _dashed(axis.axhline, frame["line"])
    return drawing


def _frames(count: int, stacked: bool, width: float, shared: bool = True) -> tuple[Figure, list[Axes]]:
    """Frames, which share the axis of the values where they show the same one."""
    from matplotlib import pyplot as plt

    down, across = (count, 1) if stacked else (1, count)
    size = (width * across, (2.6 if stacked else 3.6) * down)
    drawing, axes = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False, sharey=shared)
    return drawing, list(axes.flat)


def _dashed(draw: Callable[..., Any], lines: pd.Series) -> None:
    for value in lines.dropna().unique():
        draw(value, linestyle="--", color="#444444", linewidth=0.9, zorder=0)


def _by_size(display: Display, table: pd.DataFrame) -> Figure:
    """One frame for each synthesizer with the sample sizes across."""
    from matplotlib import pyplot as plt

    ids = list(table["synthesizer"].unique())
    across = min(3, len(ids))
    down = -(-len(ids) // across)
    drawing, axes = plt.subplots(down, across, figsize=(2.8 * across, 2.5 * down), layout="constrained", squeeze=False)
    for place, (axis, id) in enumerate(zip(axes.flat, ids, strict=False)):
        frame = table[table["synthesizer"] == id]
        _violins(axis, frame, "n", [display.looks[id]["colour"]] * frame["n"].nunique(), display.entry["log"])
        axis.set_title(display.looks[id]["label"], fontsize=9)
        axis.set(ylabel=display.entry["y"] if place % across == 0 else "", xlabel="n" if place + across >= len(ids) else "")
        _dashed(axis.axhline, frame["line"])
    for axis in axes.flat[len(ids) :]:
        axis.set_visible(False)
    return drawing


def _violins(axis: Axes, table: pd.DataFrame, x: str, colours: Sequence[str], log: bool) -> None:
    """Violins of ``value`` over the groups of ``x``, in the table's order; a group without spread is a line."""
    import seaborn

    order = [str(one) for one in table[x].unique()]
    table = table.assign(**{x: table[x].astype(str)})
    seaborn.violinplot(
        data=table, x=x, y="value", order=order, hue=x, hue_order=order, palette=list(colours), legend=False, ax=axis,
        cut=0, density_norm="width", inner="quart", linewidth=0.8, width=0.85, log_scale=(False, True) if log else None,
    )  # fmt: skip
    for line in axis.lines:
        line.set_color(_ink(colours[round(float(np.mean(line.get_xdata())))]))
    for place, name in enumerate(order):
        values = table.loc[table[x] == name, "value"]
        if values.nunique() == 1:
            axis.plot([place - 0.3, place + 0.3], [values.iloc[0]] * 2, color=colours[place], linewidth=2)
    axis.set_xlabel("")


def _ink(colour: str) -> str:
    """Dark or light, whichever can be seen on a colour."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#111111" if 0.3 * red + 0.59 * green + 0.11 * blue > 90 else "#ffffff"


def _densities(display: Display, table: pd.DataFrame) -> Figure:
    """Kernel densities of the values, each synthesizer a line; with ``centred`` a second frame around the means."""
    import seaborn
    from matplotlib import pyplot as plt

    ids = list(table["synthesizer"].unique())
    styles = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]
    frames = [("", table)]
    if display.entry["centred"]:
        centre = table.groupby("synthesizer")["value"].transform("mean")
        frames = [("raw", table), ("centred at the mean", table.assign(value=table["value"] - centre))]
    drawing, axes = plt.subplots(1, len(frames), figsize=(5.2 * len(frames), 3.6), layout="constrained", squeeze=False)
    for axis, (title, frame) in zip(axes.flat, frames, strict=True):
        for place, id in enumerate(ids):
            values = frame.loc[frame["synthesizer"] == id, "value"].dropna()
            look, style = display.looks[id], styles[place % len(styles)]
            seaborn.kdeplot(x=values, ax=axis, color=look["colour"], linestyle=style, label=look["label"], cut=0)
            if "density" in frame:
                curve = frame[(frame["synthesizer"] == id) & frame["density"].notna()]
                axis.plot(curve["x"], curve["density"], ".", color=look["colour"], markersize=2.5 + 2 * (len(ids) - place))
        axis.set(xlabel=display.entry["y"], ylabel="density" if axis is axes.flat[0] else "", title=title)
    axes.flat[-1].legend(frameon=False)
    return drawing


def _lines(display: Display, table: pd.DataFrame) -> Figure:
    """Means over replicates against ``x``, with two standard errors; one line for each label, one frame for each panel."""
    titles = {one["id"]: one["label"] for one in display.scenarios}
    frames = list(table.groupby("scenario" if display.entry["panels"] == "scenario" else "panel", sort=False))
    frames.sort(key=lambda frame: list(titles).index(frame[0]) if frame[0] in titles else 0)
    drawing, axes = _frames(len(frames), display.entry["stacked"], 4.2 if len(frames) == 1 else 3.2)
    styles, markers = ["-", "--", "-.", ":"], ["o", "^", "s", "D", "v", "P"]
    for axis, (name, frame) in zip(axes, frames, strict=True):
        for place, (label, part) in enumerate(frame.groupby("label", sort=False)):
            colour = display.looks[part["synthesizer"].iloc[0]]["colour"]
            at = part.groupby("at" if "at" in part else "x")
            mean, error = at["value"].mean(), (2 * at["value"].sem()).fillna(0)
            across = at["x"].mean()
            look = {"color": colour, "linestyle": styles[place % 4], "marker": markers[place % 6], "markersize": 4}
            axis.errorbar(across, mean, yerror(error), label=label, linewidth=1.1, capsize=2, **look)
        axis.set_title(titles.get(name, name), fontsize=9)
        axis.set(xlabel=display.entry["x_label"], ylabel=display.entry["y"] if axis is axes[0] else "")
        if display.entry["x_log"]:
            axis.set_xscale("log")
        if display.entry["log"]:
            axis.set_yscale("log")
        _dashed(axis.axhline, frame["line"])
    axes[-1].legend(frameon=False, fontsize=7)
    return drawing


def yerror(error: pd.Series) -> pd.Series | None:
    """Error bars, or none where nothing was repeated."""
    return error if (error > 0).any() else None


def _scatter(display: Display, table: pd.DataFrame) -> Figure:
    """One point for each record and synthesizer; a dashed line at each synthesizer's largest value."""
    apart = display.entry["panels"] == "synthesizer"
    frames = [part for _, part in table.groupby("synthesizer", sort=False)] if apart else [table]
    drawing, axes = _frames(len(frames), False, 5.6 if len(frames) == 1 else 4.2)
    markers = ["o", "^", "s", "D"]
    for axis, frame in zip(axes, frames, strict=True):
        for place, (id, points) in enumerate(frame.groupby("synthesizer", sort=False)):
            look, marker = display.looks[id], markers[place % len(markers)]
            axis.scatter(points["x"], points["value"], s=12, alpha=0.35, linewidths=0, color=look["colour"], marker=marker)
            axis.scatter([], [], s=30, color=look["colour"], marker=marker, label=look["label"])
            if display.entry["line"] == "delta":
                axis.axhline(points["value"].max(), linestyle="--", color=look["colour"], linewidth=1.1)
        axis.set(xlabel=display.entry["x_label"], ylabel=display.entry["y"] if axis is axes[0] else "")
        axis.set_xlim(*_with_margin(table["x"]))
        axis.legend(frameon=False)
    return drawing


def _with_margin(values: pd.Series) -> tuple[float, float]:
    """Limits of an axis that frames share."""
    margin = 0.04 * (values.max() - values.min()) or 0.5
    return float(values.min() - margin), float(values.max() + margin)


def wrapped(label: str) -> str:
    """A label on two lines where it names a range and what is done with it."""
    head, found, tail = label.partition(") ")
    return f"{head})\n{tail}" if found else label


def table_of(display: Display, collected: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A tidy table: one row for each statistic and synthesizer, with the printed value beside ours.

    Args:
        display: the table.
        collected: the tables that it reads, by name.
    """
    kinds = {"sample": _sample_estimate, "spread": _spread_estimate, "results": _result_estimate, "means": _mean_estimate}
    kinds |= {"rate": _rate_estimate, "interval": _interval_end}
    estimate = kinds[display.entry["kind"]]
    rows = []
    for statistic in display.entry["statistics"]:
        for id in display.ids:
            value, mcse, number = estimate(display, collected, statistic, id)
            row = {"statistic": statistic, "synthesizer": id, "label": display.looks[id]["label"]}
            row |= {"guarantee": display.looks[id]["guarantee"], "estimate": value, "mcse": mcse, "from": number}
            rows.append(row | {"printed": display.entry["printed"].get(id, {}).get(statistic)})
    return _marked(display, pd.DataFrame(rows))


def _sample_estimate(
    display: Display, collected: Mapping[str, pd.DataFrame], statistic: str, id: str
) -> tuple[float, float, int]:
    """The median of a statistic over the synthetic data sets of the single sample; exact for the confidential data."""
    if id == DATA:
        values = collected["values"]
        return statistics(values.loc[values["synthesizer"] == DATA, "value"].to_numpy())[statistic], 0.0, 1
    values = _column(collected["sets"], id, statistic)
    return values.median(), median_mcse(values), len(values)


def _interval_end(display: Display, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> tuple[float, float, int]:
    """An end of the 95 % interval of a statistic over synthetic data sets; the name ends in ``_low`` or ``_high``."""
    column, _, end = statistic.rpartition("_")
    values = _column(collected["sets"], id, column)
    level = {"low": 0.025, "high": 0.975}[end]
    error = np.sqrt(level * (1 - level) / max(len(values), 1))
    ends = values.quantile([max(level - error, 0), min(level + error, 1)]) if len(values) else pd.Series([np.nan, np.nan])
    return float(values.quantile(level)), float(ends.iloc[1] - ends.iloc[0]) / 2, len(values)


def _spread_estimate(
    display: Display, collected: Mapping[str, pd.DataFrame], statistic: str, id: str
) -> tuple[float, float, int]:
    """A summary of a column over the replicates, with its jackknife standard error."""
    values = _column(collected["replicates"], id, display.entry["value"])
    return float(SPREAD[statistic](values)), jackknife(values, SPREAD[statistic]), len(values)


def _mean_estimate(display: Display, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> tuple[float, float, int]:
    """The mean of a column over the replicates with its standard error; of widths, the median."""
    values = _column(collected["replicates"], id, statistic)
    if statistic == "width":
        return float(values.median()), median_mcse(values), len(values)
    return float(values.mean()), float(values.sem()), len(values)


def _rate_estimate(display: Display, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> tuple[float, float, int]:
    """Slope of log(max - min) over replicates on log n, with its bootstrap standard error over replicates."""
    table = collected["replicates"]
    values = table[(table["synthesizer"] == id) & table[display.entry["value"]].notna()]
    groups = {n: part[display.entry["value"]].to_numpy() for n, part in values.groupby("n")}
    if len(groups) < 2 or min(len(one) for one in groups.values()) < 10:
        return float("nan"), float("nan"), len(groups)
    generator = np.random.default_rng(0)
    slopes = [_slope({n: generator.choice(one, len(one)) for n, one in groups.items()}) for _ in range(400)]
    return _slope(groups), float(np.std(slopes, ddof=1)), len(groups)


def _slope(groups: Mapping[int, np.ndarray]) -> float:
    return float(np.polyfit(np.log(list(groups)), [np.log(np.ptp(one)) for one in groups.values()], 1)[0])


def _result_estimate(
    display: Display, collected: Mapping[str, pd.DataFrame], statistic: str, id: str
) -> tuple[float, float, int]:
    """A column of the first replicate, as it is."""
    values = _column(collected["replicates"], id, statistic)
    return (float(values.iloc[0]) if len(values) else float("nan")), float("nan"), 1


def _column(table: pd.DataFrame, id: str, column: str) -> pd.Series:
    return pd.to_numeric(table.loc[table["synthesizer"] == id, column].replace({"True": 1, "False": 0})).dropna()


def median_mcse(values: pd.Series) -> float:
    """Standard error of a median: half the distance of the quantiles one standard deviation of rank above and below."""
    if len(values) < 10:
        return float("nan")
    half = 0.5 / len(values) ** 0.5
    return float(values.quantile(0.5 + half) - values.quantile(0.5 - half)) / 2


def jackknife(values: pd.Series, statistic: Callable[[pd.Series], float]) -> float:
    """Jackknife standard error of a statistic; NaN below ten values."""
    if len(values) < 10:
        return float("nan")
    left_out = np.array([statistic(values.drop(index)) for index in values.index])
    return float(np.sqrt((len(values) - 1) * np.mean((left_out - left_out.mean()) ** 2)))


def caption(display: Display) -> str:
    """The caption of a figure or table, from the design alone."""
    kind = "Table" if "statistics" in display.entry else "Figure"
    names = "; ".join(dict.fromkeys(display.looks[id]["label"] for id in display.ids))
    sentences = [f"{kind} {display.number}. {display.entry['subject']}: {names}", _sizes(display)]
    if display.entry.get("value") in BOUNDS or ("x" in display.entry and display.entry["x"] in BOUNDS):
        sentences.append(_guarantees(display))
    if display.entry.get("line", "none") != "none":
        sentences.append(LINES.get(display.entry["line"], f"Dashed line: {display.entry['line']}"))
    return " ".join(f"{one.rstrip('.')}." for one in [*sentences, display.entry["note"]] if one) + "\n"


def _sizes(display: Display) -> str:
    """Sample sizes and replicates behind a figure or table."""
    first = display.scenarios[0]
    several = len({one["name"] for one in display.scenarios}) > 1
    n = ", ".join(f"{one['n']} ({one['label']})" if several else str(one["n"]) for one in display.scenarios)
    replicates = f"{first['replicates']} replicate{'s' * (first['replicates'] > 1)} of n = {n}"
    what = {
        "replicates": replicates,
        "records": f"one sample of n = {n}",
        "values": f"one sample of n = {n}",
        "details": replicates,
        "draws": f"posterior draws from one sample of n = {n}",
        "sets": f"{first['synthetic_sets']} synthetic data sets from one sample of n = {n}",
    }[display.source]
    data = f"file {first['file']['name']}" if first["file"] else first["data"]
    if first["stand_in"]:
        data = "STAND-IN: simulated in place of records that are absent"
    titles = [panel["title"] for panel in display.panels if panel["title"]]
    what += f"; frames: {', '.join(titles)}" if titles else ""
    place = display.entry.get("place") or first["place"]
    return f"{display.authors}, {place}; {what}{f' ({data})' if data else ''}; scale {display.scale}"


def _guarantees(display: Display) -> str:
    by_kind: dict[str, list[str]] = {}
    for id in display.ids:
        if id not in NOT_SYNTHETIC:
            by_kind.setdefault(display.looks[id]["guarantee"], []).append(display.looks[id]["label"])
    return "Guarantees: " + "; ".join(f"{kind}: {', '.join(dict.fromkeys(names))}" for kind, names in by_kind.items())
