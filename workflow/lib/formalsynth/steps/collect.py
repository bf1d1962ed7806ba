"""Collect: the tables of all batches into those of a scenario."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from formalsynth.runtime.files import read_table, sealed, unbroken, write_table


def collect_tables(batches: Sequence[Path], path: Path, made_from: str) -> None:
    """Write one table with the rows of the tables of all batches, which are in the order of their replicates.

    Args:
        batches: a table of each batch.
        path: the table to write.
        made_from: its specification.
    """
    if len(batches) == 1:
        with sealed(path, made_from) as partial:
            shutil.copyfile(unbroken(batches[0]), partial)
        return
    import pandas as pd

    tables = [read_table(batch) for batch in batches]
    # Those without rows would change the types of the others.
    write_table(path, pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True), made_from)
