"""The command ``release``: synthetic data of a declared study, in a folder that may be published."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from formalsynth.core.job import SamplerSettings, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, STRICT_KINDS
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.custodian.budget import LedgerEntry, finish, read_comparisons, read_ledger, start, today
from formalsynth.custodian.candidates import Candidate, StudySetup, fit, read_study, strict_claim
from formalsynth.custodian.compare import REPORT
from formalsynth.custodian.csv_file import CsvFormat, read_text
from formalsynth.custodian.guarantees import Audit, release_kind
from formalsynth.custodian.internal_audit import AuditResult, audit_chosen
from formalsynth.custodian.leak_scan import ConfidentialContent
from formalsynth.custodian.program import compiled
from formalsynth.custodian.records import records_of
from formalsynth.custodian.rehearsal import rehearse, rehearse_fit
from formalsynth.custodian.release_folder import check_place, publish, published_texts
from formalsynth.custodian.rows import usable
from formalsynth.custodian.schema import RELEASE, Declared, ReleaseConfig, read_release
from formalsynth.custodian.synthetic_sets import ROUNDING, check_draft, draw_sets, rows_of, with_predictors
from formalsynth.custodian.texts import ReleaseFacts
from formalsynth.plan.messages import refusal


def release(declared: Declared, to: Path) -> list[str]:
    """Make a release.

    Args:
        declared: the study.
        to: folder of the release; it must not exist.

    Returns:
        Lines to print.

    Raises:
        ConfigError: something is not declared yet, or not allowed; among this every seed.
        DataError: the file cannot be used, the budget is spent, the ceiling is too low, or confidential content was found.
    """
    config, study = read_release(declared.folder), read_study(declared)
    synthesizer = chosen_synthesizer(declared, config, study)
    _check_ceiling(declared, config, synthesizer)
    check_draft(declared.schema, config)
    _check_rows(declared, config)
    check_place(to)
    table = usable(declared)
    facts = facts_of(declared, config, synthesizer, rows_of(declared.schema, config, table), read_ledger(declared.folder))
    confidential = confidential_content(declared, config, table, published_texts([facts]))
    entry = LedgerEntry(
        date=facts.date, synthesizer=config.synthesizer, guarantee=facts.guarantee, neighbours=declared.schema.neighbours,
        sets=config.sets, epsilon=config.ceiling, outcome="started",
    )  # fmt: skip
    # own code that breaks its contract, and what is declared, stop a release before anything counts as spent
    with compiled(declared, study) as executable:
        rehearse(facts, synthesizer, to)
        if not facts.direct:
            rehearse_fit(declared, study, config, executable)
        place = start(declared.folder, entry, config.budget)
        try:
            facts = replace(facts, earlier=tuple(read_ledger(declared.folder)[:place]))
            records = records_of(declared.schema, table)
            candidate = fit(declared, study, records, executable, [config.synthesizer], SamplerSettings())[config.synthesizer]
            drawn = draw_sets(declared, config, table, candidate)
            audit = _audit(config, candidate, audit_chosen(declared, study, table, candidate, executable, config.sets))
            arrays = candidate.by_record, candidate.weights, *candidate.draws.values()
            secrets = [array for array in arrays if array is not None]
            confidential = replace(confidential, secrets=secrets, published=published_texts([facts]))
            publish(replace(facts, audit=audit, uses_predictors=drawn.uses_predictors), drawn, confidential, to)
        except BaseException:  # whatever it was, it may have depended on the data
            with contextlib.suppress(OSError, DataError):
                finish(declared.folder, place, "stopped")
            raise
    finish(declared.folder, place, "released")
    return [
        f"Released: {to}. No seed was used, and nothing that it was drawn from is kept.",
        f"Let somebody else read it before it is sent, {to / 'LEGAL.md'} first.",
        f"What was spent on the file: formalsynth budget {declared.folder}",
    ]


def _check_ceiling(declared: Declared, config: ReleaseConfig, chosen: Synthesizer) -> None:
    """Check a claim that is known before the file is opened.

    Raises:
        ConfigError: it is more than the declared ceiling.
    """
    claim = strict_claim(chosen, declared.schema.neighbours, config.sets)
    if claim is None:
        return
    epsilon = with_predictors(declared.schema, config, claim)
    if epsilon > config.ceiling * ROUNDING:
        allowed = (
            f"at least {epsilon:g}, which {chosen.id} claims for {counted(config.sets, 'set')} and neighbours: "
            f"{declared.schema.neighbours}"
        )
        raise refusal(declared.folder / RELEASE, "ceiling", config.ceiling, [allowed])


def _check_rows(declared: Declared, config: ReleaseConfig) -> None:
    """Check that the declared number of synthetic rows does not give that of the file away.

    Raises:
        ConfigError: it is the same.
    """
    if declared.schema.neighbours == "add_remove" and config.rows == declared.schema.rows:
        allowed = ["a number that does not depend on the file: that of its rows is confidential with neighbours: add_remove"]
        raise refusal(declared.folder / RELEASE, "rows", config.rows, allowed)


def _audit(config: ReleaseConfig, candidate: Candidate, audited: AuditResult | None) -> Audit:
    """Return the outcome of an audit, which depends on the data: its entry in the ledger exists already.

    Raises:
        DataError: the audit found more than the claim, and accept_refuted is not set.
    """
    if audited is None or not audited.done:
        return "none"
    if not audited.refutes(candidate.per_release(config.sets)):
        return "passed"
    if not config.accept_refuted:
        raise DataError(
            f"{candidate.synthesizer.id}: the audit found more on this file than is claimed; nothing is released. The report of "
            "formalsynth compare shows how much. Choose another candidate, or set accept_refuted: true in release.yaml: every "
            "text of the release then states that the claim does not hold"
        )
    return "refuted"


def chosen_synthesizer(declared: Declared, config: ReleaseConfig, study: StudySetup) -> Synthesizer:
    """Return the synthesizer of the release.

    Raises:
        ConfigError: the study does not have it.
    """
    if config.synthesizer not in study.expanded.synthesizers:
        raise refusal(declared.folder / RELEASE, "synthesizer", config.synthesizer, study.ids())
    return study.expanded.synthesizers[config.synthesizer]


def facts_of(
    declared: Declared, config: ReleaseConfig, synthesizer: Synthesizer, rows: int, earlier: Sequence[LedgerEntry], date: str = ""
) -> ReleaseFacts:
    """Collect the facts for the texts of a release; the audit and the use of predictors follow when it is drawn."""
    mechanism = MECHANISMS[synthesizer.mechanism]
    pure = mechanism.guarantee in STRICT_KINDS
    guarantee = release_kind(mechanism.guarantee, declared.schema.neighbours)
    return ReleaseFacts(
        declared.name, declared, config, mechanism.name, guarantee, pure, synthesizer.parameters if pure else {}, rows,
        date or today(), mechanism.releases, "none", False, _compared(declared), tuple(earlier),
        strict_claim(synthesizer, declared.schema.neighbours, config.sets),
    )  # fmt: skip


def _compared(declared: Declared) -> bool:
    """Return True if candidates were compared on the file; a report without an entry in the ledger is of an older version."""
    return bool(read_comparisons(declared.folder)) or (declared.folder / REPORT).exists()


def confidential_content(declared: Declared, config: ReleaseConfig, table: pd.DataFrame, published: str) -> ConfidentialContent:
    """Collect the content that must not be in a release."""
    schema = declared.schema
    text = read_text(declared.csv, CsvFormat(schema.encoding, schema.delimiter, schema.decimal))
    return ConfidentialContent(declared, table, text, (), published, config.sets, config.figure)
