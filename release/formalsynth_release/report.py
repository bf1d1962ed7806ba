"""Pages with a mark that is always visible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

CONFIDENTIAL_MARK = "CONFIDENTIAL: made from the data. Not for anyone outside."
PUBLIC_MARK = "PUBLIC: computed from the crossing of a release."
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
