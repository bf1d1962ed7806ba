"""Reader of a CSV file as text, in a guessed or declared format; error messages contain none of its values."""

from __future__ import annotations

import codecs
import contextlib
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError, counted

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 5_000_000
MOST_COLUMNS = 1000
SAMPLE_BYTES = 1 << 16
"""Number of bytes of a file from which its delimiter is guessed."""
LARGE, SPEED = 10_000_000, 15_000_000
"""File size in bytes above which a message gives the reading time, and approximate number of bytes read in a second."""
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}
LETTER = re.compile(r"[^\W\d_]")
"""A letter of any alphabet."""


@dataclass(frozen=True)
class CsvFormat:
    """Format of a CSV file."""

    encoding: str
    delimiter: str
    decimal: str = "."
    thousands: str = ""
    """Mark between thousands; empty if there is none, or none is declared."""


def guess(path: Path) -> CsvFormat:
    """Guess the format of a file: its encoding from all of it, the rest from its first bytes.

    Raises:
        DataError: it is missing, empty, or not text.
    """
    head = _head(path)
    encoding = _encoding(path, head)
    text = head.decode(encoding, errors="replace")
    first = text.splitlines()[0] if text.splitlines() else ""
    delimiter = max(",;\t|", key=first.count)
    if not first.count(delimiter):
        delimiter = " " if _parted_by_spaces(text) else ","
    return CsvFormat(encoding, delimiter, "," if delimiter != "," and _decimal_commas(text, delimiter) else ".")


def _parted_by_spaces(text: str) -> bool:
    """Return True if the first lines contain the same number of spaces."""
    spaces = {line.count(" ") for line in text.splitlines()[:20]}
    return len(spaces) == 1 and spaces != {0}


def read_text(path: Path, written: CsvFormat) -> pd.DataFrame:
    """Read the rows of a file, each value as text without spaces around it.

    Raises:
        DataError: it is missing or empty, does not have the declared format, or its rows have different lengths.
    """
    import pandas as pd

    _head(path)
    if path.stat().st_size > LARGE:
        tell(f"Reading {path}: {path.stat().st_size / 1e6:.0f} MB, about {path.stat().st_size / SPEED:.0f} seconds")
    with _opened(path, written) as file:
        names = check_names(path, [name.strip() for name in next(csv.reader(file, delimiter=written.delimiter), [])])
    _check_lengths(path, written, len(names))  # pandas silently fills up or cuts some rows
    with _opened(path, written) as file:
        table = pd.read_csv(
            file, sep=written.delimiter, dtype=str, keep_default_na=False, na_values=[], skip_blank_lines=True,
            names=names, header=0, index_col=False, low_memory=False,
        )  # fmt: skip
    check_rows(path, table)
    stripped: pd.DataFrame = table.apply(lambda column: column.str.strip())
    return stripped


@contextlib.contextmanager
def _opened(path: Path, written: CsvFormat) -> Iterator[TextIO]:
    """Open a file in its format; errors of decoding and parsing become sentences without the values that they may quote."""
    try:
        with open(path, encoding=_with_mark(written.encoding), newline="") as file:
            yield file
    except DataError:
        raise
    except LookupError:
        what = "which is not for text; allowed: one such as utf-8 or cp1252"
        raise DataError(f"{path}: encoding: given {written.encoding!r}, {what}") from None
    except UnicodeError as error:
        where = f" (byte {error.start} of the part read)" if isinstance(error, UnicodeDecodeError) else ""
        what = "save it in UTF-8, or declare its encoding in schema.yaml, such as cp1252"
        raise DataError(f"{path}: is not written in {written.encoding}{where}; {what}") from None
    except (csv.Error, ValueError) as error:
        if "field larger" in str(error):
            long = f"contains a value of more than {csv.field_size_limit()} characters; correct it, or leave out its column"
            raise DataError(f"{path}: {long}") from None
        broken = "its quotes do not match or its lines are broken; export it again with each text in double quotes"
        raise DataError(f"{path}: {broken}") from None


def _head(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            head = file.read(SAMPLE_BYTES)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; correct the path, or ask its owner for permission") from None
    if not head.strip():
        raise DataError(f"{path}: is empty; export it again")
    if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(
            f"{path}: contains zero bytes, so it is no CSV file: its name has to end in its format, such as .xlsx, or export it "
            "as CSV in UTF-8"
        )
    return head


def _encoding(path: Path, head: bytes) -> str:
    for mark, encoding in MARKS.items():
        if head.startswith(mark):
            return "utf-8" if encoding == "utf-8-sig" else encoding
    decode, ascii_only = codecs.getincrementaldecoder("utf-8")().decode, True
    with open(path, "rb") as file:
        for line in file:
            try:
                ascii_only = decode(line).isascii() and ascii_only
            except UnicodeDecodeError:
                return "cp1252" if ascii_only else "utf-8"  # reading reports single wrong bytes
    return "utf-8"


def _with_mark(encoding: str) -> str:
    """Return the variant of an encoding that also reads files with a byte order mark."""
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def _decimal_commas(text: str, delimiter: str) -> bool:
    values = [value for line in text.splitlines()[1:200] for value in line.split(delimiter)]
    return any(value.strip().replace(",", "", 1).replace("-", "", 1).isdigit() and "," in value for value in values)


def check_names(path: Path, names: list[str]) -> list[str]:
    """Return the names of columns, if they can be used.

    Raises:
        DataError: they are too many, or one is missing, given twice or a number.
    """
    if len(names) > MOST_COLUMNS:
        raise DataError(f"{path}: has {len(names)} columns; allowed: at most {MOST_COLUMNS}: leave out those that are not needed")
    odd = [place for place, name in enumerate(names, 1) if not name.isprintable()]
    if odd:
        raise DataError(
            f"{path}: column {odd[0]} of the header contains a line break or another control character: export it again with the "
            "usual line ends"
        )
    folded = [name.casefold() for name in names]
    twice = [name for name, fold in zip(names, folded, strict=True) if folded.count(fold) > 1 and name]
    if twice:
        raise DataError(
            f"{path}: the header has names that are the same, or differ only in capital letters: {listed(twice)}; give each "
            "column a different name"
        )
    if "" in names:
        raise DataError(f"{path}: column {names.index('') + 1} of the header has no name; give it one")
    if all(_is_number(name) for name in names):
        raise DataError(f"{path}: the first row contains numbers, not names; put a header with the names of the columns above it")
    return names


def listed(names: Sequence[str]) -> str:
    """List names of columns; if some contain no letter, the first row may contain values and is not shown."""
    if any(not LETTER.search(name) or _is_number(name) for name in names):
        return "(not shown, since some are numbers: is the first row a header?)"
    return ", ".join(names)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


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
        raise DataError(
            f"{path}: line {line}{more} has {counted(values, 'value')}, but the header has {counted(names, 'name')}; correct the "
            f"rows, put values with {written.delimiter!r} in double quotes, or correct delimiter in schema.yaml"
        )


def check_rows(path: Path, table: pd.DataFrame) -> None:
    """Check that a table has rows, and not too many.

    Raises:
        DataError: it has none, or too many.
    """
    if not len(table):
        raise DataError(f"{path}: has a header but no rows; export it again")
    if len(table) > MOST_ROWS:
        raise DataError(f"{path}: has more than {MOST_ROWS} rows; use a sample of them, or split the file")
