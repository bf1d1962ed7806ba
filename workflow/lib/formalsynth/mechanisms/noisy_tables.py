"""Noisy tables: counts on declared bins with discrete Laplace noise, and a posterior that accounts for the noise.

Proof and exact test: ``docs/proofs/noisy_tables.md``.

Sources: Ghosh, Roughgarden and Sundararajan 2009 (arXiv:0811.2841) for the noise; Bernstein and Sheldon 2018 (arXiv:1809.02188)
for a posterior given noisy statistics. The tables and their models are ours.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.constraints import CountOfTwo, Finite, PositiveNumber, ZeroOrOne
from formalsynth.core.family import Family
from formalsynth.core.mechanism import MECHANISMS, Context, mechanism
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PrivateFit, PublicTables, Tables, declared_bins
from formalsynth.core.tables import Tabled, check, check_rows, has_distribution, tabled
from formalsynth.inference.made_up_rows import RowsModel
from formalsynth.inference.tables_model import TablesModel


@mechanism("DP (add/remove)", parents=0, strict={"add_remove": 1.0, "replace": 2.0}, program="noisy_tables")
def noisy_tables(
    context: Context, *, epsilon: PositiveNumber, low: Finite, high: Finite, bins: CountOfTwo,
    x_low: Finite = -1.0, x_high: Finite = 1.0, x_bins: CountOfTwo = 8, x_discrete: ZeroOrOne = 0,
    x_closed: ZeroOrOne = 0,
) -> PrivateFit:  # fmt: skip
    """Tables of the outcome by each predictor with discrete Laplace noise, and the family's posterior given these tables.

    The first column of the design is the constant, and each further one is a predictor with bins from ``x_low`` to ``x_high``.
    With several predictors, there is also a table for each pair of them, since the coefficients depend on their correlations.
    The budget is split equally among the tables. Without predictors there is one histogram. With ``x_discrete: 1``, the
    values of the single predictor are only the midpoints of its bins, each with its own number of records. With ``x_closed: 1``,
    its values are between its bounds, with any distribution; otherwise predictors are normal.

    Raises:
        ValueError: the family cannot be fitted to noisy tables, or not with so many predictors.
    """
    declared = tabled(context.family)
    if declared is None and not has_distribution(context.family):
        raise ValueError("this family cannot be fitted to noisy tables")
    settings = {"low": low, "high": high, "bins": bins, "x_low": x_low, "x_high": x_high, "x_bins": x_bins}
    on_log = declared is not None and declared.log
    outcome, predictors = declared_bins(settings, on_log, context.records.design.shape[1] - 1)
    model = _model(context.family, declared, outcome, predictors, x_discrete == 1, x_closed == 1)
    exact = Tables.of(context.records, outcome, predictors)
    scale = len(exact) / epsilon
    counts = DiscreteLaplaceCounts(exact.flat, scale)
    noisy = exact.with_counts(counts.noisy(context.address.generator("mechanism"), 1)[0])
    return PrivateFit(PublicTables(outcome, predictors, noisy, scale, epsilon), model, counts)


def _model(
    family: Family, declared: Tabled | None, outcome: Bins, predictors: tuple[Bins, ...], discrete: bool, closed: bool
) -> TablesModel | RowsModel:
    """Choose the model of a family.

    Raises:
        ValueError: it has no model of such tables.
    """
    if discrete and closed:
        raise ValueError("noisy tables: a predictor cannot have both x_discrete: 1 and x_closed: 1")
    if declared is not None:
        check(declared, outcome, predictors)
    if declared is None or discrete or closed:
        check_rows(family, outcome, predictors)
        return RowsModel(family, discrete, closed)
    return TablesModel(declared)


def ratio(parameters: Mapping[str, float], records: Records, neighbour: Records, log: bool = False) -> float:
    """Compute the largest log ratio of the probabilities of any output, between two data sets with the same declared columns.

    Discrete Laplace noise takes every whole number, so the largest log ratio is the tables' L1 distance divided by the scale.

    Args:
        parameters: parameters of the mechanism.
        records: one data set, possibly without records.
        neighbour: the other one.
        log: True if the bins of the outcome are on the logarithmic scale.
    """
    given = MECHANISMS["noisy_tables"].settings(parameters)
    outcome, predictors = declared_bins(given, log, records.design.shape[1] - 1)
    ours, theirs = (Tables.of(data, outcome, predictors) for data in (records, neighbour))
    return float(np.abs(ours.flat - theirs.flat).sum() * given["epsilon"] / len(ours))
