"""Recognition of a file by its rows, whatever its name, order and format, for the ledgers of all studies of a user.

Only keyed hashes are stored: without the key, which is the user's own, no one can look for a row among them. They are
confidential all the same, and only their owner can read them.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import socket
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.model import Model
from formalsynth.core.text import DataError
from formalsynth.custodian.csv_file import with_points
from formalsynth.runtime.private import FILE, private_folder, write_private, write_private_bytes

if TYPE_CHECKING:
    import pandas as pd

VARIABLE = "FORMALSYNTH_LEDGERS"
"""Environment variable with the folder of the ledgers, for an office that shares one."""
KEY, INDEX = "key", "files.jsonl"
GROUP_FILE = 0o660
"""Mode of a file that a group shares."""
SAMPLE = 512
"""Number of rows, those with the smallest hashes, used to recognize files that differ a little."""
FEW_VALUES = 20
"""Minimum number of distinct values for equal columns to indicate equal records."""
CODES = ("", "na", "n/a", "nan", "null", "none", "#n/a", "<na>", "?", ".", "-")
MISSING = {"NaN", *(spelled for code in CODES for spelled in (code, code.upper(), code.title()))}
"""Usual codes of missing values; all of them count as one value here, whatever is declared."""
SHARED = 0.05
"""Share of the sampled rows above which two files are reported as overlapping."""


@dataclass(frozen=True)
class Content:
    """Rows of a file, as hashes."""

    rows: Array
    """Sorted hashes of the rows, uint64."""
    columns: dict[str, bytes]
    """Digest of the sorted values of each column with many different values."""
    file: str = ""
    """Sha256 of the file itself; empty where it is not known."""
    former: Array | None = None
    """Rows as version 0.3.0 hashed them; None if that makes no difference."""


class Known(Model):
    """File of a ledger, identified by keyed hashes."""

    ledger: str
    study: str = ""
    """Keyed hash of the study's location; empty in lists of earlier versions."""
    rows: str
    sample: tuple[str, ...]
    columns: tuple[str, ...]
    file: str = ""
    """Keyed hash of the file itself, whatever format is declared for it; empty in lists of earlier versions."""


def content_of(text: pd.DataFrame, decimal: str = ".") -> Content:
    """Compute hashes of the rows of a file, and those of version 0.3.0, where only an empty value counted as missing."""
    content = _content(text, decimal, MISSING)
    if not text.isin(MISSING - {""}).any(axis=None):
        return content
    return replace(content, former=_content(text, decimal, {""}).rows)


def _content(text: pd.DataFrame, decimal: str, missing: Collection[str]) -> Content:
    """Compute hashes of the rows of a file.

    Neither the names nor the order of rows and columns matter, nor how numbers and missing values are written: 1, 1.0 and 1e0 are
    the same value. Columns with only one value do not count.

    Args:
        text: all values as text.
        decimal: point or comma of decimal numbers.
        missing: codes of missing values.
    """
    import pandas as pd

    columns, rows = {}, np.zeros(len(text), dtype=np.uint64)
    for name in text.columns:
        column = _comparable(text[name].mask(text[name].isin(missing)), decimal)
        hashes = pd.util.hash_pandas_object(column, index=False).to_numpy()
        different = len(np.unique(hashes))
        if different >= FEW_VALUES:
            columns[name] = hashlib.sha256(np.sort(hashes).tobytes()).digest()
        if different > 1:
            rows += hashes
    return Content(np.sort(rows), columns)


def _comparable(column: pd.Series, decimal: str) -> pd.Series:
    """Convert a column whose values are all numbers from text to numbers."""
    import pandas as pd

    plain = with_points(column) if decimal == "," else column
    numbers = pd.to_numeric(plain, errors="coerce")
    whole = bool((numbers.isna() == column.isna()).all())
    return numbers.astype(float) + 0.0 if whole else column.fillna("").astype(str)


