"""Intervals of a release from noisy tables of the outcome, which do not assume the family that is fitted to these tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from formalsynth.core.family import Family, Predictor
from formalsynth.core.private import Bins, discrete_laplace_variance
from formalsynth.core.tables import tabled
from formalsynth.custodian.analyses import mean_name, quantile_name
from formalsynth.custodian.crossing import FIT_PART, Crossing, Declarations
from formalsynth.inference.table_intervals import Limits, OutcomeTable


@dataclass(frozen=True)
class TableIntervals:
    """Intervals of declared analyses of the outcome, and what the test of fit can detect."""

    of_analyses: Mapping[str, Limits | None]
    """Interval of each analysis, by name; None if the table gives none."""
    share: float
    """Largest shift of a share by a misfit that the test of fit misses in a tenth of releases."""
    mean: float
    """The same for the mean of the middles of bins."""


def table_intervals(crossing: Crossing, declarations: Declarations, predictor: Predictor) -> TableIntervals | None:
    """Compute the intervals from the noisy table to which a family was fitted; None without that table, as in a rehearsal."""
    part = next((part for part in crossing.tables if part.name == FIT_PART), None)
    if part is None:
        return None
    given, column, declared = declarations.parameters, declarations.schema_.target, tabled(cast(Family, predictor))
    bins = Bins(given["low"], given["high"], int(given["bins"]), declared is not None and declared.log)
    edges, by_row = np.exp(bins.edges) if bins.log else bins.edges, part.counts.reshape(-1, bins.number)
    noise = discrete_laplace_variance(part.scale) * len(by_row)
    table = OutcomeTable(edges, by_row.sum(axis=0), noise, Limits(*column.ends), column.type == "whole")
    predictors = len(part.shape) - 1
    assert crossing.draws is not None
    free = sum(math.prod(shape) for shape in crossing.draws.shapes.values()) + 1 + 2 * predictors
    left, below = max(by_row.size - free, 1), np.tri(bins.number - 1, bins.number)
    return TableIntervals(
        _of_analyses(table, declarations), max(table.undetected(values, left) for values in below),
        table.undetected(table.middles, left),
    )  # fmt: skip


def _of_analyses(table: OutcomeTable, declarations: Declarations) -> dict[str, Limits | None]:
    """Compute the intervals of the declared analyses of the outcome alone."""
    outcome, analyses = declarations.schema_.outcome, declarations.release.analyses
    named = {mean_name(outcome): table.mean()}
    for share in analyses.shares:
        if share.column == outcome and share.number:
            below = table.share_below(share.edges(declarations.schema_.target)[0])
            above = Limits(1 - below.high, 1 - below.low) if below else None
            named[share.name] = below if share.below is not None else above
    return named | {quantile_name(level, outcome): table.quantile(level) for level in analyses.quantiles}
