"""The command ``verify``: computes a release again from its crossing, and compares it byte by byte."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from formalsynth.core.model import Model
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.runtime.files import checksum, write_text
from formalsynth_release.budget import read_ledger
from formalsynth_release.crossing import CROSSING, FILES, Crossing, read_crossing
from formalsynth_release.public import compute_release, software
from formalsynth_release.release_folder import OPEN_FILE, OPEN_FOLDER, differences
from formalsynth_release.same_rows import VARIABLE, ledgers_folder

SYSTEMS = frozenset({"security.selinux", "security.apparmor", "security.SMACK64", "security.ima", "security.evm"})
"""Extended attributes that systems set themselves."""
ACCESS = "system.posix_acl"
"""Prefix of the attributes that hold access lists, which contain user ids; other attributes in system. belong to file systems."""


ADVICE = (
    "Do not send or trust this folder: remove what was added to it (files such as __pycache__, modes or attributes), or use a "
    "copy that was verified, and verify again. This does not require another release"
)


class FileRecord(Model):
    """File of a release, compared with the one computed from its crossing."""

    name: str
    sha256: str | None
    """Checksum of the file; None if it is missing, or does not belong to the release."""
    computed: str | None
    """Checksum of the file that was computed again; None if the crossing does not produce this file."""


class VerificationRecord(Model):
    """Record of a verification, for programs and archives: nothing in it is confidential."""

    record: Literal["formalsynth verify"] = "formalsynth verify"
    version: Literal[1] = 1
    date: str
    """Time in UTC."""
    release: str
    """Name of the folder."""
    result: Literal["verified", "not verified"]
    reason: str | None = None
    """Reason why it was not verified; None if it was."""
    checks: tuple[str, ...]
    """Checks that passed, in order."""
    crossing: str | None = None
    """Sha256 of the crossing; None if it could not be read."""
    made_with: dict[str, str] = Field(default_factory=dict)
    """Versions of the software that the crossing names."""
    verified_with: dict[str, str]
    """Versions of the software of this verification."""
    files: tuple[FileRecord, ...] = ()


@dataclass
class _Findings:
    """Findings of a verification in progress."""

    checks: list[str] = field(default_factory=list)
    crossing: str | None = None
    made_with: dict[str, str] = field(default_factory=dict)
    files: list[FileRecord] = field(default_factory=list)


def verify(release: Path, study: Path | None = None, record: Path | None = None) -> list[str]:
    """Compute a release again from the crossing in it, and compare every byte.

    Args:
        release: folder of a release.
        study: folder of its study, if available: the crossing is then also compared with the ledger.
        record: file for a record in JSON, whatever the result is.

    Returns:
        Lines to print.

    Raises:
        DataError: a file differs, or the folder contains something that does not follow from the crossing.
    """
    if record is not None and record.resolve().is_relative_to(release.resolve()):
        raise DataError(f"{record}: is in the folder of the release, which may contain only its own files: choose another place")
    if record is not None and record.exists() and not _is_record(record):
        raise DataError(f"{record}: exists, and is not a record of a verification: choose another place")
    findings, problem = _Findings(), None
    try:
        _examine(release, study, findings)
    except DataError as error:
        problem = error
    if record is not None:
        write_text(record, _record_of(release, study, findings, problem))
    if problem is not None:
        raise problem
    return [
        f"{release}: all files follow from {CROSSING}, byte by byte, and there is nothing else in the folder.",
        f"The sha256 of {CROSSING} is {findings.crossing}"
        + (", as in the ledger." if study else ": ask the office that published the data whether it is theirs."),
        *_made_with(findings.made_with),
        *([f"The record is {record}."] if record else []),
    ]


def _examine(release: Path, study: Path | None, findings: _Findings) -> None:
    """Verify a release, and collect the findings on the way.

    Raises:
        DataError: something differs.
    """
    if release.is_symlink() or not release.is_dir():
        raise DataError(f"{release}: is not a folder; give the folder of a release")
    if problem := next(_odd(release), None):
        raise DataError(f"{problem}. {ADVICE}")
    findings.checks.append("only plain files, which cannot be run, without extended attributes except those that systems set")
    crossing, _ = read_crossing(release)
    findings.crossing, findings.made_with = checksum(release / CROSSING), dict(crossing.software)
    findings.checks.append(f"{CROSSING} is complete and agrees with the declarations")
    if set(crossing.software) != set(software()):
        raise DataError(f"{release}: cannot be computed here. {_reason(crossing)}")
    with tempfile.TemporaryDirectory() as scratch:
        given, again = Path(scratch, "crossing"), Path(scratch, "release")
        given.mkdir()
        again.mkdir()
        for name in FILES:
            shutil.copyfile(release / name, given / name)
        compute_release(given, again)
        findings.files += _compared(release, again)
        differing = list(differences(release, again))
    if differing:
        more = f" (and {counted(len(differing) - 1, 'more difference')})" if len(differing) > 1 else ""
        raise DataError(f"{differing[0]}{more}. {_reason(crossing)}")
    findings.checks.append(f"every byte of every file was computed again from {CROSSING}")
    if study is not None:
        _check_ledger(study, release, findings.crossing)
        findings.checks.append(f"{CROSSING} belongs to a release in the ledger")


def _compared(release: Path, again: Path) -> list[FileRecord]:
    """Return the checksums of the files of a release, and of the same files computed again."""
    there, computed = {path.name for path in release.iterdir()}, {path.name: checksum(path) for path in again.iterdir()}
    sums = {name: checksum(release / name) for name in there & computed.keys()}  # a file that was added may be of any size
    return [
        FileRecord(name=_text(name), sha256=sums.get(name), computed=computed.get(name))
        for name in sorted(there | computed.keys())
    ]


def _text(name: str) -> str:
    """Return the name of a file as printable text, even if it is not valid text."""
    return name.encode(errors="backslashreplace").decode()


def _made_with(given: Mapping[str, str]) -> Iterator[str]:
    """Describe software in the crossing that differs from that of this verification; no one can check these versions."""
    if given != (ours := software()):
        others = ", ".join(f"{name} {version}" for name, version in given.items() if ours.get(name) != version)
        yield f"According to its crossing, it was made with other software ({others}); the software here gives the same bytes."


def _places(release: Path, study: Path | None) -> Iterator[Path]:
    """Yield the folders that a message may name; that of the ledgers only if the study is given."""
    yield release
    if study is not None:
        yield study
        with contextlib.suppress(DataError):
            yield from filter(None, [ledgers_folder()])
        if chosen := os.environ.get(VARIABLE):  # it may not be usable
            yield Path(chosen)


def _is_record(path: Path) -> bool:
    try:
        VerificationRecord.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True


def _record_of(release: Path, study: Path | None, findings: _Findings, problem: DataError | None) -> str:
    """Write a record, in which paths of this machine are replaced by the names of their folders."""
    reason = _text(str(problem))
    for folder in _places(release, study):
        reason = reason.replace(str(folder), folder.resolve().name)
    record = VerificationRecord(
        date=datetime.now(UTC).isoformat(timespec="seconds"), release=release.resolve().name,
        result="verified" if problem is None else "not verified", reason=reason if problem else None,
        checks=tuple(findings.checks),
        crossing=findings.crossing, made_with=findings.made_with, verified_with=software(), files=tuple(findings.files),
    )  # fmt: skip
    return record.model_dump_json(indent=2) + "\n"


def _odd(release: Path) -> Iterator[str]:
    """Yield descriptions of items that no release contains: links, folders, devices, other modes and extended attributes.

    A copy in a folder of a group inherits its setgid bit, which executes nothing.
    """
    for path in [release, *sorted(release.rglob("*"))]:
        mode = path.lstat().st_mode
        name = path.relative_to(release.parent)
        if path != release and not stat.S_ISREG(mode):
            yield f"{name}: is a link, a folder or a device"
        elif path != release and path.lstat().st_nlink > 1:
            yield f"{name}: is another name of a file elsewhere (a hard link)"
        elif stat.S_IMODE(mode) & 0o7111 & ~(OPEN_FOLDER | stat.S_ISGID if path == release else OPEN_FILE):
            yield f"{name}: has the mode {stat.S_IMODE(mode):o}"
        elif attributes := _attributes(path):
            yield f"{name}: has the extended attribute {attributes[0]}"


def _attributes(path: Path) -> list[str]:
    """List the extended attributes of a file, without those that systems set themselves."""
    if not hasattr(os, "listxattr"):
        return []
    own = os.listxattr(path, follow_symlinks=False)
    return [name for name in own if name.startswith(ACCESS) or (name not in SYSTEMS and not name.startswith("system."))]


def _reason(crossing: Crossing) -> str:
    """Explain a difference by a change of the folder, or by other software."""
    ours = software()
    pairs = {name: (crossing.software.get(name, "none"), ours.get(name, "none")) for name in crossing.software | ours}
    others = [f"{name} {given}, here {here}" for name, (given, here) in pairs.items() if given != here]
    if others:
        return f"The release was made with other software ({'; '.join(others)}): verify it with the same software"
    return "Do not send or trust this folder: it was changed after it was made"


def _check_ledger(study: Path, release: Path, total: str) -> None:
    """Check that a crossing belongs to a release in the ledger.

    Raises:
        DataError: it is not.
    """
    if total not in {entry.crossing for entry in read_ledger(study, needed=True)}:
        raise DataError(
            f"{release / CROSSING}: is not the crossing of a release in the ledger of {study}: the whole folder was replaced, "
            "or it belongs to another study"
        )
