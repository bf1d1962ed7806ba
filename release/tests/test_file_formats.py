"""Files of statistics programs: the same rows as text, with their labels."""

import datetime
import functools

import numpy as np
import pandas as pd
import pytest
import yaml

from formalsynth.core.text import DataError
from formalsynth_release.csv_file import CsvFormat
from formalsynth_release.file_formats import labels_of, read_file
from formalsynth_release.inspect import inspect

pyreadstat = pytest.importorskip("pyreadstat")
pytest.importorskip("openpyxl")
pytest.importorskip("pyarrow")
PLAIN = CsvFormat("utf-8", ",")
ROWS = pd.DataFrame({"sex": [1.0, 2.0, 2.0], "income": [1500.5, -7.0, np.nan], "town": ["Süd", "Nord", "Süd"]})
TEXT = [["1", "1500.5", "Süd"], ["2", "-7", "Nord"], ["2", "", "Süd"]]
LABELS = {"sex": {1.0: "male", 2.0: "female"}, "income": {-7.0: "not asked"}}
WRITTEN = {
    ".parquet": ROWS.to_parquet, ".xlsx": functools.partial(ROWS.to_excel, index=False),
    ".dta": functools.partial(pyreadstat.write_dta, ROWS, variable_value_labels=LABELS),
    ".sav": functools.partial(pyreadstat.write_sav, ROWS, variable_value_labels=LABELS, missing_ranges={"income": [-7.0]}),
    ".xpt": functools.partial(pyreadstat.write_xport, ROWS),
}  # fmt: skip


@pytest.mark.parametrize("ending", WRITTEN)
def test_rows_and_labels_are_read_and_drafted(tmp_path, ending):
    path = tmp_path / f"rows{ending}"
    WRITTEN[ending](str(path))
    read = read_file(path, PLAIN)
    assert list(read) == ["sex", "income", "town"]
    assert read.to_numpy().tolist() == TEXT
    if ending not in (".dta", ".sav"):
        return
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
