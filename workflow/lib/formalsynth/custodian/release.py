"""The command ``release``: from the file to the crossing, and from the crossing to a folder that may be published."""

from __future__ import annotations

import contextlib
from pathlib import Path

from formalsynth.core.job import SamplerSettings, Synthesizer
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.custodian.assemble import ReleasePlan, crossing_of, declarations_of, earlier_of, fill_folder
from formalsynth.custodian.budget import LedgerEntry, finish, read_ledger, start, today
from formalsynth.custodian.candidates import Candidate, StudySetup, fit, read_study, strict_claim
from formalsynth.custodian.cross import check_claim, check_draft, crossed, rows_of, with_predictors
from formalsynth.custodian.crossing import CROSSING, ROUNDING, sha256, text_of
from formalsynth.custodian.guarantees import Audit
from formalsynth.custodian.internal_audit import AuditResult, audit_chosen
from formalsynth.custodian.program import compiled
from formalsynth.custodian.records import records_of
from formalsynth.custodian.rehearsal import rehearse
from formalsynth.custodian.release_folder import check_place, publish, unpublished_folder
from formalsynth.custodian.rows import usable
from formalsynth.custodian.sandbox import holding
from formalsynth.custodian.schema import RELEASE, Declared, ReleaseConfig, read_release
from formalsynth.plan.messages import refusal


def release(declared: Declared, to: Path) -> list[str]:
    """Make a release.

    The confidential side writes the ledger, draws the noise, and writes a crossing. The public side computes the folder from the
    crossing, in a process that can open nothing else. All of it is rehearsed on made-up rows before anything counts as spent.

    Args:
        declared: the study.
        to: folder of the release; it must not exist.

    Returns:
        Lines to print.

    Raises:
        ConfigError: something is not declared yet, or not allowed; among this every seed.
        DataError: the file cannot be used, the budget is spent, or the ceiling is too low.
    """
    config, study = read_release(declared.folder), read_study(declared)
    synthesizer = chosen_synthesizer(declared, config, study)
    _check_ceiling(declared, config, synthesizer)
    check_draft(declared.schema, config)
    _check_rows(declared, config)
    check_place(to)
    _check_confinement(declared)
    table = usable(declared)
    plan = ReleasePlan(declared, study, synthesizer, declarations_of(declared, config, study, synthesizer))
    entry = LedgerEntry(
        date=today(), synthesizer=config.synthesizer, guarantee=plan.declarations.guarantee,
        neighbours=declared.schema.neighbours, sets=config.sets, epsilon=config.ceiling, outcome="started",
    )  # fmt: skip
    # own code that breaks its contract, and what is declared, stop a release before anything counts as spent
    with compiled(declared, study) as executable:
        rehearse(plan, executable, to, rows_of(declared.schema, config, table))
        place = start(declared.folder, entry, config.budget)
        try:
            records = records_of(declared.schema, table)
            candidate = fit(declared, study, records, executable, [config.synthesizer], SamplerSettings())[config.synthesizer]
            numbers = crossed(declared.schema, config, table, candidate)
            check_claim(declared.schema, config, candidate)
            audit = _audit(config, candidate, audit_chosen(declared, study, table, candidate, executable, config.sets))
            earlier = earlier_of(read_ledger(declared.folder)[:place], plan.declarations)
            crossing = crossing_of(declared, plan.declarations, numbers, entry.date, audit, earlier, plan.own)
            with unpublished_folder(to) as folder:
                fill_folder(crossing, plan.declarations, numbers, plan.own, folder)
                publish(folder, to)
        except BaseException:  # whatever it was, it may have depended on the data
            with contextlib.suppress(OSError, DataError):
                finish(declared.folder, place, "stopped")
            raise
    finish(declared.folder, place, "released", sha256(text_of(crossing)))
    return [
        f"Released: {to}. All of it was computed from {to / CROSSING}, which you can read; formalsynth verify does it again.",
        f"Let somebody else read it before it is sent, {to / 'LEGAL.md'} first.",
        f"What was spent on the file: formalsynth budget {declared.folder}",
    ]


def _check_confinement(declared: Declared) -> None:
    """Check that the public side cannot read the file.

    Raises:
        DataError: the file is in a folder with software, which every process may read.
    """
    if folders := holding(declared.csv):
        raise DataError(f"{declared.schema.file}: is in {folders[0]}, which holds software and can be read: move the file")


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
