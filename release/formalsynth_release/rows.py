"""Check of a file's rows against its schema: violations by column, rule and number of rows, and warnings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.runtime.files import checksum
from formalsynth_release.csv_file import CsvFormat, listed, read_text, with_points
from formalsynth_release.same_rows import Content, content_of
from formalsynth_release.schema import KIND, Column, Declared, Schema

if TYPE_CHECKING:
    import pandas as pd
    import pandera.pandas as pa

LEAST_ROWS = 20
"""Minimum number of rows for a useful release."""
MANY_ROWS = 500_000
FEW_IN_CATEGORY = 5
FEW_VALUES = 10
"""Minimum number of distinct values for an outcome to count as numeric."""
FAR = 10.0
"""Distance above the median beyond which a value is far above the rest, in multiples of the upper quartile's distance."""
HEAPED = 0.2
IDENTIFYING = 0.2
"""Number of distinct values, as a share of the rows, above which a suppressed column may be an identifier."""
WEIGHT = re.compile(r"(^|_)(weights?|wgt|wt|w|gewicht|hochrechnungsfaktor|poids|pond|peso)(_|\d|$)|wgt$", re.IGNORECASE)
"""Pattern of the names of survey weights."""
SURVEY_WEIGHT = (
    "looks like a survey weight. A release does not use weights: the file is synthesized, not its population. Keep the "
    "column only if analysts need it."
)
MISSING = "with a value"
"""Rule for columns without missing values."""
THREE = 3
PARTED = r"[-+]?[1-9]\d{0,2}[.,]\d{3}"
"""Pattern of a number that has a mark between thousands, or three decimal places."""
DOUBT = "4,280 and 4.280 are 4280 or 4.28; remove marks between thousands from the file, or declare decimals: 3"
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""Pattern of a number in a file."""


@dataclass(frozen=True)
class Violation:
    """Rule that a column breaks in some rows."""

    column: str
    rule: str
    rows: int

    def sentence(self) -> str:
        """Describe the violation, without a value."""
        if self.rule == MISSING:
            return f"{self.column}: {counted(self.rows, 'row has', 'rows have')} a text that missing_values declares as missing"
        return f"{self.column}: {self.rows} row{'s are' if self.rows != 1 else ' is'} not {self.rule}"


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


@dataclass(frozen=True)
class UsableFile:
    """Valid file. All of it is confidential."""

    table: pd.DataFrame
    """Rows with their types."""
    content: Content
    warnings: tuple[str, ...] = ()


def check_file(declared: Declared, warn: bool = True) -> CheckResult:
    """Compare a file with its schema.

    Args:
        declared: declarations of the file.
        warn: False for only those on persons in several rows, so other, unnecessary steps cannot fail because of the data.

    Raises:
        DataError: it cannot be read, or its columns or number of rows differ from the declared ones.
    """
    schema = declared.schema
    text = read_text(declared.csv, CsvFormat(schema.encoding, schema.delimiter, schema.decimal))
    _check_shape(declared, text)
    if len(text) > MANY_ROWS:
        tell(f"Checking {len(text)} rows")
    content = replace(content_of(text), file=checksum(declared.csv))
    text = text.apply(lambda column: column.mask(column.isin(schema.missing_in(str(column.name)))))
    violations, cases = _violations(schema, text)
    if violations:
        return CheckResult(violations, cases, (), None, content)
    used = used_rows(schema, text)
    table, warnings = clipped(schema, used).reset_index(drop=True), tuple(_in_several_rows(schema, text))
    if warn:
        warnings = (*_warnings(schema, table), *_clipped(schema, used), *_rounded(schema, used), *warnings)
    return CheckResult(violations, cases, warnings, table, content)


def usable(declared: Declared) -> UsableFile:
    """Read the rows of a valid file, with their types.

    Raises:
        DataError: a line for each rule that some of its rows break.
    """
    checked = check_file(declared, warn=False)
    if checked.table is None:
        lines = ["CONFIDENTIAL: the counts below come from the data."]
        lines += [f"{declared.csv}: {violation.sentence()}" for violation in checked.violations]
        raise DataError("\n".join([*lines, "Correct the file or the schema; formalsynth check lists these rows."]))
    return UsableFile(checked.table, checked.content, checked.warnings)


def _check_shape(declared: Declared, text: pd.DataFrame) -> None:
    schema, file = declared.schema, declared.csv
    absent = [name for name in schema.columns if name not in text.columns]
    more = [name for name in text.columns if name not in schema.columns]
    if absent and len(text.columns) == 1:
        raise DataError(
            f"{file}: has one column with delimiter: {schema.delimiter!r}, but the schema declares {len(schema.columns)}: its "
            f"first line is {listed(list(text.columns))}. Correct delimiter in the schema"
        )
    if absent:
        raise DataError(
            f"{file}: has no column {', '.join(absent)}; its columns are {listed(list(text.columns))}: correct the schema"
            if len(absent) < len(schema.columns)
            else f"{file}: has none of the declared columns in its first line (not shown: is the first row a header?): correct "
            "the schema, or add a line with the names"
        )
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
    import pandera.errors
    import pandera.pandas as pa

    used = schema.released
    rules = pa.DataFrameSchema({name: _rules(schema, name, column) for name, column in used.items()})
    cases = pd.DataFrame(columns=["row", "column", "rule", "value"])
    try:
        rules.validate(text[list(used)], lazy=True)
    except pandera.errors.SchemaErrors as error:
        failures = error.failure_cases
        cases = pd.DataFrame({
            "row": failures["index"].astype(int) + 1, "column": failures["column"],
            "rule": failures["check"].replace({"not_nullable": MISSING}), "value": failures["failure_case"],
        }).sort_values(["column", "rule", "row"])  # fmt: skip
    cases = pd.concat([cases, _repeated(schema, text)], ignore_index=True)
    numbered = cases.groupby(["column", "rule"], sort=True).size()
    columns, names = (numbered.index.get_level_values(level) for level in ("column", "rule"))
    violations = zip(columns, names, numbered, strict=True)
    return tuple(Violation(str(column), str(rule), int(rows)) for column, rule, rows in violations), cases


def _repeated(schema: Schema, text: pd.DataFrame) -> pd.DataFrame:
    """List the rows of protected persons who are in several rows, contrary to the declaration, if a column identifies them."""
    import pandas as pd

    name = schema.protected
    rows = text[name][text[name].notna() & text[name].duplicated(keep=False)] if name in text.columns else text.iloc[:0, 0]
    return pd.DataFrame({"row": rows.index + 1, "column": name, "rule": f"the only row of its {name}", "value": rows.to_numpy()})


def _in_several_rows(schema: Schema, text: pd.DataFrame) -> Iterator[str]:
    """Warn about suppressed columns that look like identifiers of persons with several rows."""
    for name, column in schema.columns.items():
        counts = text[name].value_counts()
        if column.release == "suppressed" and len(counts) > IDENTIFYING * len(text) and counts.iloc[0] > 1:
            yield (
                f"{name}: looks like an identifier, and some values are in up to {counts.iloc[0]} rows. If it names a "
                f"{schema.protected}, rows_each: 1 is false, and so is every epsilon: make one row for each."
            )


def is_unique_number(values: pd.Series) -> bool:
    """Return True for whole numbers that are all different, as identifiers are."""
    present = values.dropna()
    return len(present) >= LEAST_ROWS and bool((present % 1 == 0).all()) and bool(present.is_unique)


def is_weight(name: str, values: pd.Series) -> bool:
    """Return True for positive numbers that look like a survey weight, by name, or by a mean of 1 if they are not whole."""
    present = values.dropna()
    if not len(present) or not (present > 0).all():
        return False
    one_on_average = abs(float(present.mean()) - 1) < 0.001 and present.nunique() > FEW_VALUES
    return bool(WEIGHT.search(name)) or (one_on_average and not (present % 1 == 0).all())


def _rules(schema: Schema, name: str, column: Column) -> pa.Column:
    """Return the rules for a column; rules on the size of numbers skip values that are not numbers."""
    import pandera.pandas as pa

    def rule(holds: Callable[[pd.Series], pd.Series], text: str) -> pa.Check:
        return pa.Check(holds, name=text, error=text)

    if column.type == "category":
        checks = [pa.Check.isin(column.categories or [], name="of a declared category", error="of a declared category")]
    else:
        low, high = column.ends
        checks = [rule(lambda values: numbers(values, schema).notna(), "a number")]
        if column.places != THREE:
            checks.append(rule(lambda values: ~_parted(values), f"a number without doubt: {DOUBT}"))
        if column.type == "whole":
            checks.append(rule(lambda values: ~(numbers(values, schema) % 1 > 0), "a whole number"))
        if schema.outside_bounds == "refuse":
            inside = f"between the declared bounds {low:g} and {high:g}"
            checks.append(rule(lambda values: ~((numbers(values, schema) < low) | (numbers(values, schema) > high)), inside))
        if name == schema.outcome and schema.zeros == "refuse":
            checks.append(rule(lambda values: numbers(values, schema) != 0, "other than 0"))
    return pa.Column(None, checks, nullable=schema.missing == "drop_rows" or column.may_be_missing, coerce=False, required=True)


def _parted(text: pd.Series) -> pd.Series:
    """Mask the values with a mark before three digits, if no other value shows that it is a decimal mark."""
    marked = text.str.contains("[.,]", na=False)
    parted = text.str.fullmatch(PARTED, na=False)
    return parted & bool((parted | ~marked).all())


def numbers(text: pd.Series, schema: Schema) -> pd.Series:
    """Convert text to numbers; NaN where it is not a number.

    Each value is read separately: a parser of columns reads an integer differently if another row has a fraction or no value.
    """
    plain = with_points(text) if schema.decimal == "," else text
    return plain.where(plain.str.fullmatch(NUMBER, na=False)).astype(float)


def used_rows(schema: Schema, text: pd.DataFrame) -> pd.DataFrame:
    """Convert the columns of a release to their types, without the rows that are left out; the index is that of the file."""
    import pandas as pd

    table = pd.DataFrame({
        name: text[name].astype(object) if column.type == "category" else numbers(text[name], schema)
        for name, column in schema.released.items()
    })  # fmt: skip
    table = table.dropna(subset=[name for name, column in schema.released.items() if not column.may_be_missing])
    return table[table[schema.outcome] != 0] if schema.zeros == "drop_rows" else table


def clipped(schema: Schema, table: pd.DataFrame) -> pd.DataFrame:
    """Clip the numbers of a table to their declared bounds."""
    ends = {name: column.ends for name, column in schema.released.items() if column.type != "category"}
    return table.assign(**{name: table[name].clip(*between) for name, between in ends.items()})


def _warnings(schema: Schema, table: pd.DataFrame) -> Iterator[str]:
    """Yield confidential warnings about poor quality of the rows."""
    dropped = schema.rows - len(table)
    if dropped:
        are = "is" if dropped == 1 else "are"
        yield f"{dropped} of {schema.rows} rows {are} left out, as declared, for a missing value or an outcome of 0."
    for name, others in _without_kinds(schema).items():
        yield (
            f"pairs: those of {name} with {', '.join(others)} describe only rows with {name} above 0. If analysts need to "
            f"know who has none, also declare pairs with {name}{KIND}."
        )
    if len(table) < LEAST_ROWS:
        yield f"{counted(len(table), 'row')} can be used; a release preserves hardly anything of so few."
    if len(table):
        yield from _outcome_warnings(schema, table[schema.outcome])
        for name, column in schema.predictors.items():
            yield from _predictor_warnings(name, column, table[name])
    if len(schema.predictors) and table.duplicated().any():
        again = counted(int(table.duplicated().sum()), "row is", "rows are")
        yield f"{again} equal to another one in all released columns: is someone in the file twice?"


def _without_kinds(schema: Schema) -> dict[str, list[str]]:
    """Return columns with a level for 0, each with those that are paired with it but not with its kind."""
    declared, others = {frozenset(pair) for pair in schema.pairs}, dict[str, list[str]]()
    for pair in schema.pairs:
        for first, second in (pair, pair[::-1]):
            column = schema.columns.get(second)
            if column and column.own_zero and frozenset((first, second + KIND)) not in declared:
                others.setdefault(second, []).append(first)
    return others


def _clipped(schema: Schema, used: pd.DataFrame) -> Iterator[str]:
    """Warn about predictors that are clipped: wrong bounds would move their values without an error."""
    for name, column in schema.predictors.items():
        if column.type != "category":
            low, high = column.ends
            outside = int(((used[name] < low) | (used[name] > high)).sum())
            if outside:
                is_outside = (
                    "is outside the declared bounds and was" if outside == 1 else "are outside the declared bounds and were"
                )
                yield f"{name}: {counted(outside, 'value')} {is_outside} clipped: are {low:g} and {high:g} the right bounds?"


def _rounded(schema: Schema, used: pd.DataFrame) -> Iterator[str]:
    """Warn about numbers with more decimal places than a release states."""
    for name, column in schema.released.items():
        if column.type != "number":
            continue
        values = used[name].dropna()
        if finer := int((values.round(column.places) != values).sum()):
            have = "has" if finer == 1 else "have"
            yield (
                f"{name}: {counted(finer, 'value')} {have} more decimal places than decimals, which is {column.places}: "
                "a release rounds them."
            )


def _outcome_warnings(schema: Schema, outcome: pd.Series) -> Iterator[str]:
    name, (low, high) = schema.outcome, schema.target.ends
    if not outcome.count():
        yield f"{name}: no row has a value."
        return
    if outcome.nunique() == 1:
        yield f"{name}: has the same value in every row; nothing can be learned from it."
    if 1 < outcome.nunique() < FEW_VALUES:
        yield f"{name}: has only {outcome.nunique()} different values; quantiles and regressions need a number with many."
    at_ends = int(outcome.isin([low, high]).sum())
    if at_ends:
        are = "values are at the declared bounds or were" if at_ends != 1 else "value is at a declared bound or was"
        yield f"{name}: {at_ends} {are} clipped to {'them' if at_ends != 1 else 'it'}."
    far = far_above(outcome)
    if far:
        yield f"{name}: {far} value{'s are' if far != 1 else ' is'} far above the rest; noise hides so few."
    heap = float(outcome.value_counts(normalize=True).iloc[0])
    if heap > HEAPED:
        yield f"{name}: one value has a share of {heap:.0%}; unless it has a bin of its own, it is spread over nearby values."


def far_above(values: pd.Series) -> int:
    """Count the values that are far above the rest."""
    middle, upper = float(values.median()), float(values.quantile(0.75))
    return int((values > middle + FAR * max(upper - middle, 0)).sum()) if upper > middle else 0


def _predictor_warnings(name: str, column: Column, values: pd.Series) -> Iterator[str]:
    counts = values.value_counts()
    if column.type == "category":
        for category in column.categories or []:
            number = int(counts.get(category, 0))
            if number == 0:
                yield f"{name}: no row has the category {category}. A release can contain it."
            elif number < FEW_IN_CATEGORY:
                yield (
                    f"{name}: the category {category} is rare: expect poor utility. Merging it for this reason is a choice based "
                    "on the file."
                )
    elif counts.size == 1:
        yield f"{name}: has the same value in every row; suppress it, nothing can be learned from it."
    elif is_unique_number(values):
        yield f"{name}: has a different whole number in every row; is it an identifier? Then suppress it."
    elif is_weight(name, values):
        yield f"{name}: {SURVEY_WEIGHT}"
