"""Format of numbers, times and names on the pages of the report."""

from __future__ import annotations

import math
import re


def number(value: float) -> str:
    """Format a number with four significant digits, from 10,000 to ten million as an integer; a dash for NaN."""
    if math.isnan(value):
        return "–"
    digits = f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"
    return digits.replace("inf", "∞").replace("-", "−")


def duration(seconds: float) -> str:
    """Format a time in its two largest units."""
    whole_seconds = round(seconds)
    hours, minutes = whole_seconds // 3600, whole_seconds % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {whole_seconds % 60} s"
    return f"{seconds:.2g} s" if seconds < 10 else f"{whole_seconds} s"


def by_number(name: str) -> list[tuple[int, str]]:
    """Return a sort key that puts ``figure 2`` before ``figure 10``."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def slug(text: str) -> str:
    """Make a text usable in an anchor or a class name."""
    return text.replace(" ", "-")


def source_page(name: str) -> str:
    """Name of the page that shows a source file."""
    return f"sources/{name.replace('/', '-')}.html"
