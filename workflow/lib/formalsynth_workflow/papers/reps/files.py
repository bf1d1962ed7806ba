"""Data files of the REPS paper (Section 7.2): sources and readers."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from formalsynth.core.arrays import Array, Records, intercept_only
from formalsynth.core.data_files import FILES, Columns, Dataset, opened
from formalsynth.core.text import DataError

Declared = tuple[float, float] | str
"""Bounds of a number, or the values of a category, separated by spaces."""
ADULT_COLUMNS: Mapping[str, Declared] = {
    "age": (17, 90),
    "workclass": "Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc State-gov Without-pay",
    "fnlwgt": (0, 2_000_000),
    "education": "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm Bachelors "
    "Masters Prof-school Doctorate",
    "education_num": (1, 16),
    "marital_status": "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent Never-married Separated Widowed",
    "occupation": "Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing Handlers-cleaners Machine-op-inspct "
    "Other-service Priv-house-serv Prof-specialty Protective-serv Sales Tech-support Transport-moving",
    "relationship": "Husband Not-in-family Other-relative Own-child Unmarried Wife",
    "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
    "sex": "Female Male",
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
    "native_country": "Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England France Germany Greece "
    "Guatemala Haiti Holand-Netherlands Honduras Hong Hungary India Iran Ireland Italy Jamaica Japan Laos Mexico Nicaragua "
    "Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal Puerto-Rico Scotland South Taiwan Thailand Trinadad&Tobago "
    "United-States Vietnam Yugoslavia",
    "income": "<=50K >50K",
}
"""Columns of the file with their declared bounds and values; no complete record has the value Never-worked."""
GERMAN_COLUMNS: Mapping[str, Declared] = {
    "status": "A11 A12 A13 A14",
    "duration": (1, 120),
    "history": "A30 A31 A32 A33 A34",
    "purpose": "A40 A41 A42 A43 A44 A45 A46 A47 A48 A49 A410",
    "amount": (0, 20_000),
    "savings": "A61 A62 A63 A64 A65",
    "employment": "A71 A72 A73 A74 A75",
    "installment_rate": (1, 4),
    "personal": "A91 A92 A93 A94 A95",
    "debtors": "A101 A102 A103",
    "residence": (1, 4),
    "property": "A121 A122 A123 A124",
    "age": (18, 100),
    "other_plans": "A141 A142 A143",
    "housing": "A151 A152 A153",
    "existing_credits": (1, 4),
    "job": "A171 A172 A173 A174",
    "liable": (1, 2),
    "telephone": "A191 A192",
    "foreign": "A201 A202",
    "credit": "2 1",
}
"""Columns of the file, as for Adult; the positive label 1 is good credit. Integers without a record stay."""
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


def _number_column(path: Path, name: str, columns: Mapping[str, Declared], separator: str = ",") -> Array:
    """Read one column of numbers (n,) without pandas, because a plan reads the records of its scenarios."""
    place = list(columns).index(name)
    with opened(path) as file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
        return np.array([float(row[place]) for row in csv.reader(text, delimiter=separator, skipinitialspace=True) if row])


def read_hours(path: Path) -> Records:
    """Read the weekly hours of the training part of Adult, without predictors."""
    return intercept_only(_number_column(path, "hours_per_week", ADULT_COLUMNS))


def read_amounts(path: Path) -> Records:
    """Read the amounts of German Credit, with a constant and the duration in months as predictors."""
    amount, duration = (_number_column(path, name, GERMAN_COLUMNS, " ") for name in ("amount", "duration"))
    return Records(amount, np.column_stack([np.ones(len(duration)), duration]))


def _published(file: str, n: int, sha256: str, source: str, columns: Mapping[str, Declared], **layout: Any) -> Dataset:
    """Return a public file of a study; ``layout`` is passed to :func:`read_columns`."""
    read = partial(read_columns, names=tuple(columns), n=n, **layout)
    return Dataset(file, n, sha256, source, read, "CC-BY-4.0", holds="columns", confidential=False)


ADULT_TRAINING = _published(
    "adult.data", 32_561, "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", f"Adult, training part: {ADULT}",
    ADULT_COLUMNS,
)  # fmt: skip
ADULT_TEST = _published(
    "adult.test", 16_281, "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", f"Adult, test part: {ADULT}",
    ADULT_COLUMNS, skip=1,
)  # fmt: skip
GERMAN = _published(
    "german.data", 1_000, "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    "Statlog German Credit Data: Hofmann (1994), UCI Machine Learning Repository", GERMAN_COLUMNS, separator=" ",
)  # fmt: skip
for _name, _dataset in {
    "adult_training": ADULT_TRAINING,
    "adult_hours": replace(ADULT_TRAINING, read=read_hours, holds="records"),
    "adult_test": ADULT_TEST,
    "german_credit": GERMAN,
    "german_amounts": replace(GERMAN, read=read_amounts, holds="records"),
}.items():
    FILES.add(_name, _dataset, __name__)
