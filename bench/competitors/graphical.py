"""OpenDP's tables with a graphical model on declared bins: AIM, MST and a fixed workload (``opendp.extras.mbi``).

The guarantee is pure epsilon for adding or removing a record. Predictors are synthesized too, and values are uniform within a
bin. An outcome without predictors has the bins of the histogram. Needs ``pip install "opendp[mbi]"`` (1.3 GB). Rows are drawn
with ``method="sample"``: the library's default rounds counts, which makes pairs of columns dependent that were not measured.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from formalsynth.core.arrays import Array, Records
from formalsynth.core.private import Bins

from .tasks import Task

Algorithm = Callable[[Any, list[str]], Any]
"""Function from the module ``opendp.extras.mbi`` and the names of the columns to an algorithm."""


def available() -> bool:
    """Check that the library is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("mbi", "polars", "opendp"))


def tables(task: Task, records: Records, epsilon: float, algorithm: Algorithm) -> Records:
    """Draw synthetic records from tables with a graphical model.

    Args:
        task: declarations.
        records: confidential records.
        epsilon: total epsilon for adding or removing a record.
        algorithm: function that makes the algorithm.

    Raises:
        ValueError: the library returns no result.
    """
    dp, pl, mbi = (importlib.import_module(name) for name in ("opendp.prelude", "polars", "opendp.extras.mbi"))
    dp.enable_features("contrib")
    alone = records.design.shape[1] == 1
    names = ["x", *(f"z{k}" for k in range(1, records.design.shape[1]))]
    outcome = records.x if alone else task.scaled(records.x)
    columns = dict(zip(names, [outcome, *records.design[:, 1:].T], strict=True))
    own = Bins(*task.histogram) if alone else task.bins
    edges = {name: (own if name == "x" else task.predictor_bins).edges for name in names}
    cuts = {name: ends[1:-1] for name, ends in edges.items()}
    try:
        context = dp.Context.compositor(
            data=pl.DataFrame(columns).lazy(),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=epsilon),
            split_evenly_over=1,
        )
        query = context.query().contingency_table(cuts=cuts, algorithm=algorithm(mbi, names))
        rows = query.release().synthesize(rows=len(records), method="sample").to_numpy()
    except Exception as error:  # errors of the library have no common class
        raise ValueError(f"{type(error).__name__}: {error}") from error
    values = [inside(column, edges[name]) for name, column in zip(names, rows.T, strict=True)]
    return Records(values[0] if alone else task.unscaled(values[0]), np.column_stack([np.ones(len(rows)), *values[1:]]))


def inside(values: Array, edges: Array) -> Array:
    """Move values (n,) in the open end bins, which are drawn within 1 of the nearest cut, into the declared bounds.

    Args:
        values: synthetic values.
        edges: (bins + 1,) edges of the bins; the cuts are the inner ones.
    """
    low, first, last, high = edges[0], edges[1], edges[-2], edges[-1]
    below, above = values <= first, values > last
    moved = np.where(below, first + (values - first) * (first - low), values)
    return np.where(above, last + (values - last) * (high - last), moved)
