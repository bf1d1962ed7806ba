"""Pages of the repository about the reference run: parts of README.md, docs/RESULTS.md and docs/ERRATA.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from formalsynth_workflow.report.findings import FINDINGS, JUDGED, ErratumClaims, Findings, findings
from formalsynth_workflow.report.glossary import ERRATUM
from formalsynth_workflow.report.rows import ours
from formalsynth_workflow.report.unsteady import Turning, headline_error, stays_words, unsteady

FRONTIER = "cost/fig12.png"
"""First picture of README, of the study ``cost``: the error against the guaranteed epsilon."""
CONTRACTION, REST = "Contraction of the bounds", "Budgets and losses"
"""Themes of trends over sample sizes, and of columns that no other theme names."""
THEMES = {
    "Bounds of records and data sets": "delta bound epsilon claimed claimed_larger",
    CONTRACTION: "",
    "Weights and censored records": "affected weight searched known strength capped_share swaying",
    "Utility of the synthetic data": "ecdf mean median q15 q90 tstr squared_error value mu phi weighting_bias",
    "Attacks": "domias distance advantage attacked",
    "Intervals and their coverage": "covered negative width error estimated_variance synthetic_variance",
}
"""Headings of the page of results, with prefixes of the columns of each; an exact match has priority over a prefix."""


def lead_picture(kept: str, rows: Sequence[LedgerRow]) -> str:
    """Write the first picture of README, with a caption that begins with its finding.

    Args:
        kept: folder of the reference run.
        rows: rows of the ledger.
    """
    learned = finding([row for row in rows if (row.paper, row.shows) == ("cost", "figure 12")])
    return (
        f"[![Error of the synthetic data against the guaranteed ε]({kept}/{FRONTIER})](docs/COST.md)\n\n*"
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
    return " ".join([question, *(_answer(row, turning, docs) for row in rows)])


def _answer(row: LedgerRow, turning: Turning, docs: str) -> str:
    """Write a claim that answers a question, with its verdict and links."""
    links = [_shown(row, f"{docs}reference"), f"[{row.erratum}]({docs}ERRATA.md#{row.erratum.lower()})" if row.erratum else ""]
    mark = f", {words}" if (words := stays_words(row, turning)) else ""
    places = f" ({', '.join(link for link in links if link)})" if any(links) else ""
    return f"{row.claim} **{row.verdict.capitalize()}**{mark}{places}."


def _by_paper(totals: Findings, papers: Sequence[str]) -> str:
    """Write a Markdown table of the numbers of claims of kind test, by paper; it leaves out studies of our own."""
    others = list(totals.unjudged)
    head = ["paper", *JUDGED, *FINDINGS, *(["not judged"] if others else [])]
    rows = []
    own = {key for key, _ in totals.others} - {key for key, _ in totals.tests}
    for key in (paper for paper in papers if paper not in own):
        counts = [totals.of([verdict], key) for verdict in (*JUDGED, *FINDINGS)]
        rows.append([f"`{key}`", *counts, *([totals.of(others, key)] if others else [])])
    return _table(head, rows)


def _apart(totals: Findings) -> str:
    """State how many claims are of a kind other than test, and how many of them are reproduced."""
    kinds = [f"{group.kind} {group.claims} ({group.reproduced} reproduced)" for group in totals.apart]
    return (
        f"Of {totals.claims} claims in all, these kinds are not counted, because they do not test the papers: {', '.join(kinds)}."
        if kinds
        else ""
    )


def _erratum(result: ErratumClaims) -> str:
    erratum = result.erratum
    papers = ", ".join(f"`{key}`" for key in dict.fromkeys(place.paper for place in erratum.places))
    return f"[{erratum.id}](ERRATA.md#{erratum.id.lower()}) ({papers}, {erratum.kind}): {erratum.title}"


def _places(erratum: Erratum) -> str:
    """List its places, with each paper named once."""
    by_paper: dict[str, list[str]] = {}
    for place in erratum.places:
        by_paper.setdefault(place.paper, []).append(place.place)
    return "; ".join(f"`{key}`: {'; '.join(places)}" for key, places in by_paper.items())


def errata_page(rows: Sequence[LedgerRow], errata: Sequence[Erratum]) -> str:
    """Write ``docs/ERRATA.md``: errors in the printed papers, with the claims of the reference run that test them."""
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
        texts = [f"- {title}: {text}" for name, title in ERRATUM.items() if (text := str(getattr(erratum, name)).strip())]
        texts += [f"- Run it: `{erratum.command}`"] if erratum.command else []
        also = [f"- Earlier numbers: {', '.join(erratum.also)}"] if erratum.also else []
        claims = [f"- {_erratum_claim(row)}" for row in result.claims] or ["- No claim of the reference run tests it."]
        parts += [
            f"## {erratum.id}",
            f"**{erratum.kind}**: {erratum.title}",
            "\n".join([f"- Places: {_places(erratum)}", *texts, *also]),
        ]
        parts += ["\n".join(claims)]
    return "\n\n".join(parts) + "\n"


def results_page(
    plan: Plan,
    rows: Sequence[LedgerRow],
    scale: str,
    kept: str,
    caption_of: Callable[[str], str],
    steady: pd.DataFrame,
    agreements: Array,
) -> str:
    """Write ``docs/RESULTS.md``: totals of the ledger, the main figures, and the claims that do not hold.

    Args:
        plan: plan of the reference run.
        rows: its ledger.
        scale: its scale.
        kept: name of the folder with its drawings and tables, in the same folder as the page.
        caption_of: function from paper and file without extension to the caption of a figure.
        steady: steadiness of its verdicts, from :func:`formalsynth_workflow.ledger.steadiness.steadiness`.
        agreements: shares of equal verdicts, from :func:`formalsynth_workflow.ledger.steadiness.agreement`.
    """
    totals, claims = findings(rows, plan.errata), {row.id: row.claim for row in rows}
    present = {row.verdict for row in rows}
    slips = [f"- {_erratum(result)}" for finding in FINDINGS for result in totals.shown(finding)]
    parts = [
        "# Results of the reference run",
        f"All papers at scale `{scale}`, root seed {plan.config.root_seed}. Drawings, small tables and the complete ledger are "
        f"in [{kept}]({kept}); `make` writes the same, with all tables and a report. [LEDGER.md](LEDGER.md) explains how a claim "
        "gets its verdict.",
        *(f"Left out: {sentence}." for sentence in plan.skipped),
        "## Verdicts",
        totals.headline(headline_error(rows, steady)),
        _by_paper(totals, list(plan.papers)),
        "\n".join(f"- *{verdict}*: {meaning}" for verdict, meaning in VERDICTS.items() if verdict in present),
        _kinds(totals),
        "\n".join(["Errata that make claims fail:\n", *slips]) if slips else "",
        f"## Verdicts that may change with another seed\n\n{steady_part(steady, agreements, claims)}" if len(steady) else "",
    ]
    for paper in plan.papers.values():
        parts += _paper(paper, [row for row in rows if row.paper == paper.key], unsteady(steady), kept, caption_of)
    return "\n\n".join(part for part in parts if part) + "\n"


def _kinds(totals: Findings) -> str:
    """List claims of kinds other than test, in a Markdown table."""
    if not totals.apart:
        return ""
    rows = [[group.kind, group.claims, group.reproduced, group.meaning] for group in totals.apart]
    return f"Of {totals.claims} claims in all, these are of other kinds and are not counted above:\n\n" + _table(
        ["kind", "claims", "reproduced", "meaning"], rows
    )


def _paper(paper: Paper, rows: Sequence[LedgerRow], turning: Turning, kept: str, caption_of: Callable[[str], str]) -> list[str]:
    """Write the main figures of a paper, and its claims by theme, with reproduced ones folded."""
    parts = [f"## {paper.config.title}", f"{paper.config.authors}; key `{paper.key}`."]
    answers = [row for id in paper.answer for row in rows if row.id == id]
    parts += [_answered(f"*{paper.question}*", answers, turning, "")] if paper.question else []
    for number in paper.config.telling:
        file = f"{paper.key}/{figure_file(number)}"
        own = [row for row in rows if row.shows == f"figure {number}"]
        named = [row for id in paper.seen.get(number, ()) for row in rows if row.id == id]
        caption = with_finding(caption_of(file), own or named)
        parts += [f"![Figure {number}]({kept}/{file}.png)", f"*{caption}*"]
    columns = {claim.id: claim.estimate.value[0] for claim in paper.claims}
    by_theme: dict[str, list[LedgerRow]] = {name: [] for name in (*THEMES, REST)}
    for row in sorted(rows, key=lambda row: list(KINDS).index(kind_name(row.kind))):
        by_theme[theme(columns.get(row.id, ""), row.test)].append(row)
    for name, own in by_theme.items():
        others = [f"- {_claim_line(row, turning, kept)}" for row in own if row.verdict != REPRODUCED]
        held = [f"- {_claim_line(row, turning, kept)}" for row in own if row.verdict == REPRODUCED]
        folded = [f"<details><summary>{len(held)} reproduced</summary>", "\n".join(held), "</details>"] if held else []
        parts += [f"### {name}", "\n".join(others), *folded] if own else []
    return parts


def _claim_line(row: LedgerRow, turning: Turning, kept: str) -> str:
    """Write a claim, then its verdict with its estimate, and links."""
    kind = kind_name(row.kind)
    links = [_shown(row, kept), f"[{row.erratum}](ERRATA.md#{row.erratum.lower()})" if row.erratum else ""]
    places = "; ".join(part for part in (row.place, *links, kind * (kind != "test")) if part)
    estimate = f" Found {ours(row)}." if row.estimate else ""
    note = f" {row.note[:1].upper()}{row.note[1:].rstrip('.')}." if row.note else ""
    mark = f", {words}" if (words := stays_words(row, turning)) else ""
    return f"{row.claim} **{row.verdict.capitalize()}**{mark} ({places}).{estimate}{note}"


def _shown(row: LedgerRow, kept: str) -> str:
    """Link to the figure or table of a claim."""
    kind, _, number = row.shows.partition(" ")
    files = {"figure": lambda: f"{figure_file(number)}.png", "table": lambda: f"table{number}.csv"}
    return f"[{row.shows}]({kept}/{row.paper}/{files[kind]()})" if kind in files else ""


def _erratum_claim(row: LedgerRow) -> str:
    """Write a claim with its verdict on one line."""
    aside = f" ({row.note})" if row.note else ""
    estimate = f" Found {ours(row)}{aside}." if row.estimate else aside
    number = f" ({row.erratum})" if row.erratum else ""
    kind = f", {row.kind}" if row.kind.startswith("implied") else ""
    return f"**{row.verdict}**{number}, {row.place}{kind}: {row.claim}{estimate}"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a Markdown table; columns of numbers are right-aligned."""
    numbers = [bool(rows) and isinstance(rows[0][place], int) for place in range(len(head))]
    lines = [list(head), ["---:" if number else "---" for number in numbers], *([str(cell) for cell in row] for row in rows)]
    return markdown_rows(lines)


def theme(column: str, test: str) -> str:
    """Return the theme of a claim, given its column and the kind of its test."""
    names = {prefix: name for name, prefixes in THEMES.items() for prefix in prefixes.split()}
    near = next((name for prefix, name in names.items() if column.startswith(prefix)), REST)
    return CONTRACTION if test == "trend" else names.get(column, near)


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


def caption_in(folder: Path) -> Callable[[str], str]:
    """Return a function that reads the captions of a run's figures below a folder."""
    return lambda file: (folder / f"{file}.txt").read_text(encoding="utf-8").partition("\n")[0]
