"""Tables of measurements in bench/tables, from which ``python -m dev.reference --write`` fills the tables of documents."""

import csv
from collections.abc import Sequence
from pathlib import Path

TABLES = Path(__file__).parent / "tables"


def show(name: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table, and write it as ``bench/tables/<name>.csv``, with its numbers as they are shown in documents."""
    with (TABLES / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    print(*(" | ".join(map(str, line)) for line in [head, *rows]), sep="\n")
