"""Fatigue data of the range paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.data_files import FILES, Dataset
from formalsynth.core.text import DataError


def read_fatigue(path: Path) -> Records:
    """Read cycles to failure, with a constant, log stress and its square as predictors."""
    table = np.atleast_1d(np.genfromtxt(path, delimiter=",", names=True, encoding="utf-8"))
    if table.dtype.names != ("stress", "cycle"):
        raise DataError(f"{path}: columns are {table.dtype.names}, expected stress and cycle")
    if not all(np.isfinite(table[name]).all() and (table[name] > 0).all() for name in table.dtype.names):
        raise DataError(f"{path}: stress and cycle must be positive numbers in every row")
    log_stress = np.log(table["stress"])
    return Records(table["cycle"], np.column_stack([np.ones(len(table)), log_stress, log_stress**2]))


def read_cycles(path: Path) -> Records:
    """Read cycles to failure from the same file, without predictors."""
    return intercept_only(read_fatigue(path).x)


FATIGUE = Dataset(
    "fatigue.csv",
    22,
    "7c3d629db22856548db45d1e69241fa20fc849e2d09f2975686e6fa08270717e",
    "Low-cycle fatigue: R package BayesLN 0.2.10, data set fatigue (Upadhyay and Peshwani 2008)",
    read_fatigue,
    "other-pd",
    confidential=False,
)
FILES.add("fatigue", FATIGUE, __name__)
FILES.add("fatigue_cycles", replace(FATIGUE, read=read_cycles), __name__)
