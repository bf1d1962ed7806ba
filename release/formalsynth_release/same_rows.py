"""Recognition of a file by its rows, whatever its name, order and format, for the ledgers of all studies of a user.

Only keyed hashes are stored: without the user's key, no one can look for a row among them. They are nevertheless
confidential, and only their owner can read them.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array
from formalsynth.core.model import Model
from formalsynth.core.text import DataError
from formalsynth.runtime.private import FILE, private_folder, write_private, write_private_bytes
from formalsynth_release.hash_chain import NAME

if TYPE_CHECKING:
    import pandas as pd

VARIABLE = "FORMALSYNTH_LEDGERS"
"""Environment variable with the folder of the ledgers, for an office that shares one."""
KEY, INDEX = "key", "files.jsonl"
KEY_LENGTH = 32
"""Bytes of the key."""
GROUP_FILE = 0o660
"""Mode of a file that a group shares."""
SAMPLE = 512
"""Number of rows, those with the smallest hashes, that are compared to recognize files that differ a little."""
FEW_VALUES = 20
"""Minimum number of distinct values for equal columns to indicate equal records."""
CODES = ("na", "n/a", "n.a.", "k.a.", "nan", "nat", "null", "none", "#n/a", "<na>", "\\n", "?", ".", "-")
"""Usual codes of missing values, without differences of case; all of them count as an empty value here."""
NUMBER = re.compile(r"[-+]?[.,]?\d[\d.,' ]*(e[-+]?\d+)?")
SEPARATORS = r"[' ]|[.,](?=.*[.,])"
"""Pattern of a number in any format, and of its separators other than the last point or comma."""
POWERS = np.array([float(f"1e{power}") for power in range(-307, 309)])
"""Powers of ten, each the nearest number to it."""
DIGITS, FRACTION_DIGITS = 15, 9
"""Significant digits by which whole numbers are compared, and numbers with a fraction: R writes 15 of them, pandas 17."""
RULE = 2
"""Version of the rule by which rows are hashed; 1 was that of version 0.4.0, and read numbers as declared."""
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


class Known(Model):
    """File listed for a ledger, identified by keyed hashes."""

    ledger: str
    study: str = ""
    """Keyed hash of the study's location; empty in lists of earlier versions."""
    rows: str
    sample: tuple[str, ...]
    columns: tuple[str, ...]
    file: str = ""
    """Keyed hash of the file itself, whatever format is declared for it; empty in lists of earlier versions."""
    rule: int = 1
    """Version of the rule by which rows are hashed: hashes of different rules cannot be compared."""
    seal: str = ""
    """Keyed hash of the other fields in the list; empty elsewhere, and in lists of earlier versions."""

    def sealed(self, key: bytes) -> Known:
        """Return the entry with its seal, which shows later that neither it nor the key was changed."""
        plain = self.model_copy(update={"seal": ""})
        return plain.model_copy(update={"seal": _keyed(key, "seal", plain.model_dump_json().encode())})


def content_of(text: pd.DataFrame) -> Content:
    """Compute hashes of the rows of a file.

    Neither the names nor the order of rows and columns matter, nor how a value is written. Each value is compared on its own,
    whatever is declared for the file, because another export of the same rows may have another format. Columns with one value do
    not count.

    Args:
        text: all values as text.
    """
    columns, rows = {}, np.zeros(len(text), dtype=np.uint64)
    for name in text.columns:
        hashes = _hashes(text[name])
        different = len(np.unique(hashes))
        if different >= FEW_VALUES:
            columns[name] = hashlib.sha256(np.sort(hashes).tobytes()).digest()
        if different > 1:
            rows += hashes
    return Content(np.sort(rows), columns)


def _hashes(column: pd.Series) -> NDArray[np.uint64]:
    """Hash each value (n,): numbers by their significant digits, other values as text without differences of case."""
    import pandas as pd

    codes, values = pd.factorize(column.astype(object).fillna(""))
    plain = pd.Series(values, dtype=object).str.normalize("NFKC").str.strip().str.casefold()
    plain[plain.isin(CODES)] = ""
    hashes = pd.util.hash_array(plain.to_numpy(), categorize=False)
    number = plain.str.fullmatch(NUMBER).to_numpy(dtype=bool)
    if number.any():
        pointed = plain[number].str.replace(SEPARATORS, "", regex=True).str.replace(",", ".", regex=False)
        hashes[number] = pd.util.hash_array(_digits(pointed.to_numpy().astype(float)))
    return np.asarray(hashes[codes], dtype=np.uint64)


