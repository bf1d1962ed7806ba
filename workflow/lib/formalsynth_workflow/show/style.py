"""House style of all drawings: sizes, fonts, and the markers of the kinds of guarantee.

In every paper, each family of mechanisms has a hue, and each member of the family a shade. The config of a paper names these
colours; tests check that all readers, including colour-blind ones, can distinguish the colours of one frame.
"""

from __future__ import annotations

from enum import Enum

from formalsynth.core.neighbours import EXACT_DRAWS

COLUMN, PAGE = 3.5, 7.0
"""Widths in inches of a journal column, which is also the width of a phone, and of a page."""
TALLEST = 4.5
"""Height in inches of half a page, which figures should not exceed."""
TEXT, TITLE = 7, 8
"""Font sizes in points."""
DPI = 220
"""Dots per inch of bitmap drawings."""
INK, FAINT = "#1a1a1a", "#6b6b6b"
"""Text colours: for important text, and for notes."""

PRINTED = "#767676"
"""Colour of printed values next to ours."""

STYLE = {
    "svg.hashsalt": "formalsynth",
    "font.family": "DejaVu Sans",  # part of matplotlib: the same on every machine
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "legend.fontsize": TEXT,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "pdf.fonttype": 42,
    "text.parse_math": False,
}
"""Matplotlib settings for all drawings; a dollar sign in a label is plain text."""


class Mark(Enum):
    """Strength of a kind of guarantee, with its marker in all drawings."""

    EVERY = ("o", INK, "any data set")
    EXACT = ("s", INK, "exact draws only")
    CONDITION = ("D", INK, "conditional")
    LOCAL = ("o", "white", "this data set only")
    NONE = ("x", INK, "none")

    def __init__(self, marker: str, fill: str, words: str) -> None:
        """Set the matplotlib code of the marker, the colour inside it, and the words in the legend."""
        self.marker, self.fill, self.words = marker, fill, words


_EVERY = ("DP", "DP (add/remove)", "DP (replace-one)", "zCDP", "(eps, delta)-DP", "(eps, delta)-DP (add/remove)")
_CONDITION = ("range-averaged", "range-truncated")


def mark_of(guarantee: str) -> Mark:
    """Mark of a kind of guarantee; an unknown kind counts as a guarantee for this data set only.

    Args:
        guarantee: kind of guarantee, such as ``DP | fixed weights``; the words after the bar are a condition.
    """
    head, condition, _ = guarantee.partition(" | ")
    if head.startswith("none"):
        return Mark.NONE
    if guarantee.endswith(EXACT_DRAWS) and head in _EVERY:
        return Mark.EXACT
    if head in _CONDITION or (condition and head in _EVERY):
        return Mark.CONDITION
    return Mark.EVERY if head in _EVERY else Mark.LOCAL


CONTRAST = 3.0
"""Smallest contrast with white at which a shape or line needs no edge to be visible (WCAG 2.1, criterion 1.4.11)."""
DARKER = 0.9
"""Factor by which each step towards the edge colour darkens the channels."""


def contrast(colour: str) -> float:
    """Contrast of a colour ``#rrggbb`` with white, from 1 to 21 (WCAG 2.1)."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def edge(colour: str) -> str:
    """Edge colour of a shape: its own colour, or for a pale one a darker shade that is visible on white."""
    while contrast(colour) < CONTRAST:
        colour = "#" + "".join(f"{int(DARKER * int(colour[k : k + 2], 16)):02x}" for k in (1, 3, 5))
    return colour
