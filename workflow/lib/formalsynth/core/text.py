"""Text of others as text: what a terminal would obey in it, and what a spreadsheet would compute."""

from __future__ import annotations

import re

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, and those that turn the direction of writing: in a terminal they hide or forge what is said."""
FORMULA = re.compile(r"\s*(?:[=@＝＠]|[-+－＋].*[(|!])")
"""How text begins that spreadsheets take for a formula, in wide characters, too: it may come to stand in a table."""


def visible(text: str) -> str:
    """Text in which what cannot be seen is written as the escape that Python has for it."""
    return UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


class Sentence(ValueError):
    """An error whose words are for a person; names of files and what else they quote is shown as text."""

    def __str__(self) -> str:
        """Words."""
        return visible(super().__str__())
