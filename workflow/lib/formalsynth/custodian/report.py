"""Page of the internal report: for the custodian only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from formalsynth.core.neighbours import Neighbours
from formalsynth.core.words import counted
from formalsynth.custodian.comparison import CandidateSummary, Recommendation
from formalsynth.custodian.guarantees import DELTA, guarantee_sentence

CONFIDENTIAL = "CONFIDENTIAL: made from the data. Not for anyone outside."
MADE_UP = "MADE-UP ROWS: nothing here was made from the data."
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 4.5rem auto 3rem; max-width: 62rem; padding: 0 1rem;
  color: #222; background: #fff }
.mark { position: fixed; top: 0; left: 0; right: 0; z-index: 1;
  background: #8b0000; color: #fff; padding: .5rem 1rem; font-weight: 700 }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { border-bottom: 1px solid #999; padding: .25rem .75rem; text-align: left; vertical-align: top }
img { max-width: 100% }
td.n { text-align: right; font-variant-numeric: tabular-nums }
@media print { .mark { -webkit-print-color-adjust: exact; print-color-adjust: exact } body { margin-top: 5rem } }
"""


@dataclass(frozen=True)
class TrialInfo:
    """Settings of a trial of all candidates."""

    study: str
    protected: str
    neighbours: Neighbours
    rows: int
    sets: int
    made_up: bool
    seconds: float
    ceiling: float | None
    warnings: Sequence[str]


def page(run: TrialInfo, compared: Sequence[CandidateSummary], chosen: Recommendation | None) -> str:
    """Write the page."""
    mark = MADE_UP if run.made_up else CONFIDENTIAL
    parts = [
        f"<h1>{escape(run.study)}: candidates for a release</h1>",
        f"<p>{counted(run.rows, 'row')}, {counted(run.sets, 'synthetic set')} of each candidate, "
        f"{counted(round(run.seconds), 'second')}.</p>",
        *(f"<p>Warning: {escape(warning)}</p>" for warning in run.warnings),
        _recommended(run, chosen), _overview(run, compared), _audit(run, compared), _meaning(run, compared), _quantiles(compared),
        _regressions(compared), _exposed(compared), _lost(compared),
    ]  # fmt: skip
    return document(f"{run.study}: internal report", mark, parts)


def document(title: str, mark: str, parts: Sequence[str]) -> str:
    """Write a page from its parts, with a mark that is always visible."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><div class="mark">{mark}</div>'
        f"<main>{''.join(parts)}</main></body></html>\n"
    )


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a table; numbers have four digits."""

    def cell(value: object) -> str:
        return f'<td class="n">{_number(value)}</td>' if isinstance(value, float | int) else f"<td>{escape(str(value))}</td>"

    lines = ["".join(map(cell, row)) for row in rows]
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else "–" if math.isnan(value) else f"{value:.4g}"


def _recommended(run: TrialInfo, chosen: Recommendation | None) -> str:
    if chosen is None:
        limit = "" if run.ceiling is None else f" with an epsilon of at most {run.ceiling:g}"
        return (
            f"<h2>Recommendation</h2><p>None: no candidate succeeded{limit}, or the audit found more than was claimed. "
            "See the reasons below, and change study.yaml.</p>"
        )
    return (
        f"<h2>Recommendation: {escape(chosen.id)}</h2><p>Reason: {escape(chosen.reason)}</p>"
        f"<p>Weakness: {escape(chosen.weakness)}</p>"
        "<p>Choosing a candidate after reading this report uses the data, and no epsilon here covers that.</p>"
    )


def _overview(run: TrialInfo, compared: Sequence[CandidateSummary]) -> str:
    rows = [
        (
            summary.id,
            summary.epsilon,
            summary.audited.epsilon if summary.audited else math.nan,
            summary.guarantee,
            summary.ecdf_max,
            "" if summary.reason else "; ".join(summary.lost) or "none",
            summary.reason,
        )
        for summary in compared
    ]
    kinds = {
        summary.guarantee: guarantee_sentence(summary.guarantee, run.neighbours, summary.noisy)
        for summary in compared
        if not summary.reason
    }
    words = "".join(f"<p><strong>{escape(kind)}</strong>: {escape(meaning)}</p>" for kind, meaning in kinds.items())
    head = [
        "candidate",
        "claimed epsilon, all sets",
        "audited epsilon, at least",
        "kind",
        "max-ECDF",
        "lost analyses",
        "failed because",
    ]
    lost = (
        "<p>A declared regression is lost if one of its synthetic coefficients is outside the 95 % interval of the file and "
        "differs by more than a tenth; a quantile is lost if its level in the file differs by more than .02.</p>"
    )
    return f"<h2>Candidates</h2>{html_table(head, rows)}{lost}{words}"