def _digits(numbers: Array) -> Array:
    """Divide numbers by the power of ten below them: 1.234 is one thousand or one, depending on the format of its file."""
    size = np.abs(numbers)
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = size / POWERS[np.maximum(np.searchsorted(POWERS, size, side="right") - 1, 0)]
    digits = np.round(digits, DIGITS - 1)  # as R and Excel write them
    fewer = np.where(numbers == np.rint(numbers), digits, np.round(digits, FRACTION_DIGITS - 1))
    fewer = np.where(fewer == 10, 1.0, fewer)
    return np.where(np.isfinite(digits) & (size > 0), np.copysign(fewer, numbers), 0.0)


def ledgers_folder() -> Path | None:
    """Return the folder of the ledgers of all studies of the user; None if the user has no home folder.

    Raises:
        DataError: it cannot be used.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen and not Path(chosen).is_absolute():
        raise DataError(f"{VARIABLE}: given {chosen!r}; allowed: the absolute path of a folder")
    try:
        folder = Path(chosen) if chosen else _state() / "formalsynth" / "ledgers"
        if chosen and not folder.exists():
            what = "an existing folder: correct the path, or create the folder once. In a new one, no epsilon counts as spent"
            raise DataError(f"{VARIABLE}: given {chosen!r}, which does not exist; allowed: {what}")
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
    """Make keyed hashes of the file of a ledger and the location of its study.

    Raises:
        DataError: the key is damaged.
    """
    key = _key(folder)
    return Known(
        ledger=ledger, study=place_of(folder, study), rows=_keyed(key, "rows", content.rows.tobytes()),
        sample=tuple(_keyed(key, "row", row.tobytes()) for row in np.unique(content.rows)[:SAMPLE]),
        columns=tuple(_keyed(key, "column", digest) for digest in content.columns.values()),
        file=_keyed(key, "file", content.file.encode()) if content.file else "", rule=RULE,
    )  # fmt: skip


def linked(known: Sequence[Known], ours: Sequence[Known]) -> set[str]:
    """Return the row hashes of some files, and all those listed for the same bytes under other declared formats."""
    rows, before = {entry.rows for entry in ours}, set[str]()
    while rows != before:
        files = {entry.file for entry in (*known, *ours) if entry.rows in rows} - {""}
        before, rows = rows, rows | {entry.rows for entry in known if entry.file in files}
    return rows


def place_of(folder: Path, study: Path) -> str:
    """Compute the keyed hash of a study's location.

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
        if any(NAME.fullmatch(ledger.stem) for ledger in folder.glob("*.jsonl")):
            raise DataError(f"{path}: is missing, and {folder / INDEX}, too, but there are ledgers: restore both from a copy")
        write_private(folder / INDEX, "", mode_in(folder))  # from now on, a lost list is noticed
        write_private_bytes(path, secrets.token_bytes(KEY_LENGTH), mode_in(folder))
    try:
        key = path.read_bytes()
    except PermissionError as error:
        raise DataError(f"{path}: belongs to another user; a folder shared by a group must have mode 2770") from error
    if len(key) != KEY_LENGTH:
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
            raise DataError(f"{path}: is missing, and only it identifies the rows of the ledgers there: restore it from a copy")
        return []
    try:
        known = [Known.model_validate_json(line, strict=True) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is damaged; nothing is released until it is intact: restore it from a copy") from error
    key = (folder / KEY).read_bytes() if (folder / KEY).exists() else b""  # a missing or damaged one is named where it is used
    if len(key) == KEY_LENGTH and any(entry.seal and entry != entry.sealed(key) for entry in known):
        raise DataError(f"{path}: was changed, or {KEY} next to it was replaced: restore both from the same copy")
    return [entry.model_copy(update={"seal": ""}) for entry in known]


def keep_known(folder: Path, known: Known) -> None:
    """Add the file of a ledger to the list, unless it is already there."""
    listed = read_known(folder)
    if known not in listed:
        key = _key(folder)
        text = "".join(entry.sealed(key).model_dump_json() + "\n" for entry in [*listed, known])
        write_private(folder / INDEX, text, mode_in(folder))


def of_same_rows(known: Sequence[Known], ours: Sequence[Known]) -> list[str]:
    """List the names of other ledgers of the same rows."""
    names, rows = {entry.ledger for entry in ours}, linked(known, ours)
    return sorted({entry.ledger for entry in known if entry.rows in rows} - names)


def overlaps(known: Sequence[Known], ours: Known, same: Sequence[str]) -> dict[str, str]:
    """Describe the overlap of a file with files of other rows, keyed by their ledger."""
    shared_with = {}
    for entry in known:
        shared = len(set(entry.sample) & set(ours.sample))
        columns = len(set(entry.columns) & set(ours.columns))
        if entry.ledger not in (ours.ledger, *same) and (columns or shared > SHARED * len(ours.sample)):
            sampled = f"at least {shared} of {len(ours.sample)} sampled rows are in both"
            shared_with[entry.ledger] = f"{sampled}, and {columns} columns have the same values" if columns else sampled
    return shared_with
