"""Folder of a release: written next to its place, scanned, and moved there as a whole."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from formalsynth.core.text import DataError
from formalsynth.custodian.guarantees import Audit
from formalsynth.custodian.leak_scan import MANIFEST, PICTURE, ConfidentialContent, manifest_text, refuse_leaks
from formalsynth.custodian.synthetic_sets import SyntheticSets
from formalsynth.custodian.texts import ReleaseFacts, texts_of
from formalsynth.runtime.files import checksum
from formalsynth.runtime.private import private_folder
from formalsynth.runtime.scratch import scratch_folder

OPEN_FOLDER, OPEN_FILE = 0o755, 0o644


def publish(facts: ReleaseFacts, drawn: SyntheticSets, confidential: ConfidentialContent, to: Path) -> None:
    """Fill a folder that only its owner can enter, scan it, and move it to its place."""
    with unpublished_folder(to) as folder:
        write(folder, facts, drawn)
        refuse_leaks(folder, confidential)
        for path in folder.iterdir():
            path.chmod(OPEN_FILE)
        folder.rename(to)
    to.chmod(OPEN_FOLDER)


def check_place(to: Path) -> None:
    """Check, before anything counts as spent, that a folder can be made.

    Raises:
        DataError: it exists.
        OSError: it cannot be created.
    """
    if os.path.lexists(to):
        raise DataError(
            f"{to}: is there already; a release is never written over: move it away, or choose another folder with --to"
        )
    with unpublished_folder(to):
        pass


@contextlib.contextmanager
def unpublished_folder(to: Path) -> Iterator[Path]:
    """Make a folder next to the one of a release, to be filled before it moves there; it is removed if the release fails."""
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
            with contextlib.suppress(OSError):  # it holds the release
                to.parent.rmdir()


def write(folder: Path, facts: ReleaseFacts, drawn: SyntheticSets) -> None:
    """Write every file of a release, the manifest last."""
    schema = facts.declared.schema
    for name, frame in zip(facts.files, drawn.sets, strict=True):
        columns = {
            column: _formatted(schema.columns[column].places, schema.columns[column].type, frame[column])
            for column in map(str, frame)
        }
        pd.DataFrame(columns).to_csv(folder / name, index=False, lineterminator="\n")
    for name, text in texts_of(facts).items():
        (folder / name).write_text(text, encoding="utf-8")
    if facts.config.figure:
        draw_outcomes(folder / PICTURE, schema.outcome, [frame[schema.outcome].to_numpy(dtype=float) for frame in drawn.sets])
    sums = {path.name: checksum(path) for path in folder.iterdir()}
    (folder / MANIFEST).write_text(manifest_text(sums), encoding="utf-8")


def published_texts(releases: Sequence[ReleaseFacts]) -> str:
    """Join all possible texts of releases, whatever the outcome of drawing and audit, with the names of their files."""
    open_facts = list(itertools.product(get_args(Audit), (False, True), (False, True)))
    texts = [
        texts_of(replace(facts, audit=audit, uses_predictors=used, compared=compared)) | dict.fromkeys(facts.files, "")
        for facts in releases
        for audit, used, compared in open_facts
    ]
    return "\n".join([MANIFEST, PICTURE, *(f"{name}\n{text}" for files in texts for name, text in files.items())])


def _formatted(places: int, kind: str, values: pd.Series) -> pd.Series:
    return values if kind == "category" else values.map(lambda value: f"{value:.{places}f}")


def draw_outcomes(path: Path, outcome: str, sets: list[np.ndarray]) -> None:
    """Draw the distribution functions of the synthetic outcomes, without metadata."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for values in sets:
        axes.ecdf(values, color="#0072b2", alpha=0.5)
    axes.set_xlabel(outcome)
    axes.set_ylabel("share of synthetic values up to here")
    figure.savefig(path, dpi=150, metadata={"Software": None})
