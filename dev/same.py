"""Comparison of the tables of two working folders: python -m dev.same BEFORE [PAPER ...].

It compares the CSV files of a scale in ``results`` and ``figures`` byte by byte, except for columns of seconds. Copies in the
report and files of single batches are left out.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

TIMES = {"seconds"}
"""Columns that differ from run to run."""
LEFT_OUT = ("seeds", "report")
"""Beginnings of folders with parts or copies of other files."""


def main() -> int:
    """Run the command line: print a line for each file that differs, and the number of such files."""
    parser = argparse.ArgumentParser(prog="python -m dev.same", description="Compare two runs of the workflow.")
    parser.add_argument("before", type=Path, help="working folder of the earlier run")
    parser.add_argument("papers", nargs="*", default=[""], help="papers to compare (default: all)")
    parser.add_argument("--after", type=Path, default=Path(), help="working folder of the later run (default: this one)")
    parser.add_argument("--scale", default="paper", help="scale of both runs (default: %(default)s)")
    given = parser.parse_args()
    names = sorted({name for folder in (given.before, given.after) for name in tables(folder, given.scale, given.papers)})
    compared = ((name, difference(given.before / name, given.after / name)) for name in names)
    lines = [f"{name}: {words}" for name, words in compared if words]
    print(*lines, f"{len(names)} files compared, {len(lines)} differ", sep="\n")
    return int(bool(lines) or not names)


def tables(folder: Path, scale: str, papers: Sequence[str]) -> list[Path]:
    """List the tables of some papers, or of all with the key ``""``, relative to the working folder of a run."""
    places = [folder / top / scale / paper for top in ("results", "figures") for paper in papers]
    paths = [path.relative_to(folder) for place in places for path in place.rglob("*.csv")]
    return [path for path in paths if not any(part.startswith(LEFT_OUT) for part in path.parts)]


def difference(before: Path, after: Path) -> str:
    """Describe where two tables first differ; empty if they are the same except for columns of seconds.

    Rows are counted as in the file; the header is row 1.
    """
    if missing := [path for path in (before, after) if not path.is_file()]:
        return f"{missing[0]} is missing"
    if before.read_bytes() == after.read_bytes():
        return ""
    old, new = (list(csv.reader(path.read_text(encoding="utf-8").splitlines(keepends=True))) for path in (before, after))
    if len(old) != len(new):
        return f"had {len(old)} rows and has {len(new)}"
    header = old[0]
    for row, (first, second) in enumerate(zip(old, new, strict=True), start=1):
        for column, was, is_now in itertools.zip_longest(header, first, second, fillvalue=""):
            if was != is_now and column not in TIMES:
                return f"column {column}, row {row}: was {was!r} and is {is_now!r}"
    return "" if TIMES & set(header) else "the same values are written differently"


if __name__ == "__main__":
    sys.exit(main())
