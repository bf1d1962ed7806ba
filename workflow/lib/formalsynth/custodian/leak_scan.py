"""Scan of the folder of a release: allowed files, and confidential content in each of them. One finding stops the release."""

from __future__ import annotations

import contextlib
import csv
import getpass
import io
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.custodian.copied_rows import copied
from formalsynth.custodian.leak_patterns import in_numbers, in_png, in_text, numbers_in, rounded
from formalsynth.custodian.schema import Column, Declared, Schema
from formalsynth.runtime.files import checksum

MANIFEST = "MANIFEST.sha256"
TEXTS = ("metadata.json", "datapackage.json", "README.md", "combine.py", "deployment.yaml", "LEGAL.md")
PICTURE = "outcomes.png"
SET = re.compile(r"synthetic_([1-9][0-9]{0,2})\.csv")
LARGEST = 10**8
"""Largest number of bytes of a text; the size of a set follows from its declared rows."""
WORD = re.compile(r"[\w-]+")
LEAST_NAME = 3
"""Smallest number of letters of a name that is looked for."""


@dataclass(frozen=True)
class Finding:
    """Confidential or unexpected content in a release."""

    file: str
    what: str

    def sentence(self) -> str:
        """Describe the finding, without a value."""
        return f"{self.file}: {self.what}; nothing is released."


@dataclass(frozen=True)
class ConfidentialContent:
    """Content that must not be in a release, with its declarations."""

    declared: Declared
    table: pd.DataFrame = field(repr=False)
    """Used rows."""
    text: pd.DataFrame = field(repr=False)
    """Whole file as text."""
    secrets: Sequence[Array] = field(default=(), repr=False)
    """Weights, bounds and draws."""
    published: str = ""
    """Texts of the release as they follow from declarations: their content is allowed."""
    sets: int = 1
    picture: bool = False

    @property
    def schema(self) -> Schema:
        """Schema of the file."""
        return self.declared.schema


def refuse_leaks(folder: Path, confidential: ConfidentialContent) -> None:
    """Refuse a release with confidential content.

    Raises:
        DataError: confidential content was found; the message names file and kind, without the value.
    """
    tell("Looking for confidential content in a release")
    finding = next(scan(folder, confidential), None)
    if finding:
        raise DataError(finding.sentence())


def scan(folder: Path, confidential: ConfidentialContent) -> Iterator[Finding]:
    """List confidential and unexpected content of a folder."""
    files = sorted(folder.iterdir())
    yield from _allowed(files, confidential)
    yield from _complete(files, confidential)
    scanner = _Scanner.of(confidential)
    for path in files:
        if path.is_symlink() or not path.is_file():
            continue
        yield from (Finding(path.name, f"holds {what}") for what in scanner.scan(path))
    yield from _checked_sums(folder, files)
    yield from _chance(folder, confidential)


def _allowed(files: Sequence[Path], confidential: ConfidentialContent) -> Iterator[Finding]:
    """List files that are not allowed."""
    for path in files:
        if path.is_symlink():
            yield Finding(path.name, "is a link")
        elif not path.is_file():
            yield Finding(path.name, "is a folder or a device")
        elif path.name in (*TEXTS, MANIFEST) or (path.name == PICTURE and confidential.picture):
            continue
        elif not (match := SET.fullmatch(path.name)) or int(match[1]) > confidential.sets:
            yield Finding(path.name, "is not on the list of files of a release")


def _complete(files: Sequence[Path], confidential: ConfidentialContent) -> Iterator[Finding]:
    names = {path.name for path in files}
    wanted = [*TEXTS, MANIFEST, *(f"synthetic_{k + 1}.csv" for k in range(confidential.sets))]
    yield from (Finding(name, "is missing") for name in wanted if name not in names)


