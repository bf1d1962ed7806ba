"""Ledgers of several runs side by side: python -m formalsynth.report.ledgers agree A B C, or changes BEFORE AFTER.

``agree`` says which share of the verdicts is the same in all of them, as in runs from several root seeds, and lists the others.
``changes`` lists every verdict that another version of the config or the code has changed, with the later claim's note.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from formalsynth.ledger.steadiness import STEADY
from formalsynth.report.formats import markdown_rows
from formalsynth.runtime.files import read_table

LEAST = 0.97
"""Share of the verdicts that runs from different seeds are to have in common."""
ABSENT = "no such claim"
"""What stands where a ledger lacks a claim."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: 0 where enough verdicts agree or none has changed, 1 where not, 2 where a ledger cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m formalsynth.report.ledgers", description="Compare ledgers of claims.")
    tasks = parser.add_subparsers(dest="task", required=True)
    agree = tasks.add_parser("agree", help="which share of the verdicts is the same in all ledgers, and the others")
    agree.add_argument("ledgers", nargs="+", type=Path, help="claims.csv of each run")
    agree.add_argument("--steady", type=Path, help="steadiness.csv; only verdicts that are steady there have to be the same")
    agree.add_argument("--least", type=float, default=LEAST, help="share that is enough (default: %(default)s)")
    change = tasks.add_parser("changes", help="the verdicts that differ, before and after, as a Markdown table")
    change.add_argument("before", type=Path, help="claims.csv of the earlier run")
    change.add_argument("after", type=Path, help="claims.csv of the later run")
    options = parser.parse_args(arguments)
    try:
        if options.task == "agree":
            return _agree(options.ledgers, options.least, options.steady)
        return _changes(read_table(options.before), read_table(options.after))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what reads this has seen enough, as head does
        return 0
    except (OSError, KeyError) as error:
        print(f"a ledger cannot be read: {error}; name files claims.csv of finished runs", file=sys.stderr)
        return 2


def _agree(paths: Sequence[Path], least: float, steady: Path | None) -> int:
    if len(paths) < 2:
        print("two ledgers or more are needed to compare", file=sys.stderr)
        return 2
    verdicts = side_by_side({str(path): read_table(path) for path in paths})
    same = verdicts.nunique(axis=1) == 1
    print(f"{_share(same)} of the verdicts are the same in {len(paths)} ledgers")
    if steady is not None:
        found = read_table(steady)
        same = same[same.index.isin(found.loc[found["stays"] >= STEADY, "id"])]
        print(f"{_share(same)} of those that are steady")
    other = verdicts[verdicts.nunique(axis=1) > 1]
    if len(other):
        print("\n" + markdown(other.reset_index()))
    return int(same.mean() < least)


def _share(same: pd.Series) -> str:
    return f"{same.sum()} of {len(same)} ({same.mean():.1%})"


def _changes(before: pd.DataFrame, after: pd.DataFrame) -> int:
    found = changes(before, after)
    print(markdown(found) if len(found) else "No verdict has changed.")
    return int(len(found) > 0)


def side_by_side(ledgers: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The verdicts of several ledgers, a row for each claim that any of them has and a column for each ledger.

    Args:
        ledgers: tables with the columns of ``claims.csv``, by name.
    """
    columns = {name: table.set_index("id")["verdict"] for name, table in ledgers.items()}
    order = dict.fromkeys(id for column in columns.values() for id in column.index)
    return pd.DataFrame(columns).reindex(list(order)).fillna(ABSENT).rename_axis("id")


def changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Claims whose verdict differs between two ledgers, those that only one of them has included.

    Args:
        before: columns of ``claims.csv``.
        after: the same.

    Returns:
        Columns id, before and after, each with verdict and estimate, and why: the note of the later ledger, else of the earlier.
    """
    verdicts = side_by_side({"before": before, "after": after})
    other = verdicts[verdicts["before"] != verdicts["after"]]
    tables = {"before": before.set_index("id"), "after": after.set_index("id")}
    words = {name: [_words(table, id) for id in other.index] for name, table in tables.items()}
    notes = tables["after"]["note"].reindex(other.index).fillna(tables["before"]["note"].reindex(other.index)).fillna("")
    return pd.DataFrame({"id": other.index, **words, "why": notes.to_numpy()})


def _words(ledger: pd.DataFrame, id: str) -> str:
    """Verdict and estimate of a claim."""
    if id not in ledger.index:
        return ABSENT
    row = ledger.loc[id]
    return f"{row['verdict']} ({row['estimate']})" if pd.notna(row["estimate"]) else str(row["verdict"])


def markdown(table: pd.DataFrame) -> str:
    """A table of texts in Markdown."""
    rows = [list(table), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return markdown_rows(rows)


if __name__ == "__main__":
    sys.exit(main())
