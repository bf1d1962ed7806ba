"""Format of numbers, times and names on the pages of the report."""

from __future__ import annotations

import math
import re

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
ROUNDING = 1e-9
"""Largest relative error that counts as one of floating-point arithmetic."""


def number(value: float) -> str:
    """Format a number with four significant digits, as in ``57,771``, ``0.00004175`` and ``2.5 × 10⁻⁹``; a dash for NaN."""
    if math.isnan(value):
        return "–"
    digits, _, power = f"{value:.3e}".partition("e")
    size = abs(float(f"{value:.4g}"))
    if size in (0, math.inf) or 1e4 <= size < 1e7:
        text = f"{value:,.0f}".replace("inf", "∞")
    elif 1e-5 <= size < 1e4:
        text = f"{float(f'{value:.4g}'):.{max(3 - int(power), 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{float(digits):g} × 10{str(int(power)).translate(SUPERSCRIPTS)}"
    return text.replace("-", "−")


def with_error(value: float, error: float) -> tuple[str, str]:
    """Format a number and its error with two digits of the error, as in ``0.000678`` and ``0.000042``.

    An error of 0, of NaN, or as small as that of floating-point arithmetic is left out.
    """
    if not (math.isfinite(value) and math.isfinite(error) and error > ROUNDING * abs(value)):
        return number(value), ""
    digits = 1 - math.floor(math.log10(float(f"{error:.1e}")))
    if digits > 8:
        return number(value), number(error)
    first, second = (f"{round(x, digits):,.{max(digits, 0)}f}".replace("-", "−") for x in (value, error))
    return first, second


def for_people(text: str) -> str:
    """Rewrite a number of a stored table if it has an exponent, or five digits or more before the point; leave other text."""
    long = re.fullmatch(r"-?(?:[\d.]+e[+-]?\d+|\d{5,})", text)
    return number(float(text)) if long else re.sub(r"^-(?=\d)", "−", text)


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
