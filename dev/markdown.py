"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_rows(rows: Iterable[Sequence[str]]) -> str:
    """Write rows of a table in Markdown: head, column alignment and cells."""
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
