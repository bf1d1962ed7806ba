"""The verdict map: one tile for each claim, grouped by section and test; and a picture of the map, tests of the papers first."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from textwrap import wrap

from formalsynth.ledger.claims import kind_name
from formalsynth.ledger.judge import LedgerRow
from formalsynth.ledger.verdicts import DIRECTION, MISPRINT, NOT_REPRODUCED, REFUTED, REPRODUCED, UNDETERMINED
from formalsynth.report.findings import JUDGED, findings
from formalsynth.report.formats import slug
from formalsynth.report.rows import ours

COLOURS = {
    REPRODUCED: "#1b7f5c", DIRECTION: "#d9a520", UNDETERMINED: "#2f6ea3",
    NOT_REPRODUCED: "#b3321f", MISPRINT: "#6b3fa0", REFUTED: "#3f2a63",
}  # fmt: skip
"""Colours of the tiles in a picture; other verdicts are grey."""
OTHER = "#7b858f"
DARK = "#1c2126"
"""Colour of the sign on a light tile."""
TILE, GAP, ACROSS, TOP, LINE = 11, 2, 30, 6, 18
"""Sizes of the picture in pixels of a phone: tile, gap, tiles per line, space below a block, and line height."""
WIDTH = ACROSS * (TILE + GAP)
MEANINGS = (
    "Refuted: shown to be false. Misprint: printed wrongly.",
    "Not reproduced: the run shows otherwise.",
    "Direction only: its size differs. Undetermined: may be chance.",
)
"""Lines below the legend."""
OF_KIND = {
    "implied": "it follows from another claim", "by construction": "it checks the software", "ours": "not made by a paper",
    "recovered": "settings were chosen to match these numbers", "settings lost": "the paper does not state its settings",
    "drawn records": "the paper's records are not public", "another reading": "the first reading of the paper counts",
}  # fmt: skip
"""Short explanation of each kind of claim."""
LETTERS = 60
"""Number of letters that fit on a line."""
THEME = "<style>text { fill: #57606a } @media (prefers-color-scheme: dark) { text { fill: #adb5bd } }</style>"
"""Colours of names on a light and on a dark page."""
SECTION = re.compile(r"(Section|Appendix|Supplement)\w*\s*([A-Z0-9]+)?")


@dataclass(frozen=True)
class MapGroup:
    """Claims of one section that the same kind of test judges."""

    title: str
    claims: Sequence[LedgerRow]


def counted(row: LedgerRow) -> bool:
    """Check whether a claim is counted; only tests of a paper are."""
    return kind_name(row.kind) == "test"


def section(row: LedgerRow) -> str:
    """Section of a claim, without subsections."""
    match = SECTION.search(row.place)
    return " ".join(part for part in match.groups() if part) if match else row.place


def groups(rows: Sequence[LedgerRow]) -> dict[str, list[MapGroup]]:
    """Group the claims of each paper, keeping the order of the ledger.

    Args:
        rows: the ledger.
    """
    by_paper: dict[str, list[MapGroup]] = {}
    for paper, claims in groupby(rows, key=lambda row: row.paper):
        own = list(claims)
        order = {name: k for k, name in enumerate(dict.fromkeys(_group(row) for row in own))}
        sections = list(dict.fromkeys(section(row) for row in own))
        own.sort(key=lambda row: (sections.index(section(row)), order[_group(row)]))
        by_paper[paper] = [MapGroup(", test: ".join(key), list(group)) for key, group in groupby(own, key=_group)]
    return by_paper


def _group(row: LedgerRow) -> tuple[str, str]:
    return section(row), row.test


def picture(rows: Sequence[LedgerRow], symbols: Mapping[str, str], titles: Mapping[str, str], error: float = math.nan) -> str:
    """Draw the map as an SVG: tests by paper below their legend, then claims of other kinds; by verdict in each block.

    Args:
        rows: the ledger.
        symbols: the sign of each verdict, in the order of tiles and legend.
        titles: the title of each paper.
        error: standard deviation of the number of reproduced claims over redrawn replicates; NaN if it is unknown.
    """
    tests = [row for row in rows if counted(row)]
    others = [row for row in rows if not counted(row)]
    lines = wrap(findings(rows, ()).headline(error), LETTERS, break_on_hyphens=False)
    parts = [_text(line, TOP + k * LINE) for k, line in enumerate(lines)]
    y = TOP + len(lines) * LINE
    legend = _legend(tests, symbols, y)
    parts += legend
    y += -(-len(legend) // 2) * LINE
    parts += [_text(line, y + k * LINE) for k, line in enumerate(MEANINGS)]
    of_paper = {paper: _of_paper([row for row in tests if row.paper == paper]) for paper in titles}
    tiles, y = _tiles(
        tests, lambda row: f"{row.paper}: {of_paper[row.paper]}. {titles[row.paper]}", symbols, y + len(MEANINGS) * LINE + TOP
    )
    parts += tiles
    if others:
        parts.append(_heading(f"{len(others)} other claims, which do not test a paper", y + TOP))
        tiles, y = _tiles(others, lambda row: f"{kind_name(row.kind)}: {OF_KIND[kind_name(row.kind)]}", symbols, y + TOP + LINE)
        parts += tiles
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" aria-label="Verdicts on the claims"'
    style = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="12"'
    return "\n".join([f"{head} {style}>", THEME, *parts, "</svg>", ""])


def _of_paper(tests: Sequence[LedgerRow]) -> str:
    """Count the reproduced claims of a paper, and the refuted ones, which are not among those that were judged."""
    refuted = sum(row.verdict == REFUTED for row in tests)
    return _held([row for row in tests if row.verdict in JUDGED]) + f", {refuted} refuted" * (refuted > 0)


def _held(judged: Sequence[LedgerRow]) -> str:
    """Count the reproduced claims among those that were judged."""
    return f"{sum(row.verdict == REPRODUCED for row in judged)} of {len(judged)}"


def _text(words: str, y: int) -> str:
    return f'<text x="0" y="{y + TILE - 1}">{escape(words)}</text>'


def _heading(words: str, y: int) -> str:
    return f'<text x="0" y="{y + TILE}" font-weight="600">{words}</text>'


def _tiles(
    rows: Sequence[LedgerRow], name: Callable[[LedgerRow], str], symbols: Mapping[str, str], y: int
) -> tuple[list[str], int]:
    """Draw a block of tiles for each name, sorted by verdict; return the elements and the y coordinate below them."""
    parts = []
    for label in dict.fromkeys(map(name, rows)):
        claims = sorted((row for row in rows if name(row) == label), key=lambda row: list(symbols).index(row.verdict))
        for line in wrap(label, LETTERS):
            parts.append(_text(line, y))
            y += LINE
        for k, claim in enumerate(claims):
            parts.append(_tile(claim, symbols, k % ACROSS * (TILE + GAP), y + k // ACROSS * (TILE + GAP)))
        y += -(-len(claims) // ACROSS) * (TILE + GAP) + TOP
    return parts, y


def _tile(claim: LedgerRow, symbols: Mapping[str, str], x: int, y: int) -> str:
    words = escape(f"{claim.claim} {claim.verdict.capitalize()}{'' if counted(claim) else f' ({claim.kind})'}: {ours(claim)}")
    return f"<g><title>{words}</title>{_sign(claim.verdict, symbols, x, y)}</g>"


def _sign(verdict: str, symbols: Mapping[str, str], x: int, y: int) -> str:
    """Draw a tile with the sign of a verdict."""
    ink = DARK if verdict == DIRECTION else "#ffffff"
    return (
        f'<rect class="{slug(verdict)}" x="{x}" y="{y}" width="{TILE}" height="{TILE}" rx="2" '
        f'fill="{COLOURS.get(verdict, OTHER)}"/><text x="{x + TILE / 2:g}" y="{y + TILE - 2}" text-anchor="middle" '
        f'font-size="9" style="fill: {ink}">{symbols[verdict]}</text>'
    )


def _legend(rows: Sequence[LedgerRow], symbols: Mapping[str, str], y: int) -> list[str]:
    """Count the claims with each verdict, in two columns."""
    verdicts = Counter(row.verdict for row in rows)
    entries = []
    for k, verdict in enumerate(verdict for verdict in symbols if verdicts[verdict]):
        x, at = k % 2 * WIDTH // 2, y + k // 2 * LINE
        words = f'<text x="{x + TILE + 6}" y="{at + TILE - 1}">{verdicts[verdict]} {escape(verdict)}</text>'
        entries.append(f"<g>{_sign(verdict, symbols, x, at)}{words}</g>")
    return entries
