"""Which files of the run go into a report, which stay with their owner, and what would make a sent report too large."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from formalsynth.report.told import ToldRun, ToldShown
from formalsynth.runtime.files import unbroken

LARGE = 100_000
"""Bytes from which a table is packed by gzip."""
ROOM = 11_000_000
"""Bytes of copies in a report that is sent: with its pages it stays below 15 MB, which mail programs take."""
SHOWN_ON_PAGES = (".png", ".txt")
"""Endings of what the pages themselves show."""
RECORDS = "it holds records of a data file that is not published, or a number for each of them"
STATISTICS = "it is made from a data file that is not published"
TOO_LARGE = "the report would become larger than can be sent"


@dataclass(frozen=True)
class LeftOut:
    """Something that a report does not hold, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Copies:
    """What of the run goes into a report."""

    contents: Mapping[str, bytes | Path]
    """Bytes, or the file that is copied, by the name in the report's folder ``papers``."""
    left_out: Sequence[LeftOut]

    def of(self, file: str) -> dict[str, str]:
        """The copies of a figure or table: their names by the ending of the original."""
        return {_original(name).suffix[1:]: name for name in self.contents if str(_original(name).with_suffix("")) == file}


def _original(name: str) -> Path:
    return Path(name.removesuffix(".gz"))


def withheld(told: ToldShown, sent: bool) -> str:
    """Why a figure or table is not shown; empty where it is.

    Args:
        told: the figure or table.
        sent: whether the report is to be sent to others.
    """
    if told.confidential == "records":
        return RECORDS
    return STATISTICS if told.confidential and sent else ""


def copies(told: ToldRun, shown: Mapping[str, Path], sent: bool) -> Copies:
    """Which files of figures and tables go into a report.

    Args:
        told: what the plan says.
        shown: the files of the run, by their name.
        sent: whether the report is to be sent to others.

    Raises:
        OSError: a file is damaged.
    """
    items = [item for paper in told.papers for item in (*paper.figures, *paper.tables)]
    kept = {item.file: why for item in items if (why := withheld(item, sent))}
    left_out = [LeftOut(name, kept[stem]) for name in shown if (stem := str(_original(name).with_suffix(""))) in kept]
    names = [name for name in shown if str(_original(name).with_suffix("")) not in kept]
    contents = dict(_packed(name, unbroken(shown[name])) for name in names)
    too_large = _too_large(contents) if sent else set()
    left_out += [LeftOut(name, TOO_LARGE) for name in contents if name in too_large]
    return Copies({name: content for name, content in contents.items() if name not in too_large}, left_out)


def _packed(name: str, path: Path) -> tuple[str, bytes | Path]:
    """A file as it is copied: a large table packed, with the same bytes in every run."""
    if path.suffix != ".csv" or path.stat().st_size < LARGE:
        return name, path
    return f"{name}.gz", gzip.compress(path.read_bytes(), mtime=0)


def _too_large(contents: Mapping[str, bytes | Path]) -> set[str]:
    """The largest files beside those that the pages show, so many that the rest has room."""
    sizes = {name: len(one) if isinstance(one, bytes) else one.stat().st_size for name, one in contents.items()}
    optional = sorted((name for name in sizes if not name.endswith(SHOWN_ON_PAGES)), key=lambda name: sizes[name])
    total, dropped = sum(sizes.values()), set[str]()
    while total > ROOM and optional:
        dropped.add(largest := optional.pop())
        total -= sizes[largest]
    return dropped


def by_reason(left_out: Iterable[LeftOut]) -> dict[str, list[str]]:
    """Names of what is left out, by the reason."""
    found: dict[str, list[str]] = {}
    for one in left_out:
        found.setdefault(one.why, []).append(one.name)
    return found
