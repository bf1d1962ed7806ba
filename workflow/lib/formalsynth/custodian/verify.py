"""The command ``verify``: a release computed again from its crossing, and compared byte by byte."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from formalsynth.core.text import DataError
from formalsynth.custodian.budget import read_ledger
from formalsynth.custodian.crossing import CROSSING, Crossing, names, read_crossing
from formalsynth.custodian.public import compute_release, software
from formalsynth.custodian.release_folder import OPEN_FILE, OPEN_FOLDER
from formalsynth.runtime.files import checksum


def verify(release: Path, study: Path | None = None) -> list[str]:
    """Compute a release again from the crossing in it, and compare every byte.

    Args:
        release: folder of a release.
        study: folder of its study, at the office: the crossing is then also compared with the ledger.

    Returns:
        Lines to print.

    Raises:
        DataError: a file differs, or the folder has something that the crossing does not explain.
    """
    if release.is_symlink() or not release.is_dir():
        raise DataError(f"{release}: is not a folder; give the folder of a release")
    if problem := next(_odd(release), None):
        raise DataError(f"{problem}. Do not send this folder: release again, or take a copy that was verified")
    crossing, _ = read_crossing(release)
    with tempfile.TemporaryDirectory() as scratch:
        given, again = Path(scratch, "crossing"), Path(scratch, "release")
        given.mkdir()
        again.mkdir()
        for name in names(crossing):
            shutil.copyfile(release / name, given / name)
        compute_release(given, again)
        differing = list(_differences(release, again))
    if differing:
        raise DataError(f"{differing[0]}. {_reason(crossing)}")
    total = checksum(release / CROSSING)
    if study is not None:
        _check_ledger(study, release, total)
    return [
        f"{release}: all files are what {CROSSING} explains, byte by byte, and there is nothing else in the folder.",
        f"The sha256 of {CROSSING} is {total}"
        + (", as in the ledger." if study else ": ask the office that published the data whether it is theirs."),
    ]


def _odd(release: Path) -> Iterator[str]:
    """Describe what a release never has: links, folders, devices, other modes and extended attributes."""
    for path in [release, *sorted(release.rglob("*"))]:
        mode = path.lstat().st_mode
        name = path.relative_to(release.parent)
        if path != release and not stat.S_ISREG(mode):
            yield f"{name}: is a link, a folder or a device"
        elif path != release and path.lstat().st_nlink > 1:
            yield f"{name}: is another name of a file elsewhere (a hard link)"
        elif stat.S_IMODE(mode) & 0o7111 & ~(OPEN_FOLDER if path == release else OPEN_FILE):
            yield f"{name}: has the mode {stat.S_IMODE(mode):o}"
        elif attributes := _attributes(path):
            yield f"{name}: has the extended attribute {attributes[0]}"


def _attributes(path: Path) -> list[str]:
    """Names of the extended attributes of a file, without those that systems set themselves."""
    if not hasattr(os, "listxattr"):
        return []
    own = os.listxattr(path, follow_symlinks=False)
    return [name for name in own if not name.startswith(("security.", "system."))]


def _differences(release: Path, again: Path) -> Iterator[str]:
    """Describe each file that is missing, added or different."""
    there, wanted = ({path.name for path in folder.iterdir()} for folder in (release, again))
    yield from (f"{release / name}: is not a file of this release" for name in sorted(there - wanted))
    yield from (f"{release / name}: is missing" for name in sorted(wanted - there))
    for name in sorted(there & wanted):
        if (release / name).read_bytes() != (again / name).read_bytes():
            yield f"{release / name}: differs from what {CROSSING} explains"


def _reason(crossing: Crossing) -> str:
    """Explain a difference: a change, or other software."""
    ours = software()
    others = [
        f"{name} {given}, here {ours.get(name, 'none')}" for name, given in crossing.software.items() if ours.get(name) != given
    ]
    if others:
        return f"The release was made with other software ({'; '.join(others)}): verify it with the same"
    return "Do not send or trust this folder: it was changed after it was made"


def _check_ledger(study: Path, release: Path, total: str) -> None:
    """Check that a crossing is that of a release in the ledger.

    Raises:
        DataError: it is not.
    """
    if total not in {entry.crossing for entry in read_ledger(study)}:
        raise DataError(
            f"{release / CROSSING}: is not the crossing of a release in the ledger of {study}: all of it was changed, "
            "or it belongs to another study"
        )