@dataclass(frozen=True)
class _Scanner:
    """Confidential values to look for, and allowed content."""

    schema: Schema
    rows: int | None
    names: frozenset[str]
    outcomes: frozenset[float]
    secrets: frozenset[str]
    allowed: frozenset[float]
    published: str

    @classmethod
    def of(cls, confidential: ConfidentialContent) -> _Scanner:
        """Collect the values to look for."""
        schema, text = confidential.schema, confidential.text
        raw = pd.to_numeric(text[schema.outcome], errors="coerce").dropna()
        outcomes = {*raw.astype(float), *confidential.table[schema.outcome].astype(float)}
        published = confidential.published
        secrets = {rounded(float(value)) for array in confidential.secrets for value in np.ravel(array) if np.isfinite(value)}
        allowed = numbers_in(published)
        rows = len(confidential.table) if schema.neighbours == "replace" else None
        return cls(
            schema, rows, frozenset(_names(confidential)), frozenset(outcomes), frozenset(secrets),
            frozenset({*allowed, *([float(rows)] if rows else [])}), published,
        )  # fmt: skip

    def scan(self, path: Path) -> Iterator[str]:
        """List confidential content of one file."""
        yield from in_text(path.name, self.names, self.published)
        content = path.read_bytes()
        if path.suffix == ".png":
            yield from in_png(content)
            return
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            yield "bytes other than text"
            return
        if path.name == MANIFEST:
            return
        if path.suffix == ".csv":  # each of its values is compared with what is declared
            yield from self._in_table(text)
        else:
            if len(content) > LARGEST:
                yield "more than a release file may"
            yield from in_text(text, self.names, self.published)
            yield from in_numbers(text, self.outcomes, self.secrets, self.allowed, self.published)

    def _in_table(self, text: str) -> Iterator[str]:
        """List contradictions to the schema: other columns, other values, more digits than declared."""
        rows = list(csv.reader(io.StringIO(text), strict=True))
        columns = self.schema.released
        if not rows or rows[0] != list(columns):
            yield "other columns than those of a release"
            return
        body = rows[1:]
        if any(len(row) != len(columns) for row in body):
            yield "rows of another length"
            return
        if self.rows is not None and len(body) != self.rows:
            yield "another number of rows than the other sets have"
        for (name, column), values in zip(columns.items(), zip(*body, strict=True), strict=False):
            if not _as_declared(column, values):
                yield f"values in the column {name} that its declaration does not have"


def _as_declared(column: Column, values: Sequence[str]) -> bool:
    if column.type == "category":
        return set(values) <= set(column.categories or [])
    low, high = column.ends
    form = re.compile(rf"-?\d+(?:\.\d{{1,{max(column.places, 1)}}})?")
    distinct = set(values)
    return all(form.fullmatch(value) for value in distinct) and all(low <= float(value) <= high for value in distinct)


def _names(confidential: ConfidentialContent) -> Iterator[str]:
    """List names of users, computers, folders and confidential files."""
    for variable in ("USER", "LOGNAME", "USERNAME", "SUDO_USER"):
        yield from _long([os.environ.get(variable, "")])
    with contextlib.suppress(KeyError, OSError):  # a user without an entry in the list of users has no name
        yield from _long([getpass.getuser()])
    csv_file = confidential.declared.csv
    yield from _long([socket.gethostname(), socket.getfqdn(), os.path.expanduser("~"), csv_file.name])  # noqa: PTH111 # no error
    yield from _long([str(csv_file.parent.resolve()), str(confidential.declared.folder.resolve()), str(Path.cwd())])


def _long(names: Sequence[str]) -> list[str]:
    return [name for name in names if len(name) >= LEAST_NAME and name not in ("localhost",)]


def _checked_sums(folder: Path, files: Sequence[Path]) -> Iterator[Finding]:
    """Check that the manifest has the checksum of each other file, and nothing else."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return
    expected = {path.name: checksum(path) for path in files if path.is_file() and path.name != MANIFEST}
    if manifest.read_text(encoding="utf-8", errors="replace") != manifest_text(expected):
        yield Finding(MANIFEST, "holds something else than the checksums of the files")


def manifest_text(sums: Mapping[str, str]) -> str:
    """Write the manifest in the format of ``sha256sum -c``."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def _chance(folder: Path, confidential: ConfidentialContent) -> Iterator[Finding]:
    """List copied rows in the synthetic sets, and confidential identifiers anywhere."""
    schema, sets = confidential.schema, []
    for k in range(confidential.sets):
        path = folder / f"synthetic_{k + 1}.csv"
        if not path.is_file():
            return
        synthetic = pd.read_csv(
            path, dtype={name: str for name, c in schema.released.items() if c.type == "category"}, keep_default_na=False
        )
        if list(synthetic.columns) != list(schema.released) or not pd.api.types.is_numeric_dtype(synthetic[schema.outcome]):
            return
        sets.append(synthetic)
    for what in copied(schema, confidential.table[list(schema.released)], sets):
        yield Finding("synthetic sets", f"hold copies: {what}")
    yield from _identifiers(folder, confidential)


def _identifiers(folder: Path, confidential: ConfidentialContent) -> Iterator[Finding]:
    """List texts with values of suppressed columns that identify rows; sets have declared values only."""
    schema, text = confidential.schema, confidential.text
    known: set[str] = set()
    for name, column in schema.columns.items():
        if column.release == "suppressed" and text[name].nunique() > 0.5 * len(text):
            known |= {value for value in text[name] if len(value) >= LEAST_NAME}
    known -= set(WORD.findall(confidential.published))
    texts = [path for path in sorted(folder.iterdir()) if path.suffix not in (".png", ".csv") and path.name != MANIFEST]
    for path in texts if known else []:
        if path.is_file() and known & set(WORD.findall(path.read_text(encoding="utf-8", errors="replace"))):
            yield Finding(path.name, "holds a value of a suppressed column")
