"""Summary of a tidy table of results, and the tables of docs/explanation/competitors.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

from .competitors import competitors
from .measures import MEASURES
from .tasks import tasks

TABLES = Path(__file__).parents[1] / "tables"
SUMMARY = TABLES / "competitors.csv"
"""Medians over replicates, from which the tables of the page are written."""
SHOWN = ("ecdf_max", "slope")
"""Measures that the page shows, each in a table of its own."""
LEVEL = 0.05
"""Level of the sign test; a mechanism that is not worse than the best one at this level counts as equally good."""
COLUMNS = ("task", "epsilon", "measure", "mechanism", "median", "replicates", "failed", "best")
Errors = Mapping[str, "pd.Series[float]"]
"""Errors by mechanism, indexed by replicate; infinite if a replicate failed."""


def summarised(tidy: pd.DataFrame) -> pd.DataFrame:
    """Summarise results by medians, and mark the winners.

    Args:
        tidy: one row for each value, with columns task, mechanism, epsilon, replicate, measure and value; the value is missing
            for a failure.

    Returns:
        A row for each task, epsilon, measure and mechanism: ``median``, infinite if half of the replicates failed;
        ``replicates``; ``failed``; and ``best``: ``yes`` for the smallest median among mechanisms with a guarantee, ``tied``
        for a finite median that a sign test over common replicates does not find worse, ``no`` for all others.
    """
    rows: list[list[object]] = []
    for (task, epsilon, measure), part in tidy.groupby(["task", "epsilon", "measure"], sort=False):
        if measure not in (*MEASURES, "seconds") or part["value"].isna().all():
            continue
        errors = {
            str(name): values.set_index("replicate")["value"].fillna(np.inf)
            for name, values in part.groupby("mechanism", sort=False)
        }
        best = places(errors) if measure in MEASURES else {}
        for name, values in errors.items():
            median = float(f"{np.median(values):.3g}")
            counts = [len(values), int(np.isinf(values).sum())]
            rows.append([task, epsilon, measure, name, median, *counts, best.get(name, "no")])
    return pd.DataFrame(rows, columns=list(COLUMNS))


def places(errors: Errors) -> dict[str, str]:
    """Mark the best mechanism with a guarantee ``yes``, and those that are equally good ``tied``."""
    known = competitors()
    medians = {name: float(np.median(values)) for name, values in errors.items() if known[name].private}
    if not medians or not np.isfinite(min(medians.values())):
        return {}
    best = min(medians, key=lambda name: medians[name])
    finite = [name for name, median in medians.items() if np.isfinite(median) and name != best]
    tied = [name for name in finite if not worse(errors[name], errors[best])]
    return dict.fromkeys(tied, "tied") | {best: "yes"}


def worse(errors: pd.Series[float], others: pd.Series[float]) -> bool:
    """Sign test over common replicates, one-sided: True if the errors are larger in more replicates than chance explains."""
    common = errors.index.intersection(others.index)
    ours, theirs = errors[common].to_numpy(), others[common].to_numpy()
    differ = int((ours != theirs).sum())
    return bool(differ) and float(binom.sf((ours > theirs).sum() - 1, differ, 0.5)) < LEVEL


def page_table(summary: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Arrange the medians of a measure: a row for each task and epsilon, a column for each mechanism.

    The best mechanism with a guarantee is bold, and so are those that are equally good. A failure is shown as fails.
    """
    shown = summary[summary["measure"] == measure]
    columns = ["task", "epsilon", "mechanism", "median", "best"]
    cells = {(task, epsilon, name): _cell(*cell) for task, epsilon, name, *cell in shown[columns].to_numpy().tolist()}
    entries = {name: entry for name, entry in competitors().items() if name in set(shown["mechanism"])}
    rows = [
        [task.label, f"{epsilon:g}", *(cells.get((name, epsilon if e.private else 0.0, key), "") for key, e in entries.items())]
        for name, task in tasks().items()
        for epsilon in sorted({epsilon for given, epsilon, _ in cells if given == name} - {0.0}, reverse=True)
    ]
    return pd.DataFrame(rows, columns=["data", "ε", *(entry.short for entry in entries.values())])


def _cell(median: float, best: str) -> str:
    text = np.format_float_positional(float(f"{median:.2g}"), trim="-") if np.isfinite(median) else "fails"
    return text if best == "no" else f"**{text}**"


def written(tidy: pd.DataFrame) -> None:
    """Write the summary, and the tables of the page from it."""
    summarised(tidy).to_csv(SUMMARY, index=False)
    for measure in SHOWN:
        page_table(pd.read_csv(SUMMARY), measure).to_csv(TABLES / f"competitors_{measure}.csv", index=False)
