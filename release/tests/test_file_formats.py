"""Files of statistics programs: the same rows as text, and synthetic rows written with labels."""

import datetime

import numpy as np
import pandas as pd
import pytest
import yaml
from small_release import a_schema

from formalsynth.core.text import DataError
from formalsynth_release.csv_file import CsvFormat
from formalsynth_release.file_formats import labels_of, read_file, write_file
from formalsynth_release.inspect import inspect

pytest.importorskip("pyreadstat")
pytest.importorskip("openpyxl")
pytest.importorskip("pyarrow")
PLAIN = CsvFormat("utf-8", ",")
COLUMNS = {
    "sex": {"type": "category", "categories": ["1", "2"], "labels": {"1": "male", "2": "female"}, "release": "synthesized"},
    "income": {"type": "number", "decimals": 1, "lower": 0, "upper": 9000, "missing_codes": {"-7": "not asked"},
               "may_be_missing": True, "description": "Income in a month"},
    "town": {"type": "category", "categories": ["Süd", "Nord"], "release": "synthesized"},
}  # fmt: skip
ROWS = pd.DataFrame({"sex": ["1", "2", "2"], "income": [1500.5, -7.0, np.nan], "town": ["Süd", "Nord", "Süd"]})
TEXT = [["1", "1500.5", "Süd"], ["2", "-7", "Nord"], ["2", "", "Süd"]]


def schema():
    return a_schema(columns=COLUMNS, outcome="income", missing="refuse")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx", ".dta", ".sav", ".xpt"])
def test_rows_that_are_written_are_read_again(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    write_file(schema(), ROWS, path)
    read = read_file(path, PLAIN)
    assert list(read) == ["sex", "income", "town"]
    assert read.replace("-7.0", "-7").to_numpy().tolist() == TEXT
    with pytest.raises(DataError, match="the name of a new file that ends in"):
        write_file(schema(), ROWS, path)


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_labels_are_kept_and_drafted(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    write_file(schema(), ROWS, path)
    assert labels_of(path) == {"sex": {"1": "male", "2": "female"}, "income": {"-7": "not asked"}}
    inspect(path, "income", tmp_path / "study")
    drafted = yaml.safe_load((tmp_path / "study" / "schema.yaml").read_text())
    columns = drafted["columns"]
    assert columns["sex"]["labels"] == {"1": "male", "2": "female"}
    assert columns["sex"]["categories"] == ["1", "2"]
    assert columns["income"]["missing_codes"] == {"-7": "not asked"}
    assert drafted["thousands"] == "none"
    assert not {"encoding", "delimiter", "decimal"} & set(drafted)
    assert "marks between thousands" not in (tmp_path / "study" / "confidential" / "questions.txt").read_text()


def test_a_value_is_written_alone(tmp_path):
    """Dates of Excel and of Parquet are days, and a decimal comma is that of the schema."""
    values = {"day": [datetime.datetime(2020, 1, 31, 12), None], "whole": [3.0, None], "part": [2.5, 7.0], "name": ["a.b", None]}
    for ending, write in ((".xlsx", pd.DataFrame.to_excel), (".parquet", pd.DataFrame.to_parquet)):
        write(pd.DataFrame(values), tmp_path / f"x{ending}", index=False)
        read = read_file(tmp_path / f"x{ending}", CsvFormat("utf-8", ",", ","))
        assert read.to_numpy().tolist() == [["2020-01-31", "3", "2,5", "a.b"], ["", "", "7", ""]]


@pytest.mark.parametrize("ending", [".parquet", ".xlsx", ".dta", ".sav", ".sas7bdat"])
def test_a_damaged_file_is_named_without_its_content(tmp_path, ending):
    (tmp_path / f"x{ending}").write_bytes(b"income\n73519\n")
    with pytest.raises(DataError, match="is it damaged") as error:
        read_file(tmp_path / f"x{ending}", PLAIN)
    assert "73519" not in str(error.value)