def _audit(run: TrialInfo, compared: Sequence[CandidateSummary]) -> str:
    """Compare the audited epsilon of each candidate with its claim."""
    if not any(summary.audited for summary in compared):
        return "<h2>Audit</h2><p>None was made: study.yaml has internal_audit: false.</p>"
    audits = [(summary, summary.audited) for summary in compared if summary.audited]
    rows = [
        (summary.id, summary.claim, audited.epsilon, _audit_outcome(summary), audited.neighbour, audited.tried or "")
        for summary, audited in audits
    ]
    words = (
        f"<p>Candidates were run again on data sets that differ in one row, and the releases were compared, for "
        f"{counted(run.sets, 'set')} together, at δ = 0 where a guarantee is for every file and at δ = {DELTA:g} for others. The "
        "largest loss over the neighbours that were tried is a lower bound: others may have a larger loss. A claim below "
        "it does not hold for this file; a claim above it is not shown to hold. With <code>internal_audit</code> in study.yaml, "
        "more neighbours can be tried, or the audit can be left out.</p>"
    )
    head = [
        "candidate",
        "claim for outcomes",
        "audited epsilon, at least",
        "claim",
        "neighbour that attains it",
        "neighbours tried",
    ]
    return f"<h2>Audit</h2>{words}{html_table(head, rows)}"


def _audit_outcome(summary: CandidateSummary) -> str:
    """State whether the audit refutes a claim."""
    if summary.audited is None or not summary.audited.done:
        return "not audited"
    return "does not hold for this file" if summary.refuted else "not refuted"


def _meaning(run: TrialInfo, compared: Sequence[CandidateSummary]) -> str:
    """Convert epsilon to the largest certainty about one protected person, for someone who would bet evenly before."""
    what = "is in the file" if run.neighbours == "add_remove" else "has one or another value in the file"
    rows = [
        (summary.id, summary.shown, 1 / (1 + math.exp(-min(summary.shown, 700)))) for summary in compared if not summary.reason
    ]
    head = ["candidate", "larger of claimed and audited epsilon", "largest certainty afterwards"]
    whom = escape(run.protected)
    words = (
        f"<p>Someone who knows everything else, and would bet evenly on whether a certain {whom} {what}, can be at most this "
        "sure after seeing the release, as far as the guarantee holds:</p>"
    )
    return f"<h2>What epsilon means for one {whom}</h2>{words}{html_table(head, rows)}"


def _quantiles(compared: Sequence[CandidateSummary]) -> str:
    rows = [(summary.id, level, *values) for summary in compared for level, values in summary.quantiles.items()]
    return f"<h2>Quantiles of the outcome</h2>{html_table(['candidate', 'level', 'file', 'synthetic'], rows)}" if rows else ""


def _regressions(compared: Sequence[CandidateSummary]) -> str:
    rows = [
        (summary.id, coefficient.regression, coefficient.name, *coefficient.file, *coefficient.synthetic, coefficient.overlap)
        for summary in compared
        for coefficient in summary.coefficients
    ]
    head = ["candidate", "regression", "coefficient", "file: from", "to", "synthetic: from", "to", "overlap"]
    note = (
        "<p>95 % intervals. An overlap of 1 is full agreement; below 0, the intervals are disjoint. The synthetic interval of a "
        "histogram accounts for neither its noise nor its bins.</p>"
    )
    return f"<h2>Regressions</h2>{note}{html_table(head, rows)}" if rows else ""


def _exposed(compared: Sequence[CandidateSummary]) -> str:
    rows = [
        (summary.id, ", ".join(f"{row} ({bound:.3g})" for row, bound in summary.exposed))
        for summary in compared
        if summary.exposed
    ]
    note = "<p>Used rows with the largest bounds, by their number among the used rows, with the bound of each.</p>"
    return f"<h2>Most exposed rows</h2>{note}{html_table(['candidate', 'rows'], rows)}" if rows else ""


def _lost(compared: Sequence[CandidateSummary]) -> str:
    rows = [
        (summary.id, ", ".join(f"{row} ({epsilon:.3g})" for row, epsilon in summary.audited.losses))
        for summary in compared
        if summary.audited and summary.audited.losses
    ]
    note = (
        "<p>Rows whose removal shows most in the audit, by their number among the used rows, with the audited epsilon of one "
        "set.</p>"
    )
    return f"<h2>Rows whose loss is largest</h2>{note}{html_table(['candidate', 'rows'], rows)}" if rows else ""
