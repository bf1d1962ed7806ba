"""Numbers, times and names as the pages of the report write them."""

from __future__ import annotations

import math
import re


def number(value: float) -> str:
    """Four significant digits, or all before the point of a number below ten million; a dash for what is not there."""
    if math.isnan(value):
        return "–"
    digits = f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"
    return digits.replace("inf", "∞").replace("-", "−")


def duration(seconds: float) -> str:
    """Time in its two largest units."""
    whole_seconds = round(seconds)
    hours, minutes = whole_seconds // 3600, whole_seconds % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {whole_seconds % 60} s"
    return f"{seconds:.2g} s" if seconds < 10 else f"{whole_seconds} s"


def by_number(name: str) -> list[tuple[int, str]]:
    """Key that sorts names with numbers: ``figure 2`` before ``figure 10``."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def slug(text: str) -> str:
    """Text as part of an anchor or a class name."""
    return text.replace(" ", "-")


def source_page(name: str) -> str:
    """Page that shows a source."""
    return f"sources/{name.replace('/', '-')}.html"
