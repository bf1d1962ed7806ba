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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line: print a line for each file that differs, and the number of such files."""
    parser = argparse.ArgumentParser(prog="python -m dev.same", description="Compare two runs of the workflow.")
    parser.add_argument("before", type=Path, help="working folder of the earlier run")
    parser.add_argument("papers", nargs="*", help="papers to compare (default: all)")
    parser.add_argument("--after", type=Path, default=Path(), help="working folder of the later run (default: this one)")
    parser.add_argument("--scale", default="paper", help="scale of both runs (default: %(default)s)")
    options = parser.parse_args(arguments)
    for folder in (options.before, options.after):
        if not folder.is_dir():
            parser.error(f"{folder}: there is no such folder; give the working folder of a run")
    names = sorted(
        {*tables(options.before, options.scale, options.papers), *tables(options.after, options.scale, options.papers)}
    )
    compared = ((name, difference(options.before / name, options.after / name)) for name in names)
    lines = [f"{name}: {words}" for name, words in compared if words]
    total = f"{len(names)} files compared, {len(lines)} differ" if names else "nothing to compare: neither folder has tables"
    print(*lines, total, sep="\n")
    return int(bool(lines) or not names)


def tables(folder: Path, scale: str, papers: Sequence[str] = ()) -> list[Path]:
    """List the tables of a run, relative to its working folder.

    Args:
        folder: the working folder.
        scale: scale of the run.
        papers: keys of papers; empty for all tables.
    """
    tops = [top / scale for top in (Path("results"), Path("figures"))]
    places = [top / paper for top in tops for paper in papers] if papers else tops
    paths = (path.relative_to(folder) for place in places for path in sorted((folder / place).rglob("*.csv")))
    return [path for path in paths if not any(part.startswith(LEFT_OUT) for part in path.parts)]


def difference(before: Path, after: Path) -> str:
    """Describe where two tables first differ; empty if they are the same except for columns of seconds.

    Rows are counted as in the file; the header is row 1.
    """
    for path in (before, after):
        if not path.is_file():
            return f"{path} is missing"
    if before.read_bytes() == after.read_bytes():
        return ""
    old, new = read(before), read(after)
    header = old[0] if old else []
    for row, (first, second) in enumerate(itertools.zip_longest(old, new), start=1):
        if first is None or second is None:
            return f"had {len(old)} rows and has {len(new)}"
        for column, was, is_now in itertools.zip_longest(header, first, second, fillvalue=""):
            if was != is_now and column not in TIMES:
                return f"column {column}, row {row}: was {was!r} and is {is_now!r}"
    return "" if TIMES & set(header) else "the same values are written differently"


def read(path: Path) -> list[list[str]]:
    """Read the rows of a table as text, with its header first."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


if __name__ == "__main__":
    sys.exit(main())
