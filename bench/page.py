"""Tables of measurements in bench/tables, from which ``python -m dev.reference --write`` fills the tables of documents."""

import csv
from collections.abc import Sequence
from pathlib import Path

TABLES = Path(__file__).parent / "tables"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Build a Markdown table, with text in the first column and numbers in the others."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def write_table(name: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write a table as ``bench/tables/<name>.csv``, with its numbers as they are shown in documents."""
    TABLES.mkdir(exist_ok=True)
    with (TABLES / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
