"""Description of a plan for the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from formalsynth.core.model import DATA
from formalsynth.core.words import METRICS
from formalsynth_workflow.ledger.claims import Claim
from formalsynth_workflow.plan.paper import Paper, Plan, figure_file
from formalsynth_workflow.plan.scenario import Scenario
from formalsynth_workflow.report.info import DisplayInfo, FileInfo, PaperInfo, RunInfo, SizeInfo
from formalsynth_workflow.show.display import BOUNDS, NOT_SYNTHETIC, Display
from formalsynth_workflow.show.figure import Repeat

RECORDS = frozenset({"records", "values", "details", "audit"})
"""Collected tables with rows of single records, or with rows that only a study can interpret."""


def describe(plan: Plan) -> RunInfo:
    """Describe a plan for the report."""
    run, size = plan.config, plan.config.size
    return RunInfo(
        scale=run.scale,
        size=SizeInfo(replicates=size.replicates, shrink=size.shrink, judged=size.judged),
        root_seed=run.root_seed,
        sampler=run.sampler,
        data=tuple(FileInfo(file=file.shown, source=file.source, available=there) for file, there in plan.data_files()),
        skipped=tuple(plan.skipped),
        warnings=tuple(plan.warnings),
        papers=tuple(_paper(paper, plan) for paper in plan.papers.values()),
        errata=plan.errata,
    )


def _paper(paper: Paper, plan: Plan) -> PaperInfo:
    scale = plan.config.scale
    left_out = [f"figure {number}" for number in paper.config.figures if number not in paper.figures]
    left_out += [f"table {number}" for number in paper.config.tables if number not in paper.tables]
    return PaperInfo(
        key=paper.key,
        title=paper.config.title,
        authors=paper.config.authors,
        source=paper.config.source,
        scenarios=tuple(paper.scenarios),
        confidential=_files_of(paper.scenarios.values()),
        confidential_claims=tuple(
            claim.id for claim in paper.claims if _files_of(paper.scenarios[scenario.id] for scenario in claim.scenarios)
        ),
        mechanisms={claim.id: names for claim in paper.claims if (names := _mechanisms(paper, claim))},
        question=paper.question,
        answer=paper.answer,
        seen={number: tuple(ids) for number, ids in paper.seen.items()},
        questions={text: tuple(names) for text, names in paper.questions.items()},
        left_out=tuple(left_out),
        skipped=tuple(sentence for sentence in plan.skipped if sentence.startswith(f"{paper.key}: ")),
        warnings=tuple(sentence for sentence in plan.warnings if sentence.startswith(f"{paper.key}: ")),
        figures=tuple(_figure(paper, number, scale) for number in paper.figures),
        tables=tuple(_table(paper, number, scale) for number in paper.tables),
    )


def _mechanisms(paper: Paper, claim: Claim) -> tuple[str, ...]:
    """Mechanisms of the synthesizers that a claim names, in words; for an arm of a study, its label."""
    named = [str(cell) for cell in [*claim.estimate.of, claim.estimate.rows.get("synthesizer", "")]]
    synthesizers, looks = paper.expanded.synthesizers, paper.expanded.looks
    known = [id for id in named if id in looks and id not in NOT_SYNTHETIC]
    return tuple(
        dict.fromkeys(
            synthesizers[id].mechanism.replace("_", " ") if id in synthesizers else looks[id].label.partition(", ε")[0]
            for id in known
        )
    )


def _figure(paper: Paper, number: str, scale: str) -> DisplayInfo:
    display, entry = paper.figure(number, scale), paper.figures[number]
    drawn = display.figure
    columns = [name for part in display.parts.values() or [display] for name in _named(part, part.figure.shown_columns())]
    return _shown(
        paper, display, f"figure {number}", columns, not RECORDS.isdisjoint(drawn.tables()), file=figure_file(number),
        subject=drawn.subject, kind=drawn.kind, same_as=entry.same_as if isinstance(entry, Repeat) else "", alt=drawn.alt(),
    )  # fmt: skip


def _table(paper: Paper, number: int, scale: str) -> DisplayInfo:
    display = paper.table(number, scale)
    entry = display.entry
    return _shown(
        paper, display, f"table {number}", _named(display, entry.shown_columns()), by_record=False, file=f"table{number}",
        subject=entry.subject, kind=entry.kind, headings={statistic: entry.heading(statistic) for statistic in entry.statistics},
    )  # fmt: skip


def _shown(
    paper: Paper, display: Display, ledger_name: str, columns: Iterable[str], by_record: bool, file: str, **own: Any
) -> DisplayInfo:
    """Describe a figure or table.

    Args:
        paper: its paper.
        display: its content.
        ledger_name: its name in the ledger.
        columns: names under which its columns are described.
        by_record: True if it shows records, or a number for each of them.
        file: its file name, without the extension.
        own: further fields.
    """
    scenarios = [paper.scenarios[shown.id] for shown in display.scenarios]
    columns = tuple(dict.fromkeys(columns))
    bounds = [id for id in display.ids if id not in NOT_SYNTHETIC and not BOUNDS.isdisjoint(columns)]
    return DisplayInfo(
        ledger_name=ledger_name,
        file=f"{paper.key}/{file}",
        stand_in=display.stand_in,
        columns=columns,
        guarantees=tuple(dict.fromkeys(display.looks[id].guarantee for id in bounds)),
        confidential="" if not _files_of(scenarios) else "records" if by_record else "statistics",
        published=_published(scenarios) if by_record and DATA in display.ids else (),
        **own,
    )


def _named(display: Display, columns: Iterable[str]) -> list[str]:
    """Return the names under which columns of a collected table are described."""
    return [name if (name := f"{display.table}.{column}") in METRICS else column for column in columns]


def _published(scenarios: Iterable[Scenario]) -> tuple[str, ...]:
    """List the published data files of scenarios."""
    return tuple(dict.fromkeys(file for scenario in scenarios for file in scenario.published))


def _files_of(scenarios: Iterable[Scenario]) -> tuple[str, ...]:
    """List the unpublished data files of scenarios."""
    return tuple(dict.fromkeys(file for scenario in scenarios for file in scenario.confidential))
