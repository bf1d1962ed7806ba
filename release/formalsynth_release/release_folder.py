"""Folder of a release: written next to its final location, and moved there in one step."""

from __future__ import annotations

import contextlib
import filecmp
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.text import DataError
from formalsynth.runtime.files import checksum
from formalsynth.runtime.private import private_folder
from formalsynth.runtime.scratch import scratch_folder
from formalsynth_release.crossing import CROSSING, Crossing, Declarations
from formalsynth_release.intervals import SETS, Way, analysed, largest
from formalsynth_release.model import Model
from formalsynth_release.schema import Column, PublicSchema
from formalsynth_release.texts import ReleaseFacts, texts_of

if TYPE_CHECKING:
    import pandas as pd

OPEN_FOLDER, OPEN_FILE = 0o755, 0o644
MANIFEST, PICTURE = "MANIFEST.sha256", "outcomes.png"


def check_place(to: Path) -> None:
    """Check, before anything counts as spent, that the folder of a release can be made.

    Raises:
        DataError: it exists, or cannot be made.
    """
    if os.path.lexists(to):
        raise DataError(f"{to}: already exists; a release is never overwritten: move it away, or choose another folder with --to")
    try:
        with unpublished_folder(to):
            pass
    except OSError as error:
        raise DataError(f"{to}: cannot be made ({error.strerror}): choose another folder with --to") from error


@contextlib.contextmanager
def unpublished_folder(to: Path) -> Iterator[Path]:
    """Make a folder next to that of a release, to be filled and then moved there; it is removed if the release fails."""
    made = not to.parent.exists()
    if made:
        private_folder(to.parent)
    try:
        with scratch_folder(to.parent, "release") as scratch:
            folder = scratch / to.name
            folder.mkdir(mode=0o700)
            yield folder
    finally:
        if made:
            with contextlib.suppress(OSError):  # it contains the release
                to.parent.rmdir()


def publish(folder: Path, to: Path) -> None:
    """Make a finished folder readable for everyone, and move it to its final location."""
    for path in folder.iterdir():
        path.chmod(OPEN_FILE)
    folder.rename(to)
    to.chmod(OPEN_FOLDER)


def differences(release: Path, again: Path) -> Iterator[str]:
    """Yield a description of each file that is missing, added or different; that of checksums comes last."""
    there, wanted = ({path.name for path in folder.iterdir()} for folder in (release, again))
    yield from (f"{release / name}: is not a file of this release" for name in sorted(there - wanted))
    yield from (f"{release / name}: is missing" for name in sorted(wanted - there))
    for name in sorted(there & wanted, key=lambda name: (name == MANIFEST, name)):
        if not filecmp.cmp(release / name, again / name, shallow=False):
            yield f"{release / name}: does not follow from {CROSSING}"


def write(folder: Path, crossing: Crossing, declarations: Declarations) -> None:
    """Write the data sets, texts and picture of a release; all of them are functions of the crossing and the declarations."""
    schema, release = declarations.schema_, declarations.release
    generator = np.random.default_rng(int(crossing.seed, 16))
    model = Model.of(schema, crossing.tables)
    frames = [model.rows(crossing.rows, generator) for _ in range(release.sets)]
    rows = round(model.number) if schema.hides_rows else crossing.rows
    drawn, most = crossing.rows * min(release.sets, SETS), largest(model.knots > 0)
    way = Way(schema, release.analyses, release.ceiling, rows, drawn, model.knots, most)
    facts = ReleaseFacts(crossing, declarations, analysed(way, model, frames, generator))
    for name, frame in zip(facts.files, frames, strict=True):
        (folder / name).write_text(formatted(schema, frame), encoding="utf-8")
    for name, text in texts_of(facts).items():
        (folder / name).write_text(text, encoding="utf-8")
    if release.figure:
        outcomes = [frame[schema.outcome].dropna().to_numpy(dtype=float) for frame in frames]
        draw_outcomes(folder / PICTURE, schema.outcome, outcomes)


def seal(folder: Path) -> None:
    """Write the checksums of all files, in the format of ``sha256sum -c``."""
    sums = "".join(f"{checksum(path)}  {path.name}\n" for path in sorted(folder.iterdir()))
    (folder / MANIFEST).write_text(sums, encoding="utf-8")


def formatted(schema: PublicSchema, frame: pd.DataFrame) -> str:
    """Format a data set as CSV, with numbers at their declared decimal places."""
    import pandas as pd

    columns = {name: _formatted(schema.columns[name], frame[name]) for name in map(str, frame)}
    return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n")


def _formatted(column: Column, values: pd.Series) -> pd.Series:
    return values if column.type == "category" else values.map(f"{{:.{column.places}f}}".format, na_action="ignore")


def draw_outcomes(path: Path, outcome: str, sets: Sequence[np.ndarray]) -> None:
    """Draw the distribution functions of the synthetic outcomes, without metadata."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for values in filter(len, sets):  # all outcomes of a set may be missing
        axes.ecdf(values, color="#0072b2", alpha=0.5)
    axes.set_xlabel(outcome)
    axes.set_ylabel("share of synthetic values up to here")
    figure.savefig(path, dpi=150, metadata={"Software": None})
