"""Real data: where each file comes from, how it is found, checked and read."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.families import Array, Records
from formalsynth.files import whole

LEAST = 2
"""Records that a data set needs at least."""


class DataError(ValueError):
    """A data file cannot be used; the message names the file and what is wrong."""


@dataclass(frozen=True)
class Dataset:
    """A data file that the workflow can read."""

    file: str
    rows: int | None
    """Records that it gives; None where the published file is not at hand and they are counted."""
    sha256: str | None
    """Checksum of the published file; None where it is not known."""
    source: str
    """Where the file is published."""
    read: Callable[[Path], Any]
    url: str = ""
    """Where the very file can be downloaded; empty where it has to be fetched by hand."""


def find(name: str, folder: str | Path) -> Path | None:
    """Where a data set or table is, in ``folder`` or where FORMALSYNTH_DATA points; None when absent."""
    file = (DATASETS | TABLES)[name].file
    places = [Path(folder)] + [Path(one) for one in [os.environ.get("FORMALSYNTH_DATA")] if one]
    return next((place / file for place in places if os.path.lexists(place / file)), None)


def is_folder(path: str | Path) -> bool:
    """Whether a folder is there; what cannot be the path of one is none."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def load(name: str, folder: str | Path, drop_rows: Sequence[int] = ()) -> Records:
    """Read a data set, leaving out 1-based rows.

    Raises:
        DataError: the file is absent, is not the published one, or holds impossible values.
    """
    dataset = DATASETS[name]
    records = contents(name, folder)
    found = len(records["x"])
    if dataset.rows is not None and found != dataset.rows:
        raise DataError(f"{dataset.file}: gives {found} records, expected {dataset.rows}")
    if len(set(drop_rows)) < len(drop_rows) or max(drop_rows, default=0) > found:
        raise DataError(f"{dataset.file}: drop_rows: given {list(drop_rows)}; allowed: different rows from 1 to {found}")
    keep = np.setdiff1d(np.arange(found), np.asarray(drop_rows, dtype=int) - 1)
    if len(keep) < LEAST:
        raise DataError(f"{dataset.file}: gives {len(keep)} records without the dropped rows; at least {LEAST} are needed")
    return {key: values[keep] for key, values in records.items()}


def check(name: str, folder: str | Path) -> None:
    """Check a registered file; one whose checksum is that of the published file need not be read.

    Raises:
        DataError: the file is absent, is not the published one, or cannot be read.
    """
    dataset = (DATASETS | TABLES)[name]
    if dataset.sha256:
        _checked_path(dataset, name, folder)
    else:
        contents(name, folder)


def contents(name: str, folder: str | Path) -> Any:
    """What the reader of a registered file makes of it.

    Raises:
        DataError: the file is absent, is not the published one, or cannot be read.
    """
    dataset = (DATASETS | TABLES)[name]
    path = _checked_path(dataset, name, folder)
    try:
        return dataset.read(path)
    except DataError:
        raise
    # whatever else a reader stumbles over: columns, numbers, an encoding
    except (OSError, ValueError, LookupError) as error:
        raise DataError(f"{path}: is not in the form of {dataset.source}: {' '.join(str(error).split())}") from error


def load_counts(name: str, folder: str | Path) -> dict[str, tuple[Array, Array]] | None:
    """A published table of value counts: for each variable its values and how often they occur; None when absent.

    Raises:
        DataError: the file is there but is not the published one.
    """
    return contents(name, folder) if find(name, folder) else None


def fetch(name: str, folder: str | Path) -> str:
    """Download a data file into ``folder`` unless it is there; what happened, as a sentence.

    Raises:
        DataError: the download fails or is not the published file.
    """
    dataset = (DATASETS | TABLES)[name]
    if find(name, folder):
        return f"{dataset.file}: there already"
    if not dataset.url:
        return f"{dataset.file}: to be fetched by hand ({dataset.source}); put it into {folder}"
    try:
        with urllib.request.urlopen(dataset.url, timeout=60) as response:
            content = response.read()
    except OSError as error:
        raise DataError(f"{dataset.file}: {dataset.url} cannot be read ({error}); put the file into {folder} by hand") from error
    found = hashlib.sha256(content).hexdigest()
    if found != dataset.sha256:
        raise DataError(f"{dataset.file}: sha256 of the download is {found}, the published file has {dataset.sha256}")
    with whole(Path(folder) / dataset.file) as partial:
        partial.write_bytes(content)
    return f"{dataset.file}: downloaded"


def _checked_path(dataset: Dataset, name: str, folder: str | Path) -> Path:
    path = find(name, folder)
    if path is None:
        raise DataError(f"{dataset.file}: not found in {folder} nor in FORMALSYNTH_DATA")
    if not path.is_file():
        raise DataError(f"{path}: is no file; expected the published one ({dataset.source})")
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    if dataset.sha256 and found != dataset.sha256:
        raise DataError(f"{path}: sha256 is {found}, the published file has {dataset.sha256}")
    return path


def read_fatigue(path: Path) -> Records:
    """Cycles to failure, with a constant, log stress and its square as predictors."""
    table = np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True, encoding="utf-8"))
    if table.dtype.names != ("stress", "cycle"):
        raise DataError(f"{path}: columns are {table.dtype.names}, expected stress and cycle")
    if not all(np.isfinite(table[name]).all() and (table[name] > 0).all() for name in table.dtype.names):
        raise DataError(f"{path}: stress and cycle must be positive numbers in every row")
    log_stress = np.log(table["stress"])
    return {"x": table["cycle"], "design": np.column_stack([np.ones(len(table)), log_stress, log_stress**2])}


