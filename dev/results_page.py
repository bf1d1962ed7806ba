"""Pages of the repository about the reference run: parts of README.md, docs/RESULTS.md and docs/ERRATA.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from dev.numbers import markdown_rows
from formalsynth.core.arrays import Array
from formalsynth_workflow.ledger.claims import KINDS, kind_name
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.steadiness import STEADY
from formalsynth_workflow.ledger.verdicts import REPRODUCED, VERDICTS
from formalsynth_workflow.plan.paper import Paper, Plan, figure_file
from formalsynth_workflow.report.captions import finding, with_finding
from formalsynth_workflow.report.findings import FINDINGS, JUDGED, Findings, findings
from formalsynth_workflow.report.rows import ours
from formalsynth_workflow.report.unsteady import Turning, headline_error, stays_words, unsteady

KEPT = "reference"
"""Folder of the reference run, next to the documents."""
FRONTIER = "cost/fig12.png"
"""First picture of README, of the study ``cost``: the error against the guaranteed epsilon."""


def lead_picture(rows: Sequence[LedgerRow]) -> str:
    """Write the first picture of README, with a caption that begins with its finding in the ledger."""
    learned = finding([row for row in rows if (row.paper, row.shows) == ("cost", "figure 12")])
    return (
        f"[![Error of the synthetic data against the guaranteed ε](docs/{KEPT}/{FRONTIER})](docs/COST.md)\n\n*"
        + f"{learned} " * bool(learned)
        + "Lower is better: the error is the largest difference between the distribution functions of synthetic and "
        "confidential data. Horizontal axis: the ε that is guaranteed when one record is added or removed, for every data "
        "set (squares: if draws are exact). Grey strip: mechanisms without such a guarantee. Dotted line: the difference "
        "between two samples from one population.*"
    )


def readme_part(
    answers: Mapping[str, Sequence[str]], rows: Sequence[LedgerRow], errata: Sequence[Erratum], steady: pd.DataFrame
) -> str:
    """Write the part of README about the reference run.

    Args:
        answers: ids of the claims that answer each question of the papers.
        rows: rows of the ledger.
        errata: errata of its papers.
        steady: steadiness of its verdicts, from :func:`formalsynth_workflow.ledger.steadiness.steadiness`.
    """
    totals, turning = findings(rows, errata), unsteady(steady)
    by_id = {row.id: row for row in rows}
    lines = [
        _answered(f"- *{question}*", [by_id[id] for id in ids if id in by_id], turning, "docs/")
        for question, ids in answers.items()
    ]
    parts = [
        totals.headline(headline_error(rows, steady)),
        _by_paper(totals, list(dict.fromkeys(row.paper for row in rows))),
        "\n".join(lines),
        _apart(totals),
    ]
    return "\n\n".join(part for part in parts if part)


def _answered(question: str, rows: Sequence[LedgerRow], turning: Turning, docs: str) -> str:
    """Write a question, then the claims that answer it; links begin with the folder of the documents."""
    return " ".join([question, *(_claim(row, turning, docs, short=True) for row in rows)])


def _by_paper(totals: Findings, papers: Sequence[str]) -> str:
    """Write a Markdown table of the numbers of claims of kind test, by paper; it leaves out studies of our own."""
    columns = {verdict: [verdict] for verdict in (*JUDGED, *FINDINGS)} | {"not judged": list(totals.unjudged)}
    own = {key for key, _, _ in totals.counts} - {key for key, _, kind in totals.counts if kind == "test"}
    rows = [[f"`{key}`", *(str(totals.of(of, key)) for of in columns.values())] for key in papers if key not in own]
    return markdown_rows([["paper", *columns], ["---", *["---:"] * len(columns)], *rows])


def _apart(totals: Findings) -> str:
    """State how many claims are of a kind other than test, and how many of them are reproduced."""
    kinds = ", ".join(f"{group.kind} {group.claims} ({group.reproduced} reproduced)" for group in totals.apart)
    words = f"Of {totals.claims} claims in all, these kinds are not counted, because they do not test the papers: {kinds}."
    return words if kinds else ""


def errata_page(rows: Sequence[LedgerRow], errata: Sequence[Erratum], headings: Mapping[str, str]) -> str:
    """Write ``docs/ERRATA.md``: errors in the printed papers, with the claims of the reference run that test them.

    Args:
        rows: the ledger.
        errata: the errors.
        headings: headings of the texts of an erratum.
    """
    parts = [
        "# Errata",
        "Errors in the printed papers, from `config/errata.yaml`. Each error counts once. Its entry lists every place where it "
        "occurs, and the claims that test it, with their verdicts in the reference run.",
        "`python tests/errata` prints the numbers of all checks or, given an id, of one. "
        "[CONTRACTION.md](CONTRACTION.md) explains why the bounds of min-max weights do not contract, which is not due to "
        "an error in a single formula.",
        "\n".join(f"- *{finding}*: {VERDICTS[finding]}." for finding in FINDINGS),
    ]
    for result in findings(rows, errata).errata:
        erratum = result.erratum
        places = "; ".join(f"`{place.paper}`: {place.place}" for place in erratum.places)
        texts = [f"- {title}: {text}" for name, title in headings.items() if (text := str(getattr(erratum, name)).strip())]
        texts += [f"- Run it: `{erratum.command}`"] if erratum.command else []
        also = [f"- Earlier numbers: {', '.join(erratum.also)}"] if erratum.also else []
        claims = [f"- {_claim(row, {})}" for row in result.claims] or ["- No claim of the reference run tests it."]
        parts += [f"## {erratum.id}", f"**{erratum.kind}**: {erratum.title}"]
        parts += ["\n".join([f"- Places: {places}", *texts, *also]), "\n".join(claims)]
    return "\n\n".join(parts) + "\n"


def results_page(
    plan: Plan,
    rows: Sequence[LedgerRow],
    scale: str,
    figures: Path,
    steady: pd.DataFrame,
    agreements: Array,
) -> str:
    """Write ``docs/RESULTS.md``: totals of the ledger, the main figures, and the claims that do not hold.

    Args:
        plan: plan of the reference run.
        rows: its ledger.
        scale: its scale.
        figures: folder of its figures, with their captions.
        steady: steadiness of its verdicts, from :func:`formalsynth_workflow.ledger.steadiness.steadiness`.
        agreements: shares of equal verdicts, from :func:`formalsynth_workflow.ledger.steadiness.agreement`.
    """
    totals, claims = findings(rows, plan.errata), {row.id: row.claim for row in rows}
    present = {row.verdict for row in rows}
    errata = sorted((item.erratum for item in totals.errata if item.shown), key=lambda erratum: FINDINGS.index(erratum.kind))
    slips = [f"- [{e.id}](ERRATA.md#{e.id.lower()}) ({e.kind}): {e.title}" for e in errata]
    parts = [
        "# Results of the reference run",
        f"All papers at scale `{scale}`, root seed {plan.config.root_seed}. Drawings, small tables and the complete ledger are "
        f"in [{KEPT}]({KEPT}); `make` writes the same, with all tables and a report. [LEDGER.md](LEDGER.md) explains how a claim "
        "gets its verdict.",
        *(f"Left out: {sentence}." for sentence in plan.skipped),
        "## Verdicts",
        totals.headline(headline_error(rows, steady)),
        _by_paper(totals, list(plan.papers)),
        "\n".join(f"- *{verdict}*: {meaning}" for verdict, meaning in VERDICTS.items() if verdict in present),
        _apart(totals),
        "\n".join(["Errata that make claims fail:\n", *slips]) if slips else "",
        f"## Verdicts that may change with another seed\n\n{steady_part(steady, agreements, claims)}" if len(steady) else "",
    ]
    for paper in plan.papers.values():
        parts += _paper(paper, [row for row in rows if row.paper == paper.key], unsteady(steady), figures)
    return "\n\n".join(part for part in parts if part) + "\n"


def _paper(paper: Paper, rows: Sequence[LedgerRow], turning: Turning, figures: Path) -> list[str]:
    """Write the main figures of a paper, and its claims, with reproduced ones folded."""
    parts = [f"## {paper.config.title}", f"{paper.config.authors}; key `{paper.key}`."]
    answers = [row for id in paper.answer for row in rows if row.id == id]
    parts += [_answered(f"*{paper.question}*", answers, turning, "")] if paper.question else []
    for number in paper.config.telling:
        file = f"{paper.key}/{figure_file(number)}"
        own = [row for row in rows if row.shows == f"figure {number}"]
        named = [row for id in paper.seen.get(number, ()) for row in rows if row.id == id]
        caption = (figures / f"{file}.txt").read_text(encoding="utf-8").partition("\n")[0]
        parts += [f"![Figure {number}]({KEPT}/{file}.png)", f"*{with_finding(caption, own or named)}*"]
    lines = {row.id: f"- {_claim(row, turning)}" for row in sorted(rows, key=lambda row: list(KINDS).index(kind_name(row.kind)))}
    held = [lines[row.id] for row in rows if row.verdict == REPRODUCED]
    parts += ["\n".join(line for line in lines.values() if line not in held)]
    parts += [f"<details><summary>{len(held)} reproduced</summary>", "\n".join(held), "</details>"] if held else []
    return parts


def _claim(row: LedgerRow, turning: Turning, docs: str = "", *, short: bool = False) -> str:
    """Write a claim, then its verdict with links and, unless ``short``, its place, kind, estimate and note."""
    kind = kind_name(row.kind)
    links = [_shown(row, docs), f"[{row.erratum}]({docs}ERRATA.md#{row.erratum.lower()})" if row.erratum else ""]
    places = "; ".join(part for part in (links if short else [row.place, *links, kind * (kind != "test")]) if part)
    estimate = f" Found {ours(row)}." if row.estimate and not short else ""
    note = f" {row.note[:1].upper()}{row.note[1:].rstrip('.')}." if row.note and not short else ""
    mark = f", {words}" if (words := stays_words(row, turning)) else ""
    return f"{row.claim} **{row.verdict.capitalize()}**{mark}{f' ({places})' if places else ''}.{estimate}{note}"


def _shown(row: LedgerRow, docs: str) -> str:
    """Link to the figure or table of a claim."""
    kind, _, number = row.shows.partition(" ")
    file = f"{figure_file(number)}.png" if kind == "figure" else f"table{number}.csv"
    return f"[{row.shows}]({docs}{KEPT}/{row.paper}/{file})" if kind in ("figure", "table") else ""


def steady_part(steady: pd.DataFrame, agreements: Array, claims: Mapping[str, str]) -> str:
    """Write the section on verdicts that may change, in Markdown.

    Args:
        steady: as from :func:`formalsynth_workflow.ledger.steadiness.steadiness`.
        agreements: as from :func:`formalsynth_workflow.ledger.steadiness.agreement`.
        claims: the sentence of each claim by its id, which begins with the key of its paper.
    """
    turning = steady[steady["stays"] < STEADY].sort_values("stays", kind="stable")
    rows = [["paper", "claim", "verdict", "stays", "otherwise"], ["---", "---", "---", "---:", "---"]]
    for row in turning.itertuples():
        id = str(row.id)
        rows.append([f"`{id.partition('-')[0]}`", claims[id], str(row.verdict), f"{row.stays:.0%}", str(row.otherwise)])
    return "\n\n".join([
        f"Replicates were drawn with replacement from those of the run, and all {len(steady)} claims were judged again. Two such "
        f"drawings agree on {agreements.mean():.1%} of the verdicts (from {agreements[0]:.1%} to {agreements[-1]:.1%}). Two runs "
        f"from different root seeds can be expected to agree no more often. {len(steady) - len(turning)} verdicts are steady: "
        f"they stay the same in at least {STEADY:.0%} of the drawings. The other {len(turning)} are near a border of their test:",
        markdown_rows(rows),
    ])  # fmt: skip
