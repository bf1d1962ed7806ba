"""The command ``verify``: computes a release again from its crossing, and compares every byte."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from formalsynth.core.text import DataError
from formalsynth_release.crossing import CROSSING, FILES, Crossing, read_crossing
from formalsynth_release.public import MANIFEST, compute_release, software, sums

CHANGED = "Do not send or trust this folder: it was changed after it was made. A clean copy needs no other release"
"""Reason for a difference."""


def verify(release: Path, study: Path | None = None) -> list[str]:
    """Compute a release again from the crossing in it, and return lines to print; given its study, look in the ledger, too.

    Raises:
        DataError: a file differs, or the folder contains something that does not follow from the crossing.
    """
    if release.is_symlink() or not release.is_dir():
        raise DataError(f"{release}: is not a folder; give the folder of a release")
    for path in sorted(release.iterdir()):
        if path.is_symlink() or not path.is_file():
            raise DataError(f"{path}: is a link, a folder or a device, and not a file of this release")
    manifest = release / MANIFEST
    lines = manifest.read_text(encoding="utf-8", errors="replace").splitlines() if manifest.is_file() else []
    stated = {line[66:]: line[:64] for line in lines} | {name: own for name, own in sums(release).items() if name == MANIFEST}
    # compared before the release is computed, which takes longer
    _refuse(_differences(release, stated, f"does not match its checksum in {MANIFEST}"), CHANGED)
    crossing, _ = read_crossing(release)
    if set(crossing.software) != set(software()):
        raise DataError(f"{release}: cannot be computed here. {_reason(crossing)}")
    with tempfile.TemporaryDirectory() as scratch:
        given, again = Path(scratch, "crossing"), Path(scratch, "release")
        given.mkdir()
        again.mkdir()
        for name in FILES:
            shutil.copyfile(release / name, given / name)
        compute_release(given, again)
        _refuse(_differences(release, sums(again), f"does not follow from {CROSSING}"), _reason(crossing))
    total = sums(release)[CROSSING]
    if study is not None:
        _check_ledger(study, release, total)
    known = "as in the ledger" if study else "ask the office that published the data whether it is theirs"
    others = _others(crossing)
    return [
        f"{release}: all files follow from {CROSSING}, byte by byte, and there is no other file.",
        f"The sha256 of {CROSSING} is {total}: {known}.",
        *([f"The crossing names other software ({others}), which gives the same bytes here."] if others else []),
    ]


def _differences(release: Path, wanted: Mapping[str, str], wrong: str) -> Iterator[str]:
    """Yield a description of each file that is missing, added or different, by wanted checksums; theirs comes last."""
    there = sums(release)
    for name in sorted(there | dict(wanted), key=lambda name: (name == MANIFEST, name)):
        if name not in wanted:
            yield f"{release / name}: is not a file of this release"
        elif name not in there:
            yield f"{release / name}: is missing"
        elif there[name] != wanted[name]:
            yield f"{release / name}: {wrong}"


def _refuse(differing: Iterator[str], reason: str) -> None:
    if first := next(differing, ""):
        more = sum(1 for _ in differing)
        raise DataError(f"{first}{f' (and {more} more)' if more else ''}. {reason}")


def _others(crossing: Crossing) -> str:
    """Describe software of a crossing that differs from the present one; empty if it is the same."""
    given, ours = ({**dict.fromkeys(crossing.software | software(), "none"), **of} for of in (crossing.software, software()))
    return "; ".join(f"{name} {given[name]}, here {ours[name]}" for name in given if given[name] != ours[name])


def _reason(crossing: Crossing) -> str:
    """Explain a difference by a change of the folder, or by other software."""
    others = _others(crossing)
    return f"The release was made with other software ({others}): verify it with the same software" if others else CHANGED


def _check_ledger(study: Path, release: Path, total: str) -> None:
    from formalsynth_release.ledger import CrossingEntry, check_study, read_ledger
    from formalsynth_release.study import read_declared

    ledger = read_ledger(read_declared(study).schema.source)
    check_study(ledger, study)
    if total not in {entry.sha256 for entry in ledger.of(CrossingEntry)}:
        why = f"in the ledger of the source {ledger.source}: the whole folder was replaced, or it belongs to another source"
        raise DataError(f"{release / CROSSING}: is not the crossing of a release {why}")
