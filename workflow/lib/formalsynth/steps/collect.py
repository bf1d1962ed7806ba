"""Collect: combine the tables of all batches into those of a scenario."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from formalsynth.runtime.files import read_table, sealed, unbroken, write_table


def collect_tables(batches: Sequence[Path], path: Path, made_from: str) -> None:
    """Write one table with the rows of all batches' tables, which are in the order of their replicates.

    Args:
        batches: the table of each batch.
        path: the table to write.
        made_from: its specification.
    """
    if len(batches) == 1:
        _join([unbroken(batches[0])], path, made_from)
        return
    import pandas as pd

    tables = {batch: read_table(batch) for batch in batches}
    # Tables without rows would change the column types of the others.
    kept = {batch: table for batch, table in tables.items() if len(table)} or {batches[0]: tables[batches[0]]}
    first, *others = kept.values()
    if all(other.dtypes.equals(first.dtypes) for other in others):
        _join(list(kept), path, made_from)
    else:
        write_table(path, pd.concat([first, *others], ignore_index=True), made_from)


def _join(batches: Sequence[Path], path: Path, made_from: str) -> None:
    """Copy the lines of tables with the same columns and types; writing them again would not change them."""
    with sealed(path, made_from) as partial, open(partial, "wb") as whole:
        for k, batch in enumerate(batches):
            with open(batch, "rb") as part:
                if k:
                    part.readline()
                shutil.copyfileobj(part, whole)
