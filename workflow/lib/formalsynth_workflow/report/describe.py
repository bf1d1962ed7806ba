"""Description of a plan for the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypedDict

from formalsynth.core.model import DATA
from formalsynth.core.words import METRICS
from formalsynth_workflow.ledger.claims import Claim
from formalsynth_workflow.plan.paper import Paper, Plan, figure_file
from formalsynth_workflow.plan.scenario import Scenario
from formalsynth_workflow.report.info import FigureInfo, FileInfo, PaperInfo, RunInfo, SizeInfo, TableInfo
from formalsynth_workflow.show.display import BOUNDS, NOT_SYNTHETIC, Display
from formalsynth_workflow.show.figure import FigureDisplay, Repeat

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
        data=_files(plan),
        skipped=tuple(plan.skipped),
        warnings=tuple(plan.warnings),
        papers=tuple(_paper(paper, plan) for paper in plan.papers.values()),
        errata=plan.errata,
    )


def _files(plan: Plan) -> tuple[FileInfo, ...]:
    """Real data files that the papers use, including absent ones."""
    return tuple(FileInfo(file=file.shown, source=file.source, available=there) for file, there in plan.data_files())


def _paper(paper: Paper, plan: Plan) -> PaperInfo:
    scale = plan.config.scale
    left_out = [f"figure {number}" for number in paper.config.figures if number not in paper.figures]
    left_out += [f"table {number}" for number in paper.config.tables if number not in paper.tables]
    return PaperInfo(
        key=paper.key,
        title=paper.config.title,
        authors=paper.config.authors,
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


def _figure(paper: Paper, number: str, scale: str) -> FigureInfo:
    display, entry = paper.figure(number, scale), paper.figures[number]
    drawn = display.figure
    columns = tuple(dict.fromkeys(name for part in display.parts.values() or [display] for name in _columns(part)))
    return FigureInfo(
        number=number,
        file=f"{paper.key}/{figure_file(number)}",
        subject=drawn.subject,
        stand_in=display.stand_in,
        columns=columns,
        guarantees=_guarantees(display, columns),
        **_origin(paper, display, not RECORDS.isdisjoint(drawn.tables())),
        same_as=entry.same_as if isinstance(entry, Repeat) else "",
        kind=drawn.kind,
        alt=drawn.alt(),
    )


def _columns(display: FigureDisplay) -> tuple[str, ...]:
    """Return the names under which the columns plotted in a figure are described."""
    drawn = display.figure
    return _named(display.table, [*drawn.columns(), *([drawn.across] if drawn.across else [])])


def _table(paper: Paper, number: int, scale: str) -> TableInfo:
    display = paper.table(number, scale)
    entry = display.entry
    columns = _named(display.table, entry.columns())
    return TableInfo(
        number=str(number),
        file=f"{paper.key}/table{number}",
        subject=entry.subject,
        stand_in=display.stand_in,
        columns=columns,
        guarantees=_guarantees(display, columns),
        **_origin(paper, display, by_record=False),
        headings={statistic: entry.heading(statistic) for statistic in entry.statistics},
    )


class _Origin(TypedDict):
    confidential: Literal["", "statistics", "records"]
    published: tuple[str, ...]


def _origin(paper: Paper, display: Display, by_record: bool) -> _Origin:
    """Describe the use of real data files: records (or a number for each), or only statistics; and the published files."""
    scenarios = [paper.scenarios[shown.id] for shown in display.scenarios]
    kind: Literal["statistics", "records"] = "records" if by_record else "statistics"
    data = DATA in display.ids and by_record
    return {
        "confidential": kind if _files_of(scenarios) else "",
        "published": tuple(dict.fromkeys(file for scenario in scenarios if data for file in scenario.published)),
    }


def _files_of(scenarios: Iterable[Scenario]) -> tuple[str, ...]:
    """List the unpublished data files of scenarios."""
    return tuple(dict.fromkeys(file for scenario in scenarios for file in scenario.confidential))


def _named(table: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names under which columns of a collected table are described."""
    return tuple(name if (name := f"{table}.{column}") in METRICS else column for column in columns)


def _guarantees(display: Display, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of guarantee in a figure or table; empty if it shows no privacy numbers."""
    if not set(columns) & set(BOUNDS):
        return ()
    return tuple(dict.fromkeys(display.looks[id].guarantee for id in display.ids if id not in NOT_SYNTHETIC))
