"""Data that cannot be used, or not well: each ends in a clear sentence or an honest warning, and no sentence holds a value."""

import re

import numpy as np
import pandas as pd
import pytest

from formalsynth.core.text import DataError
from formalsynth_release.inspect import inspect
from formalsynth_release.rows import check_file
from formalsynth_release.schema import Declared, Schema

SECRET = "73519"
"""An outcome that is in every file; no sentence may hold it."""


def good(n=60):
    generator = np.random.default_rng(3)
    table = pd.DataFrame(
        {"income": generator.integers(20_000, 90_000, n).astype(str), "age": generator.integers(20, 70, n).astype(str)}
    )
    table["region"] = np.where(np.arange(n) % 2, "North", "South")
    table.loc[7, "income"] = SECRET
    return table


def written(table, **options):
    return table.to_csv(index=False, **options).encode()


def changed(column, rows, value):
    table = good()
    table.loc[rows, column] = value
    return written(table)


def schema(text="", **changes):
    columns = {
        "income": {"type": "number", "lower": 1000, "upper": 200_000},
        "age": {"type": "whole", "lower": 18, "upper": 90, "release": "synthesized"},
        "region": {"type": "category", "categories": ["North", "South"], "release": "synthesized"},
    }
    for name, column in changes.pop("columns", {}).items():
        columns[name] = columns.get(name, {}) | column
    values = {
        "file": "income.csv", "rows": max(text.count(b"\n") - 1, 2) if text else 60, "protected": "person", "rows_each": 1,
        "neighbours": "replace", "outside_bounds": "refuse", "missing": "refuse", "zeros": "refuse", "outcome": "income",
        "pairs": [],
    }  # fmt: skip
    return Schema.model_validate(values | {"columns": columns} | changes)


def constant():
    return changed("income", slice(None), SECRET)


def with_first_line(line):
    return line + b"\n" + written(good()).split(b"\n", 1)[1]


def one_in(category):
    table = good()
    table.loc[3, "region"] = category
    return written(table)


