"""Declarations of a release, checked without the file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from formalsynth.core.text import DataError
from formalsynth_release.crossing import Declarations, declarations_of
from formalsynth_release.layout import Layout
from formalsynth_release.levels import Levels
from formalsynth_release.rules import impossible
from formalsynth_release.schema import RELEASE, SCHEMA, Analyses, Column, PublicSchema, ReleaseConfig, Share
from formalsynth_release.study import Declared, Schema
from formalsynth_release.tables import numbers_of_pairs

MOST_OF_PAIR, MOST_VALUES, PER_PART = 10_000, 40_000, 25
"""Largest number of noisy numbers of a pair, largest number of values of a crossing, and values that describe a part of it."""


def checked_declarations(declared: Declared, config: ReleaseConfig) -> Declarations:
    """Check the declarations of a release, and return those that are published.

    Raises:
        DataError: the number of synthetic rows is not declared, or an analysis, a column or a pair is not possible.
    """
    schema = declared.schema
    if not schema.hides_rows and config.rows not in (None, schema.rows):
        public = "the number of rows of this file is public, so each synthetic set has as many"
        raise DataError(f"{RELEASE}: rows: given {config.rows}; allowed: {schema.rows}, or leave it out: {public}")
    if schema.hides_rows and config.rows is None:
        why = "the number of used rows is confidential, by neighbours: add_remove, rows_each above 1, or drop_rows"
        raise DataError(f"{RELEASE}: rows: is missing; {why}: give the number of rows for each synthetic set")
    check_analyses(schema, config.analyses)
    check_numbers(schema)
    return declarations_of(declared.name, schema.public, config)


def rows_of(schema: Schema, config: ReleaseConfig, used: int) -> int:
    """Return the number of rows of each set: that of the used rows, or the declared number if that is confidential."""
    return int(config.rows or 0) if schema.hides_rows else used


def check_analyses(schema: PublicSchema, analyses: Analyses) -> None:
    """Check that the declared analyses are possible.

    Raises:
        DataError: one names an unknown column or value.
    """
    if problems := list(_problems(schema, analyses)):
        raise DataError("\n".join(f"{RELEASE}: analyses: {problem}" for problem in problems))


def _problems(schema: PublicSchema, analyses: Analyses) -> Iterator[str]:
    columns = schema.released
    numbers = [name for name, column in columns.items() if column.type != "category"]
    predictors = [name for name in columns if name != schema.outcome]
    for name in [name for name in analyses.means if name not in numbers]:
        yield f"means: {name} is not one of the columns of numbers: {', '.join(numbers)}"
    for share in analyses.shares:
        column = columns.get(share.column)
        if column is None:
            yield f"shares: {share.column} is not one of the columns: {', '.join(columns)}"
        elif column.categories and (share.number or not (share.missing or share.value in column.categories)):
            yield f"shares: {share.name}: the column has the categories {', '.join(column.categories)}"
        elif not column.categories and isinstance(share.value, str):
            yield f"shares: {share.name}: the column has numbers"
        elif not _possible(share, column):
            ends = "" if column.categories else f" between {column.ends[0]:g} and {column.ends[1]:g}"
            yield f"shares: {share.name}: the declared values{ends} of the column have none, or all, so a share is of no use"
    if schema.target.type == "category" and analyses.regressions:
        yield f"regressions: the outcome {schema.outcome} has categories; allowed: none"
    for name in (name for regression in analyses.regressions for name in regression.predictors):
        if name not in predictors:
            yield f"regressions: {name} is not one of the predictors: {', '.join(predictors)}"


def _possible(share: Share, column: Column) -> bool:
    """Return True if some declared values of a column, but not all, can be those that a share counts."""
    if share.missing:
        return column.may_be_missing
    if column.categories:
        return True
    (low, high), below = column.ends, share.below
    if share.above is not None:
        return low <= share.above < high
    return low < below <= high if below is not None else column.allows(float(share.value or 0.0))


def check_numbers(schema: Schema) -> None:
    """Check that the declared columns and pairs do not need too many noisy numbers, and that each pair can be related.

    Raises:
        DataError: they do, or a pair cannot, with a line for each column or pair.
    """
    layout = Layout(schema)
    with np.errstate(all="ignore"):
        inexact = [name for name, levels in layout.columns.items() if not _exact(levels)]
    if inexact:
        why = "its bins are too narrow for numbers of this size: declare fewer bins or decimals, or distances from a common one"
        raise DataError("\n".join(f"{SCHEMA}: columns: {name}: {why}" for name in inexact))
    all(impossible(schema, layout.columns))
    variables, numbers = layout.variables(), numbers_of_pairs(layout)
    constant = dict.fromkeys(name for pair in schema.pairs for name in pair if len(variables[name].own) < 2)
    single = "has a single level or bin, so nothing is related to it: declare another scale, other bounds or more bins"
    merge = "no more than rows: merge categories, declare them as ordered if they are, or leave the pair out"
    most = min(MOST_OF_PAIR, schema.rows)
    wrong = [f"{SCHEMA}: pairs: {name} {single}, or leave its pairs out" for name in constant]
    many = {" with ".join(pair): needed for pair, needed in numbers.items() if needed > most}
    need = "noisy numbers; allowed: at most"
    wrong += [f"{SCHEMA}: pairs: {pair}: needs {needed} {need} {most}, {merge}" for pair, needed in many.items()]
    if wrong:
        raise DataError("\n".join(wrong))
    values = 2 * sum(layout.widths.values()) + sum(numbers.values()) + PER_PART * (len(layout.columns) + len(numbers))
    if values > MOST_VALUES:
        most_values = f"allowed: at most {MOST_VALUES}: declare fewer pairs, bins or categories"
        raise DataError(f"{SCHEMA}: columns and pairs: need {values} values in the crossing; {most_values}")


def _exact(levels: Levels) -> bool:
    """Return True if the values of each level belong to it; rounding errors move those of bins that are too narrow."""
    places = np.arange(len(levels))
    again = [levels.of(pd.Series(levels.values(places, np.full(len(levels), share)))) for share in (0.0, 0.5, 1.0)]
    return all(np.array_equal(place, places) for place in again)
