"""Data files of the REPS paper (Section 7.2): sources and readers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array, Records, intercept_only
from formalsynth.core.data_files import FILES, Columns, Dataset, opened
from formalsynth.core.text import DataError

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
    "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
)  # fmt: skip
GERMAN_COLUMNS = (
    "status", "duration", "history", "purpose", "amount", "savings", "employment", "installment_rate", "personal",
    "debtors", "residence", "property", "age", "other_plans", "housing", "existing_credits", "job", "liable", "telephone",
    "foreign", "credit",
)  # fmt: skip
NEEDED: Mapping[str, tuple[str, ...]] = {"adult": ("adult_training", "adult_test"), "german": ("german_credit",)}
"""Registered files that each data set needs; data sets that are not listed need none."""
ADULT = "Becker and Kohavi (1996), UCI Machine Learning Repository"


def read_columns(path: Path, *, names: Sequence[str], n: int, separator: str = ",", skip: int = 0) -> Columns:
    """Read the columns of a file without a header, as strings: (n,) each.

    Args:
        path: the file.
        names: names of its columns, in their order.
        n: required number of rows.
        separator: separator between columns.
        skip: number of lines before the first row.

    Raises:
        DataError: the number of columns or rows differs from the expected one.
    """
    import pandas as pd

    table = pd.read_csv(path, header=None, sep=separator, skiprows=skip, dtype=str, keep_default_na=False, skipinitialspace=True)
    if table.shape != (n, len(names)):
        raise DataError(f"{path}: {table.shape[0]} rows and {table.shape[1]} columns, expected {n} and {len(names)}")
    return {name: table[j].to_numpy(dtype=str) for j, name in enumerate(names)}


def _number(path: Path, name: str, names: Sequence[str], separator: str = ",") -> Array:
    """Read one column of numbers (n,) without pandas, because a plan reads the records of its scenarios."""
    place = names.index(name)
    with opened(path) as file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
        return np.array([float(row[place]) for row in csv.reader(text, delimiter=separator, skipinitialspace=True) if row])


def read_hours(path: Path) -> Records:
    """Read the weekly hours of the training part of Adult, without predictors."""
    return intercept_only(_number(path, "hours_per_week", ADULT_COLUMNS))


def read_amounts(path: Path) -> Records:
    """Read the amounts of German Credit, with a constant and the duration in months as predictors."""
    amount, duration = (_number(path, name, GERMAN_COLUMNS, " ") for name in ("amount", "duration"))
    return Records(amount, np.column_stack([np.ones(len(duration)), duration]))


ADULT_TRAINING = Dataset(
    "adult.data",
    32_561,
    "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    f"Adult, training part: {ADULT}",
    partial(read_columns, names=ADULT_COLUMNS, n=32_561),
    "CC-BY-4.0",
    holds="columns",
    confidential=False,
)
FILES.add("adult_training", ADULT_TRAINING, __name__)
FILES.add("adult_hours", replace(ADULT_TRAINING, read=read_hours, holds="records"), __name__)
FILES.add(
    "adult_test",
    Dataset(
        "adult.test",
        16_281,
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        f"Adult, test part: {ADULT}",
        partial(read_columns, names=ADULT_COLUMNS, n=16_281, skip=1),
        "CC-BY-4.0",
        holds="columns",
        confidential=False,
    ),
    __name__,
)
GERMAN = Dataset(
    "german.data",
    1_000,
    "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    "Statlog German Credit Data: Hofmann (1994), UCI Machine Learning Repository",
    partial(read_columns, names=GERMAN_COLUMNS, n=1_000, separator=" "),
    "CC-BY-4.0",
    holds="columns",
    confidential=False,
)
FILES.add("german_credit", GERMAN, __name__)
FILES.add("german_amounts", replace(GERMAN, read=read_amounts, holds="records"), __name__)
