"""The pages of the repository about the reference run: what README says of it, docs/RESULTS.md and docs/ERRATA.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.ledger.claims import KINDS, kind_name
from formalsynth.ledger.errata import Erratum
from formalsynth.ledger.judge import LedgerRow
from formalsynth.ledger.verdicts import DIRECTION, MISPRINT, NOT_REPRODUCED, REFUTED, REPRODUCED, UNDETERMINED, VERDICTS
from formalsynth.plan.paper import Paper, Plan, figure_file
from formalsynth.report.findings import FINDINGS, JUDGED, Findings, Found, findings
from formalsynth.report.formats import markdown_rows
from formalsynth.report.glossary import ERRATUM
from formalsynth.report.rows import ours
from formalsynth.report.steady import steady_part
from formalsynth.report.themes import REST, THEMES, theme
from formalsynth.report.unsteady import Turning, headline_error, stays_words, unsteady

MAP = "verdicts.svg"
"""The verdict map among what is kept of the reference run."""
FRONTIER = "cost/fig01.png"
"""The picture of utility against what a record costs, where the run has the study."""
LEAD = "range/fig02.png"
"""What README shows in its place."""

DECIDING = ("range-ecdf-averaged", "range-contraction-weighted", "censor-ph-fine-worst", "censor-w-strict")
"""Claims whose outcome bears on which mechanism one would take."""


def lead_picture(kept: str, has_frontier: bool) -> str:
    """The first picture of README.

    Args:
        kept: the folder of what is kept of the reference run.
        has_frontier: whether the picture of the study of costs is there.
    """
    if has_frontier:
        picture = f"[![Utility against what a record costs]({kept}/{FRONTIER})](docs/COST.md)"
        words = (
            "A marker for each mechanism. Down: the synthetic data are nearer to the confidential ones. Across, for adding or "
            "removing one record: filled markers are at the ε that is guaranteed for every data set; open ones at the largest "
            "loss found so far, a lower bound, with a thin line to the ε that is claimed."
        )
    else:
        picture = f"![Lipschitz bounds of six synthesizers over 100 replicates]({kept}/{LEAD})"
        words = (
            "Figure 2 of the `range` paper, made by this software: the Lipschitz bound Δ of six synthesizers, over 100 simulated "
            "data sets of 2000 records. The claimed ε is 2 Δ. What kind of guarantee that is differs between "
            "synthesizers, and each figure's caption says so."
        )
    return f"{picture}\n\n*{words}*"


def readme_part(rows: Sequence[LedgerRow], errata: Sequence[Erratum], steady: pd.DataFrame) -> str:
    """What README says of the reference run.

    Args:
        rows: the ledger.
        errata: those of its papers.
        steady: how steady its verdicts are, as from :func:`formalsynth.ledger.steadiness.steadiness`.
    """
    found = findings(rows, errata)
    turning = unsteady(steady)
    lines = [f"- {_erratum(each, 'docs/ERRATA.md')}" for finding in FINDINGS for each in found.shown(finding)]
    tiles = f"[![A tile for each claim: its colour and its sign say the verdict](docs/reference/{MAP})](docs/RESULTS.md)"
    deciding = "\n".join(f"- {_told(row, turning, 'docs/reference', 'docs/ERRATA.md')}" for row in rows if row.id in DECIDING)
    if deciding:
        lines.insert(0, f"Claims that bear on which mechanism to take:\n\n{deciding}\n\nErrata:\n")
    parts = [
        tiles,
        headline(found, headline_error(rows, steady)),
        _by_paper(found, list(dict.fromkeys(row.paper for row in rows))),
        _apart(found),
    ]
    return "\n\n".join(part for part in [*parts, _errata_line(found), "\n".join(lines)] if part)


def headline(found: Findings, error: float) -> str:
    """How many claims hold, with the error of their number, in one sentence, and how many could not be judged."""
    held = found.of([REPRODUCED])
    share = f" ({held / found.judged:.0%})" if found.judged else ""
    share = f"{'' if math.isnan(error) else f' ± {error:.0f}'}{share}"
    sentence = (
        f"Of {found.judged} claims that a run can test and this one could judge, **{held}{share} are reproduced**, "
        f"{found.of([DIRECTION])} in direction only, {found.of([UNDETERMINED])} undetermined "
        f"and {found.of([NOT_REPRODUCED])} not."
    )
    others = ", ".join(f"{verdict} {number}" for verdict, number in found.unjudged.items() if number)
    sentence = f"{sentence} The error is over redrawn replicates." if not math.isnan(error) else sentence
    return f"{sentence} Not judged: {others}." if others else sentence


def _by_paper(found: Findings, papers: Sequence[str]) -> str:
    """Claims of kind test by paper and verdict, and errata, as a Markdown table; a study of ours has none."""
    others = list(found.unjudged)
    head = ["paper", *JUDGED, *(["not judged"] if others else []), "misprints", "refuted"]
    rows = []
    own = {key for key, _ in found.others} - {key for key, _ in found.tests}
    for key in (each for each in papers if each not in own):
        slips = [sum(key in _papers(each) for each in found.shown(finding)) for finding in FINDINGS]
        counts = [found.of([verdict], key) for verdict in JUDGED]
        rows.append([f"`{key}`", *counts, *([found.of(others, key)] if others else []), *slips])
    return _table(head, rows)


def _papers(found: Found) -> set[str]:
    return {place.paper for place in found.erratum.places}


def _apart(found: Findings) -> str:
    """The claims that are no test, with how many of them are reproduced."""
    kinds = [f"{each.kind} {each.claims} ({each.reproduced} reproduced)" for each in found.apart]
    return (
        f"Not counted, of {found.claims} claims in all, because they are no tests of the papers: {', '.join(kinds)}."
        if kinds
        else ""
    )


def _errata_line(found: Findings) -> str:
    misprints, refuted = len(found.shown(MISPRINT)), len(found.shown(REFUTED))
    if not misprints + refuted:
        return ""
    named = [f"{number} {'misprint' if number == 1 else 'misprints'}" for number in [misprints] if number]
    named += [f"{number} refuted {'statement' if number == 1 else 'statements'}" for number in [refuted] if number]
    return f"Claims that fail with an erratum count there, each slip once: {' and '.join(named)}."


def _erratum(found: Found, page: str) -> str:
    erratum = found.erratum
    papers = ", ".join(f"`{key}`" for key in dict.fromkeys(place.paper for place in erratum.places))
    return f"[{erratum.id}]({page}#{erratum.id.lower()}) ({papers}, {erratum.kind}): {erratum.title}"


def _places(erratum: Erratum) -> str:
    """Its places, each paper named once."""
    by_paper: dict[str, list[str]] = {}
    for place in erratum.places:
        by_paper.setdefault(place.paper, []).append(place.place)
    return "; ".join(f"`{key}`: {'; '.join(places)}" for key, places in by_paper.items())


def errata_page(rows: Sequence[LedgerRow], errata: Sequence[Erratum]) -> str:
    """``docs/ERRATA.md``: what is printed and does not hold, and what the reference run says of it."""
    parts = [
        "# Errata",
        "What is printed in the papers and does not hold, from `config/errata.yaml`. One slip counts once, with every place that "
        "has it. Under each stand the claims that test it, with their verdicts in the reference run.",
        "`python -m formalsynth.errata` prints the numbers of all checks, and those of one with its id. Why the bounds of "
        "min-max weights do not contract, which is no slip of one formula: [CONTRACTION.md](CONTRACTION.md).",
        "\n".join(f"- *{finding}*: {VERDICTS[finding]}." for finding in FINDINGS),
    ]
    for found in findings(rows, errata).errata:
        erratum = found.erratum
        texts = [f"- {title}: {text}" for name, title in ERRATUM.items() if (text := str(getattr(erratum, name)).strip())]
        texts += [f"- Run it: `{erratum.command}`"] if erratum.command else []
        also = [f"- Earlier numbers: {', '.join(erratum.also)}"] if erratum.also else []
        claims = [f"- {_claim(row)}" for row in found.claims] or ["- No claim of the reference run speaks of it."]
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
    """``docs/RESULTS.md``: the ledger's totals, the most telling figures, and what does not hold.

    Args:
        plan: of the reference run.
        rows: its ledger.
        scale: its scale.
        kept: name of the folder beside the page that has its drawings and tables.
        caption_of: the caption of a figure, from paper and file without ending.
        steady: how steady its verdicts are, as from :func:`formalsynth.ledger.steadiness.steadiness`.
        agreements: as from :func:`formalsynth.ledger.steadiness.agreement`.
    """
    found = findings(rows, plan.errata)
    present = {row.verdict for row in rows}
    parts = [
        "# Results of the reference run",
        f"All papers at scale `{scale}`, root seed {plan.config.root_seed}. Drawings, small tables and the whole ledger are in "
        f"[{kept}]({kept}); `make` writes the same with every table and a report to read them by. How a claim gets its verdict: "
        "[LEDGER.md](LEDGER.md).",
        *(f"Left out: {sentence}." for sentence in plan.skipped),
        "## Verdicts",
        f"![A tile for each claim: its colour and its sign say the verdict]({kept}/{MAP})",
        headline(found, headline_error(rows, steady)),
        _by_paper(found, list(plan.papers)),
        "\n".join(f"- *{verdict}*: {meaning}" for verdict, meaning in VERDICTS.items() if verdict in present),
        _kinds(found),
        _errata_line(found),
        "\n".join(f"- {_erratum(each, 'ERRATA.md')}" for finding in FINDINGS for each in found.shown(finding)),
        f"## Verdicts that another seed may turn\n\n{steady_part(steady, agreements)}" if len(steady) else "",
    ]
    for paper in plan.papers.values():
        parts += _paper(paper, [row for row in rows if row.paper == paper.key], unsteady(steady), kept, caption_of)
    return "\n\n".join(part for part in parts if part) + "\n"


def _kinds(found: Findings) -> str:
    """The claims that are no test, as a Markdown table."""
    if not found.apart:
        return ""
    rows = [[each.kind, each.claims, each.reproduced, each.meaning] for each in found.apart]
    return f"Of {found.claims} claims in all, these are of other kinds and not counted above:\n\n" + _table(
        ["kind", "claims", "reproduced", "meaning"], rows
    )


def _paper(paper: Paper, rows: Sequence[LedgerRow], turning: Turning, kept: str, caption_of: Callable[[str], str]) -> list[str]:
    """The most telling figures of a paper, and its claims by theme, those that hold folded away."""
    parts = [f"## {paper.config.title}", f"{paper.config.authors}; key `{paper.key}`."]
    for number in paper.config.telling:
        file = f"{paper.key}/{figure_file(number)}"
        parts += [f"![Figure {number}]({kept}/{file}.png)", f"*{caption_of(file)}*"]
    columns = {claim.id: claim.estimate.value[0] for claim in paper.claims}
    by_theme: dict[str, list[LedgerRow]] = {name: [] for name in (*THEMES, REST)}
    for row in sorted(rows, key=lambda row: list(KINDS).index(kind_name(row.kind))):
        by_theme[theme(columns.get(row.id, ""), row.test)].append(row)
    for name, own in by_theme.items():
        others = [f"- {_told(row, turning, kept)}" for row in own if row.verdict != REPRODUCED]
        held = [f"- {_told(row, turning, kept)}" for row in own if row.verdict == REPRODUCED]
        folded = [f"<details><summary>{len(held)} reproduced</summary>", "\n".join(held), "</details>"] if held else []
        parts += [f"### {name}", "\n".join(others), *folded] if own else []
    return parts


def _told(row: LedgerRow, turning: Turning, kept: str, errata: str = "ERRATA.md") -> str:
    """A claim, then its verdict with what was found, and where to look."""
    kind = kind_name(row.kind)
    links = [_shown(row, kept), f"[{row.erratum}]({errata}#{row.erratum.lower()})" if row.erratum else ""]
    places = "; ".join(part for part in (row.place, *links, kind * (kind != "test")) if part)
    found = f" Found {ours(row)}." if row.estimate else ""
    note = f" {row.note[:1].upper()}{row.note[1:].rstrip('.')}." if row.note else ""
    mark = f", {words}" if (words := stays_words(row, turning)) else ""
    return f"{row.claim} **{row.verdict.capitalize()}**{mark} ({places}).{found}{note}"


def _shown(row: LedgerRow, kept: str) -> str:
    """A link to the figure or table that a claim belongs to."""
    kind, _, number = row.shows.partition(" ")
    files = {"figure": lambda: f"{figure_file(number)}.png", "table": lambda: f"table{number}.csv"}
    return f"[{row.shows}]({kept}/{row.paper}/{files[kind]()})" if kind in files else ""


def _claim(row: LedgerRow) -> str:
    """A claim with its verdict, in a line."""
    aside = f" ({row.note})" if row.note else ""
    found = f" Found {ours(row)}{aside}." if row.estimate else aside
    number = f" ({row.erratum})" if row.erratum else ""
    kind = f", {row.kind}" if row.kind.startswith("implied") else ""
    return f"**{row.verdict}**{number}, {row.place}{kind}: {row.claim}{found}"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; columns of numbers are right-aligned."""
    numbers = [bool(rows) and isinstance(rows[0][place], int) for place in range(len(head))]
    lines = [list(head), ["---:" if number else "---" for number in numbers], *([str(cell) for cell in row] for row in rows)]
    return markdown_rows(lines)


def caption_in(folder: Path) -> Callable[[str], str]:
    """What reads the captions of a run's figures below a folder."""
    return lambda file: (folder / f"{file}.txt").read_text(encoding="utf-8").strip()
