"""The command ``gate``: a release that was made before, scanned once more for confidential content."""

from __future__ import annotations

from pathlib import Path

from formalsynth.custodian.budget import read_ledger
from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.leak_scan import check
from formalsynth.custodian.release import chosen_synthesizer, confidential_content, facts_of
from formalsynth.custodian.release_folder import published_texts
from formalsynth.custodian.rows import usable
from formalsynth.custodian.schema import Declared, read_release
from formalsynth.custodian.synthetic_sets import check_draft, rows_of
from formalsynth.data.files import DataError


def verify(declared: Declared, folder: Path) -> list[str]:
    """Have the gate look at a release that was made before; weights, bounds and draws are known no more.

    Returns:
        What was found, which is nothing.

    Raises:
        ConfigError: something is not declared.
        DataError: something has no place in it, or the folder is none.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is no folder; give that of a release")
    config, study, table = read_release(declared.folder), read_study(declared), usable(declared)
    check_draft(declared.schema, config)
    synthesizer, rows = chosen_synthesizer(declared, config, study), rows_of(declared.schema, config, table)
    ledger = read_ledger(declared.folder)
    releases = [facts_of(declared, config, synthesizer, rows, ledger[:k], entry.date) for k, entry in enumerate(ledger)]
    check(folder, confidential_content(declared, config, table, published_texts(releases)))
    return [f"{folder}: nothing was found that has no place in a release. That nothing was found is no proof."]
