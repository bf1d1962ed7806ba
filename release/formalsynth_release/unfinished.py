"""Unfinished releases: a crossing is on disk before the public side begins, so that a later command can finish its release.

After a full disk or a killed process, epsilon is not spent a second time.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.runtime.files import checksum, write_text
from formalsynth.runtime.private import private_folder
from formalsynth.runtime.scratch import scratch_folder
from formalsynth_release.budget import CONFIDENTIAL, UNFINISHED, copies_of, finish, read_ledger, record_crossing
from formalsynth_release.crossing import CROSSING, Crossing, Declarations, read_crossing, sha256, text_of, write_crossing
from formalsynth_release.public import compute_release, software
from formalsynth_release.release_folder import check_place, differences, publish, unpublished_folder

PLACE = "release"
"""File with the index of the release in the ledger, in the folder of its crossing."""


@dataclass(frozen=True)
class Unfinished:
    """Crossing of a release that is not published yet."""

    study: Path
    folder: Path
    """Folder with the files of the crossing."""
    place: int
    """Index among the releases of the study."""


def store(study: Path, place: int, crossing: Crossing, declarations: Declarations) -> Unfinished:
    """Write a complete crossing to the study, synced to disk and readable only by its owner.

    Args:
        study: folder of the study.
        place: index among its releases.
        crossing: the crossing.
        declarations: public declarations.
    """
    confidential = private_folder(study / CONFIDENTIAL)
    with scratch_folder(confidential, "crossing") as scratch:
        folder = private_folder(scratch / UNFINISHED)
        write_crossing(folder, crossing, declarations)
        write_text(folder / PLACE, str(place))
        for path in [*folder.iterdir(), folder]:
            _sync(path)
        folder.rename(confidential / UNFINISHED)
    _sync(confidential)
    record_crossing(study, place, _digest(crossing))
    return Unfinished(study, confidential / UNFINISHED, place)


def _digest(crossing: Crossing) -> str:
    """Compute the sha256 of a crossing without its software versions, which are those of the process that publishes it."""
    return sha256(text_of(crossing.model_copy(update={"software": {}})))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unfinished(study: Path) -> Unfinished | None:
    """Return the unfinished release of a study; None if there is none.

    Raises:
        DataError: the folder does not belong to a release in the ledger, or to one that was published; it is then removed.
    """
    folder, ledger = crossing_folder(study), read_ledger(study)
    if not folder.exists():
        return None
    if not ledger and (folder / CROSSING).exists():
        copies = " or ".join(copies_of(study)) or "in the folder of all ledgers"
        raise DataError(
            f"{folder}: contains a crossing whose epsilon is already spent, but the ledger is missing: restore it from its copy "
            f"{copies}"
        )
    try:
        place = int((folder / PLACE).read_text(encoding="utf-8"))
        entry = ledger[place]
    except (OSError, ValueError, IndexError) as error:
        raise DataError(f"{folder}: is not a crossing of a release in the study's ledger: move it away") from error
    if entry.outcome == "released":  # the process was killed before it could remove the folder, or this is a copy of the study
        _remove(folder)
        raise DataError(
            f"{folder}: the release from this crossing was published on {entry.date}, so the crossing was deleted; nothing was "
            "spent. The same command now begins another release, for another epsilon"
        )
    return Unfinished(study, folder, place)


def finish_release(release: Unfinished, to: Path) -> None:
    """Compute the public folder of a release from its crossing, publish it, and record that.

    Args:
        release: the crossing.
        to: folder of the release; it may exist only if it is this release.

    Raises:
        DataError: the crossing is damaged, or the public side failed.
    """
    tell("Computing the release from its crossing")
    if not _is_there(release, to):
        check_place(to)
        crossing, _ = read_crossing(release.folder)
        recorded = read_ledger(release.study)[release.place]
        if recorded.outcome == "started" and recorded.crossing not in ("", _digest(crossing)):
            raise DataError(
                f"{release.folder / CROSSING}: is not the crossing that the ledger recorded, so it was changed: restore "
                "it from a copy, or move its folder away; its epsilon stays spent"
            )
        present = software() | {name: crossing.software[name] for name in ("opendp",) if name in crossing.software}
        if crossing.software != present:  # the public side uses the software installed now; the noise was drawn before
            write_text(release.folder / CROSSING, text_of(crossing.model_copy(update={"software": present})))
        with unpublished_folder(to) as folder:
            compute_release(release.folder, folder)
            publish(folder, to)
    finish(release.study, release.place, "released", checksum(release.folder / CROSSING))
    _remove(release.folder)


def _remove(folder: Path) -> None:
    """Remove the folder of a crossing in one step: a process killed while doing so leaves a scratch folder."""
    with scratch_folder(folder.parent, "crossing") as scratch:
        folder.rename(scratch / folder.name)


def _is_there(release: Unfinished, to: Path) -> bool:
    """Return True if the complete release was published, but the process was killed before it could record that.

    Raises:
        DataError: the crossing is there, but the other files differ from those computed from it.
    """
    ours, theirs = release.folder / CROSSING, to / CROSSING
    if not theirs.is_file() or checksum(ours) != checksum(theirs):
        return False
    with tempfile.TemporaryDirectory() as scratch:
        compute_release(release.folder, Path(scratch))
        if problem := next(differences(to, Path(scratch)), None):
            raise DataError(f"{problem}: {to} was changed or is incomplete; move it away")
    return True


def crossing_folder(study: Path) -> Path:
    """Return the folder for the crossing of a release that is not published yet."""
    return study / CONFIDENTIAL / UNFINISHED


def unpublished(study: Path) -> list[str]:
    """Describe the crossing of an unfinished release, whose epsilon is spent; none if there is no such release."""
    crossing = crossing_folder(study)
    if not crossing.exists() or _is_published(study, crossing):
        return []
    return [f"Epsilon spent, but not published: {crossing}. The next formalsynth release publishes it."]


def _is_published(study: Path, crossing: Path) -> bool:
    """Return True for the crossing of a published release, whose process was killed before it could remove the crossing."""
    with contextlib.suppress(OSError, ValueError, IndexError, DataError):
        return read_ledger(study)[int((crossing / PLACE).read_text(encoding="utf-8"))].outcome == "released"
    return False
