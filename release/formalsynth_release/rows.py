"""Check of a file's rows against its schema: violations by column, rule and number of rows, and warnings."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError, counted
from formalsynth_release.csv_file import CsvFormat, listed
from formalsynth_release.file_formats import read_file
from formalsynth_release.records import clipped
from formalsynth_release.rules import broken
from formalsynth_release.same_rows import Content, content_of
from formalsynth_release.schema import Column
from formalsynth_release.study import Declared, Schema

if TYPE_CHECKING:
    import pandas as pd

LEAST_ROWS = 20
"""Minimum number of rows for a useful release."""
MANY_ROWS = 500_000
FEW_IN_CATEGORY = 5
HEAPED, CODED = 0.2, 0.01
"""Shares of rows above which a single value is a heap, and above which a value far from all others may be a code."""
FEW_CODES, ALONE = 3, 3
"""Largest number of values that may be codes, and their distance from others, in multiples of the largest one among these."""
IDENTIFYING = 0.2
"""Number of distinct values, as a share of the rows, above which a suppressed column may be an identifier."""
MISSING, NUMERIC = "with a value", "a number"
"""Rules for columns without missing values, and for columns of numbers."""
PARTED = r"[-+]?[1-9]\d{0,2}[.,]\d{3}"
"""Pattern of a number that has a mark between thousands, or three decimal places."""
DOUBT = "4,280 and 4.280 are 4280 or 4.28; declare thousands: the mark between thousands, or none"
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""Pattern of a number in a file."""
THOUSANDS = {",": ",", ".": r"\.", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
"""Pattern of each mark between thousands."""
SIGNS = "%()[]\u2212\u2013\u2014'\u2019 \u00a0\u202f"
"""Signs in numbers, beside those of currencies, that have to be removed."""
NAMED = 5
"""Largest number of names in a warning."""


@dataclass(frozen=True)
class Violation:
    """Rule that a column breaks in some rows."""

    column: str
    rule: str
    rows: int
    signs: str = ""
    """Signs that numbers may not contain."""

    def sentence(self) -> str:
        """Describe the violation, without a value."""
        if self.rule == MISSING:
            return f"{self.column}: {counted(self.rows, 'row has', 'rows have')} a text that missing_values declares as missing"
        remove = f"; remove {', '.join(map(repr, self.signs))}" if self.signs else ""
        return f"{self.column}: {self.rows} row{'s are' if self.rows != 1 else ' is'} not {self.rule}{remove}"


@dataclass(frozen=True)
class CheckResult:
    """Comparison of a file with its schema. All of it is confidential."""

    violations: tuple[Violation, ...]
    cases: pd.DataFrame
    """Row, column, rule and value of each violation."""
    warnings: tuple[str, ...]
    table: pd.DataFrame | None
    """Rows with their types; None if the file cannot be used."""
    content: Content
    """Hashes of the rows, by which the ledgers recognize them."""
    changed: bool = False
    """True if values were outside the bounds, or broke a declared rule."""


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
    if len(text) > MANY_ROWS:
        tell(f"Checking {len(text)} rows")
    content, text = content_of(text), recoded(schema, text)
    violations, cases = _violations(schema, text)
    if violations:
        return CheckResult(violations, cases, (), None, content)
    used = used_rows(schema, text)
    table, warnings = clipped(schema, used).reset_index(drop=True), tuple(_in_several_rows(schema, text))
    if warn:
        warnings = (*_grouped(_findings(schema, used)), *_warnings(schema, text, used), *warnings)
    return CheckResult(violations, cases, warnings, table, content, not table.equals(used.reset_index(drop=True)))


def recoded(schema: Schema, text: pd.DataFrame) -> pd.DataFrame:
    """Replace texts as declared, and those of missing values by none: each value on its own."""

    def of_column(column: pd.Series) -> pd.Series:
        declared = schema.columns[str(column.name)].recode
        column = column.replace(declared) if declared else column
        return column.mask(column.isin(schema.missing_values))

    return text.apply(of_column)


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
        lines = ["CONFIDENTIAL: the counts below come from the data."]
        lines += [f"{declared.csv}: {violation.sentence()}" for violation in checked.violations]
        raise DataError("\n".join([*lines, "Correct the file or the schema; formalsynth check lists these rows."]))
    return checked.table, checked


def _check_shape(declared: Declared, text: pd.DataFrame) -> None:
    schema, file = declared.schema, declared.csv
    absent = [name for name in schema.columns if name not in text.columns]
    more = [name for name in text.columns if name not in schema.columns]
    if absent:
        none = len(absent) == len(schema.columns)
        shown = "not shown (is the first row a header?)" if none else listed(list(text.columns))
        perhaps = f", perhaps delimiter: {schema.delimiter!r}" if len(text.columns) == 1 else ""
        raise DataError(f"{file}: has no column {', '.join(absent)}; its columns are {shown}: correct the schema{perhaps}")
    if more:
        raise DataError(
            f"{file}: has columns that the schema does not declare: {listed(more)}; declare them, perhaps as suppressed"
        )
    if len(text) != schema.rows:
        raise DataError(
            f"{file}: has {counted(len(text), 'row')}, but the schema declares {schema.rows}: is it incomplete, or another file?"
        )


def _violations(schema: Schema, text: pd.DataFrame) -> tuple[tuple[Violation, ...], pd.DataFrame]:
    import pandas as pd

    broken_by = [
        (name, rule, text[name][wrong])
        for name, column in schema.released.items()
        for rule, wrong in _rules(schema, name, column, text[name])
    ]
    broken_by = [(name, rule, values) for name, rule, values in [*broken_by, *_persons(schema, text)] if len(values)]
    cases = [
        pd.DataFrame({"row": values.index + 1, "column": name, "rule": rule, "value": values}) for name, rule, values in broken_by
    ]
    columns = ["row", "column", "rule", "value"]
    violations = (
        Violation(name, rule, len(values), signs_in(values) if rule == NUMERIC else "") for name, rule, values in broken_by
    )
    return tuple(violations), pd.concat(cases, ignore_index=True) if cases else pd.DataFrame(columns=columns)


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
        yield f"between the declared bounds {low:g} and {high:g}", values.notna() & (column.clip(values) != values)
    if name == schema.outcome and schema.zeros == "refuse":
        yield "other than 0", values == 0


def _persons(schema: Schema, text: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield the rows without a protected unit, or of units that are in several rows, contrary to the declaration."""
    name = schema.person or schema.protected
    if name in text.columns:
        persons = text[name]
        if schema.rows_each > 1:
            yield name, f"with a {schema.protected}", persons[persons.isna()]
        else:
            yield name, f"the only row of its {schema.protected}", persons[persons.notna() & persons.duplicated(keep=False)]


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
            yield (
                f"{name}: looks like an identifier, and some values are in up to {counts.iloc[0]} rows. If it names a "
                f"{schema.protected}, rows_each: {schema.rows_each} is false, and so is every epsilon: declare person, "
                "and the largest number of rows."
            )


def is_unique_number(values: pd.Series) -> bool:
    """Return True for whole numbers that are all different, as identifiers are."""
    present = values.dropna()
    return len(present) >= LEAST_ROWS and bool((present % 1 == 0).all()) and bool(present.is_unique)


def _parted(text: pd.Series) -> pd.Series:
    """Mask the values with a mark before three digits, if no other value shows that it is a decimal mark."""
    marked = text.str.contains("[.,]", na=False)
    parted = text.str.fullmatch(PARTED, na=False)
    return parted & bool((parted | ~marked).all())


ISO = "%Y-%m-%d"
"""Notation of dates, unless another one is declared."""


def converted(schema: Schema, column: Column, text: pd.Series) -> pd.Series:
    """Convert the text of a column to values; NaN where this is not possible. Each value is converted on its own, and once."""
    import pandas as pd

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
    import pandas as pd

    table = pd.DataFrame({name: converted(schema, column, text[name]) for name, column in schema.released.items()})
    table = table.dropna(subset=[name for name, column in schema.released.items() if not column.may_be_missing])
    table = table[table[schema.outcome] != 0] if schema.zeros == "drop_rows" else table
    if schema.rows_each > 1:
        table = table[text.loc[table.index].groupby(schema.person).cumcount() < schema.rows_each]
    return table


def _grouped(findings: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Write a sentence for each kind of finding, with the first few names."""
    named = dict[str, list[str]]()
    for sentence, name in findings:
        named.setdefault(sentence, []).append(name)
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
    if outside := int((values.notna() & (column.clip(values) != values)).sum()):
        yield "values outside the declared bounds were clipped: are these the right bounds?", f"{name} ({outside})"
    if finer := int((values.dropna().round(column.places) != values.dropna()).sum()):
        yield "values have more decimal places than decimals: a release rounds them.", f"{name} ({finer})"


def _of_categories(name: str, column: Column, values: pd.Series) -> Iterator[tuple[str, str]]:
    counts = values.value_counts()
    for category in column.categories or []:
        number = int(counts.get(category, 0))
        if number == 0:
            yield "no row has the category. A release can contain it.", f"{name} {category}"
        elif number < FEW_IN_CATEGORY:
            yield (
                "the category is rare: expect poor utility. Merging it for this reason is a choice based on the file.",
                f"{name} {category}",
            )


def _of_numbers(name: str, column: Column, values: pd.Series) -> Iterator[tuple[str, str]]:
    import pandas as pd

    low, high = column.ends
    if is_unique_number(values):
        yield "has a different whole number in every row; is it an identifier? Then suppress it.", name
    amounts = values[values != 0] if column.own_zero else values
    if few_codes(amounts):
        yield ("a value far from all others, or the only negative one, is in over 1 % of the rows: is it a missing code?", name)
    if (high - low) * 10**column.places >= column.bins and (values.min(), values.max()) == (low, high):
        yield "the bounds are the smallest and the largest value in the file: bounds that are read off it are a leak.", name
    heaps = values.value_counts(normalize=True)
    heaps = heaps[(heaps > HEAPED) & ~heaps.index.isin([*(column.points or []), *([0] if column.own_zero else [])])]
    if len(heaps) and (high - low) * 10**column.places >= column.bins and pd.notna(heaps.index[0]):
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
        are = "is" if dropped == 1 else "are"
        beyond = f", or beyond the first {schema.rows_each} of a {schema.protected}" if schema.rows_each > 1 else ""
        yield f"{dropped} of {len(text)} rows {are} left out, as declared, for a missing value or an outcome of 0{beyond}."
    for rule, number in broken(schema, used):
        yield f"rules: {rule}: {counted(number, 'row breaks', 'rows break')} it, and {'is' if number == 1 else 'are'} changed."
    if len(used) < LEAST_ROWS:
        yield f"{counted(len(used), 'row')} can be used; a release preserves hardly anything of so few."
