"""Drawing of a release's steps: the confidential file, the crossing and the public release, as an SVG for a phone or wider."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

WIDTH, LEFT, TOP, LINE, PAD, STEP = 390, 44, 30, 17, 12, 62
"""Sizes in pixels: width, left edge of boxes, top, line of text, padding around text, and length of an arrow."""
THEME = """<style>
  text { fill: #1a1a1a } .faint { fill: #57606a } .box { fill: #ffffff; stroke: #57606a }
  .inside { fill: #fdeee6 } .outside { fill: #e5f3ee } .line { stroke: #57606a; fill: none }
  .crossing { fill: #ffffff; stroke: #074280; stroke-width: 2.5 } .tip { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .faint { fill: #adb5bd } .box { fill: #0d1117; stroke: #adb5bd }
    .inside { fill: #3a2015 } .outside { fill: #0e2f26 } .line { stroke: #adb5bd }
    .crossing { fill: #0d1117; stroke: #4db7f5 } .tip { fill: #adb5bd }
  }
</style>"""
"""Colours for light and dark pages."""


@dataclass(frozen=True)
class Box:
    """Box of the drawing."""

    name: str
    lines: tuple[str, ...]
    style: str = "box"

    @property
    def height(self) -> int:
        """Height in pixels."""
        return (1 + len(self.lines)) * LINE + PAD


FILE = Box("Confidential file", ("one row for each person or household",))
CROSSING = Box("crossing.yaml", ("noisy numbers, each with its ε,", "and a seed for drawing the rows"), "crossing")
RELEASE = Box("Release", ("synthetic data, texts, and the crossing",))
COMPUTES = ("bounds and ε are declared without the file;", "the budget is charged, then noise is added")
MAKES = ("another process makes the release;", "it cannot open the confidential file")
TITLE, HEAD = "A release is computed from one small file", 30
"""Title, and the height of its band in pixels."""
VERIFIES = "anyone can recompute it: formalsynth verify"


def release_drawing() -> str:
    """Draw the steps of a release."""
    file = TOP
    crossing = file + FILE.height + STEP
    release = crossing + CROSSING.height + STEP
    height = release + RELEASE.height + 2 * LINE + PAD
    wall = crossing + CROSSING.height // 2
    parts = [
        f'<rect class="inside" width="{WIDTH}" height="{wall}"/>',
        f'<rect class="outside" y="{wall}" width="{WIDTH}" height="{height - wall}"/>',
        _text(PAD, TOP - 11, "Inside: confidential", 'font-weight="600"'),
        _text(PAD, height - 9, "Outside: public", 'font-weight="600"'),
        f'<path class="line" stroke-width="2" stroke-dasharray="7 5" d="M0 {wall}H{WIDTH}"/>',
        *_arrow(file + FILE.height, crossing, COMPUTES),
        *_arrow(crossing + CROSSING.height, release, MAKES),
        *(part for box, y in ((FILE, file), (CROSSING, crossing), (RELEASE, release)) for part in _box(box, y)),
        _text(LEFT, release + RELEASE.height + LINE, VERIFIES, 'class="faint"'),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEAD + height}" role="img" aria-label="'
        "Steps of a release: one small file with noisy numbers crosses from the confidential side; the release is computed "
        'only from it" '
    )
    font = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="13"'
    title = _text(PAD, HEAD - 10, TITLE, 'font-size="15" font-weight="700"')
    return "\n".join([f"{head}{font}>", THEME, title, f'<g transform="translate(0 {HEAD})">', *parts, "</g>", "</svg>", ""])


def _text(x: int, y: int, words: str, attributes: str = "") -> str:
    return f'<text x="{x}" y="{y}" {attributes}>{escape(words)}</text>'


def _box(box: Box, y: int) -> list[str]:
    """Draw a box with its name and its lines."""
    lines = [_text(LEFT + PAD, y + (k + 2) * LINE + 2, line) for k, line in enumerate(box.lines)]
    return [
        f'<rect class="{box.style}" x="{LEFT}" y="{y}" width="{WIDTH - 2 * LEFT}" height="{box.height}" rx="6"/>',
        _text(LEFT + PAD, y + LINE + 2, box.name, 'font-weight="600"'),
        *lines,
    ]


def _arrow(start: int, end: int, lines: tuple[str, ...]) -> list[str]:
    """Draw an arrow downwards, with text to its right."""
    x, middle = LEFT + 22, (start + end) // 2
    words = [_text(x + 16, middle + (k - len(lines) // 2) * LINE + 12, line, 'class="faint"') for k, line in enumerate(lines)]
    return [
        f'<path class="line" stroke-width="2" d="M{x} {start}V{end - 9}"/>',
        f'<path class="tip" d="M{x - 6} {end - 10}h12l-6 9z"/>',
        *words,
    ]
