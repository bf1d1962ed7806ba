"""Files of statistics programs, read as text: Parquet, Excel, Stata, SPSS and SAS, with labels of values."""

from __future__ import annotations

import datetime
import functools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from formalsynth.core.text import DataError
from formalsynth_release.csv_file import CsvFormat, check_names, check_rows, read_text

READERS = {
    ".dta": "read_dta", ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}  # fmt: skip
"""Functions of pyreadstat that read files of Stata, SPSS and SAS, by ending."""
USER_MISSING = ("read_dta", "read_sav", "read_sas7bdat")  # those that keep codes of missing values apart
SHEETS, PARQUET = (".xlsx", ".xlsm"), (".parquet",)
Texts = NDArray[np.object_]
Labels = Mapping[str, Mapping[str, str]]  # meanings of codes, by column and code


def read_file(path: Path, written: CsvFormat) -> pd.DataFrame:
    """Read the rows of a file, each value as text: numbers with a point, dates as 2020-01-31, and nothing for missing values.

    Raises:
        DataError: it cannot be read, or the package for its format is missing.
    """
    if not is_binary(path):
        return read_text(path, written)
    table, _ = _loaded(path)
    table.columns = check_names(path, [str(name).strip() for name in table.columns])
    check_rows(path, table)
    return pd.DataFrame({name: _texts(table[name], written.decimal) for name in table.columns})


def _texts(column: pd.Series, decimal: str) -> pd.Series | Texts:
    """Write values as text, each on its own; those of one type once, since equal values of two types may be other texts."""
    text = functools.partial(_as_text, decimal=decimal)
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string":
        return column.map(text)
    places, values = pd.factorize(column)
    return np.array([*map(text, values), ""], dtype=object)[places]


def is_binary(path: Path) -> bool:
    """Return True for a file that is no text, by its ending."""
    return path.suffix.lower() in (*READERS, *SHEETS, *PARQUET)


def labels_of(path: Path) -> Labels:
    """Return the meanings of codes that a file contains."""
    return _loaded(path)[1] if path.suffix.lower() in READERS else {}


def _loaded(path: Path) -> tuple[pd.DataFrame, Labels]:
    suffix = path.suffix.lower()
    try:
        if suffix in PARQUET:
            return pd.read_parquet(path), {}
        if suffix in SHEETS:
            return pd.read_excel(path, dtype=object, keep_default_na=False, na_values=[""]), {}
        import pyreadstat

        reader = READERS[suffix]
        table, about = getattr(pyreadstat, reader)(str(path), **({"user_missing": True} if reader in USER_MISSING else {}))
    except ImportError as error:
        raise DataError(f"{path}: needs more packages: pip install 'formalsynth-release[formats]'") from error
    except Exception as error:  # each library has its own errors, which may quote values
        raise DataError(f"{path}: cannot be read as a file that ends in {suffix}; is it damaged?") from error
    labels = about.variable_value_labels
    return table, {name: {_as_text(code): str(label) for code, label in codes.items()} for name, codes in labels.items()}


def _as_text(value: Any, decimal: str = ".") -> str:
    """Write a value without looking at other values of its column."""
    if pd.isna(value):
        return ""
    if isinstance(value, datetime.date):
        return value.strftime("%Y-%m-%d")
    if isinstance(value, float | np.floating):
        whole = math.isfinite(value) and value == int(value)
        return str(int(value)) if whole else repr(float(value)).replace(".", decimal)
    return str(value).strip()