SALARY_TOP = 509_000.0
"""Largest salary of the 2017 SDR public-use file: the declared upper end of the scaled outcome."""
SDR_COLUMNS = {
    "SALARYP": (261, 269), "GENDER": (137, 137), "AGEGRP": (26, 28), "WKSWK": (322, 324), "EDTP": (103, 103),
    "NDGMENGP": (193, 194),
}  # fmt: skip
"""1-based first and last column of each variable in the fixed-width file EPSD17.DAT."""
SDR_RECORD = 347
SDR_AGE_GROUPS = tuple(range(30, 75, 5))
SDR_SKIPS = {"SALARYP": 9999998, "WKSWK": 98}


def read_sdr(path: Path) -> Records:
    """The censor paper's sample of the 2017 Survey of Doctorate Recipients (Section 5).

    Mathematics and statistics doctorates (NDGMENGP 12) who work at a 4-year college or university (EDTP 3), without skip codes.
    Fixed width or CSV with the variables' names.

    Raises:
        DataError: the file is neither, or a value is out of range.
    """
    with open(path, encoding="latin-1") as file:
        first = file.readline()
    if "SALARYP" in first:
        table = pd.read_csv(path, usecols=list(SDR_COLUMNS), dtype=str, encoding="latin-1")
    elif len(first.rstrip("\r\n")) == SDR_RECORD:
        spans = [(low - 1, high) for low, high in SDR_COLUMNS.values()]
        table = pd.read_fwf(path, colspecs=spans, names=list(SDR_COLUMNS), dtype=str, header=None, encoding="latin-1")
    else:
        raise DataError(f"{path}: neither a CSV with SALARYP nor fixed-width records of {SDR_RECORD} characters")
    table = table.apply(lambda column: column.str.strip())
    table = table[(table["NDGMENGP"] == "12") & (table["EDTP"] == "3")]
    numbers = {name: pd.to_numeric(table[name], errors="coerce") for name in ("SALARYP", "AGEGRP", "WKSWK")}
    keep = np.logical_and.reduce([numbers[name] != skip for name, skip in SDR_SKIPS.items()])
    salary, age, weeks = (numbers[name][keep].to_numpy(dtype=float) for name in ("SALARYP", "AGEGRP", "WKSWK"))
    male = (table["GENDER"][keep] == "M").to_numpy()
    if not len(salary) or not table["GENDER"][keep].isin(["M", "F"]).all():
        raise DataError(f"{path}: no record is of the sample, or GENDER is neither M nor F")
    if not ((salary >= 0) & (salary <= SALARY_TOP) & (weeks >= 1) & (weeks <= 52) & np.isin(age, (25, *SDR_AGE_GROUPS))).all():
        raise DataError(f"{path}: a salary, age group or number of weeks is outside the codebook's range")
    return salary_records(salary, male, age, weeks)


def salary_records(salary: Array, male: Array, age: Array, weeks: Array) -> Records:
    """Records of the salary regression: scaled salary, with constant, gender, age groups and standardised weeks.

    Salaries at the ends of the scale are moved half a record inside, so that the Beta density is finite (chosen).
    """
    edge = 0.5 / len(salary)
    # The youngest group is the baseline; groups that nobody is in have no column.
    groups = np.unique(age)[1:]
    columns = [np.ones(len(salary)), male.astype(float), *((age == group).astype(float) for group in groups)]
    columns.append((weeks - 52) / 52)
    return {"x": np.clip(salary / SALARY_TOP, edge, 1 - edge), "design": np.column_stack(columns)}


def read_sdr_margins(path: Path) -> dict[str, tuple[Array, Array]]:
    """Values and unweighted counts of each numeric variable of the codebook, and of GENDER as 1 for men; skips left out."""
    table = pd.read_csv(path, dtype={"code": str})
    if list(table.columns) != ["variable", "code", "label", "n_unweighted", "n_weighted"]:
        raise DataError(f"{path}: columns are {', '.join(table.columns)}")
    counts = {}
    for name, part in table.groupby("variable"):
        codes = part["code"].map({"M": "1", "F": "0"}) if name == "GENDER" else part["code"]
        values = pd.to_numeric(codes, errors="coerce")
        keep = values.notna() & (values != SDR_SKIPS.get(name, -1))
        counts[name] = (values[keep].to_numpy(dtype=float), part["n_unweighted"][keep].to_numpy())
    return counts


DATASETS: dict[str, Dataset] = {
    "fatigue": Dataset(
        "fatigue.csv",
        22,
        "7c3d629db22856548db45d1e69241fa20fc849e2d09f2975686e6fa08270717e",
        "R package BayesLN 0.2.10, data set fatigue (Upadhyay and Peshwani 2008)",
        read_fatigue,
    ),
    "sdr2017": Dataset(
        "EPSD17.DAT",
        None,
        None,
        "2017 Survey of Doctorate Recipients, public-use file, National Center for Science and Engineering Statistics",
        read_sdr,
    ),
}

TABLES: dict[str, Dataset] = {
    "sdr2017_margins": Dataset(
        "sdr2017_codebook_margins.csv",
        462,
        "43bad8cc50aa5f470fc07f788242cc4d828ff66432b739a0a95d75c6ae448737",
        "codebook of the 2017 Survey of Doctorate Recipients public-use file: univariate counts",
        read_sdr_margins,
    ),
}
"""Other registered files: published counts, and the columns that studies read."""
COUNTS = ("sdr2017_margins",)
"""Tables of value counts, from which populations can be drawn."""
