"""Recognition of a file whose people may be those of another source, by keyed hashes of a sample of its rows and columns.

Neither names nor order of rows and columns matter, nor how a number is written. Without the key, which only the owner of the
ledgers can read, nobody can look for a row among the hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
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
    values: dict[str, Hashes]  # samples of the values of columns in which most are distinct
    whole: dict[str, bytes]  # digests of all rows, and of each column with several values, in sorted order


class Sketch(Model):
    """Keyed hashes of the content of a file."""

    rows: tuple[tuple[str, ...], ...]
    values: tuple[tuple[str, ...], ...]
    whole: tuple[str, ...]


def content_of(text: pd.DataFrame) -> Content:
    """Compute hashes of the content of a file, given as text; running numbers count only in rows."""
    varying = {name: of for name in text.columns if ((of := _hashes(text[name])) != of[:1]).any()}
    telling = {name: of for name, of in varying.items() if not _running(text[name])}
    rows = sum(varying.values(), np.zeros(len(text), dtype=np.uint64))
    fewer = (rows - of for of in varying.values()) if len(varying) > 1 else ()
    several = {f"values of the column {name}": of for name, of in telling.items() if len(np.unique(of)) >= FEW_VALUES}
    whole = {what: hashlib.sha256(np.sort(of).tobytes()).digest() for what, of in {"rows": rows, **several}.items()}
    samples = tuple(sample for of in (rows, *fewer) if len(sample := _sample(of)))
    return Content(samples, {what: sample for what, of in several.items() if len(sample := _sample(of))}, whole)


def _running(column: pd.Series) -> bool:
    """Return True for whole numbers without gaps, each once: those of other people are the same."""
    import pandas as pd

    return bool((np.diff(np.sort(pd.to_numeric(column, errors="coerce").to_numpy(dtype=float))) == 1).all())


def _sample(hashes: Hashes) -> Hashes:
    """Return a sample of the distinct hashes of a column or of rows; none if fewer than most are distinct."""
    number = min(2 * SAMPLE, len(hashes))
    distinct = np.unique(np.partition(hashes, number - 1)[:number])
    return distinct[: SAMPLE if len(distinct) > DISTINCT * number else 0]


def _hashes(column: pd.Series) -> Hashes:
    """Hash each value (n,): numbers by their significant digits, other values as text without differences of case."""
    import pandas as pd

    codes, values = pd.factorize(column.astype(object).fillna(""))
    plain = pd.Series(values, dtype=object).astype(str).str.normalize("NFKC").str.strip().str.casefold()
    return np.asarray(pd.util.hash_array(np.array([_canonical(value) for value in plain], dtype=object))[codes], dtype=np.uint64)


def _canonical(value: str) -> str:
    """Write numbers by their digits: 1.234 is one thousand or one, depending on the format of its file."""
    if value in CODES or not NUMBER.fullmatch(value):
        return "" if value in CODES else value
    number = float(SEPARATORS.sub("", value).replace(",", "."))
    return f"{number:.{14 if number.is_integer() else 8}e}".partition("e")[0].rstrip("0")  # R writes 15 digits, pandas 17


def sketch_of(content: Content, key: bytes) -> Sketch:
    """Compute keyed hashes of the content of a file."""

    def keyed(value: bytes) -> str:
        return hmac.new(key, value, hashlib.sha256).hexdigest()[:16]

    def samples(given: Iterable[Hashes]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(keyed(value.tobytes()) for value in sample) for sample in given)

    whole = tuple(map(keyed, content.whole.values()))
    return Sketch(rows=samples(content.rows), values=samples(content.values.values()), whole=whole)


def common(content: Content, ours: Sketch, theirs: Sketch) -> str:
    """Describe what two files share that people who are in both files could explain; empty if there is nothing."""
    same = (f"all {what} are in both" for what, of in zip(content.whole, ours.whole, strict=True) if of in theirs.whole)
    shares = [("rows", SHARED, _largest_share(ours.rows, theirs.rows))]
    for what, sample in zip(content.values, ours.values, strict=True):
        shares.append((what, SHARED_VALUES, _largest_share((sample,), theirs.values)))
    return next(same, next((f"{share:.0%} of a sample of {what} are in both" for what, low, share in shares if share > low), ""))


def _largest_share(ours: tuple[tuple[str, ...], ...], theirs: tuple[tuple[str, ...], ...]) -> float:
    """Return the largest share of a sample that is in a sample of the other file."""
    return max((len(set(a) & set(b)) / max(len(a), len(b)) for a in ours for b in theirs), default=0.0)
