"""Real data: where each file comes from, how it is found, checked and read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.families import Records


class DataError(ValueError):
    """A data file cannot be used; the message names the file and what is wrong."""


@dataclass(frozen=True)
class Dataset:
    """A data file that the workflow can read."""

    file: str
    n: int
    """Rows of the file."""
    sha256: str
    source: str
    """Where the file is published."""
    read: Callable[[Path], Records]


def find(name: str, folder: str | Path) -> Path | None:
    """The file of a data set, in ``folder`` or in the folder that FORMALSYNTH_DATA names; None when absent."""
    places = [Path(folder)] + [Path(one) for one in [os.environ.get("FORMALSYNTH_DATA")] if one]
    return next((place / DATASETS[name].file for place in places if (place / DATASETS[name].file).is_file()), None)


def load(name: str, folder: str | Path, drop_rows: Sequence[int] = ()) -> Records:
    """Read a data set, leaving out 1-based rows.

    Raises:
        DataError: the file is absent, is not the published one, or holds impossible values.
    """
    dataset, path = DATASETS[name], find(name, folder)
    if path is None:
        raise DataError(f"{dataset.file}: not found in {folder} nor in FORMALSYNTH_DATA")
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != dataset.sha256:
        raise DataError(f"{path}: sha256 is {found}, the published file has {dataset.sha256}")
    records = dataset.read(path)
    keep = np.setdiff1d(np.arange(dataset.n), np.asarray(drop_rows, dtype=int) - 1)
    return {key: values[keep] for key, values in records.items()}


def read_fatigue(path: Path) -> Records:
    """Cycles to failure, with a constant, log stress and its square as predictors."""
    table = np.genfromtxt(path, delimiter=",", names=True)
    if table.dtype.names != ("stress", "cycle"):
        raise DataError(f"{path}: columns are {table.dtype.names}, expected stress and cycle")
    if not (np.isfinite(table["stress"]).all() and (table["stress"] > 0).all() and (table["cycle"] > 0).all()):
        raise DataError(f"{path}: stress and cycle must be positive numbers in every row")
    log_stress = np.log(table["stress"])
    return {"x": table["cycle"], "design": np.column_stack([np.ones(len(table)), log_stress, log_stress**2])}


DATASETS: dict[str, Dataset] = {
    "fatigue": Dataset(
        "fatigue.csv",
        22,
        "7c3d629db22856548db45d1e69241fa20fc849e2d09f2975686e6fa08270717e",
        "R package BayesLN 0.2.10, data set fatigue (Upadhyay and Peshwani 2008)",
        read_fatigue,
    ),
}
