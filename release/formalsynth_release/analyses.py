"""Declared analyses of rows: means, shares, quantiles and regressions, each with its standard error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from formalsynth.core.normal import NORMAL_95
from formalsynth.core.text import exact
from formalsynth_release.levels import no_rows
from formalsynth_release.schema import Analyses, Column, PublicSchema, Regression, Share

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array

Estimate = tuple[float, float]  # estimate and standard error; both are NaN if there are too few rows
NOTHING = math.nan, math.nan


def estimates(schema: PublicSchema, analyses: Analyses, rows: pd.DataFrame) -> dict[str, Estimate]:
    """Estimate all declared analyses and the mean of the outcome, each from the rows without missing values in its columns.

    Regressions of the logarithm of the outcome use the rows in which it is above 0.
    """
    outcome, values = schema.outcome, rows
    rows = rows.assign(**{name: column.amounts(rows[name]) for name, column in schema.released.items() if column.codes})
    numeric = [outcome] if schema.target.type != "category" else []
    named = {mean_name(name): _mean(_numbers(rows, name)) for name in dict.fromkeys([*numeric, *analyses.means])}
    named |= {share.name: _mean(counted_in(share, (rows if share.number else values)[share.column])) for share in analyses.shares}
    named |= {quantile_name(level, outcome): _quantile(_numbers(rows, outcome), level) for level in analyses.quantiles if numeric}
    for regression in analyses.regressions:
        named |= slopes_of(schema.columns, outcome, regression, rows)
    return named


def mean_name(column: str) -> str:
    """Return the name of a mean."""
    return f"mean of {column}"


def quantile_name(level: float, outcome: str) -> str:
    """Return the name of a quantile, with all digits of its level."""
    return f"{exact(level)} quantile of {outcome}"


def names(schema: PublicSchema, analyses: Analyses) -> list[str]:
    """List the names of the estimates of all declared analyses."""
    return list(estimates(schema, analyses, no_rows(schema)))


def _numbers(rows: pd.DataFrame, name: str) -> Array:
    values = rows[name].to_numpy(dtype=float)
    return np.asarray(values[~np.isnan(values)])


def counted_in(share: Share, values: pd.Series) -> Array:
    """Return 1.0 for each value that a share counts, otherwise 0.0; only a share of missing values counts a missing one."""
    if share.missing:
        return np.asarray(values.isna(), dtype=float)
    if share.above is not None:
        return np.asarray(values > share.above, dtype=float)
    return np.asarray(values < share.below if share.below is not None else values == share.value, dtype=float)


def _mean(values: Array) -> Estimate:
    if len(values) < 2:
        return NOTHING
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def _quantile(values: Array, level: float) -> Estimate:
    """Quantile and its standard error: half the width of the order-statistic interval, divided by the normal quantile."""
    if len(values) < 2:
        return NOTHING
    half = NORMAL_95 * math.sqrt(level * (1 - level) / len(values))
    low, value, high = np.quantile(values, [max(level - half, 0.0), level, min(level + half, 1.0)])
    return float(value), float(high - low) / (2 * NORMAL_95)


def slopes_of(columns: Mapping[str, Column], outcome: str, regression: Regression, rows: pd.DataFrame) -> dict[str, Estimate]:
    """Compute the least-squares slopes of a regression in natural units, keyed by its label and the name of the slope.

    Ordered categories are numbered from 0; others have an indicator for each category except the first.
    """
    there = rows.dropna(subset=[outcome, *regression.predictors])
    there = there[there[outcome].astype(float) > 0] if regression.log else there
    coded = [one for column in regression.predictors for one in _coded(column, columns[column], there)]
    y = np.log(there[outcome].to_numpy(dtype=float)) if regression.log else there[outcome].to_numpy(dtype=float)
    design = np.column_stack([np.ones(len(y)), *(values for _, values in coded)])
    left = len(y) - design.shape[1]
    label = regression.label(outcome)
    if left < 1:
        return {f"{label}: {name}": NOTHING for name, _ in coded}
    inverse = np.linalg.pinv(design.T @ design, hermitian=True)
    slopes = inverse @ (design.T @ y)
    residual = y - design @ slopes
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0) * float(residual @ residual) / left)
    return {f"{label}: {name}": (float(slopes[k]), float(errors[k])) for k, (name, _) in enumerate(coded, start=1)}


def _coded(name: str, column: Column, rows: pd.DataFrame) -> Iterator[tuple[str, Array]]:
    if column.type != "category":
        yield name, np.asarray(rows[name], dtype=float)
    elif column.ordered:
        places = {category: place for place, category in enumerate(column.categories or [])}
        yield name, np.asarray(rows[name].map(places), dtype=float)
    else:
        for category in (column.categories or [])[1:]:
            yield f"{name} {category}", np.asarray(rows[name] == category, dtype=float)
