"""The command ``compare``: tries the candidates of a study on the file, for the internal report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.job import SamplerSettings
from formalsynth.core.progress import tell
from formalsynth.custodian.budget import head, read_comparisons, record_comparison
from formalsynth.custodian.candidates import StudySetup, fit, read_study
from formalsynth.custodian.comparison import compare_candidates, recommend
from formalsynth.custodian.cross import check_draft
from formalsynth.custodian.internal_audit import audit_candidates
from formalsynth.custodian.program import compiled
from formalsynth.custodian.records import records_of
from formalsynth.custodian.report import TrialInfo, page
from formalsynth.custodian.rows import usable
from formalsynth.custodian.same_rows import Content
from formalsynth.custodian.schema import RELEASE, TABLES, Declared, read_draft, read_release
from formalsynth.custodian.sources import source
from formalsynth.custodian.tables_compare import compare_tables
from formalsynth.runtime.private import private_folder, write_private
from formalsynth.settings.yaml_file import load_yaml

if TYPE_CHECKING:
    import pandas as pd

REPORT = "confidential/CONFIDENTIAL-report.html"


def compare(declared: Declared) -> list[str]:
    """Try the candidates on the file, for the internal report.

    Returns:
        Lines to print, without anything from the data.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: the file cannot be used, or there is no CmdStan.
    """
    tried = _try_tables if load_yaml(declared.folder / RELEASE).get("synthesizer") == TABLES else _try_study
    read_comparisons(declared.folder)  # a damaged ledger stops a comparison before it takes time
    tried(declared)
    return [
        f"The internal report is {declared.folder / REPORT}: CONFIDENTIAL, only you can read it.",
        head(declared.folder),
        "Next: read it. Where an analysis is lost, declare fewer pairs or bins or a larger ceiling, or leave the analysis out. "
        f"Then formalsynth release {declared.folder}. What you change in {declared.folder / RELEASE} from now on "
        "may depend on the file, and the texts of the release state that candidates were compared.",
    ]


def _try_study(declared: Declared) -> None:
    """Try the candidates of the study on the file."""
    study, file = read_study(declared), usable(declared, warn=True)
    private_folder((declared.folder / REPORT).parent)
    try_candidates(declared, study, file.table, declared.folder / REPORT, file.warnings, file.content)


def _try_tables(declared: Declared) -> None:
    """Try noisy tables of all columns on the file."""
    config = read_release(declared.folder)
    source(declared, config)  # declarations that a release would refuse also stop a comparison
    file = usable(declared)
    private_folder((declared.folder / REPORT).parent)
    record_comparison(declared.folder, [TABLES], file.content)
    write_private(declared.folder / REPORT, compare_tables(declared.schema, config, file.table))


def try_candidates(
    declared: Declared, study: StudySetup, table: pd.DataFrame, to: Path, warnings: Sequence[str], content: Content | None
) -> tuple[float, list[tuple[str, str]]]:
    """Fit, audit and compare all candidates on some rows, and write the report; ``content`` is None for made-up rows.

    Returns:
        Number of seconds, and the id of each candidate that failed, with the reason.
    """
    draft, start, schema = read_draft(declared.folder), time.monotonic(), declared.schema
    check_draft(schema, draft)
    with compiled(declared, study) as executable:
        candidates = fit(declared, study, records_of(schema, table), executable, study.ids(), SamplerSettings())
        audited = audit_candidates(declared, study, table, candidates, executable, draft.sets)
        tell("Comparing synthetic data with the rows")
        compared = compare_candidates(schema, table, candidates, audited, draft)
    chosen, seconds = recommend(compared, draft.ceiling), time.monotonic() - start
    run = TrialInfo(
        declared.name, schema.protected, schema.neighbours, len(table), draft.sets, content is None, seconds, draft.ceiling,
        warnings,
    )  # fmt: skip
    if content is not None:
        record_comparison(declared.folder, study.ids(), content)
    write_private(to, page(run, compared, chosen))
    return seconds, [(summary.id, summary.reason) for summary in compared if summary.reason]
