"""Expected errors of noisy tables, from their Fisher information; only declarations and a guess of the parameters are used.

No data are used, so bins and epsilon can be chosen beforehand at no cost in privacy.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.private import Bins, PublicTables, Tables
from formalsynth.inference.density import Guess, TablesDensity, information
from formalsynth.inference.tables_model import TablesModel

FINE = 160, 48
"""Numbers of bins of the outcome and of a predictor, for computing the errors without privacy."""
NO_NOISE = 1e-9
"""Negligible noise variance."""


def expected_errors(
    model: TablesModel, priors: Mapping[str, float], bins: tuple[Bins, ...], guess: Guess, n: int, epsilon: float | None
) -> Array:
    """Compute the standard errors (p,) of the coefficients; the constant is at the middle of the predictor's bounds.

    Args:
        model: posterior given the tables.
        priors: prior settings of the family; only the least spread matters.
        bins: bins of the outcome, and of the predictor if there is one.
        guess: parameters at which the errors are computed.
        n: number of records.
        epsilon: epsilon of the table; None for no noise and fine bins between the same bounds, which lose little information,
            and only about values beyond the bounds.

    Raises:
        ValueError: the family has no model for such a table, or there are several predictors.
    """
    if len(bins) > 2 or len(guess.coefficient) != len(bins):
        raise ValueError(f"{len(bins)} bins and {len(guess.coefficient)} coefficients: allowed: 1 of each, or 2 of each")
    if epsilon is None:
        bins = tuple(Bins(part.low, part.high, fine, part.log) for part, fine in zip(bins, FINE, strict=False))
    outcome, predictors = bins[0], bins[1:]
    empty = np.zeros((1, predictors[0].number if predictors else 1, outcome.number))
    rate = epsilon or 1.0
    public = PublicTables(outcome, predictors, Tables(empty, np.empty((0, empty.shape[1], empty.shape[1]))), 1 / rate, rate)
    density = TablesDensity(model.stan_data(public, priors))
    covariance = np.linalg.inv(information(density, density.point_of(guess, n), None if epsilon else NO_NOISE))
    scale = np.array([1.0, *[(part.high - part.low) / 2 for part in predictors]])
    errors: Array = np.sqrt(np.diag(covariance)[: len(scale)]) / scale
    return errors


def error_factor(
    model: TablesModel, priors: Mapping[str, float], bins: tuple[Bins, ...], guess: Guess, n: int, epsilon: float
) -> float:
    """Compute the ratio of the last coefficient's standard error to that without privacy; see :func:`expected_errors`."""
    private, without = (expected_errors(model, priors, bins, guess, n, value) for value in (epsilon, None))
    return float(private[-1] / without[-1])
