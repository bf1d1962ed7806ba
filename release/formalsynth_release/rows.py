"""Check of a file's rows against its schema: violations by column, rule and number of rows, and warnings."""

from __future__ import annotations

import collections
import datetime
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from formalsynth.core.text import DataError, counted
from formalsynth_release.csv_file import CsvFormat, listed
from formalsynth_release.file_formats import read_file
from formalsynth_release.rules import applied
from formalsynth_release.same_rows import Content, content_of
from formalsynth_release.schema import Column, PublicSchema
from formalsynth_release.study import Declared, Schema

LEAST_ROWS = 20  # minimum number of rows for a useful release
FEW_IN_CATEGORY = 5
HEAPED, CODED = 0.2, 0.01
"""Shares of rows above which a single value is a heap, and above which a value far from all others may be a code."""
FEW_CODES, ALONE = 3, 3
"""Largest number of values that may be codes, and their distance from others, in multiples of the largest one among these."""
IDENTIFYING = 0.2  # number of distinct values, as a share of the rows, above which a suppressed column may be an identifier
MISSING, NUMERIC = "with a value", "a number"  # rules for columns without missing values, and for columns of numbers
PARTED = r"[-+]?[1-9]\d{0,2}[.,]\d{3}"  # pattern of a number that has a mark between thousands, or three decimal places
DOUBT = "4,280 and 4.280 are 4280 or 4.28; declare thousands: the mark between thousands, or none"
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")  # pattern of a number in a file
THOUSANDS = {",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}  # pattern of each mark between thousands
SIGNS = "%()[]\u2212\u2013\u2014'\u2019 \u00a0\u202f"  # signs in numbers, beside those of currencies, that have to be removed
NAMED = 5  # largest number of names in a warning


@dataclass(frozen=True)
class Violation:
    """Rule that a column breaks in some rows."""

    column: str
    rule: str
    values: pd.Series  # values that break it, by their place in the file

    def sentence(self) -> str:
        """Describe the violation, without a value."""
        if self.rule == MISSING:
            number = counted(len(self.values), "row has", "rows have")
            return f"{self.column}: {number} a text that missing_values declares as missing"
        signs = signs_in(self.values) if self.rule == NUMERIC else ""
        remove = f"; remove {', '.join(map(repr, signs))}" if signs else ""
        return f"{self.column}: {counted(len(self.values), 'row is', 'rows are')} not {self.rule}{remove}"


@dataclass(frozen=True)
class CheckResult:
    """Comparison of a file with its schema. All of it is confidential."""

    violations: tuple[Violation, ...]
    warnings: tuple[str, ...]
    table: pd.DataFrame | None  # rows with their types; None if the file cannot be used
    content: Content  # hashes of the rows, by which the ledgers recognize them
    changed: bool = False  # True if values were outside the bounds, or broke a declared rule


def check_file(declared: Declared, warn: bool = True) -> CheckResult:
    """Compare a file with its schema.

    Args:
        declared: declarations of the file.
        warn: False for only those on persons in several rows, so other, unnecessary steps cannot fail because of the data.

    Raises:
        DataError: it cannot be read, or its columns or number of rows differ from the declared ones.
    """
    schema = declared.schema
    text = read_file(declared.csv, written_as(schema))
    _check_shape(declared, text)
    content, text = content_of(text), recoded(schema, text)
    if violations := tuple(_violations(schema, text)):
        return CheckResult(violations, (), None, content)
    used = used_rows(schema, text)
    table, warnings = clipped(schema, used).reset_index(drop=True), tuple(_in_several_rows(schema, text))
    if warn:
        warnings = (*_grouped(_findings(schema, used)), *_warnings(schema, text, used), *warnings)
    return CheckResult((), warnings, table, content, not table.equals(used.reset_index(drop=True)))


def recoded(schema: Schema, text: pd.DataFrame) -> pd.DataFrame:
    """Replace texts as declared, and those of missing values by none: each value on its own."""
    text = text.assign(**{name: text[name].replace(column.recode) for name, column in schema.columns.items() if column.recode})
    return text.mask(text.isin(schema.missing_values))


def written_as(schema: Schema) -> CsvFormat:
    """Return the declared format of a file."""
    return CsvFormat(schema.encoding, schema.delimiter, schema.decimal, (schema.thousands or "").replace("none", ""))


def usable(declared: Declared) -> tuple[pd.DataFrame, CheckResult]:
    """Read the rows of a valid file, with their types, and the result of their check.

    Raises:
        DataError: a line for each rule that some of its rows break.
    """
    checked = check_file(declared, warn=False)
    if checked.table is None:
        lines = [f"{declared.csv}: {violation.sentence()}" for violation in checked.violations]
        last = "Correct the file or the schema; formalsynth check lists these rows."
        raise DataError("\n".join(["CONFIDENTIAL: the counts below come from the data.", *lines, last]))
    return checked.table, checked


def _check_shape(declared: Declared, text: pd.DataFrame) -> None:
    schema, file = declared.schema, declared.csv
    absent = [name for name in schema.columns if name not in text.columns]
    more, problem = [name for name in text.columns if name not in schema.columns], ""
    if absent:
        none = len(absent) == len(schema.columns)
        shown = "not shown (is the first row a header?)" if none else listed(list(text.columns))
        perhaps = f", perhaps delimiter: {schema.delimiter!r}" if len(text.columns) == 1 else ""
        problem = f"has no column {', '.join(absent)}; its columns are {shown}: correct the schema{perhaps}"
    elif more:
        problem = f"has columns that the schema does not declare: {listed(more)}; declare them, perhaps as suppressed"
    elif len(text) != schema.rows:
        problem = f"has {counted(len(text), 'row')}, but the schema declares {schema.rows}: is it incomplete, or another file?"
    if problem:
        raise DataError(f"{file}: {problem}")


def _violations(schema: Schema, text: pd.DataFrame) -> Iterator[Violation]:
    for name, column in schema.released.items():
        for rule, wrong in _rules(schema, name, column, text[name]):
            if wrong.any():
                yield Violation(name, rule, text[name][wrong])
    if (name := schema.person or schema.protected) in text.columns:
        persons, several = text[name], schema.rows_each > 1
        wrong = persons.isna() if several else persons.notna() & persons.duplicated(keep=False)
        if wrong.any():
            yield Violation(name, f"{'with a' if several else 'the only row of its'} {schema.protected}", persons[wrong])


def _rules(schema: Schema, name: str, column: Column, text: pd.Series) -> Iterator[tuple[str, pd.Series]]:
    """Yield each rule for a column with a mask of the rows that break it; rules on numbers skip values that are not numbers."""
    there = text.notna()
    if schema.missing != "drop_rows" and not column.may_be_missing:
        yield MISSING, ~there
    values = converted(schema, column, text)
    if column.type == "category":
        yield "of a declared category", there & ~values.isin(column.categories or [])
        return
    low, high = column.ends
    yield f"a date written as {column.format or ISO}" if column.date else NUMERIC, there & values.isna()
    if schema.thousands is None and not column.date:
        yield f"a number without doubt: {DOUBT}", _parted(text)
    if column.type == "whole":
        yield "a whole number", values % 1 > 0
    if schema.outside_bounds == "refuse":
        yield f"between the declared bounds {low:g} and {high:g}", values.notna() & (clip(column, values) != values)
    if name == schema.outcome and schema.zeros == "refuse":
        yield "other than 0", values == 0


def signs_in(values: pd.Series) -> str:
    """Return the signs in values that would be numbers without them, such as those of currencies."""
    return "".join(sorted(sign for sign in set("".join(values)) if sign in SIGNS or unicodedata.category(sign) == "Sc"))


def _in_several_rows(schema: Schema, text: pd.DataFrame) -> Iterator[str]:
    """Warn about suppressed columns that look like identifiers of persons with several rows."""
    for name, column in schema.columns.items():
        counts = text[name].value_counts()
        looks = column.release == "suppressed" and name != schema.person and len(counts) > IDENTIFYING * len(text)
        looks = looks and not (numbers(counts.index.to_series(), written_as(schema)) % 1 > 0).any()  # a measurement
        if looks and counts.iloc[0] > schema.rows_each:
            most = f"some values are in up to {counts.iloc[0]} rows. If it names a {schema.protected}"
            false = f"rows_each: {schema.rows_each} is false, and so is every epsilon"
            yield f"{name}: looks like an identifier, and {most}, {false}: declare person, and the largest number of rows."


def is_unique_number(values: pd.Series) -> bool:
    """Return True for whole numbers that are all different, as identifiers are."""
    present = values.dropna()
    return len(present) >= LEAST_ROWS and bool((present % 1 == 0).all()) and present.is_unique


def _parted(text: pd.Series) -> pd.Series:
    """Mask the values with a mark before three digits, if no other value shows that it is a decimal mark."""
    parted = text.str.fullmatch(PARTED, na=False)
    return parted & bool((parted | ~text.str.contains("[.,]", na=False)).all())


ISO = "%Y-%m-%d"  # notation of dates, unless another one is declared


def converted(schema: Schema, column: Column, text: pd.Series) -> pd.Series:
    """Convert the text of a column to values; NaN where this is not possible. Each value is converted on its own, and once."""
    places, values = pd.factorize(text)
    distinct = pd.Series(values, dtype=object)
    if column.type == "category":
        distinct = distinct.str[: column.leading] if column.leading else distinct
    elif column.date:
        distinct = distinct.map(lambda day: _number_of(column, day)).astype(float)
    else:
        distinct = numbers(distinct, written_as(schema))
    return distinct.reindex(places).set_axis(text.index)


def _number_of(column: Column, text: str) -> float:
    """Return the year of a date, or the months or days since the declared day; NaN for a text that is not a date."""
    try:
        day = datetime.datetime.strptime(text, column.format or ISO).date()
    except ValueError:
        return float("nan")
    if column.since is None:
        return day.year
    months = 12 * (day.year - column.since.year) + day.month - column.since.month
    return months if column.date == "months" else (day - column.since).days


def numbers(text: pd.Series, written: CsvFormat) -> pd.Series:
    """Convert text to numbers; NaN where it is not a number.

    Each value is read separately: a parser of columns reads an integer differently if another row has a fraction or no value.
    """
    if mark := THOUSANDS.get(written.thousands):
        grouped = text.str.fullmatch(rf"[-+]?\d{{1,3}}({mark}\d{{3}})+({re.escape(written.decimal)}\d*)?", na=False)
        text = text.where(~grouped, text.str.replace(mark, "", regex=True))
    if written.decimal == ",":
        text = text.where(~text.str.contains(".", regex=False, na=False)).str.replace(",", ".", regex=False)
    return text.where(text.str.fullmatch(NUMBER, na=False)).astype(float)


def used_rows(schema: Schema, text: pd.DataFrame) -> pd.DataFrame:
    """Convert the columns of a release to their types, without the rows that are left out; the index is that of the file.

    Of each protected unit, the first rows are used, in their order: no other unit has an influence on which these are.
    """
    table = pd.DataFrame({name: converted(schema, column, text[name]) for name, column in schema.released.items()})
    table = table.dropna(subset=[name for name, column in schema.released.items() if not column.may_be_missing])
    table = table[table[schema.outcome] != 0] if schema.zeros == "drop_rows" else table
    if schema.rows_each > 1:
        table = table[text.loc[table.index].groupby(schema.person).cumcount() < schema.rows_each]
    return table


def clip(column: Column, numbers: pd.Series) -> pd.Series:
    """Clip numbers to the declared bounds, but neither codes of missing values nor a 0 that has a level of its own."""
    kept = numbers.isin([*column.codes, *([0.0] if column.own_zero else [])])
    return numbers.where(kept, numbers.clip(*column.ends))


def clipped(schema: PublicSchema, table: pd.DataFrame) -> pd.DataFrame:
    """Clip the numbers of a table to their declared bounds, and apply the declared rules."""
    ends = {name: column for name, column in schema.released.items() if column.type != "category"}
    return applied(schema, table.assign(**{name: clip(column, table[name]) for name, column in ends.items()}))


def _grouped(findings: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Write a sentence for each kind of finding, with the first few names."""
    named = collections.defaultdict[str, list[str]](list)
    for sentence, name in findings:
        named[sentence].append(name)
    for sentence, names in named.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"{', '.join(names[:NAMED])}{more}: {sentence}"


def _findings(schema: Schema, used: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield confidential findings about columns: a sentence, and what it is about."""
    for name, column in schema.released.items():
        values = used[name]
        if column.type != "category":
            yield from _changed(name, column, values)
        if not values.count():
            yield "no row has a value; suppress it: a release would have invented values.", name
        elif values.nunique() == 1:
            yield "has the same value in every row; suppress it, nothing can be learned from it.", name
        elif column.type == "category":
            yield from _of_categories(name, column, values)
        else:
            yield from _of_numbers(name, column, column.amounts(values))


def _changed(name: str, column: Column, values: pd.Series) -> Iterator[tuple[str, str]]:
    """Yield what a release changes in numbers."""
    if outside := int((values.notna() & (clip(column, values) != values)).sum()):
        yield "values outside the declared bounds were clipped: are these the right bounds?", f"{name} ({outside})"
    if finer := int((values.dropna().round(column.places) != values.dropna()).sum()):
        yield "values have more decimal places than decimals: a release rounds them.", f"{name} ({finer})"


def _of_categories(name: str, column: Column, values: pd.Series) -> Iterator[tuple[str, str]]:
    counts = values.value_counts().reindex(column.categories, fill_value=0)
    for category, number in counts.items():
        if number == 0:
            yield "no row has the category. A release can contain it.", f"{name} {category}"
        elif number < FEW_IN_CATEGORY:
            rare = "the category is rare: expect poor utility. Merging it for this reason is a choice based on the file."
            yield rare, f"{name} {category}"


def _of_numbers(name: str, column: Column, values: pd.Series) -> Iterator[tuple[str, str]]:
    low, high = column.ends
    if is_unique_number(values):
        yield "has a different whole number in every row; is it an identifier? Then suppress it.", name
    amounts = values[values != 0] if column.own_zero else values
    if few_codes(amounts):
        yield "a value far from all others, or the only negative one, is in over 1 % of the rows: is it a missing code?", name
    spread = (high - low) * 10**column.places >= column.bins
    if spread and (values.min(), values.max()) == (low, high):
        yield "the bounds are the smallest and the largest value in the file: bounds that are read off it are a leak.", name
    heaps = values.value_counts(normalize=True)
    heaps = heaps[(heaps > HEAPED) & ~heaps.index.isin([*(column.points or []), *([0] if column.own_zero else [])])]
    if len(heaps) and spread:
        yield "one value has a large share and is spread over its bin: declare it as own_zero or in points, if it is known.", name


def few_codes(values: pd.Series) -> list[float]:
    """Return the outermost values that may be codes: frequent ones that are far from all others, or the only ones below 0."""
    counts = values.value_counts().sort_index()
    places = counts.index.to_numpy(dtype=float)
    for number in range(1, FEW_CODES + 1):
        for ends, rest in ((places[:number], places[number:]), (places[-number:], places[:-number])):
            if len(rest) < 2 or counts[ends].sum() <= max(CODED * len(values), 1):
                continue
            gap = np.abs(ends[:, None] - rest).min()
            if gap > max((rest[-1] - rest[0]) / 2, ALONE * np.diff(rest).max()) or (ends[-1] < 0 <= rest[0]):
                return [float(end) for end in ends]
    return []


def _warnings(schema: Schema, text: pd.DataFrame, used: pd.DataFrame) -> Iterator[str]:
    """Yield confidential warnings about the rows."""
    if dropped := len(text) - len(used):
        beyond = f", or beyond the first {schema.rows_each} of a {schema.protected}" if schema.rows_each > 1 else ""
        are = f"{dropped} of {len(text)} rows {'is' if dropped == 1 else 'are'}"
        yield f"{are} left out, as declared, for a missing value or an outcome of 0{beyond}."
    for rule in schema.rules:
        if number := int(rule.broken(schema.columns, used).sum()):
            yield f"rules: {rule.sentence}: {counted(number, 'row breaks', 'rows break')} it, which a release changes."
    if len(used) < LEAST_ROWS:
        yield f"{counted(len(used), 'row')} can be used; a release preserves hardly anything of so few."
