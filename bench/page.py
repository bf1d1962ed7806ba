"""The page of measurements: tables between the marks of docs/PERFORMANCE.md."""

from collections.abc import Sequence
from pathlib import Path

from formalsynth.plan.marks import between

PAGE = Path(__file__).parents[1] / "docs" / "PERFORMANCE.md"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Table in Markdown, whose first column has words and the others numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def write_part(name: str, text: str) -> None:
    """Replace a part of the page.

    Raises:
        ValueError: the page has not the marks of this part once.
    """
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), name, text, str(PAGE)), encoding="utf-8")
