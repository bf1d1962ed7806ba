"""Rehearsal of a release with made-up rows, before anything counts as spent."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.custodian.assemble import crossing_of, fill_folder
from formalsynth.custodian.budget import today
from formalsynth.custodian.release_folder import unpublished_folder
from formalsynth.custodian.schema import Declared
from formalsynth.custodian.sources import Source

REHEARSED = 1000
"""Largest number of rows of a rehearsed data set."""
REPLICATES = 20
"""Simulations for the intervals of a rehearsal."""
SPARE = 1.5
"""Factor by which the rows of a release may be longer than those of its rehearsal."""


def rehearse(declared: Declared, source: Source, to: Path, rows: int) -> None:
    """Make a release from made-up rows, and remove it.

    A failure here does not depend on the data: contradicting declarations, own code that cannot be used, a missing library, a
    full disk.

    Args:
        declared: the study.
        source: source of the release.
        to: folder of the release.
        rows: rows of each set of the release.

    Raises:
        DataError: something has to be corrected first.
    """
    tell("Rehearsing the release with made-up rows")
    schema = declared.schema.model_copy(update={"rows": min(rows, REHEARSED), "columns": declared.schema.released})
    small, config = replace(declared, schema=schema), source.declarations.release
    analyses = config.analyses.model_copy(update={"replicates": REPLICATES})
    config = config.model_copy(update={"rows": schema.rows, "analyses": analyses})
    numbers, public = source.rehearsed(schema, config)
    public = public.model_copy(update={"schema_": schema.public, "release": config})
    own = source.own if public.own else None
    with unpublished_folder(to) as folder:
        fill_folder(crossing_of(small, public, numbers, today(), "none", own=own), public, numbers, own, folder)
        _check_room(folder, schema.rows, rows)


def _check_room(folder: Path, rehearsed: int, rows: int) -> None:
    """Check that the disk has room for the sets of a release, by those of the rehearsal.

    Raises:
        DataError: it has not.
    """
    needed = sum(path.stat().st_size for path in folder.glob("*.csv")) / rehearsed * rows * SPARE
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{folder.parent.parent}: has room for {free / 1e6:.0f} MB, and the release needs about {needed / 1e6:.0f} MB: make "
            "room, choose another folder with --to, or release fewer sets or rows"
        )
