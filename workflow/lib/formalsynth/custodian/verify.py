"""The command ``verify``: a release that was made before, scanned once more for confidential content."""

from __future__ import annotations

from pathlib import Path

from formalsynth.core.text import DataError
from formalsynth.custodian.budget import read_ledger
from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.leak_scan import refuse_leaks
from formalsynth.custodian.release import chosen_synthesizer, confidential_content, facts_of
from formalsynth.custodian.release_folder import published_texts
from formalsynth.custodian.rows import usable
from formalsynth.custodian.schema import Declared, read_release
from formalsynth.custodian.synthetic_sets import check_draft, rows_of


def verify(declared: Declared, folder: Path) -> list[str]:
    """Scan a finished release again; weights, bounds and draws are not available any more.

    Returns:
        Lines to print.

    Raises:
        ConfigError: something is not declared.
        DataError: confidential content was found, or the folder does not exist.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder; give the folder of a release")
    config, study, table = read_release(declared.folder), read_study(declared), usable(declared)
    check_draft(declared.schema, config)
    synthesizer, rows = chosen_synthesizer(declared, config, study), rows_of(declared.schema, config, table)
    ledger = read_ledger(declared.folder)
    releases = [facts_of(declared, config, synthesizer, rows, ledger[:k], entry.date) for k, entry in enumerate(ledger)]
    refuse_leaks(folder, confidential_content(declared, config, table, published_texts(releases)))
    return [f"{folder}: no confidential content found. This does not prove that there is none."]
