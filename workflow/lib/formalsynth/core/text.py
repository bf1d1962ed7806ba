"""Numbers in sentences, and safe text from others: no control characters for terminals, no formulas for spreadsheets."""

from __future__ import annotations

import re

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, and characters that change the direction of writing: in a terminal, they can hide or forge text."""
FORMULA = re.compile(r"\s*(?:[=@＝＠]|[-+－＋].*[(|!])")
"""Start of text that spreadsheets read as a formula, including full-width characters; it could end up in a table."""


def visible(text: str) -> str:
    """Text with invisible characters written as Python escapes."""
    return UNSEEN.sub(lambda match: ascii(match[0])[1:-1], text)


class Sentence(ValueError):
    """Error with a message for users; control characters in quoted text are escaped."""

    def __str__(self) -> str:
        """Message with control characters escaped."""
        return visible(super().__str__())


class DataError(Sentence):
    """Invalid data file; the message names the file and the problem."""


def is_short(number: float) -> bool:
    """Return True for a number of at most 6 significant digits, which texts state without rounding."""
    return float(f"{number:g}") == number


def exact(number: float) -> str:
    """Write a number in the shortest form that reads back as the same number: 0.1, 2, 1234568."""
    return f"{number:g}" if is_short(number) else repr(number).removesuffix(".0")


def counted(number: int, what: str, plural: str = "") -> str:
    """Write a number with its noun: 1 candidate, 2 candidates; ``plural`` for an irregular noun."""
    return f"{number} {what if number == 1 else plural or what + 's'}"
