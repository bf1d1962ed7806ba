"""Recognition of a file whose people may be those of another source, by keyed hashes of a sample of its rows and columns.

Neither names nor order of rows and columns matter, nor how a number is written. Without the key, which only the owner of the
ledgers can read, nobody can look for a row among the hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.model import Model

if TYPE_CHECKING:
    import pandas as pd

SAMPLE = 100  # number of rows in a sample: those with the smallest hashes
FEW_VALUES = 20  # minimum number of distinct values for equal columns to indicate equal people
DISTINCT = 0.5  # least share of distinct rows for a sample: rows that many people share coincide by chance
SHARED, SHARED_VALUES = 0.05, 0.5
"""Shares of a sample of rows, and of the values of a column, above which two files may be of the same people."""
CODES = ("na", "n/a", "n.a.", "k.a.", "nan", "nat", "null", "none", "#n/a", "<na>", "\\n", "?", ".", "-")
"""Usual codes of missing values, without differences of case; all of them count as an empty value here."""
NUMBER = re.compile(r"[-+]?[.,]?\d[\d.,' ]*(e[-+]?\d+)?")
SEPARATORS = re.compile(r"[' ]|[.,](?=.*[.,])")
"""Pattern of a number in any format, and of its separators other than the last point or comma."""
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Content:
    """Content of a file, as hashes."""

    rows: tuple[Hashes, ...]  # samples of rows: of all columns, and without each column in turn, as if it were dropped or changed
    values: tuple[Hashes, ...]  # samples of the values of columns in which most are distinct
    whole: tuple[bytes, ...]  # digests of all rows, and of each column with several values, in sorted order


class Sketch(Model):
    """Keyed hashes of the content of a file."""

    rows: tuple[tuple[str, ...], ...]
    values: tuple[tuple[str, ...], ...]
    whole: tuple[str, ...]


def content_of(text: pd.DataFrame) -> Content:
    """Compute hashes of the content of a file, given as text."""
    columns = [_hashes(text[name]) for name in text.columns]
    varying = [column for column in columns if (column != column[:1]).any()]
    rows = sum(varying, np.zeros(len(text), dtype=np.uint64))
    fewer = (rows - column for column in varying) if len(varying) > 1 else ()
    several = [column for column in varying if len(np.unique(column)) >= FEW_VALUES]
    whole = [hashlib.sha256(np.sort(hashes).tobytes()).digest() for hashes in (rows, *several)]
    return Content(tuple(_samples([rows, *fewer])), tuple(_samples(several)), tuple(whole))


def _samples(of: list[Hashes]) -> Iterator[Hashes]:
    """Yield a sample of the distinct hashes of each column or set of rows in which most are distinct."""
    for hashes in of:
        number = min(2 * SAMPLE, len(hashes))
        least = np.partition(hashes, number - 1)[:number]
        distinct = np.unique(least)
        if len(distinct) > DISTINCT * len(least):
            yield distinct[:SAMPLE]


def _hashes(column: pd.Series) -> Hashes:
    """Hash each value (n,): numbers by their significant digits, other values as text without differences of case."""
    import pandas as pd

    codes, values = pd.factorize(column.astype(object).fillna(""))
    plain = pd.Series(values, dtype=object).astype(str).str.normalize("NFKC").str.strip().str.casefold()
    return np.asarray(pd.util.hash_array(np.array([_canonical(value) for value in plain], dtype=object))[codes], dtype=np.uint64)


def _canonical(value: str) -> str:
    """Write numbers by their digits: 1.234 is one thousand or one, depending on the format of its file."""
    if value in CODES:
        return ""
    if not NUMBER.fullmatch(value):
        return value
    number = float(SEPARATORS.sub("", value).replace(",", "."))
    return f"{number:.{14 if number.is_integer() else 8}e}".partition("e")[0].rstrip("0")  # R writes 15 digits, pandas 17


def sketch_of(content: Content, key: bytes) -> Sketch:
    """Compute keyed hashes of the content of a file."""

    def keyed(value: bytes) -> str:
        return hmac.new(key, value, hashlib.sha256).hexdigest()[:16]

    def samples(given: tuple[Hashes, ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(keyed(value.tobytes()) for value in sample) for sample in given)

    return Sketch(rows=samples(content.rows), values=samples(content.values), whole=tuple(map(keyed, content.whole)))


def common(ours: Sketch, theirs: Sketch) -> str:
    """Describe what two files share that people who are in both files could explain; empty if there is nothing."""
    if set(ours.whole) & set(theirs.whole):
        return "a column has the same values"
    if (share := _largest_share(ours.rows, theirs.rows)) > SHARED:
        return f"{share:.0%} of a sample of rows are the same"
    if (share := _largest_share(ours.values, theirs.values)) > SHARED_VALUES:
        return f"{share:.0%} of a sample of the values of a column are the same"
    return ""


def _largest_share(ours: tuple[tuple[str, ...], ...], theirs: tuple[tuple[str, ...], ...]) -> float:
    """Return the largest share of a sample that is in a sample of the other file."""
    return max((len(set(a) & set(b)) / max(len(a), len(b)) for a in ours for b in theirs), default=0.0)
