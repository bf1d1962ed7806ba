"""Rows of a file: numbers in every notation, and warnings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from small_release import COLUMNS, a_schema

from formalsynth_release.csv_file import CsvFormat
from formalsynth_release.rows import check_file, few_codes, is_unique_number, numbers
from formalsynth_release.study import Declared

PLAIN = CsvFormat("utf-8", ",")


@pytest.mark.parametrize(("text", "decimal", "thousands", "number"), [
    ("1,5", ",", "", 1.5), ("1.234,5", ",", "", None), ("1.234,5", ",", ".", 1234.5), ("-12.345", ",", ".", -12345),
    ("1.23", ",", ".", None), ("7", ",", ".", 7), ("4,280", ".", "", None), ("4,280", ".", ",", 4280), ("4,28", ".", ",", None),
    ("1,004,280.5", ".", ",", 1004280.5), ("4 280", ".", " ", 4280), ("4\u202f280", ".", " ", 4280),
    ("4\u2019280", ".", "'", 4280), ("4 280", ".", "'", None), ("4280", ".", ",", 4280), ("1e3", ".", "", 1000),
    ("1_000", ".", "", None), ("x", ".", "", None), ("", ".", "", None),
])  # fmt: skip
def test_marks_are_read_as_declared_and_never_guessed(text, decimal, thousands, number):
    read = numbers(pd.Series([text]), CsvFormat("utf-8", ";", decimal, thousands))[0]
    assert read == number if number is not None else np.isnan(read)


@given(
    st.from_regex(r"[-+]?([0-9]{1,25}\.?[0-9]{0,9}|\.[0-9]{1,9})([eE][-+]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(["0.5", "", "7", "-9223372036854775809", "18446744073709551615", "x"]),
)
@example("+774982061624168558", "0.5")
def test_a_value_is_the_same_number_whatever_the_other_rows_have(value, other):
    """Its level decides which noisy count it adds to: if it depended on other rows, one of them could move all the rest."""
    alone, among = (numbers(pd.Series([value, *rest]), PLAIN)[0] for rest in ([], [other]))
    assert alone == among == float(value)


def checked(folder, declared, missing="drop_rows", **values):
    """Result of the check of incomes and ages with other values, or with more columns that are declared."""
    count = len(next(iter(values.values())))
    table = pd.DataFrame({"income": np.arange(count) + 2000, "age": np.arange(count) % 50 + 20} | values)
    table.to_csv(folder / "rows.csv", index=False)
    columns = {name: (COLUMNS | declared)[name] for name in table}
    return check_file(Declared("rows", folder, a_schema(file="rows.csv", rows=count, columns=columns, missing=missing)))


def test_a_protected_person_in_two_rows_is_a_violation(tmp_path):
    persons = [f"p{number}" for number in range(28)]
    result = checked(tmp_path, {}, person=[*persons, "p3", "p3"])
    assert [violation.sentence() for violation in result.violations] == ["person: 3 rows are not the only row of its person"]
    assert result.violations[0].values.index.tolist() == [3, 28, 29]
    assert result.table is None
    assert checked(tmp_path, {}, person=[*persons, None, None]).violations == ()  # missing identifiers are no person


def test_a_file_in_which_every_outcome_is_missing_is_valid(tmp_path):
    """A missing value is protected: it must not decide whether there is a release."""
    result = checked(tmp_path, {"income": COLUMNS["income"] | {"may_be_missing": True}}, "refuse", income=[None] * 5)
    assert result.violations == ()
    assert "income: no row has a value; suppress it: a release would have invented values." in result.warnings
    assert result.table["income"].isna().all()


@pytest.mark.parametrize(("values", "warned"), [(15, True), (30, False), (4, False)])
def test_an_identifier_that_repeats_is_named(tmp_path, values, warned):
    """Fifteen households of two rows each; an identifier of each row; and a column of four values, and fractions."""
    suppressed = {"type": "category", "release": "suppressed"}
    numbers = {"household": np.arange(30) % values, "dose": np.arange(30) % 15 + 0.5}
    warnings = checked(tmp_path, dict.fromkeys(numbers, suppressed), **numbers).warnings
    assert "dose" not in " ".join(warnings)
    expected = (
        "household: looks like an identifier, and some values are in up to 2 rows. If it names a person, rows_each: 1 is false"
    )
    assert [warning.startswith(expected) for warning in warnings if warning.startswith("household")] == [True] * warned


def test_a_number_of_each_row_may_be_an_identifier():
    assert is_unique_number(pd.Series(np.random.default_rng(1).permutation(1000)))
    assert not is_unique_number(pd.Series(np.arange(1000) + 0.5))
    assert not is_unique_number(pd.Series([*range(999), 5]))
    assert not is_unique_number(pd.Series(range(19)))


def test_two_columns_of_thousands_of_categories_have_one_line_for_each_finding(tmp_path):
    categories = [f"c{number}" for number in range(3000)]
    column = {"type": "category", "categories": categories, "release": "synthesized"}
    values = dict.fromkeys(("first", "second"), categories[:100])
    warnings = checked(tmp_path, dict.fromkeys(values, column), **values).warnings
    about = [warning for warning in warnings if "categor" in warning]
    assert len(about) == 2
    assert any(warning.startswith("first c100, first c101") and " and 5795 more: no row has" in warning for warning in about)


@pytest.mark.parametrize(("values", "codes"), [
    ([*range(20, 60), 999, 999], [999]), ([*range(20, 60), -8, -8, -7, -7], [-8, -7]), ([*range(20, 60), 999], []),
    ([0, 1, 2] * 20, []), ([1, 2, 3, 4, 5, 6, 99] * 9, [99]), ([*range(101), -1, -1], [-1]), ([*range(-50, 50)], []),
    (np.exp(np.random.default_rng(1).normal(10, 1, 500)).tolist(), []),
])  # fmt: skip
def test_frequent_values_far_from_all_others_may_be_codes(values, codes):
    assert few_codes(pd.Series(values, dtype=float)) == codes
