"""Summary of a tidy table of results, and the page that shows it: docs/COMPETITORS.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom

from .competitors import Competitor, competitors
from .measures import MEASURES
from .tasks import Task, tasks

ROOT = Path(__file__).parents[2]
SUMMARY = Path(__file__).with_name("summary.csv")
"""Medians over replicates, from which the page is written."""
PAGE = ROOT / "docs" / "COMPETITORS.md"
BLOCK = re.compile(r"(?<=<!-- begin: competitors -->\n).*(?=<!-- end: competitors -->)", re.DOTALL)
LEVEL = 0.05
"""Level of the sign test; a mechanism that is not worse than the best one at this level counts as equally good."""
HEADINGS = {
    "ecdf_max": "max-ECDF", "mean": "mean", "sd": "sd", "q90": "q90", "q99": "q99", "slope": "slopes", "seconds": "seconds",
}  # fmt: skip
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
        if measure not in HEADINGS or part["value"].isna().all():
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


def page_block(summary: pd.DataFrame) -> str:
    """Return the part of the page between its markers."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: pd.DataFrame) -> Iterator[str]:
    entries, known = competitors(), tasks()
    epsilons = sorted(set(summary["epsilon"]) - {0.0}, reverse=True)
    yield "**Winners**; in brackets, mechanisms that a sign test does not find worse. † has a δ; ‡ assumes exact draws."
    yield ""
    measures = [name for name in MEASURES if name in set(summary["measure"])]
    yield from _head(["data", "ε", *[HEADINGS[name] for name in measures]])
    for name, task in known.items():
        for epsilon in epsilons:
            part = summary[(summary["task"] == name) & (summary["epsilon"] == epsilon)]
            if len(part):
                yield _row(
                    [task.label, f"{epsilon:g}", *[_winners(part[part["measure"] == column], entries) for column in measures]]
                )
    for name, task in known.items():
        part = summary[summary["task"] == name]
        if len(part):
            yield from ["", f"**{task.label}**", ""]
            yield from _table(part, task, epsilons, entries)


def _winners(part: pd.DataFrame, entries: Mapping[str, Competitor]) -> str:
    labels = {best: [entries[name].short for name in part[part["best"] == best]["mechanism"]] for best in ("yes", "tied")}
    return " ".join(labels["yes"]) + (f" ({', '.join(labels['tied'])})" if labels["tied"] else "")


def _table(part: pd.DataFrame, task: Task, epsilons: list[float], entries: Mapping[str, Competitor]) -> Iterator[str]:
    """Medians of a task, with a row for each mechanism and epsilon; the best and the equally good ones are bold."""
    measures = [name for name in HEADINGS if name in set(part["measure"])]
    yield from _head(["mechanism", "ε", *[HEADINGS[name] for name in measures], "failed"])
    for epsilon in (0.0, *epsilons):
        for name, entry in entries.items():
            rows = part[(part["mechanism"] == name) & (part["epsilon"] == epsilon)].set_index("measure")
            if len(rows):
                cells = [_cell(rows, measure) for measure in measures]
                failed, replicates = (int(rows[column].max()) for column in ("failed", "replicates"))
                yield _row([entry.label, f"{epsilon:g}" if epsilon else "", *cells, f"{failed} of {replicates}"])


def _cell(rows: pd.DataFrame, measure: str) -> str:
    if measure not in rows.index or not np.isfinite(rows["median"][measure]):
        return ""
    text = np.format_float_positional(float(f"{float(rows['median'][measure]):.2g}"), trim="-")
    return text if rows["best"][measure] == "no" else f"**{text}**"


def _head(cells: list[str]) -> Iterator[str]:
    yield _row(cells)
    yield _row(["---"] + ["---:"] * (len(cells) - 1))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def written(tidy: pd.DataFrame) -> None:
    """Write the summary, and update the page from it."""
    summarised(tidy).to_csv(SUMMARY, index=False)
    text, block = PAGE.read_text(encoding="utf-8"), page_block(pd.read_csv(SUMMARY))
    PAGE.write_text(BLOCK.sub(lambda match: block, text), encoding="utf-8")
