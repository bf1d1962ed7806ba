"""Page of measurements: tables between the markers in docs/PERFORMANCE.md."""

from collections.abc import Sequence
from pathlib import Path

from formalsynth.plan.marks import between

PAGE = Path(__file__).parents[1] / "docs" / "PERFORMANCE.md"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Build a Markdown table, with text in the first column and numbers in the others."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def write_part(name: str, text: str) -> None:
    """Replace a part of the page.

    Raises:
        ValueError: the page does not contain the markers of this part exactly once.
    """
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), name, text, str(PAGE)), encoding="utf-8")
