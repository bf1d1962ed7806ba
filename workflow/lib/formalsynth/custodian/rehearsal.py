"""Rehearsal of a release with made-up rows, before anything counts as spent."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from formalsynth.contract.family import LENGTHS, RECORDS
from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.custodian.assemble import ReleasePlan, crossing_of, fill_folder
from formalsynth.custodian.budget import today
from formalsynth.custodian.candidates import Candidate, fit, strict_claim
from formalsynth.custodian.cross import crossed
from formalsynth.custodian.public import REHEARSED as FAMILY
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.release_folder import unpublished_folder
from formalsynth.custodian.synthetic_sets import MadeUpOutcomes

REHEARSED = 1000
"""Largest number of rows of a rehearsed data set."""
SPARE = 1.5
"""Factor by which the rows of a release may be longer than those of its rehearsal."""


def rehearse(plan: ReleasePlan, executable: Path, to: Path, rows: int) -> None:
    """Make a release from made-up rows, and remove it.

    A failure here does not depend on the data: contradicting declarations, own code that cannot be used, a missing library, a
    full disk. Where the posterior of so few rows has poor diagnostics, outcomes are uniform in its place.

    Args:
        plan: the release.
        executable: the compiled Stan program of the family.
        to: folder of the release.
        rows: rows of each set of the release.

    Raises:
        DataError: something has to be corrected first.
    """
    tell("Rehearsing the release with made-up rows")
    declared, public = plan.declared, plan.declarations
    schema = declared.schema.model_copy(update={"rows": min(rows, REHEARSED), "columns": declared.schema.released})
    small, config = replace(declared, schema=schema), public.release.model_copy(update={"rows": schema.rows})
    candidate = None if plan.direct else _fitted(plan, executable)
    public = public.model_copy(update={"schema_": schema.public, "release": config})
    if candidate is None or candidate.reason:
        candidate = _made_up(plan)
        public = public.model_copy(update={"own": None} | ({} if plan.direct else {"family": FAMILY}))
    numbers = crossed(schema, config, made_up(schema, np.random.default_rng()), candidate)
    own = plan.own if public.own else None
    with unpublished_folder(to) as folder:
        fill_folder(crossing_of(small, public, numbers, today(), "none", own=own), public, numbers, own, folder)
        _check_room(folder, schema.rows, rows)


def _fitted(plan: ReleasePlan, executable: Path) -> Candidate:
    """Fit the synthesizer to a few made-up rows."""
    schema = plan.declared.schema.model_copy(update={"rows": RECORDS})
    records = records_of(schema, made_up(schema, np.random.default_rng()))
    id = plan.synthesizer.id
    return fit(plan.declared, plan.study, records, executable, [id], LENGTHS)[id]


def _made_up(plan: ReleasePlan) -> Candidate:
    """Candidate with outcomes that are uniform between the declared bounds."""
    schema, draws = plan.declared.schema, {"made_up": np.zeros((plan.declarations.release.sets, 1))}
    claim = strict_claim(plan.synthesizer, schema.neighbours)
    return Candidate(
        plan.synthesizer, plan.declarations.guarantee, "", claim or 0.0, draws,
        MadeUpOutcomes(schema.target), None if plan.direct else np.zeros(schema.rows), None,
    )  # fmt: skip


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
