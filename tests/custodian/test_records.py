"""Records and designs: they depend on the row and on declarations only."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.custodian.records import cells, codes, design_of, finished, from_unit, made_up, names_of, records_of, to_unit
from formalsynth.custodian.schema import Column
from small_release import COLUMNS, a_schema

SCHEMA = a_schema()
LINEAR = Column(type="number", lower=-2, upper=6)
LOG = Column(type="number", lower=1, upper=10_000, scale="log")


def rows(**values):
    row = {
        "income": 20_000.0,
        "age": 49.0,
        "region": COLUMNS["region"]["categories"][0],
        "sector": COLUMNS["sector"]["categories"][0],
    }
    return pd.DataFrame([row | values])


def test_the_first_category_is_the_constant():
    design = design_of(SCHEMA, rows())
    assert design.shape == (1, len(names_of(SCHEMA)))
    assert design[0, 0] == 1
    assert design[0, 2:].tolist() == [0] * (design.shape[1] - 2)


def test_each_other_category_has_a_column_of_its_own():
    last = COLUMNS["region"]["categories"][-1]
    design = design_of(SCHEMA, rows(region=last))
    assert design[0, names_of(SCHEMA).index(f"region: {last}")] == 1
    assert design[0, 2:].sum() == 1


@pytest.mark.parametrize(("age", "share"), [(18, 0.0), (49, 0.5), (80, 1.0)])
def test_numbers_are_on_the_scale_of_their_bounds(age, share):
    assert design_of(SCHEMA, rows(age=float(age)))[0, 1] == pytest.approx(share)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["str", "object", "category"])
def test_values_that_are_missing_or_not_declared_have_no_code(kind):
    column = Column(type="category", categories=["b", "a", "nan"])
    values = pd.Series(["a", "b", None, "A", "nan"], dtype=kind)
    assert codes(column, values).tolist() == [1, 0, -1, -1, 2]


def test_suppressed_columns_are_not_in_the_design():
    assert not any(name.startswith("person") for name in names_of(SCHEMA))


def test_records_have_outcomes_and_design():
    records = records_of(SCHEMA, rows())
    assert records.x.tolist() == [20_000]
    assert len(records) == len(records.design) == 1


@pytest.mark.parametrize(("column", "middle"), [(LINEAR, 2.0), (LOG, 100.0)])
def test_the_unit_scale_is_the_declared_one_and_inverts(column, middle):
    assert to_unit(column, np.array([*column.ends, middle])) == pytest.approx([0, 1, 0.5])
    values = np.linspace(*column.ends, 7)
    assert from_unit(column, to_unit(column, values)) == pytest.approx(values)


def test_both_bounds_are_inside_the_bins():
    assert cells(LINEAR, np.array([-2.0, -1.0, 5.99, 6.0]), 8).tolist() == [0, 1, 7, 7]


def test_made_up_rows_follow_the_schema():
    table = made_up(SCHEMA, np.random.default_rng(1))
    assert len(table) == SCHEMA.rows
    assert list(table.columns) == list(SCHEMA.released)
    for name, column in SCHEMA.released.items():
        if column.type == "category":
            assert set(table[name]) <= set(column.categories)
        else:
            assert table[name].between(*column.ends).all()
            assert (table[name] % 1 == 0).all()


def test_finished_outcomes_are_rounded_inside_the_bounds():
    assert finished(SCHEMA, np.array([-5.0, 1234.4, 1234.6, 1e9])).tolist() == [1000, 1234, 1235, 500_000]