DOUBT = "income: 60 rows are not a number without doubt"
THREE = ["North", "South", "Islands"]
KINDS = {
    # what is wrong: the file, what differs in its schema, a part of the sentence
    "empty": (b"", {}, "is empty"),
    "blank": (b"\n\n  \n", {}, "is empty"),
    "header only": (b"income,age,region\n", {}, "header but no rows"),
    "three rows": (written(good().iloc[5:8]), {}, "3 rows can be used; a release preserves hardly anything"),
    "constant outcome": (constant(), {}, "income: has the same value in every row; nothing can be learned"),
    "one person in a category": (one_in("Islands"), {"columns": {"region": {"categories": THREE}}}, "Islands is rare"),
    "nobody in a category": (written(good()), {"columns": {"region": {"categories": THREE}}}, "no row has the category Islands"),
    "unknown category": (one_in("Nowhere"), {}, "region: 1 row is not of a declared category"),
    "category in other case": (one_in("NORTH"), {}, "not of a declared category"),
    "above the bounds": (changed("income", [1, 2], "900000"), {}, "income: 2 rows are not between the declared bounds"),
    "below the bounds": (changed("income", [1], "-5"), {}, "not between the declared bounds"),
    "clipped": (changed("income", [1], "900000"), {"outside_bounds": "clip"}, "at a declared bound or was clipped"),
    "predictor outside": (changed("age", [1], "117"), {}, "age: 1 row is not between"),
    "infinite, clipped": (changed("income", [1], "1e400"), {"outside_bounds": "clip"}, "at a declared bound or was clipped"),
    "infinite": (changed("income", [1], "inf"), {}, "not a number"),
    "not a number": (changed("income", [1, 4, 5], "much"), {}, "income: 3 rows are not a number"),
    "NaN in letters": (changed("income", [1], "NaN"), {}, "not a number"),
    "digits with underscores": (changed("income", [1], "3_000"), {}, "not a number"),
    "currency": (changed("income", [1], "€ 30000"), {}, "not a number"),
    "fraction of a year": (changed("age", [1], "30.5"), {}, "age: 1 row is not a whole number"),
    "missing outcome": (changed("income", [1, 2], ""), {}, "income: 2 rows have a text that missing_values declares as missing"),
    "code of a missing value": (changed("age", [1], "-7"), {"missing_values": {"age": ["-7"]}}, "that missing_values declares"),
    "code of another column": (changed("age", [1], "-7"), {"missing_values": {"income": ["-7"]}}, "age: 1 row is not between"),
    "commas between thousands": (written(good().assign(income="4,280"), sep=";"), {"delimiter": ";", "decimal": ","}, DOUBT),
    "points between thousands": (written(good().assign(income="4.280")), {}, DOUBT),
    "spaces between thousands": (changed("income", [1], "4 280"), {}, "not a number"),
    "apostrophes between thousands": (changed("income", [1], "4'280"), {}, "not a number"),
    "missing, dropped": (changed("income", [1, 2], ""), {"missing": "drop_rows"}, "2 of 60 rows are left out"),
    "missing by another mark": (changed("income", [1], "NA"), {}, "not a number"),
    "all missing": (changed("income", slice(None), ""), {"missing": "drop_rows"}, "0 rows can be used"),
    "zeros": (changed("income", [1], "0"), {"outside_bounds": "clip"}, "not other than 0"),
    "zeros, dropped": (changed("income", [1], "0"), {"outside_bounds": "clip", "zeros": "drop_rows"}, "outcome of 0"),
    "extreme": (changed("income", [1], "9999999"), {"columns": {"income": {"upper": 10**7}}}, "far above the rest"),
    "few values": (changed("income", range(1, 60), "30000"), {}, "different values"),
    "heaped": (changed("income", range(10, 40), "30000"), {}, "one value has a share of"),
    "constant predictor": (changed("age", slice(None), "40"), {}, "age: has the same value in every row"),
    "identifier": (
        written(good().assign(age=np.arange(60).astype(str))), {"columns": {"age": {"lower": 0, "upper": 100}}}, "an identifier?"
    ),
    "rows twice": (written(pd.concat([good(), good().iloc[:2]])), {}, "rows are equal to another one"),
    "another number of rows": (written(good()), {"rows": 61}, "has 60 rows, but the schema declares 61"),
    "absent column": (written(good().drop(columns="age")), {}, "has no column age"),
    "undeclared column": (written(good().assign(name="x")), {}, "does not declare: name"),
    "duplicate header": (with_first_line(b"income,income,region"), {}, "in capital letters: income, income"),
    "header in two cases": (with_first_line(b"income,Region,region"), {}, "in capital letters: Region, region"),
    "nameless column": (with_first_line(b"income,,region"), {}, "has no name"),
    "no header": (written(good()[["income", "age"]], header=False), {}, "put a header"),
    "semicolons": (written(good(), sep=";"), {}, "correct delimiter in schema.yaml"),
    "long line": (written(good()) + b"30000,40,North,more,still\n", {}, "has more values than the header"),
    "line ends of another kind": (written(good()).replace(b"\n", "\u2028".encode()), {}, "control character"),
    "colour of a terminal": (with_first_line(b"income,age,\x1b[31mregion"), {}, "control character"),
    "too many columns": (with_first_line(b"income," * 2000 + b"age"), {}, "has 2001 columns; allowed: at most 1000"),
    "no header, mixed": (written(good().iloc[7:], header=False), {}, "is the first row a header"),
    "long value": (written(good()) + b"30000,40," + b"x" * 200_000 + b"\n", {}, "a value of more than 131072 characters"),
    "encoding of bytes": (written(good()), {"encoding": "hex"}, "encoding: given 'hex'"),
    "encoding of nothing": (written(good()), {"encoding": "undefined"}, "is not written in undefined"),
    "delimiter that ends lines": (written(good()), {"delimiter": "\n"}, "delimiter: given '\\n'"),
    "delimiter of two bytes": (written(good()), {"delimiter": "\u20ac"}, "delimiter: given '€'"),
    "points in decimal commas": (written(good().assign(age="30.5"), sep=";"), {"delimiter": ";", "decimal": ","}, "not a number"),
    "short line": (written(good()) + b"30000\n", {}, "fewer values than the header"),
    "open quote": (written(good()) + b'"30000,40,North\n', {}, "its quotes do not match"),
    "wrong encoding": (one_in("Süd").decode().encode("cp1252"), {}, "is not written in utf-8"),
    "unknown encoding": (written(good()), {"encoding": "utf-9"}, "encoding: given 'utf-9'"),
    "utf-16": (written(good()).decode().encode("utf-16"), {}, "is not written in utf-8"),
    "zero bytes": (written(good()) + b"\0\0\0", {}, "zero bytes"),
    "spreadsheet": (b"PK\x03\x04rest of an xlsx", {}, "a spreadsheet or another zip file"),
    "compressed": (b"\x1f\x8brest", {}, "a gzip file"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_bad_data_end_in_a_sentence(kind, tmp_path):
    content, changes, part = KINDS[kind]
    (tmp_path / "income.csv").write_bytes(content)
    declared = Declared("income", tmp_path, schema(content, **changes))
    said = sentences(declared)
    assert part in said, said
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
WITH_UMLAUT = {"region": {"categories": ["North", "South", "Süd"]}}
GOOD = {
    "plain": (written(good()), {}),
    "byte order mark": (b"\xef\xbb\xbf" + written(good()), {}),
    "semicolons, declared": (written(good(), sep=";"), {"delimiter": ";"}),
    "Windows line ends": (written(good(), lineterminator="\r\n"), {}),
    "quotes": (written(good(), quoting=1), {}),
    "spaces": (written(good()).replace(b",", b" , "), {}),
    "cp1252, declared": (one_in("Süd").decode().encode("cp1252"), {"encoding": "cp1252", "columns": WITH_UMLAUT}),
    "decimal commas": (AMOUNT.sub(rb"\n\1.\2,00;", written(good(), sep=";")), {"delimiter": ";", "decimal": ","}),
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
