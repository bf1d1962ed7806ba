"""Files of a release: data sets and texts, all of them functions of the crossing and the declarations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth_release.crossing import Crossing, Declarations
from formalsynth_release.intervals import LARGEST, LARGEST_OF_HATS, SETS, Way, analysed
from formalsynth_release.model import Model
from formalsynth_release.schema import Column, PublicSchema
from formalsynth_release.texts import ReleaseFacts, texts_of

if TYPE_CHECKING:
    import pandas as pd

MANIFEST = "MANIFEST.sha256"


def differences(release: Path, wanted: Mapping[str, str], wrong: str) -> Iterator[str]:
    """Yield a description of each file that is missing, added or different, by wanted checksums; theirs comes last."""
    there = sums(release)
    for name in sorted(there | dict(wanted), key=lambda name: (name == MANIFEST, name)):
        if name not in wanted:
            yield f"{release / name}: is not a file of this release"
        elif name not in there:
            yield f"{release / name}: is missing"
        elif there[name] != wanted[name]:
            yield f"{release / name}: {wrong}"


def sums(folder: Path) -> dict[str, str]:
    """Compute the sha256 of each file of a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def stated(release: Path) -> dict[str, str]:
    """Read the checksums in a release, and add that of their own file; they may be wrong."""
    path = release / MANIFEST
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    return {line[66:]: line[:64] for line in lines} | {name: own for name, own in sums(release).items() if name == MANIFEST}


def write(folder: Path, crossing: Crossing, declarations: Declarations) -> None:
    """Write the data sets and texts of a release."""
    schema, release = declarations.schema_, declarations.release
    generator = np.random.default_rng(int(crossing.seed, 16))
    model = Model.of(schema, crossing.tables)
    frames = [model.rows(crossing.rows, generator) for _ in range(release.sets)]
    rows = round(model.number) if schema.hides_rows else crossing.rows
    drawn, most = crossing.rows * min(release.sets, SETS), LARGEST_OF_HATS if model.knots else LARGEST
    way = Way(schema, release.analyses, release.ceiling, rows, drawn, model.knots, most)
    facts = ReleaseFacts(crossing, declarations, analysed(way, model, frames, generator))
    for name, frame in zip(facts.files, frames, strict=True):
        (folder / name).write_text(formatted(schema, frame), encoding="utf-8")
    for name, text in texts_of(facts).items():
        (folder / name).write_text(text, encoding="utf-8")


def seal(folder: Path) -> None:
    """Write the checksums of all files, in the format of ``sha256sum -c``."""
    (folder / MANIFEST).write_text("".join(f"{own}  {name}\n" for name, own in sums(folder).items()), encoding="utf-8")


def formatted(schema: PublicSchema, frame: pd.DataFrame) -> str:
    """Format a data set as CSV, with numbers at their declared decimal places."""
    import pandas as pd

    columns = {name: _formatted(schema.columns[name], frame[name]) for name in map(str, frame)}
    return pd.DataFrame(columns).to_csv(index=False, lineterminator="\n")


def _formatted(column: Column, values: pd.Series) -> pd.Series:
    return values if column.type == "category" else values.map(f"{{:.{column.places}f}}".format, na_action="ignore")
