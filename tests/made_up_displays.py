"""Displays and collected tables for tests of what shows them, without a plan."""

import numpy as np
import pandas as pd
from formalsynth.displays.display import FigureDisplay, Panel, ShownScenario, TableDisplay
from formalsynth.displays.figure import FIGURES
from formalsynth.displays.table import TABLES
from formalsynth.show.estimator import ESTIMATORS
from formalsynth.show.painter import PAINTERS

FIGURES.find()
TABLES.find()
PAINTERS.find()
ESTIMATORS.find()
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


def _common(ids, scenarios, number):
    looks = {}
    for k, id in enumerate(ids):
        guarantee = "none: confidential" if id == "Data" else f"kind {id}"
        looks[id] = {"label": f"label {id}", "colour": COLOURS[k % len(COLOURS)], "guarantee": guarantee}
    return {
        "paper": "small",
        "number": number,
        "scale": "paper",
        "authors": "Somebody (2026)",
        "ids": ids,
        "looks": looks,
        "scenarios": [scenario.plain() for scenario in scenarios],
    }


def figure_of(ids=("A", "B"), scenarios=None, number="1", frames=None, at=None, truths=None, **entry):
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
        _common(ids, scenarios, number)
        | {"table": entry.get("table", "replicates"), "figure": entry, "panels": [frame.plain() for frame in frames]}
        | {"at": at or {}, "truths": truths or {}}
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
    return table.assign(delta=generator.lognormal(size=len(table)), **columns)
