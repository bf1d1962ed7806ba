"""Selection of the files of a run that go into a report, without confidential files and files that make it too large."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from formalsynth.runtime.files import unbroken
from formalsynth_workflow.report.info import DisplayInfo, RunInfo

LARGE = 20_000
"""Size in bytes from which a table to be sent is only in the archive of its paper."""
SHARP = 150_000
"""Size in bytes of the largest SVG that a page shows, sharp at any zoom; larger ones load slowly, so the PNG is shown instead."""
ROOM = 11_000_000
"""Largest total size in bytes of the copies in a report to be sent; with the pages it stays below 15 MB, small enough to mail."""
SHOWN_ON_PAGES = (".png", ".svg", ".txt")
"""Extensions of the files that the pages themselves show."""
RECORDS = "the content includes records of an unpublished data file, or a number for each of them"
STATISTICS = "the content is made from an unpublished data file"
TOO_LARGE = "the report would become too large to send"


@dataclass(frozen=True)
class Copies:
    """Files of the run that go into a report."""

    contents: Mapping[str, bytes | Path]
    """Content as bytes, or the file to copy, by the name in the report's folder ``papers``."""
    left_out: Mapping[str, Sequence[str]]
    """Names of the files that are left out of the report, by reason."""

    def of(self, file: str) -> dict[str, str]:
        """Return the names of the copies of a figure or table, keyed by the extension of the original."""
        return {name.rpartition(".")[2]: name for name in self.contents if _stem(name) == file}


def archive(key: str) -> str:
    """Name of the archive with all tables and captions of a paper."""
    return f"{key}/{key}.zip"


def _stem(name: str) -> str:
    """Folder and name of a file, without its extension."""
    return name.rpartition(".")[0]


def withheld(info: DisplayInfo, sent: bool) -> str:
    """Return the reason why a figure or table is not shown; empty if it is shown.

    Args:
        info: the figure or table.
        sent: True if the report is to be sent to others.
    """
    if info.confidential == "records":
        return RECORDS
    return STATISTICS if info.confidential and sent else ""


def copies(info: RunInfo, shown: Mapping[str, Path], sent: bool) -> Copies:
    """Choose the files of figures and tables that go into a report.

    Args:
        info: the plan.
        shown: the files of the run, by name.
        sent: True if the report is to be sent to others.

    Raises:
        OSError: a file is damaged.
    """
    reasons = {item.file: why for paper in info.papers for item in paper.shown if (why := withheld(item, sent))}
    left_out: dict[str, list[str]] = {}
    for name in shown:
        if _stem(name) in reasons:
            left_out.setdefault(reasons[_stem(name)], []).append(name)
    figures = [figure.file for paper in info.papers for figure in paper.figures]
    other = {name for file in figures for name in (f"{file}.svg", f"{file}.png") if name != picture(shown, file)}
    names = [name for name in shown if _stem(name) not in reasons and name not in other]
    contents: dict[str, bytes | Path] = {name: unbroken(shown[name]) for name in names}
    for key in dict.fromkeys(name.partition("/")[0] for name in names):
        tables = [name for name in names if name.startswith(f"{key}/") and name.endswith((".csv", ".txt"))]
        contents[archive(key)] = _packed({name: shown[name] for name in tables})
    if sent:
        large = {name for name, content in contents.items() if name.endswith(".csv") and _size(content) >= LARGE}
        contents = {name: content for name, content in contents.items() if name not in large}
    too_large = _too_large(contents) if sent else set()
    if too_large:
        left_out[TOO_LARGE] = [name for name in contents if name in too_large]
    return Copies({name: content for name, content in contents.items() if name not in too_large}, left_out)


def picture(shown: Mapping[str, Path], file: str) -> str:
    """Name of the picture that a page shows for a figure; the report contains no other picture of it."""
    sharp = shown.get(f"{file}.svg")
    return f"{file}.svg" if sharp is not None and sharp.stat().st_size <= SHARP else f"{file}.png"


def _packed(files: Mapping[str, Path]) -> bytes:
    """Pack files into an archive, with identical bytes in every run."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, path in files.items():
            target.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _size(content: bytes | Path) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _too_large(contents: Mapping[str, bytes | Path]) -> set[str]:
    """Name the largest files that must be left out to keep the report small; files that the pages show are never left out."""
    sizes = {name: _size(content) for name, content in contents.items()}
    optional = sorted((name for name in sizes if not name.endswith(SHOWN_ON_PAGES)), key=lambda name: sizes[name])
    total, dropped = sum(sizes.values()), set[str]()
    while total > ROOM and optional:
        dropped.add(largest := optional.pop())
        total -= sizes[largest]
    return dropped
