"""Rows of a file: numbers in every notation, and warnings."""

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from small_release import COLUMNS, a_config, a_schema

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


def checked(folder, table, **changes):
    """Result of the check of a table, with a suppressed person, an income and the changed columns."""
    columns = {name: column for name, column in COLUMNS.items() if name in ("income", "age")}
    columns |= changes.pop("columns", {})
    schema = a_schema(file="rows.csv", rows=len(table), columns={name: columns[name] for name in table.columns}, **changes)
    table.to_csv(folder / "rows.csv", index=False)
    return check_file(Declared("rows", folder, schema))


def incomes_with(**columns):
    count = len(next(iter(columns.values())))
    return pd.DataFrame({"income": np.arange(count) + 2000, "age": np.arange(count) % 50 + 20} | columns)


def test_a_protected_person_in_two_rows_is_a_violation(tmp_path):
    table = incomes_with(person=[f"p{number}" for number in range(28)] + ["p3", "p3"])
    result = checked(tmp_path, table, columns={"person": COLUMNS["person"]})
    assert [violation.sentence() for violation in result.violations] == ["person: 3 rows are not the only row of its person"]
    assert result.cases["row"].tolist() == [4, 29, 30]
    assert result.table is None


def test_a_file_in_which_every_outcome_is_missing_is_valid(tmp_path):
    """A missing value is protected: it must not decide whether there is a release."""
    income = {"type": "whole", "lower": 1000, "upper": 500_000, "may_be_missing": True}
    table = incomes_with(income=[None] * 5)
    result = checked(tmp_path, table, missing="refuse", columns={"income": income})
    assert result.violations == ()
    assert "income: no row has a value; suppress it: a release would have invented values." in result.warnings
    assert result.table["income"].isna().all()


def test_missing_identifiers_are_no_person(tmp_path):
    table = incomes_with(person=[f"p{number}" for number in range(28)] + [None, None])
    assert checked(tmp_path, table, columns={"person": COLUMNS["person"]}).violations == ()


@pytest.mark.parametrize(("values", "warned"), [(15, True), (30, False), (4, False)])
def test_an_identifier_that_repeats_is_named(tmp_path, values, warned):
    """Fifteen households of two rows each; an identifier of each row; and a column of four values, and fractions."""
    suppressed = {"type": "category", "release": "suppressed"}
    table = incomes_with(household=[number % values for number in range(30)], dose=[number % 15 + 0.5 for number in range(30)])
    warnings = checked(tmp_path, table, columns=dict.fromkeys(("household", "dose"), suppressed)).warnings
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


def test_an_identifier_that_is_released_is_asked_about(tmp_path):
    table = incomes_with(number=np.random.default_rng(1).permutation(900)[:60] + 100)
    columns = {"number": {"type": "whole", "lower": 0, "upper": 2000, "release": "synthesized"}}
    warnings = " ".join(checked(tmp_path, table, columns=columns).warnings)
    assert "number: has a different whole number in every row; is it an identifier? Then suppress it." in warnings


def test_two_columns_of_thousands_of_categories_have_one_line_for_each_finding(tmp_path):
    categories = [f"c{number}" for number in range(3000)]
    column = {"type": "category", "categories": categories, "release": "synthesized"}
    table = incomes_with(first=[categories[k] for k in range(100)], second=[categories[k] for k in range(100)])
    warnings = checked(tmp_path, table, columns={"first": column, "second": column}).warnings
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


def test_a_check_loads_scipy_only_if_bins_change_an_estimate(tmp_path):
    """In a process of its own; SciPy takes half as long as the rest of the command."""
    import subprocess
    import sys

    generator, study = np.random.default_rng(1), tmp_path / "study"
    table = pd.DataFrame({f"x{k}": generator.integers(0, 1000, 10_000) for k in range(8)})
    table.assign(region=generator.choice(["a", "b", "c"], 10_000)).to_csv(tmp_path / "rows.csv", index=False)
    number = {"type": "whole", "lower": 0, "upper": 1000}
    columns = {"x0": number} | {f"x{k}": number | {"release": "synthesized"} for k in range(1, 8)}
    columns["region"] = {"type": "category", "categories": ["a", "b", "c"], "release": "synthesized"}
    schema = a_schema(file="../rows.csv", rows=10_000, missing="refuse", zeros="keep", outcome="x0", pairs=[], columns=columns)
    study.mkdir()
    (study / "schema.yaml").write_text(yaml.safe_dump(schema.model_dump(mode="json", exclude_none=True)))
    (study / "release.yaml").write_text(yaml.safe_dump(a_config(rows=None).model_dump(mode="json", exclude_none=True)))
    code = (
        "import sys; from formalsynth_release.command import main; assert main(['check', sys.argv[1]]) == 0; "
        "print('scipy.special' in sys.modules, 'scipy.interpolate' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code, study], capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == ["The file matches the schema. Next: formalsynth plan " + str(study), "False False"]
