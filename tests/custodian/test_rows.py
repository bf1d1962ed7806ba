"""Rows of a file: numbers in every notation, and warnings."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.core.text import DataError
from formalsynth.custodian.rows import Violation, check_file, check_rows, clipped, far_above, numbers, outcomes_of, with_points
from formalsynth.custodian.schema import Declared
from small_release import COLUMNS, a_schema


@pytest.mark.parametrize(
    ("text", "number"), [("1,5", "1.5"), ("1.234,5", "1234.5"), ("-12.345", "-12345"), ("1.23", "no number"), ("7", "7")]
)
def test_decimal_commas_become_points(text, number):
    assert with_points(pd.Series([text])).tolist() == [number]


def test_text_that_is_not_a_number_becomes_nan():
    read = numbers(pd.Series(["3", "1e3", "1_000", "x", ""]), a_schema())
    assert read[:2].tolist() == [3, 1000]
    assert read[2:].isna().all()


def test_numbers_are_clipped_to_their_bounds_and_categories_are_kept():
    table = pd.DataFrame({"income": [1.0, 1e9], "age": [5.0, 50.0], "region": ["North", "South"], "sector": ["A", "B"]})
    inside = clipped(a_schema(), table)
    assert inside["income"].tolist() == [1000, 500_000]
    assert inside["age"].tolist() == [18, 50]
    assert inside["region"].tolist() == ["North", "South"]
    assert outcomes_of(a_schema(), inside).tolist() == [1000, 500_000]


def test_values_are_far_above_at_ten_distances_of_the_quartile():
    values = pd.Series([*range(101), 50 + 250, 50 + 260])
    assert far_above(values) == 1
    assert far_above(pd.Series([1.0] * 10 + [1e6])) == 0


@pytest.mark.parametrize(
    ("outcomes", "words"), [(np.arange(5), "5 rows can be used"), (np.ones(30), "the same value in every row")]
)
def test_rows_without_information_are_refused(outcomes, words):
    with pytest.raises(DataError, match=words):
        check_rows(a_schema(), pd.DataFrame({"income": outcomes.astype(float)}))


def test_a_violation_is_a_sentence_with_its_number_of_rows():
    assert Violation("age", "a number", 1).sentence() == "age: 1 row is not a number"
    assert Violation("age", "a number", 4).sentence() == "age: 4 rows are not a number"


@pytest.mark.parametrize(
    ("ages", "words"),
    [
        ([30, 30, 40, 40], []),
        ([30, 30, 40, 50], ["2 of 4 rows (50%) have one that no other row has: they identify these rows."]),
        ([30, 30, 30, 50], ["1 of 4 rows (25%) has one that no other row has: they identify this row."]),
    ],
)
def test_rows_are_called_identified_only_if_there_are_any(tmp_path, ages, words):
    columns = {name: column for name, column in COLUMNS.items() if name in ("income", "age")}
    schema = a_schema(file="rows.csv", rows=len(ages), columns=columns)
    pd.DataFrame({"income": [2000, 3000, 4000, 5000], "age": ages}).to_csv(tmp_path / "rows.csv", index=False)
    warnings = check_file(Declared("rows", tmp_path, schema)).warnings
    assert [warning.partition("of values; ")[2] for warning in warnings if "identify" in warning] == words
