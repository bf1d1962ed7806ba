"""The verdict map: one tile for each claim, pale where it is not counted, rows by paper, in groups by section and test."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from formalsynth.ledger.claims import UNCOUNTED, kind_name
from formalsynth.ledger.judge import LedgerRow
from formalsynth.ledger.verdicts import DIRECTION, MISPRINT, NOT_REPRODUCED, REFUTED, REPRODUCED, UNDETERMINED
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
TILE, GAP, LEFT, ACROSS, TOP = 18, 3, 80, 34, 8
"""Sizes of the picture in pixels, and tiles in a line."""
PALE = 0.35
"""Opacity of the tiles of claims that are not counted."""
SECTION = re.compile(r"(Section|Appendix|Supplement)\w*\s*([A-Z0-9]+)?")


@dataclass(frozen=True)
class MapGroup:
    """Claims of one section that are judged by the same kind of test."""

    title: str
    claims: Sequence[LedgerRow]


def counted(row: LedgerRow) -> bool:
    """Check that a claim is counted, which only tests of a paper are."""
    return kind_name(row.kind) not in UNCOUNTED


def section(row: LedgerRow) -> str:
    """Section of a claim, without its parts."""
    match = SECTION.search(row.place)
    return " ".join(part for part in match.groups() if part) if match else row.place


def groups(rows: Sequence[LedgerRow]) -> dict[str, list[MapGroup]]:
    """Group the claims of each paper, in the order of the ledger.

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


def picture(rows: Sequence[LedgerRow], symbols: Mapping[str, str]) -> str:
    """Draw the map as an SVG.

    Args:
        rows: the ledger.
        symbols: the sign of each verdict.
    """
    parts, y = [], TOP
    for paper, its_groups in groups(rows).items():
        parts.append(f'<text x="0" y="{y + TILE - 5}" font-weight="600">{escape(paper)}</text>')
        claims = [claim for group in its_groups for claim in group.claims]
        for k, claim in enumerate(claims):
            parts.append(_tile(claim, symbols, LEFT + k % ACROSS * (TILE + GAP), y + k // ACROSS * (TILE + GAP)))
        y += -(-len(claims) // ACROSS) * (TILE + GAP) + TOP
    legend = _legend(rows, symbols, y)
    parts += legend
    width, height = LEFT + ACROSS * (TILE + GAP), y + -(-len(legend) // 4) * (TILE + GAP) + TOP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="Verdicts on the claims"'
    )
    style = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="13" fill="#57606a"'
    return "\n".join([f"{head} {style}>", *parts, "</svg>", ""])


def _tile(claim: LedgerRow, symbols: Mapping[str, str], x: int, y: int) -> str:
    ink = DARK if claim.verdict == DIRECTION else "#ffffff"
    words = escape(f"{claim.claim} {claim.verdict.capitalize()}{'' if counted(claim) else f' ({claim.kind})'}: {ours(claim)}")
    pale = "" if counted(claim) else f' opacity="{PALE}"'
    return (
        f'<g{pale}><title>{words}</title><rect class="{slug(claim.verdict)}" x="{x}" y="{y}" '
        f'width="{TILE}" height="{TILE}" rx="3" fill="{COLOURS.get(claim.verdict, OTHER)}"/><text x="{x + TILE / 2:g}" '
        f'y="{y + TILE - 5}" text-anchor="middle" fill="{ink}">{symbols[claim.verdict]}</text></g>'
    )


def _legend(rows: Sequence[LedgerRow], symbols: Mapping[str, str], y: int) -> list[str]:
    verdicts = Counter(row.verdict for row in rows if counted(row))
    entries = [
        (COLOURS.get(verdict, OTHER), symbols[verdict], f"{verdict} {verdicts[verdict]}")
        for verdict in symbols
        if verdicts[verdict]
    ]
    pale = len(rows) - verdicts.total()
    entries += [(OTHER, "□", f"pale: not counted {pale}")] if pale else []
    step = ACROSS * (TILE + GAP) // 4
    return [
        f'<text x="{LEFT + k % 4 * step}" y="{y + k // 4 * (TILE + GAP) + TILE - 5}"><tspan fill="{colour}">{symbol}</tspan> '
        f"{escape(words)}</text>"
        for k, (colour, symbol, words) in enumerate(entries)
    ]
