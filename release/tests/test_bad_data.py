"""Data that cannot be used, or not well: each ends in a clear sentence or an honest warning, and no sentence holds a value."""

import re

import numpy as np
import pandas as pd
import pytest
from small_release import a_schema

from formalsynth.core.text import DataError
from formalsynth_release.inspect import inspect
from formalsynth_release.rows import check_file
from formalsynth_release.study import Declared

SECRET = "73519"
"""An outcome that is in every file; no sentence may hold it."""


def good(n=60):
    generator = np.random.default_rng(3)
    table = pd.DataFrame(
        {"income": generator.integers(20_000, 90_000, n).astype(str), "age": generator.integers(20, 70, n).astype(str)}
    )
    table["region"] = np.where(np.arange(n) % 2, "North", "South")
    table.loc[7, "income"], table.loc[8, "income"] = SECRET, table.loc[9, "income"]
    return table


def written(table, **options):
    return table.to_csv(index=False, **options).encode()


def changed(column, rows, value):
    table = good()
    table.loc[rows, column] = value
    return written(table)


def schema(text, **changes):
    columns = {
        "income": {"type": "number", "lower": 1000, "upper": 200_000},
        "age": {"type": "whole", "lower": 18, "upper": 90, "release": "synthesized"},
        "region": {"type": "category", "categories": ["North", "South"], "release": "synthesized"},
    }
    columns = {name: column | changes.pop(name, {}) for name, column in columns.items()}
    values = {"rows": max(text.count(b"\n") - 1, 2), "outside_bounds": "refuse", "missing": "refuse", "pairs": []}
    return a_schema(**values | {"columns": columns} | changes)


def constant():
    return changed("income", slice(None), SECRET)


def with_first_line(line):
    return line + b"\n" + written(good()).split(b"\n", 1)[1]


def one_in(category):
    table = good()
    table.loc[3, "region"] = category
    return written(table)


