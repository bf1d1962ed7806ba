"""The 2017 Survey of Doctorate Recipients: the censor paper's sample, and the counts published in its codebook."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Records
from formalsynth.core.data_files import FILES, Dataset
from formalsynth.core.population import Counts
from formalsynth.core.text import DataError

if TYPE_CHECKING:
    import pandas as pd

SALARY_TOP = 509_000.0
"""Largest salary of the 2017 SDR public-use file in dollars: the declared unit of the scaled outcome."""
SDR_COLUMNS = {
    "SALARYP": (261, 269), "GENDER": (137, 137), "AGEGRP": (26, 28), "WKSWK": (322, 324), "EDTP": (103, 103),
    "NDGMENGP": (193, 194),
}  # fmt: skip
"""1-based first and last column of each variable in the fixed-width file EPSD17.DAT."""
SDR_RECORD = 347
SDR_AGE_GROUPS = tuple(range(30, 75, 5))
MARGINS = ["variable", "code", "label", "n_unweighted", "n_weighted"]
"""Columns of the table of published counts."""
SDR_SKIPS = {"SALARYP": 9999998, "WKSWK": 98}


def read_sdr(path: Path) -> Records:
    """Read the censor paper's sample of the 2017 Survey of Doctorate Recipients (Section 5).

    Mathematics and statistics doctorates (NDGMENGP 12) who work at a 4-year college or university (EDTP 3), without skip codes.
    The file is fixed-width, or a CSV with the variables' names.

    Raises:
        DataError: the file is neither, or a value is out of range.
    """
    import pandas as pd

    table = _sdr_table(path)
    table = table[(table["NDGMENGP"] == "12") & (table["EDTP"] == "3")]
    numbers = {name: pd.to_numeric(table[name], errors="coerce") for name in ("SALARYP", "AGEGRP", "WKSWK")}
    keep = np.logical_and.reduce([numbers[name] != skip for name, skip in SDR_SKIPS.items()])
    salary, age, weeks = (numbers[name][keep].to_numpy(dtype=float) for name in ("SALARYP", "AGEGRP", "WKSWK"))
    male = (table["GENDER"][keep] == "M").to_numpy()
    if not len(salary) or not table["GENDER"][keep].isin(["M", "F"]).all():
        raise DataError(f"{path}: no record belongs to the sample, or a GENDER is neither M nor F")
    if not ((salary >= 0) & (salary <= SALARY_TOP) & (weeks >= 1) & (weeks <= 52) & np.isin(age, (25, *SDR_AGE_GROUPS))).all():
        raise DataError(f"{path}: a salary, age group or number of weeks is outside the codebook's range")
    return salary_records(salary, male, age, weeks)


def _sdr_table(path: Path) -> pd.DataFrame:
    """Read the columns :data:`SDR_COLUMNS` of every record, as text."""
    import pandas as pd

    with open(path, encoding="latin-1") as file:
        first = file.readline()
    if "SALARYP" in first:
        table = pd.read_csv(path, usecols=list(SDR_COLUMNS), dtype=str, encoding="latin-1")
    elif len(first.rstrip("\r\n")) == SDR_RECORD:
        spans = [(low - 1, high) for low, high in SDR_COLUMNS.values()]
        table = pd.read_fwf(path, colspecs=spans, names=list(SDR_COLUMNS), dtype=str, header=None, encoding="latin-1")
    else:
        raise DataError(f"{path}: neither a CSV with SALARYP nor fixed-width records of {SDR_RECORD} characters")
    stripped: pd.DataFrame = table.apply(lambda column: column.str.strip())
    return stripped


def salary_records(salary: Array, male: Array, age: Array, weeks: Array) -> Records:
    """Build the records of the salary regression: salary, with constant, gender, age groups and standardised weeks.

    Salaries at the ends of the scale are moved inside by half a record, so the Beta density is finite (chosen).
    """
    edge = SALARY_TOP * 0.5 / len(salary)
    # The youngest group is the baseline; empty groups have no column.
    groups = np.unique(age)[1:]
    columns = [np.ones(len(salary)), male.astype(float), *((age == group).astype(float) for group in groups)]
    columns.append((weeks - 52) / 52)
    return Records(np.clip(salary, edge, SALARY_TOP - edge), np.column_stack(columns))


def read_sdr_margins(path: Path) -> Counts:
    """Read values and unweighted counts of the codebook's numeric variables, and of GENDER (1 for men), without skip codes.

    Raises:
        DataError: the file has different columns, or is not a CSV.
    """
    with open(path, newline="", encoding="utf-8") as file:
        try:
            columns, *rows = [row for row in csv.reader(file) if row] or [[]]
        except csv.Error as error:
            raise DataError(f"{path}: {error}") from error
    if columns != MARGINS:
        raise DataError(f"{path}: columns are {', '.join(columns)}")
    counts: dict[str, list[tuple[float, int]]] = {}
    for name, code, _, number, _ in rows:
        value = _value({"M": "1", "F": "0"}.get(code, "") if name == "GENDER" else code)
        pairs = counts.setdefault(name, [])
        if value is not None and value != SDR_SKIPS.get(name, -1):
            pairs.append((value, int(number)))
    return {
        name: (np.array([value for value, _ in pairs], dtype=float), np.array([number for _, number in pairs]))
        for name, pairs in sorted(counts.items())
    }


def _value(code: str) -> float | None:
    """Convert a code to its number; None for codes that are not numbers."""
    try:
        return float(code)
    except ValueError:
        return None


FILES.add(
    "sdr2017",
    Dataset(
        "EPSD17.DAT",
        None,
        None,
        "2017 Survey of Doctorate Recipients, public-use file: National Center for Science and Engineering Statistics",
        read_sdr,
        printed=1601,
        confidential=False,
    ),
    __name__,
)
FILES.add(
    "sdr2017_margins",
    Dataset(
        "sdr2017_codebook_margins.csv",
        462,
        "43bad8cc50aa5f470fc07f788242cc4d828ff66432b739a0a95d75c6ae448737",
        "2017 Survey of Doctorate Recipients, univariate counts: codebook of the public-use file",
        read_sdr_margins,
        "other-pd",
        holds="counts",
        confidential=False,
    ),
    __name__,
)
