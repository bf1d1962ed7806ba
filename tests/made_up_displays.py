"""Displays and collected tables for tests of what shows them, without a plan."""

import io
import itertools

import numpy as np
import pandas as pd

from formalsynth_workflow.show.display import Panel, ShownScenario
from formalsynth_workflow.show.figure import FIGURES, FigureDisplay
from formalsynth_workflow.show.table import TABLES, TableDisplay
from formalsynth_workflow.show.tidy import figure_table

FIGURES.find()
TABLES.find()
PART = {"scenario": ["first"], "value": "delta", "synthesizers": ["A", "B"]}
FIELDS = {
    "budgets": [{"value": ["claimed", "audited", "attacked"], "table": "audit"}],
    "density": [{"centred": True}],
    "exceedance": [{"value": ["audited", "claimed", "claimed_larger"], "table": "audit"}],
    "frontier": [{"value": "ecdf_max"}],
    "guaranteed": [{"value": "ecdf_max"}],
    "line": [
        {"x": "theta"},
        {"x": "theta", "log": True, "x_log": True, "against": "label B", "top": 9.0},
        {"x": "weight", "at": {"A": 0.5, "B": 0.5}, "log": True},
        {"x": "weight", "from_zero": True, "x_log": True, "dodged": True},
    ],
    "needed": [{"target": 2, "at": {"A": 1.0, "B": 2.0}}],
    "scatter": [{"x": "weight", "line": "delta", "panels": "synthesizer"}],
    "sheet": [{"value": "", "synthesizers": [], "scenario": ["first"], "parts": {"a": PART, "b": PART | {"log": True}}}],
    "trade_off": [{"panels": "synthesizer", "table": "audit", "value": "error"}],
    "violin": [{"log": True}, {"value": ["delta", "weight"], "log": True}],
}
"""Fields that a kind needs, or that change its drawing; a kind that is not here has a value alone."""
DRAWN = [(kind, fields) for kind in FIGURES for fields in FIELDS.get(kind, [{}])]
"""Every kind of figure with such fields."""
STRICT = {"guarantee": "DP (add/remove)"}
FIRST = {"candidate": "grid", "delta": 0.001, "releases": 1.0, "streams": 1.0}
"""Rows of an audit at the first delta."""
COLOURS = ("#333333", "#8c8c8c", "#d55e00", "#0072b2")


def scenario_of(name, n=20, **fields):
    """A scenario with simulated data."""
    rest = {
        "place": "Section 1",
        "replicates": 3,
        "synthetic_sets": 12,
        "file": "",
        "stand_in": False,
        "unit": 1.0,
        "fitted_unit": None,
        "audited": 0,
        "data": "simulated data",
    }
    return ShownScenario(**{"id": f"{name}_n{n}", "name": name, "label": name.capitalize(), "n": n} | rest | fields)


def _common(ids, scenarios, number, changed=None):
    looks = {}
    for k, id in enumerate(ids):
        guarantee = "none: confidential" if id == "Data" else f"kind {id}"
        looks[id] = {"label": f"label {id}", "colour": COLOURS[k % len(COLOURS)], "guarantee": guarantee}
        looks[id] |= (changed or {}).get(id, {})
    return {
        "paper": "small",
        "number": number,
        "scale": "paper",
        "authors": "Somebody (2026)",
        "ids": ids,
        "looks": looks,
        "scenarios": [scenario.plain() for scenario in scenarios],
    }


def figure_of(ids=("A", "B"), scenarios=None, number="1", frames=None, at=None, truths=None, looks=None, printed=(), **entry):
    """A figure's display, rebuilt from plain data as a job does it; ``entry`` are keys of its section in YAML."""
    scenarios = scenarios or [scenario_of("first")]
    entry = {
        "kind": "violin",
        "scenario": list(dict.fromkeys(scenario.name for scenario in scenarios)),
        "value": "delta",
        "synthesizers": list(ids),
    } | entry
    if at and "x" not in entry:
        entry["at"] = "theta"
    frames = frames or [Panel(title="", ids=tuple(ids), epsilon=None)]
    return FigureDisplay.of(
        _common(ids, scenarios, number, looks)
        | {"table": entry.get("table", "replicates"), "figure": entry, "panels": [frame.plain() for frame in frames]}
        | {"at": at or {}, "truths": truths or {}, "printed": [cell.plain() for cell in printed]}
        | {"parts": {letter: figure_of(scenarios=scenarios, **part) for letter, part in entry.get("parts", {}).items()}}
    )


def table_display(ids=("A", "B"), scenarios=None, number="1", **entry):
    """A table's display, rebuilt from plain data as a job does it."""
    scenarios = scenarios or [scenario_of("first")]
    entry = {"kind": "sample", "scenario": scenarios[0].name, "subject": "Numbers", "synthesizers": list(ids)} | entry
    table = TABLES[entry["kind"]](**entry).table
    return TableDisplay.of(_common(ids, scenarios, number) | {"table": table, "entry": entry})


def rows_of(scenario, ids=("A", "B"), seed=0, count=None, **columns):
    """A collected table: a row for each replicate and synthesizer, with random numbers or the given ones in its columns."""
    count = count or scenario.replicates
    generator = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"paper": "small", "scenario": scenario.id, "n": scenario.n, "replicate": range(count), "synthesizer": id})
        for id in ids
    ]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(**{"delta": generator.lognormal(size=len(table))} | columns)


def audit_of(scenario, ids=("A", "B"), data_sets=3):
    """An audit: the k-th synthesizer claims k; on data set r, the addition of a record costs it r k at the first delta."""
    rows = []
    for replicate, (k, id) in itertools.product(range(data_sets), enumerate(ids, 1)):
        cost = (replicate + 1.0) * k
        head = {"paper": "small", "scenario": scenario.id, "n": scenario.n, "replicate": replicate, "synthesizer": id}
        head |= {"claimed": float(k), "claimed_larger": 3.0 * k, "weight": 0.7, "releases": 1, "streams": 1, "candidate": "grid"}
        attack = head | {"neighbour": "add", "delta": 1e-3}
        rows.append(attack | {"candidate": "curve", "audited": 700.0})
        rows += [
            attack | {"candidate": "error rates", "audited": cost, "value": share, "error": (1 - share) ** 2}
            for share in (0.0, 0.01, 0.1, 1.0)
        ]
        for neighbour, share in {"same": 0.01, "remove": 0.1, "add": 1.0, "replace": 5.0}.items():
            for delta, factor in ((1e-3, 1), (1e-6, 2), (0.0, 3)):
                row = head | {"neighbour": neighbour, "delta": delta, "audited": cost * share * factor}
                attacked = 0.3 * row["audited"] if neighbour in ("remove", "add") else np.nan
                rows += [row | {"attacked": attacked}, row | {"streams": 2, "audited": 1000.0}]
            rows.append(row | {"delta": 1e-3, "releases": 10, "audited": 10 * cost * share})
    return pd.DataFrame(rows)


def tidy_of(display, *collected):
    """The tidy table of a figure as it is read from its file."""
    text = figure_table(display, list(collected)).to_csv(index=False)
    return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
