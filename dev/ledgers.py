"""Ledgers of several runs side by side: python -m dev.ledgers agree A B C, or changes BEFORE AFTER.

``agree`` prints the share of verdicts that all of them share, for example runs from several root seeds, and lists the others.
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
from formalsynth.runtime.files import read_table

from dev.markdown import markdown_rows

LEAST = 0.97
"""Minimum share of verdicts on which runs from different seeds must agree."""
ABSENT = "no such claim"
"""Entry for a claim that a ledger lacks."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0 if enough verdicts agree or none has changed, 1 if not, 2 if a ledger cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m dev.ledgers", description="Compare ledgers of claims.")
    tasks = parser.add_subparsers(dest="task", required=True)
    agree = tasks.add_parser("agree", help="print the share of verdicts that are the same in all ledgers, and the others")
    agree.add_argument("ledgers", nargs="+", type=Path, help="claims.csv of each run")
    agree.add_argument("--steady", type=Path, help="steadiness.csv; only the verdicts that are steady there must be the same")
    agree.add_argument("--least", type=float, default=LEAST, help="share that must be the same (default: %(default)s)")
    change = tasks.add_parser("changes", help="print the verdicts that differ, before and after, as a Markdown table")
    change.add_argument("before", type=Path, help="claims.csv of the earlier run")
    change.add_argument("after", type=Path, help="claims.csv of the later run")
    options = parser.parse_args(arguments)
    try:
        if options.task == "agree":
            return _agree(options.ledgers, options.least, options.steady)
        return _changes(_ledger(options.before), _ledger(options.after))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has closed the pipe, as head does
        return 0
    except (OSError, LedgerError) as error:
        print(f"a ledger cannot be read: {error}; give the files claims.csv of finished runs", file=sys.stderr)
        return 2


class LedgerError(Exception):
    """Error for a file that is no ledger."""


def _ledger(path: Path) -> pd.DataFrame:
    table = read_table(path)
    if not {"id", "verdict"} <= set(table):
        raise LedgerError(f"{path} has no columns id and verdict")
    return table


def _agree(paths: Sequence[Path], least: float, steady: Path | None) -> int:
    if len(paths) < 2:
        print("at least two ledgers are needed for a comparison", file=sys.stderr)
        return 2
    verdicts = side_by_side({str(path): _ledger(path) for path in paths})
    same = verdicts.nunique(axis=1) == 1
    print(f"{_share(same)} of the verdicts are the same in {len(paths)} ledgers")
    if steady is not None:
        steadiness = read_table(steady)
        same = same[same.index.isin(steadiness.loc[steadiness["stays"] >= STEADY, "id"])]
        print(f"{_share(same)} of the steady ones")
    other = verdicts[verdicts.nunique(axis=1) > 1]
    if len(other):
        print("\n" + markdown(other.reset_index()))
    return int(same.mean() < least)


def _share(same: pd.Series) -> str:
    return f"{same.sum()} of {len(same)} ({same.mean():.1%})"


def _changes(before: pd.DataFrame, after: pd.DataFrame) -> int:
    changed = changes(before, after)
    print(markdown(changed) if len(changed) else "No verdict has changed.")
    return int(len(changed) > 0)


def side_by_side(ledgers: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put verdicts side by side: a row for each claim in any ledger, a column for each ledger.

    Args:
        ledgers: tables with the columns of ``claims.csv``, by name.
    """
    columns = {name: table.set_index("id")["verdict"] for name, table in ledgers.items()}
    order = dict.fromkeys(id for column in columns.values() for id in column.index)
    return pd.DataFrame(columns).reindex(list(order)).fillna(ABSENT).rename_axis("id")


def changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """List claims whose verdict differs between two ledgers, or that only one of them contains.

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
    """Format the verdict and the estimate of a claim."""
    if id not in ledger.index:
        return ABSENT
    row = ledger.loc[id]
    return f"{row['verdict']} ({row['estimate']})" if pd.notna(row["estimate"]) else str(row["verdict"])


def markdown(table: pd.DataFrame) -> str:
    """Write a table of texts in Markdown."""
    cells = [[str(cell) for cell in row] for row in table.to_numpy()]
    return markdown_rows([list(map(str, table)), ["---"] * len(table.columns), *cells])


if __name__ == "__main__":
    sys.exit(main())