DOUBT = "income: 60 rows are not a number without doubt"
IS_CODE = "age: a value far from all others, or the only negative one, is in over 1 % of the rows"
CLIP, THREE = {"outside_bounds": "clip"}, ["North", "South", "Islands"]
KINDS = {
    # what is wrong: the file, what differs in its schema, a part of the sentence, or None if nothing is said
    "header only": (b"income,age,region\n", {}, "header but no rows"),
    "three rows": (written(good().iloc[5:8]), {}, "3 rows can be used; a release preserves hardly anything"),
    "constant outcome": (constant(), {}, "income: has the same value in every row; suppress it"),
    "one person in a category": (one_in("Islands"), {"region": {"categories": THREE}}, "region Islands: the category is rare"),
    "nobody in a category": (written(good()), {"region": {"categories": THREE}}, "region Islands: no row has the category"),
    "unknown category": (one_in("Nowhere"), {}, "region: 1 row is not of a declared category"),
    "category in other case": (one_in("NORTH"), {}, "not of a declared category"),
    "above the bounds": (changed("income", [1, 2], "900000"), {}, "income: 2 rows are not between the declared bounds"),
    "clipped": (changed("income", [1], "900000"), CLIP, "income (1): values outside the declared bounds were clipped"),
    "finer": (changed("income", [1], "30000.5"), {}, "income (1): values have more decimal places than decimals"),
    "all clipped": (changed("income", slice(None), "1e12"), CLIP, "income (60): values outside the declared bounds"),
    "infinite, clipped": (changed("income", [1], "1e400"), CLIP, "income (1): values outside the declared bounds"),
    "infinite": (changed("income", [1], "inf"), {}, "not a number"),
    "not a number": (changed("income", [1, 4, 5], "much"), {}, "income: 3 rows are not a number"),
    "currency": (changed("income", [1], "€ 30000"), {}, "not a number; remove ' ', '€'"),
    "fraction of a year": (changed("age", [1], "30.5"), {}, "age: 1 row is not a whole number"),
    "missing outcome": (changed("income", [1, 2], ""), {}, "income: 2 rows have a text that missing_values declares as missing"),
    "code of a missing value": (changed("age", [1], "-7"), {"age": {"recode": {"-7": ""}}}, "that missing_values declares"),
    "code of another column": (changed("age", [1], "-7"), {"income": {"recode": {"-7": ""}}}, "age: 1 row is not between"),
    "commas between thousands": (written(good().assign(income="4,280"), sep=";"), {"delimiter": ";", "decimal": ","}, DOUBT),
    "points between thousands": (written(good().assign(income="4.280")), {}, DOUBT),
    "missing, dropped": (changed("income", [1, 2], ""), {"missing": "drop_rows"}, "2 of 60 rows are left out"),
    "all missing": (changed("income", slice(None), ""), {"missing": "drop_rows"}, "0 rows can be used"),
    "zeros": (changed("income", [1], "0"), CLIP, "not other than 0"),
    "zeros, dropped": (changed("income", [1], "0"), CLIP | {"zeros": "drop_rows"}, "outcome of 0"),
    "heaped": (changed("income", range(10, 40), "30000"), {}, "income: one value has a large share and is spread over its bin"),
    "heap at a point": (changed("income", range(10, 40), "30000"), {"income": {"points": [30000]}}, None),
    "heap at 0": (changed("income", range(10, 40), "0"), {"zeros": "keep", "income": {"own_zero": True}}, None),
    "code that looks like an age": (changed("age", range(10, 14), "199"), {"age": {"upper": 200}}, IS_CODE),
    "codes below 0": (written(good().assign(age=["-8", "-7"] * 5 + good().age.tolist()[10:])), {"age": {"lower": -10}}, IS_CODE),
    "code, declared": (changed("age", range(10, 14), "199"), {"age": {"missing_codes": {199: "refused"}}}, None),
    "bounds from the file": (written(good()), {"income": {"lower": 20104, "upper": 88142}}, "income: the bounds are"),
    "nothing to say": (written(good()), {}, None),
    "no value": (written(good().assign(age="")), {"age": {"may_be_missing": True}}, "age: no row has a value; suppress it"),
    "income in brackets": (changed("income", [1], "(30000)"), {}, "income: 1 row is not a number; remove '(', ')'"),
    "typographic minus": (changed("income", [1, 2], "\u22125"), {}, "income: 2 rows are not a number; remove '\u2212'"),
    "percent": (changed("age", [1], "30 %"), {}, "age: 1 row is not a number; remove ' ', '%'"),
    "thousands, none": (
        written(good().assign(income="4.280")), {"thousands": "none", "income": {"lower": 4, "decimals": 3}},
        "income: has the same value in every row",
    ),
    "constant predictor": (changed("age", slice(None), "40"), {}, "age: has the same value in every row"),
    "identifier": (written(good().assign(age=np.arange(60).astype(str))), {"age": {"lower": 0, "upper": 100}}, "an identifier?"),
    "rows twice": (written(pd.concat([good(), good().iloc[:2]])), {}, None),
    "another number of rows": (written(good()), {"rows": 61}, "has 60 rows, but the schema declares 61"),
    "absent column": (written(good().drop(columns="age")), {}, "has no column age"),
    "undeclared column": (written(good().assign(name="x")), {}, "does not declare: name"),
    "duplicate header": (with_first_line(b"income,income,region"), {}, "in capital letters: income, income"),
    "header in two cases": (with_first_line(b"income,Region,region"), {}, "in capital letters: Region, region"),
    "nameless column": (with_first_line(b"income,,region"), {}, "has no name"),
    "no header": (written(good()[["income", "age"]], header=False), {}, "put a header"),
    "semicolons": (written(good(), sep=";"), {}, "correct the schema, perhaps delimiter: ','"),
    "line ends of another kind": (written(good()).replace(b"\n", "\u2028".encode()), {}, "control character"),
    "colour of a terminal": (with_first_line(b"income,age,\x1b[31mregion"), {}, "control character"),
    "too many columns": (with_first_line(b"income," * 2000 + b"age"), {}, "has 2001 columns; allowed: at most 1000"),
    "no header, mixed": (written(good().iloc[7:], header=False), {}, "is the first row a header"),
    "long value": (written(good()) + b"30000,40," + b"x" * 200_000 + b"\n", {}, "a value of more than 131072 characters"),
    "encoding of bytes": (written(good()), {"encoding": "hex"}, "encoding: given 'hex'"),
    "encoding of nothing": (written(good()), {"encoding": "undefined"}, "is not written in undefined"),
    "open quote": (written(good()) + b'"30000,40,North\n', {}, "its quotes do not match"),
    "wrong encoding": (one_in("Süd").decode().encode("cp1252"), {}, "is not written in utf-8"),
    "unknown encoding": (written(good()), {"encoding": "utf-9"}, "encoding: given 'utf-9'"),
    "utf-16": (written(good()).decode().encode("utf-16"), {}, "is not written in utf-8"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_bad_data_end_in_a_sentence(kind, tmp_path):
    content, changes, part = KINDS[kind]
    (tmp_path / "income.csv").write_bytes(content)
    declared = Declared("income", tmp_path, schema(content, **changes))
    said = sentences(declared)
    assert (part in said) if part else not said, said
    assert SECRET not in said
    assert "Traceback" not in said


def sentences(declared):
    """All that is said of a file."""
    try:
        checked = check_file(declared)
    except DataError as error:
        return str(error)
    return "\n".join([*(violation.sentence() for violation in checked.violations), *checked.warnings])


AMOUNT = re.compile(rb"\n(\d\d)(\d\d\d);")
GOOD = {
    "plain": (written(good()), {}),
    "byte order mark": (b"\xef\xbb\xbf" + written(good()), {}),
    "semicolons, declared": (written(good(), sep=";"), {"delimiter": ";"}),
    "Windows line ends": (written(good(), lineterminator="\r\n"), {}),
    "quotes": (written(good(), quoting=1), {}),
    "spaces": (written(good()).replace(b",", b" , "), {}),
    "cp1252, declared": (
        one_in("Süd").decode().encode("cp1252"), {"encoding": "cp1252", "region": {"categories": ["North", "South", "Süd"]}}
    ),
    "decimal commas": (
        AMOUNT.sub(rb"\n\1.\2,00;", written(good(), sep=";")), {"delimiter": ";", "decimal": ",", "thousands": "."}
    ),
    "marks between thousands": (re.sub(rb"\n(\d\d)(\d\d\d),", rb'\n"\1,\2",', written(good())), {"thousands": ","}),
}  # fmt: skip


@pytest.mark.parametrize("kind", GOOD)
def test_however_it_is_written_the_same_rows_are_read(kind, tmp_path):
    content, changes = GOOD[kind]
    (tmp_path / "income.csv").write_bytes(content)
    checked = check_file(Declared("income", tmp_path, schema(content, **changes)))
    assert checked.violations == ()
    assert checked.table["income"].tolist() == good()["income"].astype(float).tolist()


def test_values_stay_out_of_the_output_of_inspect(tmp_path):
    (tmp_path / "income.csv").write_bytes(written(good()))
    said = "\n".join(inspect(tmp_path / "income.csv", "income", tmp_path / "studies" / "income"))
    text = (tmp_path / "studies" / "income" / "schema.yaml").read_text()
    for value in set(good()["income"]) | {"North", "South"}:
        assert value not in said
        assert value not in text
