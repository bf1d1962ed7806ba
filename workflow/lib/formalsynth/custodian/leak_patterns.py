"""Confidential content in a file of a release: in its text, its numbers or its bytes."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator

PATHS = {
    "a path": re.compile(r"(?<![\w.:/<])/(?:[\w.@+-]+/)+[\w.@+-]*|~/\w|\b[A-Za-z]:\\[\w\\]|\\\\\w+\\\w|file:/"),
    "an e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "an address of a computer": re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)"),
}
SECRET = re.compile(
    r"\b(?:root_?)?(?:seeds?|weights?|by_record|draws?|lipschitz\w*|rhat\w*|r-hat|ess_\w+|deltas?|divergences|alpha)\b"
    r"[\"']?\s*(?:[:=]|is|was)\s*[\"'\[(]*\s*[-+]?[\d.]",
    re.IGNORECASE,
)
HIDDEN = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0b\x0c\x0e-\x1f]|<!--|<script|data:[\\w/+-]+;base64"
)
BLOB = re.compile(r"[A-Za-z0-9+/=_-]{80,}")
PATTERNS = {
    **PATHS, "a seed, a weight, a bound or a draw": SECRET, "hidden signs or code": HIDDEN,
    "a long string of letters and digits that may hold anything": BLOB,
}  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,'\u00a0\u202f_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
SERIES = re.compile(r"(?:[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\s*[,;\s]\s*){7,}[-+]?\d")
PNG = b"\x89PNG\r\n\x1a\n"
CHUNKS = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"pHYs", b"sRGB", b"gAMA")
DIGITS = 4
"""Smallest number of significant digits of a number that is compared with confidential ones."""


def in_text(text: str, names: Iterable[str], declared: str) -> Iterator[str]:
    """List names, paths and the like.

    Args:
        text: text of a file.
        names: names of users, computers, folders and confidential files.
        declared: texts of the release as they follow from what a person declared; their content is allowed.
    """
    for what, pattern in PATTERNS.items():
        if _beyond(pattern, text, declared):
            yield what
    for name in names:
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        if word.search(text) and not word.search(declared):
            yield "the name of a user, a computer, a folder or a confidential file"
            break


def _beyond(pattern: re.Pattern[str], text: str, declared: str) -> bool:
    """Return True if a text has a match that the declared texts do not contain."""
    return any(match[0] not in declared for match in pattern.finditer(text))


def in_numbers(
    text: str, outcomes: Collection[float], secrets: Collection[str], allowed: Collection[float], declared: str
) -> Iterator[str]:
    """List confidential outcomes, and weights, bounds or draws.

    Args:
        text: text of a file other than a table.
        outcomes: confidential outcomes.
        secrets: weights, bounds and draws, each as from :func:`rounded`.
        allowed: declared numbers.
        declared: as in :func:`in_text`.
    """
    if _beyond(SERIES, text, declared):
        yield "a series of numbers, which no text of a release has"
    for token in NUMBER.findall(text):
        value, digits = _value(token)
        if digits < DIGITS or value in allowed:
            continue
        if value in outcomes:
            yield "a confidential outcome"
            return
        if digits > DIGITS and rounded(value) in secrets:
            yield "a weight, a bound or a draw"
            return


def rounded(value: float) -> str:
    """Format a number with five significant digits, without its sign."""
    return f"{abs(value):.4e}"


def numbers_in(text: str) -> set[float]:
    """Return all numbers of a text."""
    return {_value(token)[0] for token in NUMBER.findall(text)}


def _value(token: str) -> tuple[float, int]:
    """Return the number of a token, and the number of its significant digits."""
    plain = re.sub(r"[,'\u00a0\u202f_]", "", token)
    mantissa = re.split("[eE]", plain)[0]
    return float(plain), len(mantissa.replace(".", "").lstrip("+-0"))


def in_png(content: bytes) -> Iterator[str]:
    """List content of a PNG other than its picture."""
    if not content.startswith(PNG):
        yield "other data than a PNG"
        return
    place = len(PNG)
    while place + 12 <= len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        kind, body = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        if kind not in CHUNKS:
            yield "image metadata"
            return
        if content[place + 8 + length : place + 12 + length] != struct.pack(">I", zlib.crc32(kind + body)):
            yield "a damaged picture"
            return
        place += 12 + length
        if kind == b"IEND":
            break
    if place != len(content):
        yield "data after the picture"
