"""Measures that compare a synthetic data set with the confidential one; the best value of each is 0."""

from __future__ import annotations

import math

import numpy as np

from formalsynth.core.arrays import Array, Records
from formalsynth.core.utility import ecdf_distances

from .tasks import Task

MEASURES = ("ecdf_max", "mean", "sd", "q90", "q99", "slope")
"""Columns of the comparison for which winners are named."""


def measures(task: Task, data: Records, synthetic: Records) -> dict[str, float]:
    """Compute the errors of a synthetic data set.

    Returns:
        ``ecdf_max``; the absolute error of ``mean``, in standard deviations of the data; those of ``sd``, ``q90`` and ``q99``,
        relative to their values in the data; and for tasks with predictors ``slope``, the root mean square error of the least
        squares slopes on the scale of the family. The slopes of each data set are fitted at its own predictors.
    """
    errors = {"ecdf_max": ecdf_distances(data.x, synthetic.x)[0]}
    errors["mean"] = abs(float(synthetic.x.mean() - data.x.mean())) / float(data.x.std())
    ours, theirs = _spread(synthetic.x), _spread(data.x)
    errors |= {name: abs(ours[name] / theirs[name] - 1) for name in theirs}
    if data.design.shape[1] > 1:
        errors["slope"] = float(np.sqrt(np.mean((_slopes(task, synthetic) - _slopes(task, data)) ** 2)))
    return errors


def _spread(x: Array) -> dict[str, float]:
    return {"sd": float(x.std()), "q90": float(np.quantile(x, 0.9)), "q99": float(np.quantile(x, 0.99))}


def _slopes(task: Task, records: Records) -> Array:
    outcome = task.scaled(np.maximum(records.x, 1e-300) if task.log else records.x)
    return np.asarray(np.linalg.lstsq(records.design, outcome, rcond=None)[0][1:])


def failed() -> dict[str, float]:
    """Measures of a mechanism without a result."""
    return dict.fromkeys(MEASURES, math.nan)
