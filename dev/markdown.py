"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_rows(rows: Iterable[Sequence[str]]) -> str:
    """Write rows of a table in Markdown: its head, the alignment of its columns, and its cells."""
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
