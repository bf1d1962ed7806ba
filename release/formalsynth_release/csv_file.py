"""Reader of a CSV file as text, in a guessed or declared format; error messages contain none of its values."""

from __future__ import annotations

import codecs
import contextlib
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pandas as pd

from formalsynth.core.text import DataError, counted

MOST_ROWS = 5_000_000
MOST_COLUMNS = 1000
SAMPLE_BYTES = 1 << 16  # number of bytes of a file from which its delimiter is guessed
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8"}
LETTER = re.compile(r"[^\W\d_]")  # a letter of any alphabet


@dataclass(frozen=True)
class CsvFormat:
    """Format of a CSV file."""

    encoding: str
    delimiter: str
    decimal: str = "."
    thousands: str = ""  # mark between thousands; empty if there is none, or none is declared


def guess(path: Path) -> CsvFormat:
    """Guess the format of a file: its encoding from all of it, the rest from its first bytes.

    Raises:
        DataError: it is missing, empty, or not text.
    """
    head = _head(path)
    encoding = _encoding(path, head)
    lines = head.decode(encoding, errors="replace").splitlines() or [""]
    delimiter = max(",;\t|", key=lines[0].count)
    if delimiter not in lines[0]:
        spaces = {line.count(" ") for line in lines[:20]}
        delimiter = " " if len(spaces) == 1 and spaces != {0} else ","
    values = [value.strip() for line in lines[1:200] for value in line.split(delimiter)]
    commas = any("," in value and value.replace(",", "", 1).replace("-", "", 1).isdigit() for value in values)
    return CsvFormat(encoding, delimiter, "," if commas else ".")


def read_text(path: Path, written: CsvFormat) -> pd.DataFrame:
    """Read the rows of a file, each value as text without spaces around it.

    Raises:
        DataError: it is missing or empty, does not have the declared format, or its rows have different lengths.
    """
    _head(path)
    with _opened(path, written) as file:
        names = check_names(path, [name.strip() for name in next(csv.reader(file, delimiter=written.delimiter), [])])
    _check_lengths(path, written, len(names))  # pandas silently fills up or cuts some rows
    with _opened(path, written) as file:
        table = pd.read_csv(
            file, sep=written.delimiter, dtype=str, keep_default_na=False, na_values=[], skip_blank_lines=True,
            names=names, header=0, index_col=False, low_memory=False,
        )  # fmt: skip
    check_rows(path, table)
    return pd.DataFrame(table.apply(lambda column: column.str.strip()))


@contextlib.contextmanager
def _opened(path: Path, written: CsvFormat) -> Iterator[TextIO]:
    """Open a file in its format; errors of decoding and parsing become sentences without the values that they may quote."""
    try:
        marked = written.encoding.lower().replace("_", "-") in ("utf-8", "utf8")  # perhaps with a byte order mark
        with open(path, encoding="utf-8-sig" if marked else written.encoding, newline="") as file:
            yield file
    except DataError:
        raise
    except LookupError:
        raise DataError(f"{path}: encoding: given {written.encoding!r}; allowed: one for text, such as utf-8 or cp1252") from None
    except UnicodeError:
        what = f"is not written in {written.encoding}; save it in UTF-8, or declare its encoding in schema.yaml, such as cp1252"
        raise DataError(f"{path}: {what}") from None
    except (csv.Error, ValueError) as error:
        what = "its quotes do not match or its lines are broken; export it again with each text in double quotes"
        if "field larger" in str(error):
            what = f"contains a value of more than {csv.field_size_limit()} characters; correct it, or leave out its column"
        raise DataError(f"{path}: {what}") from None


def _head(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            head = file.read(SAMPLE_BYTES)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; correct the path, or ask its owner for permission") from None
    if not head.strip():
        raise DataError(f"{path}: is empty; export it again")
    if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path}: contains zero bytes, so it is no CSV: its name has to end in its format, such as .xlsx")
    return head


def _encoding(path: Path, head: bytes) -> str:
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return encoding
    decode, ascii_only = codecs.getincrementaldecoder("utf-8")().decode, True
    with open(path, "rb") as file:
        for line in file:
            try:
                ascii_only = decode(line).isascii() and ascii_only
            except UnicodeDecodeError:
                return "cp1252" if ascii_only else "utf-8"  # reading reports single wrong bytes
    return "utf-8"


def check_names(path: Path, names: list[str]) -> list[str]:
    """Return the names of columns, if they can be used.

    Raises:
        DataError: they are too many, or one is missing, given twice or a number.
    """
    folded, problem = [name.casefold() for name in names], ""
    if len(names) > MOST_COLUMNS:
        problem = f"has {len(names)} columns; allowed: at most {MOST_COLUMNS}: leave out those that are not needed"
    elif odd := [str(place) for place, name in enumerate(names, 1) if not name.isprintable()]:
        problem = f"column {odd[0]} of the header contains a control character: export it again with the usual line ends"
    elif twice := [name for name, fold in zip(names, folded, strict=True) if folded.count(fold) > 1 and name]:
        problem = f"the header has names that are the same, or differ only in capital letters: {listed(twice)}; rename these"
    elif "" in names:
        problem = f"column {names.index('') + 1} of the header has no name; give it one"
    elif all(map(_is_number, names)):
        problem = "the first row contains numbers, not names; put a header with the names of the columns above it"
    if problem:
        raise DataError(f"{path}: {problem}")
    return names


def listed(names: Sequence[str]) -> str:
    """List names of columns; if some contain no letter, the first row may contain values and is not shown."""
    if any(not LETTER.search(name) or _is_number(name) for name in names):
        return "(not shown, since some are numbers: is the first row a header?)"
    return ", ".join(names)


def _is_number(text: str) -> bool:
    with contextlib.suppress(ValueError):
        float(text.replace(",", "."))
        return True
    return False


def _check_lengths(path: Path, written: CsvFormat, names: int) -> None:
    """Check that each row has as many values as there are names.

    Raises:
        DataError: some rows are shorter or longer, wherever they are.
    """
    with _opened(path, written) as file:
        rows = csv.reader(file, delimiter=written.delimiter, strict=True)
        odd = [(rows.line_num, len(row)) for row in rows if row and len(row) != names]
    if odd:
        (line, values), more = odd[0], f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
        fix = f"correct it, put values with {written.delimiter!r} in double quotes, or correct delimiter in schema.yaml"
        has = f"{counted(values, 'value')}, but the header has {counted(names, 'name')}"
        raise DataError(f"{path}: line {line}{more} has {has}; {fix}")


def check_rows(path: Path, table: pd.DataFrame) -> None:
    """Check that a table has rows, and not too many.

    Raises:
        DataError: it has none, or too many.
    """
    if not len(table):
        raise DataError(f"{path}: has a header but no rows; export it again")
    if len(table) > MOST_ROWS:
        raise DataError(f"{path}: has more than {MOST_ROWS} rows; use a sample of them, or split the file")
