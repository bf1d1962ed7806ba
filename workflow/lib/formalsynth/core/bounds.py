"""By-record Lipschitz bounds of the sensitive log-likelihood, streamed over posterior draws.

The bound of record i is ``max_s |v[s, i]|`` with the sensitive log-likelihood

    v[s, i] = clip(c_i f[s, i] - d_i log gamma[s, i], -M, M)

which covers every mechanism of the three pseudo posterior papers (range paper, Section 3.2): ``c`` are the sensitive
weights, ``gamma`` the probability of a sensitive range with weights ``d``, ``M`` a censoring threshold.
No (S, n) array is kept: draws are taken in blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Draws, Records, blocks, take
from formalsynth.core.family import Family
from formalsynth.core.weights import sensitive_range

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Sensitive:
    """Which part of the log-likelihood a mechanism has to protect."""

    weights: Array
    """c, (n,)."""
    range: tuple[float, float] | None = None
    """(a, b) of the sensitive range around each record, or None."""
    range_weights: Array | None = None
    """d, (n,); needed with ``range``."""
    threshold: float | None = None
    """M, or None for no censoring."""

    def __post_init__(self) -> None:
        if (self.range is None) != (self.range_weights is None):
            raise ValueError("a sensitive range needs its weights, and they need a range")


@dataclass(frozen=True)
class Bounds:
    """Lipschitz bounds of one synthesizer on one data set."""

    by_record: Array
    """(n,) the bound of each record."""
    by_draw: Array = field(repr=False)
    """(S,) the largest value over the records, for each draw."""
    beyond: int | None = None
    """Records that any draw takes beyond the threshold before censoring; None without one."""

    @property
    def delta(self) -> float:
        """The Lipschitz bound of the data set."""
        return float(self.by_record.max())

    @property
    def epsilon(self) -> float:
        """The privacy budget ``2 delta``, local to this data set."""
        return 2 * self.delta

    @property
    def delta_mcse(self) -> float:
        """Monte Carlo standard error of ``delta`` as a maximum over a finite number of draws."""
        return maximum_mcse(self.by_draw)


def record_bounds(family: Family, records: Records, draws: Draws, sensitive: Sequence[Sensitive]) -> list[Bounds]:
    """Bounds of several mechanisms that share one fit, in one pass over its draws.

    Args:
        family: the model family of the fit.
        records: the confidential data, n records.
        draws: S posterior draws.
        sensitive: the sensitive log-likelihood of each mechanism.
    """
    first, inverse = _distinct(records, sensitive)
    records = records.take(first)
    sensitive = [_at(form, first) for form in sensitive]
    left, right = family.factors(records, draws)
    n_draws, n = len(left), len(right)
    active = [np.flatnonzero(_touched(form)) for form in sensitive]
    rows = [right[index] for index in active]
    by_record = [np.zeros(n) for _ in sensitive]
    by_draw = [np.zeros(n_draws) for _ in sensitive]
    ends = {form.range: sensitive_range(records.x, *form.range) for form in sensitive if form.range is not None}
    for block in blocks(n_draws, n):
        log_gamma: dict[tuple[float, float], Array] = {}
        for k, form in enumerate(sensitive):
            index = active[k]
            if not len(index):
                continue
            values = left[block] @ rows[k].T
            values *= form.weights[index]
            if form.range is not None and form.range_weights is not None:
                if form.range not in log_gamma:
                    log_gamma[form.range] = family.log_interval_probability(records, take(draws, block), *ends[form.range])
                values -= form.range_weights[index] * log_gamma[form.range][:, index]
            np.abs(values, out=values)
            by_draw[k][block] = values.max(axis=1)
            by_record[k][index] = np.maximum(by_record[k][index], values.max(axis=0))
    spread = [bounds[inverse] for bounds in by_record]
    return [_censored(*found) for found in zip(spread, by_draw, sensitive, strict=True)]


def _distinct(records: Records, sensitive: Sequence[Sensitive]) -> tuple[Index, Index]:
    """Positions of records that differ in data or weights, and for each record which of them it is like.

    Counts repeat: a thousand of them are some hundred different ones. Where values hardly repeat, looking for equal records
    costs more than it saves, and every record stands for itself.
    """
    n = len(records.x)
    if 2 * len(np.unique(records.x)) > n:
        return np.arange(n), np.arange(n)
    weights = [form.weights for form in sensitive]
    weights += [form.range_weights for form in sensitive if form.range_weights is not None]
    columns = np.column_stack([records.x, records.design, *weights])
    _, first, inverse = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def _at(sensitive: Sensitive, index: Index) -> Sensitive:
    range_weights = None if sensitive.range_weights is None else sensitive.range_weights[index]
    return replace(sensitive, weights=sensitive.weights[index], range_weights=range_weights)


def _touched(sensitive: Sensitive) -> NDArray[np.bool_]:
    """Records that the sensitive log-likelihood depends on; the others have the bound 0 whatever their likelihood."""
    touched: NDArray[np.bool_] = sensitive.weights != 0
    return touched if sensitive.range_weights is None else touched | (sensitive.range_weights != 0)


def _censored(by_record: Array, by_draw: Array, sensitive: Sensitive) -> Bounds:
    by_record = np.where(np.isnan(by_record), np.inf, by_record)
    if sensitive.threshold is None:
        return Bounds(by_record, by_draw)
    limit = sensitive.threshold
    beyond = int((by_record > limit).sum())
    return Bounds(np.minimum(by_record, limit), np.minimum(by_draw, limit), beyond)


def maximum_mcse(values: Array, share: float = 0.05) -> float:
    """Monte Carlo standard error of the maximum of independent draws.

    The upper tail is taken as exponential, with the mean excess of the largest ``share`` of the values as its scale;
    the maximum is then a Gumbel variable with standard deviation ``pi / sqrt(6)`` times that scale.

    Args:
        values: (S,) draws.
        share: share of the draws that are the tail.
    """
    tail = max(2, round(share * len(values)))
    if len(values) <= tail or not np.isfinite(values).all():
        return float("nan")
    largest = np.sort(np.partition(values, -tail - 1)[-tail - 1 :])
    return float(np.pi / np.sqrt(6) * (largest[1:] - largest[0]).mean())
