"""Summary of the reference run on two pages, as PDF: question, method, three pictures, and recommendations.

Run as ``python -m dev.summary summary.pdf``. All numbers come from docs/reference and docs/COST.md.
"""

from __future__ import annotations

import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib.image
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from dev.reference import KEPT, LEDGER, README, STEADINESS
from formalsynth.runtime.files import read_table
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.plan.load import plan_of
from formalsynth_workflow.plan.paper import Plan
from formalsynth_workflow.report.captions import finding
from formalsynth_workflow.report.contents import read_ledger
from formalsynth_workflow.report.findings import findings
from formalsynth_workflow.report.unsteady import headline_error

PICTURES = (
    ("cost", "12", "What a guarantee costs"),
    ("cost", "3", "Claimed, audited and attacked ε"),
    ("cost", "8", "Bounds that do not contract"),
)
"""Study, figure and heading of each picture, in order."""
PAGE = 8.27, 11.69
"""Size of A4 in inches."""
LEFT, MIDDLE, RIGHT, TOP, BOTTOM = 0.09, 0.51, 0.91, 0.95, 0.03
"""Margins, and the left edge of the second column, as fractions of the page."""
PER_INCH = 15.5
"""Number of characters per inch in a line of 9-point text."""


@dataclass
class Page:
    """Page that is filled from its top."""

    canvas: Figure = field(default_factory=lambda: Figure(figsize=PAGE))
    y: float = TOP

    def text(self, text: str, size: float = 9, bold: bool = False, left: float = LEFT, right: float = RIGHT) -> None:
        """Write a paragraph, and move below it."""
        lines = textwrap.wrap(text, int((right - left) * PAGE[0] * PER_INCH * 9 / size))
        weight = "bold" if bold else "normal"
        self.canvas.text(left, self.y, "\n".join(lines), size=size, weight=weight, va="top", linespacing=1.3)
        self.y -= (len(lines) * 1.35 + 0.6) * size / 72 / PAGE[1]

    def picture(self, path: Path, left: float, right: float) -> None:
        """Insert a picture, as large as the rest of the page allows."""
        image = matplotlib.image.imread(path)
        height = min(self.y - BOTTOM, (right - left) * PAGE[0] / PAGE[1] * image.shape[0] / image.shape[1])
        axis = self.canvas.add_axes((left, self.y - height, right - left, height))
        axis.imshow(image, interpolation="lanczos")
        axis.set_anchor("NW")
        axis.axis("off")


def main() -> int:
    """Run the command line: write the summary."""
    with PdfPages(sys.argv[1], metadata={"Title": "formalsynth: summary", "CreationDate": None}) as pdf:
        for page in pages(plan_of(Path("config")), Path()):
            pdf.savefig(page.canvas)
    return 0


def pages(plan: Plan, folder: Path) -> list[Page]:
    """Fill both pages.

    Args:
        plan: plan with the questions of the papers and the errata.
        folder: the repository.
    """
    rows = read_ledger(folder / LEDGER)
    first, second = Page(), Page()
    first.text("formalsynth: what formally private synthetic data cost, and what they preserve", 15, bold=True)
    first.text("Question", 11, bold=True)
    first.text(_plain((folder / README).read_text(encoding="utf-8").split("\n\n")[1]))
    first.text("Method", 11, bold=True)
    first.text(
        "Every figure, table and claim of the papers is computed again, with its Monte Carlo error. Audits compute the privacy "
        "loss of one record between neighbouring data sets, and an attack shows what someone can detect. Mechanisms with a "
        "guarantee for every data set have a proof and an exact test."
    )
    first.text(findings(rows, plan.errata).headline(headline_error(rows, read_table(folder / STEADINESS))))
    first.text("What to do, by what you can declare without looking at the data", 11, bold=True)
    for declared, taken, costs, kept in answer((folder / "docs" / "COST.md").read_text(encoding="utf-8")):
        first.text(f"• {declared[:1].upper()}{declared[1:]}. Use: {taken}. Privacy cost: {costs}. Quality: {kept}.")
    _show(first, rows, folder, 1)
    _show(second, rows, folder, 0, right=MIDDLE - 0.02)
    second.y = TOP
    _show(second, rows, folder, 2, left=MIDDLE)
    return [first, second]


def answer(text: str) -> list[list[str]]:
    """Rows of the table in docs/COST.md that answers which mechanism to use."""
    table = text.partition("## The answer")[2].partition("\n## ")[0]
    rows = [[_plain(cell.strip()) for cell in line.strip("|").split(" | ")] for line in table.splitlines() if line[:1] == "|"]
    return rows[2:]


def _show(page: Page, rows: list[LedgerRow], folder: Path, which: int, left: float = LEFT, right: float = RIGHT) -> None:
    """Put a picture below its heading and its finding, between two margins."""
    paper, number, heading = PICTURES[which]
    page.text(heading, 11, True, left, right)
    shown = [row for row in rows if (row.paper, row.shows) == (paper, f"figure {number}")]
    page.text(finding(shown), left=left, right=right)
    page.picture(folder / KEPT / paper / f"fig{int(number):02d}.png", left, right)


def _plain(text: str) -> str:
    """Text without Markdown markup."""
    return re.sub(r"[`*|]", "", re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)).strip()


if __name__ == "__main__":
    sys.exit(main())