def ledgers_folder() -> Path | None:
    """Folder of the ledgers of all studies of the user; None where the user has no home.

    Raises:
        DataError: it cannot be used.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen and not Path(chosen).is_absolute():
        raise DataError(f"{VARIABLE}: given {chosen!r}; allowed: the absolute path of a folder")
    try:
        folder = Path(chosen) if chosen else _state() / "formalsynth" / "ledgers"
        if not folder.is_absolute():
            raise DataError(f"XDG_STATE_HOME: given {os.environ.get('XDG_STATE_HOME')!r}; allowed: the absolute path of a folder")
        return folder if folder.is_dir() and _is_shared(folder) else private_folder(folder)
    except (OSError, RuntimeError) as error:
        if chosen or _has_home():
            what = f"given {chosen!r}, which" if chosen else f"not given, and the default, {folder},"
            raise DataError(f"{VARIABLE}: {what} cannot be used: {error}") from error
        return None


def _has_home() -> bool:
    """Return True for a user who has a home folder: an error with the ledgers in it can be corrected."""
    with contextlib.suppress(OSError, RuntimeError):
        return Path.home().is_dir() and Path.home().stat().st_uid == os.getuid()
    return False


def mode_in(folder: Path) -> int:
    """Return the mode of files in a folder of ledgers: open to its group, too, if a group shares the folder."""
    return GROUP_FILE if _is_shared(folder) else FILE


def _is_shared(folder: Path) -> bool:
    """Return True for a folder that its group may write to, and whose files belong to the group (``chmod 2770``)."""
    shared = stat.S_IWGRP | stat.S_ISGID
    return folder.stat().st_mode & shared == shared


def _state() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")


def known_as(folder: Path, ledger: str, study: Path, content: Content) -> Known:
    """Describe the file of a ledger, and the location of its study, by keyed hashes.

    Raises:
        DataError: the key is damaged.
    """
    key = _key(folder)
    return Known(
        ledger=ledger, study=place_of(folder, study), rows=_keyed(key, "rows", content.rows.tobytes()),
        sample=tuple(_keyed(key, "row", row.tobytes()) for row in np.unique(content.rows)[:SAMPLE]),
        columns=tuple(_keyed(key, "column", digest) for digest in content.columns.values()),
        file=_keyed(key, "file", content.file.encode()) if content.file else "",
    )  # fmt: skip


def as_formerly(folder: Path, ours: Known, content: Content, known: Sequence[Known]) -> list[Known]:
    """Describe a file by the row hashes under which version 0.3.0 listed it; empty if it did not list it."""
    rows = "" if content.former is None else _keyed(_key(folder), "rows", content.former.tobytes())
    return [ours.model_copy(update={"rows": rows})] if any(entry.rows == rows for entry in known) else []


def linked(known: Sequence[Known], ours: Sequence[Known]) -> set[str]:
    """Rows of some files, and all rows listed for the same bytes: another declared format does not make it another file."""
    rows, before = {entry.rows for entry in ours}, set[str]()
    while rows != before:
        files = {entry.file for entry in (*known, *ours) if entry.rows in rows} - {""}
        before, rows = rows, rows | {entry.rows for entry in known if entry.file in files}
    return rows


def place_of(folder: Path, study: Path) -> str:
    """Keyed hash of the location of a study.

    Raises:
        DataError: the key is damaged.
    """
    return _keyed(_key(folder), "study", socket.gethostname().encode() + b":" + os.fsencode(study.resolve()))


def _keyed(key: bytes, kind: str, value: bytes) -> str:
    return hmac.new(key, f"{kind}:".encode() + value, hashlib.sha256).hexdigest()[:32]


def _key(folder: Path) -> bytes:
    path = folder / KEY
    if not path.exists():
        if read_known(folder):
            raise DataError(f"{path}: is missing, and {folder / INDEX} cannot be read without it: restore it from a copy")
        write_private(folder / INDEX, "", mode_in(folder))  # exists from now on, so that a lost list is noticed
        write_private_bytes(path, secrets.token_bytes(32), mode_in(folder))
    try:
        key = path.read_bytes()
    except PermissionError as error:
        raise DataError(f"{path}: belongs to another user; a folder shared by a group must have mode 2770") from error
    if len(key) != 32:
        raise DataError(f"{path}: is damaged: restore it from a copy")
    return key


def read_known(folder: Path) -> list[Known]:
    """Read the files of all ledgers.

    Raises:
        DataError: the list is damaged.
    """
    path = folder / INDEX
    if not path.exists():
        if (folder / KEY).exists() and any(folder.glob("*.jsonl")):
            raise DataError(f"{path}: is missing, and it names the rows of the ledgers there: restore it from a copy")
        return []
    try:
        return [Known.model_validate_json(line, strict=True) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is damaged; nothing is released until it is intact: restore it from a copy") from error


def keep_known(folder: Path, known: Known) -> None:
    """Add the file of a ledger to the list, if it is not there."""
    listed = read_known(folder)
    if known not in listed:
        text = "".join(entry.model_dump_json() + "\n" for entry in [*listed, known])
        write_private(folder / INDEX, text, mode_in(folder))


def of_same_rows(known: Sequence[Known], ours: Sequence[Known]) -> list[str]:
    """Names of the other ledgers of the same rows."""
    names, rows = {entry.ledger for entry in ours}, linked(known, ours)
    return sorted({entry.ledger for entry in known if entry.rows in rows} - names)


def overlaps(known: Sequence[Known], ours: Known, same: Sequence[str]) -> dict[str, str]:
    """Describe, by ledger, the overlap of a file with other files that do not have the same rows."""
    shared_with = {}
    for entry in known:
        shared = len(set(entry.sample) & set(ours.sample))
        columns = len(set(entry.columns) & set(ours.columns))
        if entry.ledger not in (ours.ledger, *same) and (columns or shared > SHARED * len(ours.sample)):
            sampled = f"at least {shared} of {len(ours.sample)} sampled rows are in both"
            shared_with[entry.ledger] = f"{sampled}, and {columns} columns have the same values" if columns else sampled
    return shared_with
