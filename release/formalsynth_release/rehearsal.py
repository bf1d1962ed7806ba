"""Rehearsal of a release with made-up rows, before anything counts as spent."""

from __future__ import annotations

import math
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.runtime.private import private_folder
from formalsynth.runtime.scratch import scratch_folder
from formalsynth_release.assemble import crossing_of
from formalsynth_release.budget import CONFIDENTIAL, today
from formalsynth_release.crossing import FILES, MOST_RELEASED, Declarations, write_crossing
from formalsynth_release.public import compute_release
from formalsynth_release.records import made_up
from formalsynth_release.release_folder import unpublished_folder
from formalsynth_release.same_rows import ledgers_folder
from formalsynth_release.schema import RELEASE, Declared
from formalsynth_release.tables import measured

REHEARSED = 1000
"""Largest number of rows in a rehearsed data set."""
REPLICATES = 20
"""Number of simulations for the intervals of a rehearsal."""
BLOCK = 65536
"""Number of bytes written at a time to check for free space."""
MORE = 4
"""Factor by which a crossing may be larger than that of its rehearsal."""
LEDGER_BYTES = 65536
"""Number of bytes reserved for a release's entries in a ledger, and for files written next to it."""
SPARE = 1.5
"""Factor by which a row of a release may be longer than one of its rehearsal."""


def rehearse(declared: Declared, public: Declarations, to: Path, rows: int) -> None:
    """Make a release from made-up rows, and remove it.

    A failure here does not depend on the data: contradictory declarations, a missing library, or a full disk.

    Args:
        declared: the study.
        public: declarations that are published.
        to: folder of the release.
        rows: number of rows in each set of the release.

    Raises:
        DataError: something has to be corrected first, or there is not enough space.
    """
    config = public.release
    sets = config.sets
    if rows * sets > MOST_RELEASED:
        raise DataError(
            f"{declared.folder / RELEASE}: {rows} rows in each of {sets} sets; allowed: at most {MOST_RELEASED} together"
        )
    tell("Rehearsing the release with made-up rows")
    schema = declared.schema.model_copy(update={"rows": min(rows, REHEARSED), "columns": declared.schema.released})
    analyses = config.analyses.model_copy(update={"replicates": REPLICATES})
    config = config.model_copy(update={"rows": schema.rows, "analyses": analyses})
    public = public.model_copy(update={"schema_": schema.public, "release": config})
    tables = measured(schema, made_up(schema, np.random.default_rng()), config.ceiling)
    crossing = crossing_of(replace(declared, schema=schema), public, schema.rows, tables, today())
    with unpublished_folder(to) as folder, scratch_folder(folder.parent, "crossing") as place:
        write_crossing(place, crossing, public)
        compute_release(place, folder)
        _check_room(folder, schema.rows, rows)
        stored = MORE * sum((folder / name).stat().st_size for name in FILES)
    _check_space(private_folder(declared.folder / CONFIDENTIAL), stored + LEDGER_BYTES)
    if together := ledgers_folder():
        _check_space(together, LEDGER_BYTES)


def _check_space(folder: Path, needed: int) -> None:
    """Check, by writing a file of their size, that a crossing and its ledger fit: a quota may be below the free space.

    Raises:
        DataError: they do not.
    """
    with scratch_folder(folder, "room") as scratch:
        try:
            with open(scratch / "room", "wb") as file:
                for _ in range(math.ceil(needed / BLOCK)):
                    file.write(os.urandom(BLOCK))  # zeros take no space on some disks
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DataError(f"{folder}: has no space for {needed} bytes ({error.strerror}): free some space") from error


def _check_room(folder: Path, rehearsed: int, rows: int) -> None:
    """Check that the disk has space for the sets of a release, estimated from those of the rehearsal.

    Raises:
        DataError: it does not.
    """
    needed = sum(path.stat().st_size for path in folder.glob("*.csv")) / rehearsed * rows * SPARE
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{folder.parent.parent}: has space for {free / 1e6:.0f} MB, but the release needs about {needed / 1e6:.0f} MB: free "
            "some space, choose another folder with --to, or release fewer sets or rows"
        )
