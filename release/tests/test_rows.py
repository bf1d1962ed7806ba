"""Rows of a file: numbers in every notation, and warnings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from small_release import COLUMNS, a_schema

from formalsynth.core.text import DataError
from formalsynth_release.rows import (
    Violation,
    check_file,
    clipped,
    far_above,
    is_unique_number,
    is_weight,
    numbers,
    with_points,
)  # fmt: skip
from formalsynth_release.schema import Declared


@pytest.mark.parametrize(
    ("text", "number"), [("1,5", "1.5"), ("1.234,5", "1234.5"), ("-12.345", "-12345"), ("1.23", "no number"), ("7", "7")]
)
def test_decimal_commas_become_points(text, number):
    assert with_points(pd.Series([text])).tolist() == [number]


def test_text_that_is_not_a_number_becomes_nan():
    read = numbers(pd.Series(["3", "1e3", "1_000", "x", ""]), a_schema())
    assert read[:2].tolist() == [3, 1000]
    assert read[2:].isna().all()


@given(
    st.from_regex(r"[-+]?([0-9]{1,25}\.?[0-9]{0,9}|\.[0-9]{1,9})([eE][-+]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(["0.5", "", "7", "-9223372036854775809", "18446744073709551615", "x"]),
)
@example("+774982061624168558", "0.5")
def test_a_value_is_the_same_number_whatever_the_other_rows_have(value, other):
    """Its level decides which noisy count it adds to: if it depended on other rows, one of them could move all the rest."""
    alone, among = (numbers(pd.Series([value, *rest]), a_schema())[0] for rest in ([], [other]))
    assert alone == among == float(value)


def test_numbers_are_clipped_to_their_bounds_and_categories_are_kept():
    table = pd.DataFrame({"income": [1.0, 1e9], "age": [5.0, 50.0], "region": ["North", "South"], "sector": ["A", "B"]})
    inside = clipped(a_schema(), table)
    assert inside["income"].tolist() == [1000, 500_000]
    assert inside["age"].tolist() == [18, 50]
    assert inside["region"].tolist() == ["North", "South"]


def test_values_are_far_above_at_ten_distances_of_the_quartile():
    values = pd.Series([*range(101), 50 + 250, 50 + 260])
    assert far_above(values) == 1
    assert far_above(pd.Series([1.0] * 10 + [1e6])) == 0


def test_a_violation_is_a_sentence_with_its_number_of_rows():
    assert Violation("age", "a number", 1).sentence() == "age: 1 row is not a number"
    assert Violation("age", "a number", 4).sentence() == "age: 4 rows are not a number"


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
    assert "income: no row has a value." in result.warnings
    assert result.table["income"].isna().all()


def test_missing_identifiers_are_no_person(tmp_path):
    table = incomes_with(person=[f"p{number}" for number in range(28)] + [None, None])
    assert checked(tmp_path, table, columns={"person": COLUMNS["person"]}).violations == ()


@pytest.mark.parametrize(("values", "warned"), [(15, True), (30, False), (4, False)])
def test_an_identifier_that_repeats_is_named(tmp_path, values, warned):
    """Fifteen households of two rows each; an identifier of each row; and a column of four values, which is none."""
    table = incomes_with(household=[number % values for number in range(30)])
    warnings = checked(tmp_path, table, columns={"household": {"type": "category", "release": "suppressed"}}).warnings
    expected = "household: looks like an identifier, and some values are in up to 2 rows. If it names a person, rows_each: 1 is"
    assert [warning.startswith(expected) for warning in warnings if warning.startswith("household")] == [True] * warned


def test_a_number_of_each_row_may_be_an_identifier():
    assert is_unique_number(pd.Series(np.random.default_rng(1).permutation(1000)))
    assert not is_unique_number(pd.Series(np.arange(1000) + 0.5))
    assert not is_unique_number(pd.Series([*range(999), 5]))
    assert not is_unique_number(pd.Series(range(19)))


@pytest.mark.parametrize("name", ["weight", "WEIGHT", "w", "person_weight", "wt_2024", "wgt", "poids"])
def test_a_survey_weight_is_recognized_by_its_name(name):
    weights = pd.Series(np.random.default_rng(1).gamma(3, 40, 500))
    assert is_weight(name, weights)
    assert not is_weight("income", weights)
    assert not is_weight("weightlifting", weights)
    assert is_weight(name, weights.round())
    assert not is_weight("factor", weights.round())
    assert not is_weight(name, weights - 50)


def test_a_survey_weight_is_recognized_by_its_mean():
    weights = np.random.default_rng(1).gamma(3, 40, 500)
    assert is_weight("factor", pd.Series(weights / weights.mean()))
    assert not is_weight("factor", pd.Series([0.5, 1.5] * 100))


def test_identifiers_and_weights_that_are_released_are_asked_about(tmp_path):
    generator = np.random.default_rng(1)
    table = incomes_with(number=generator.permutation(900)[:60] + 100, weight=generator.gamma(3, 40, 60).round(2))
    columns = {
        "number": {"type": "whole", "lower": 0, "upper": 2000, "release": "synthesized"},
        "weight": {"type": "number", "decimals": 2, "lower": 0, "upper": 2000, "release": "synthesized"},
    }
    warnings = " ".join(checked(tmp_path, table, columns=columns).warnings)
    assert "number: has a different whole number in every row; is it an identifier? Then suppress it." in warnings
    assert "weight: looks like a survey weight. A release does not use weights" in warnings


@pytest.mark.parametrize(("pairs", "named"), [
    ([["age", "hours"]], ["age"]), ([["age", "hours"], ["hours kind", "age"]], []),
    ([["hours", "income"], ["age", "hours"]], ["income, age"]),
])  # fmt: skip
def test_a_pair_without_its_kind_is_named(tmp_path, pairs, named):
    columns = {"hours": {"type": "whole", "lower": 0, "upper": 80, "own_zero": True, "release": "synthesized"}}
    columns["age"] = {"type": "whole", "lower": 18, "upper": 80, "release": "synthesized"}
    table = incomes_with(hours=["0", "40"] * 15, age=[str(30 + k) for k in range(30)])
    warnings = checked(tmp_path, table, columns=columns, pairs=pairs).warnings
    about = [warning.split(" with ")[1].removesuffix(" describe only rows") for warning in warnings if "pairs: those" in warning]
    assert about == named


def test_a_wrong_delimiter_is_named(tmp_path):
    table = incomes_with(hours=["0", "40"] * 15)
    columns = {"hours": {"type": "whole", "lower": 0, "upper": 80, "release": "synthesized"}}
    with pytest.raises(DataError, match=r"has one column with delimiter: ';', but the schema declares 3.* Correct delimiter"):
        checked(tmp_path, table, columns=columns, delimiter=";")
