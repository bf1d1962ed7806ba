"""Rehearsal of a release with made-up rows, before anything counts as spent."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from formalsynth.contract.family import LENGTHS, RECORDS
from formalsynth.core.arrays import Array, Draws, Records, count
from formalsynth.core.job import Synthesizer
from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.custodian.candidates import Candidate, StudySetup, fit, strict_claim
from formalsynth.custodian.leak_scan import ConfidentialContent, refuse_leaks
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.release_folder import published_texts, unpublished_folder, write
from formalsynth.custodian.schema import Column, Declared, ReleaseConfig
from formalsynth.custodian.synthetic_sets import draw_sets
from formalsynth.custodian.texts import ReleaseFacts

REHEARSED = 1000
"""Largest number of rows of a rehearsed data set."""
SPARE = 1.5
"""Factor by which the rows of a release may be longer than those of its rehearsal."""


def rehearse(facts: ReleaseFacts, synthesizer: Synthesizer, to: Path) -> None:
    """Make a release from made-up rows, scan it, and remove it.

    A failure here does not depend on the data: contradicting declarations, a text that the scan refuses, a missing library,
    a full disk.

    Args:
        facts: facts for the texts.
        synthesizer: the synthesizer; it is not fitted, and outcomes are uniform in place of posterior draws.
        to: folder of the release.

    Raises:
        DataError: something has to be corrected first.
    """
    tell("Rehearsing the release with made-up rows")
    declared, config = facts.declared, facts.config
    whole = declared.schema
    schema = whole.model_copy(update={"rows": min(facts.rows, REHEARSED), "columns": whole.released})
    small, config = replace(declared, schema=schema), config.model_copy(update={"rows": schema.rows})
    table, claim = made_up(schema, np.random.default_rng()), strict_claim(synthesizer, schema.neighbours)
    candidate = Candidate(
        synthesizer, facts.guarantee, "", claim or 0.0, {"made_up": np.zeros((config.sets, 1))}, MadeUpOutcomes(schema.target),
        None if facts.direct else np.zeros(len(table)), None,
    )  # fmt: skip
    drawn = draw_sets(small, config, table, candidate)
    with unpublished_folder(to) as folder:
        write(folder, facts, drawn)
        _check_room(folder, facts, schema.rows)
        refuse_leaks(
            folder, ConfidentialContent(small, table, table.astype(str), (), published_texts([facts]), config.sets, config.figure)
        )


def rehearse_fit(declared: Declared, study: StudySetup, config: ReleaseConfig, executable: Path) -> None:
    """Fit the synthesizer to a few made-up rows; whether its diagnostics are good does not matter."""
    schema = declared.schema.model_copy(update={"rows": RECORDS})
    records = records_of(schema, made_up(schema, np.random.default_rng()))
    fit(declared, study, records, executable, [config.synthesizer], LENGTHS)


def _check_room(folder: Path, facts: ReleaseFacts, rows: int) -> None:
    """Check that the disk has room for the sets of a release, by those of ``rows`` made-up rows in a folder.

    Raises:
        DataError: it has not.
    """
    needed = sum((folder / name).stat().st_size for name in facts.files) / rows * facts.rows * SPARE
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{folder.parent.parent}: has room for {free / 1e6:.0f} MB, and the release needs about {needed / 1e6:.0f} MB: make "
            "room, choose another folder with --to, or release fewer sets or rows"
        )


@dataclass(frozen=True)
class MadeUpOutcomes:
    """Outcomes between the declared bounds, in place of those of a posterior."""

    column: Column

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """One data set (n,) for each draw."""
        return generator.uniform(*self.column.ends, (count(draws), len(records)))
