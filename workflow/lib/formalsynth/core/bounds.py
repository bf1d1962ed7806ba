"""Lipschitz bounds of the sensitive log-likelihood by record, streamed over posterior draws.

The bound of record i is ``max_s |v[s, i]|`` with the sensitive log-likelihood

    v[s, i] = clip(c_i (f[s, i] - f0[i]) - d_i log gamma[s, i], -M, M)

which covers every mechanism of the three pseudo posterior papers (range paper, Section 3.2): ``c`` are the sensitive
weights, ``gamma`` the probability of a sensitive range, or another public part of the likelihood, with weights ``d``, ``M`` a
censoring threshold, and ``f0`` is 0, or the log-likelihood at a reference parameter.
No (S, n) array is kept in memory: draws are processed in blocks, or records are if a few draws suffice.

Sources: Savitsky, Williams and Hu 2022 (arXiv:1909.11796) for the bound; range paper (arXiv:2602.04124) for sensitive ranges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import (
    BLOCK,
    RANGE,
    SAME_ROUNDING,
    Array,
    Draws,
    Index,
    Records,
    blocks,
    distinct_rows,
    parts,
    read_only,
    take,
)
from formalsynth.core.centring import Reference, centred, finite
from formalsynth.core.family import Family, StanData, brackets, concave, whole
from formalsynth.core.hull import hull_of
from formalsynth.core.weights import sensitive_range

TAIL = 0.05
"""Share of the draws that form the tail of a maximum."""
RANGE_COST = 16
"""Cost of a truncated log-likelihood, in units of a plain one."""
LEAST_WORK = 1 << 20
"""Below this many evaluations of a log-likelihood (record by draw), evaluate all."""
LARGEST_OPEN_SHARE = 1 / 4
"""Largest share of records whose bounds may remain undecided from the corners."""


@dataclass(frozen=True, eq=False)
class Range:
    """Sensitive range of each record, whose probability under the model is the public part gamma of the likelihood.

    A subclass may define another public part of its own (range paper, Section 3.2) by :meth:`log_gamma`.
    """

    low: Array
    """(n,) lower ends."""
    high: Array
    """(n,) upper ends."""
    reference: Reference | None = None
    """Parameter whose log probability is subtracted, like that of the likelihood; None for none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", read_only(self.low))
        object.__setattr__(self, "high", read_only(self.high))

    @classmethod
    def declared(cls, records: Records) -> Range:
        """Return the ranges that the scenario declares.

        Raises:
            ValueError: it declares none.
        """
        if not set(RANGE) <= set(records.inputs):
            raise ValueError("the records have no declared ranges: give ranges in the scenario, or a and b, or radius")
        low, high = (records.inputs[name] for name in RANGE)
        return cls(low, high)

    def take(self, index: Index | slice) -> Range:
        """Select the ranges of the records at ``index``."""
        return replace(self, low=self.low[index], high=self.high[index])

    def log_gamma(self, family: Family, records: Records, draws: Draws) -> Array:
        """Log public part (S, n) of the likelihood of the records."""
        values = family.log_interval_probability(records, draws, self.low, self.high)
        return values if self.reference is None else values - self.log_base(family, records)

    def log_base(self, family: Family, records: Records) -> Array:
        """Log probability (n,) at the reference; 0 without a reference, or where it is not finite."""
        if self.reference is None:
            return np.zeros(len(records))
        return finite(family.log_interval_probability(records, self.reference.draws, self.low, self.high)[0])


@dataclass(frozen=True)
class Sensitive:
    """Part of the log-likelihood that a mechanism has to protect."""

    weights: Array
    """c, (n,)."""
    range: tuple[float, float] | Range | None = None
    """(a, b) of the sensitive range ``[a x, b x]`` around each record, the range of each record, or None."""
    range_weights: Array | None = None
    """d, (n,); required with ``range``."""
    threshold: float | None = None
    """M, or None for no censoring."""
    reference: Reference | None = None
    """Parameter of f0, or None for f0 = 0."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", read_only(self.weights))
        if self.range_weights is not None:
            object.__setattr__(self, "range_weights", read_only(self.range_weights))
        if (self.range is None) != (self.range_weights is None):
            raise ValueError("a sensitive range needs its weights, and they need a range")

    def of(self, family: Family) -> Family:
        """Return the family with log-likelihood f - f0, which the fit clips and whose maximum is the bound."""
        return centred(family, self.reference)

    @property
    def known(self) -> Range | None:
        """Ranges whose probability the fit adds in full, as only the rest of the likelihood is clipped; None without them."""
        return self.range if isinstance(self.range, Range) and self.threshold is not None else None

    def stan_data(self, family: Family, records: Records, weights: Array, priors: Mapping[str, float]) -> StanData:
        """Build the data of the Stan program for the fit with likelihood weights (n,).

        Raises:
            ValueError: the family refuses the data, or cannot add the probability of ranges.
        """
        data = self.of(family).stan_data(records, weights, priors, self.threshold)
        if self.known is None:
            return data
        bracketed = brackets(family)
        if bracketed is None:
            raise ValueError("the program of this family cannot add the probability of ranges to a clipped likelihood")
        return bracketed.with_ranges(
            data, records, weights, self.known.low, self.known.high, self.known.log_base(family, records)
        )

    def clips_like(self, other: Sensitive) -> bool:
        """Return True if threshold and reference equal those of the other."""
        return self.threshold == other.threshold and self.reference == other.reference

    def clipped(self, values: Array) -> Array:
        """Clip weighted log-likelihoods to [-M, M]."""
        return values if self.threshold is None else np.clip(values, -self.threshold, self.threshold)


@dataclass(frozen=True)
class Bounds:
    """Lipschitz bounds of one synthesizer on one data set."""

    by_record: Array
    """(n,) the bound of each record."""
    by_draw: Array = field(repr=False)
    """(S,) largest value over the records, for each draw. It is exact in the tail, which :func:`maximum_mcse` uses; elsewhere it
    may be too small, but is never above the smallest value in the tail."""
    beyond: int | None = None
    """Number of records that exceed the threshold under some draw before censoring; None without a threshold."""

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
        """Monte Carlo standard error of ``delta`` as a maximum over a finite number of draws, given the weights."""
        return maximum_mcse(self.by_draw)


def record_bounds(family: Family, records: Records, draws: Draws, sensitive: Sequence[Sensitive]) -> list[Bounds]:
    """Compute the bounds of several mechanisms that share one fit.

    If the sensitive log-likelihood is concave in parameters that the family provides, most draws cannot determine a bound, and
    :func:`_over_corners` leaves them out. Otherwise :func:`_over_draws` evaluates all draws in one pass.

    Args:
        family: the model family of the fit.
        records: the confidential data, n records.
        draws: S posterior draws.
        sensitive: the sensitive log-likelihood of each mechanism.

    Raises:
        ValueError: they have different references, and therefore no common fit.
    """
    if len({form.reference for form in sensitive}) > 1:
        raise ValueError("mechanisms with different references cannot share a fit")
    family = sensitive[0].of(family) if sensitive else family
    first, inverse = _distinct(records, sensitive) if whole(family) is None else (np.arange(len(records)),) * 2
    sensitive = [_at(form, first) for form in sensitive]
    likelihood = _Likelihood.of(family, records.take(first), draws)
    maxima = _over_corners(likelihood, sensitive)
    rest = [k for k in range(len(sensitive)) if k not in maxima]
    if rest:
        maxima |= dict(zip(rest, _over_draws(likelihood, [sensitive[k] for k in rest]), strict=True))
    return [_censored(maxima[k][0][inverse], maxima[k][1], form) for k, form in enumerate(sensitive)]


def bound_quantile(family: Family, records: Records, draws: Draws, weights: Array, share: float) -> float:
    """Quantile over the draws of the largest weighted log-likelihood of a record, in absolute value.

    With ``share`` 1 it is the Lipschitz bound; below 1, the largest values of some draws exceed it. Source: reweight paper,
    Supplement 1, ``L`` with ``thresh``.

    Args:
        family: the model family of the fit.
        records: n records.
        draws: S posterior draws.
        weights: (n,) weights of the log-likelihoods.
        share: share of the draws at or below the quantile.
    """
    likelihood = _Likelihood.of(family, records, draws)
    return float(np.quantile(_over_draws(likelihood, [Sensitive(weights)])[0][1], share))


@dataclass(frozen=True)
class _Likelihood:
    """Log-likelihood and probabilities of ranges of n records under S draws."""

    family: Family
    records: Records
    draws: Draws
    left: Array
    """(S, k) factor of the log-likelihood; the log-likelihood itself (S, n) if the family gives it as a whole."""
    right: Array | None
    """(n, k) factor of the log-likelihood."""

    @classmethod
    def of(cls, family: Family, records: Records, draws: Draws) -> _Likelihood:
        if evaluated := whole(family):
            return cls(family, records, draws, evaluated.log_likelihood(records, draws), None)
        left, right = family.factors(records, draws)
        # for distinct counts the right factor is the identity matrix, and the product is the left factor itself
        square = isinstance(right, np.ndarray) and right.shape[0] == right.shape[1] > 1
        plain = square and np.array_equal(right, np.eye(len(right)))
        return cls(family, records, draws, left, None if plain else right)

    def rows(self, index: Index) -> Array | Index:
        """Select the input of :meth:`plain` for the records at ``index``."""
        return index if self.right is None else self.right[index]

    def plain(self, rows: Array | Index) -> Array:
        """Log-likelihood (S, m) of the records selected by :meth:`rows`."""
        return self.left[:, rows] if self.right is None else self.left @ rows.T

    def under(self, draws: Draws) -> _Likelihood:
        """Return the same likelihood under other draws."""
        return _Likelihood.of(self.family, self.records, draws)

    def at(self, index: Index | slice) -> _Likelihood:
        """Return the same likelihood under the draws at ``index``."""
        return replace(self, draws=take(self.draws, index), left=self.left[index])

    def part(self, index: slice) -> _Likelihood:
        """Return the log-likelihood of the records at ``index``."""
        if len(self.records.x[index]) == len(self.records):
            return self
        records = self.records.take(index)
        if self.right is None:
            return replace(self, records=records, left=self.left[:, index])
        return replace(self, records=records, right=self.right[index])

    def sensitive(self, form: Sensitive, index: Index) -> Array:
        """Sensitive log-likelihood (S, m) of the records at ``index`` before the threshold."""
        log_gamma = None if form.range is None else self.log_gamma(form.range, index)
        return _combined(self.plain(self.rows(index)), log_gamma, form, index)

    def log_gamma(self, range: tuple[float, float] | Range, index: Index | slice = slice(None)) -> Array:
        """Log probability (S, m) of the ranges of the records at ``index``."""
        records = self.records.take(index)
        if isinstance(range, Range):
            return range.take(index).log_gamma(self.family, records, self.draws)
        return self.family.log_interval_probability(records, self.draws, *sensitive_range(records.x, *range))


def _combined(values: Array, log_gamma: Array | None, form: Sensitive, index: Index) -> Array:
    """``c f - d log gamma`` (S, m) of the records at ``index``, from their f, which it overwrites, and their log gamma."""
    values *= form.weights[index]
    if log_gamma is not None and form.range_weights is not None:
        values -= form.range_weights[index] * log_gamma
    return values


def _over_draws(likelihood: _Likelihood, sensitive: Sequence[Sensitive]) -> list[tuple[Array, Array]]:
    """Compute ``max_s |v|`` (n,) and ``max_i |v|`` (S,) of each form from all draws."""
    by_record = [np.zeros(len(likelihood.records)) for _ in sensitive]
    by_draw = [np.zeros(len(likelihood.left)) for _ in sensitive]
    for part in parts(len(likelihood.records)):
        forms = [_at(form, part) for form in sensitive]
        for k, (largest, over_records) in enumerate(_over_draws_of(likelihood.part(part), forms)):
            by_record[k][part] = largest
            np.maximum(by_draw[k], over_records, out=by_draw[k])
    return list(zip(by_record, by_draw, strict=True))


def _over_draws_of(likelihood: _Likelihood, sensitive: Sequence[Sensitive]) -> list[tuple[Array, Array]]:
    """Compute :func:`_over_draws` for one part of the records."""
    n_draws, n = len(likelihood.left), len(likelihood.records)
    active = [np.flatnonzero(_touched(form)) for form in sensitive]
    rows = [likelihood.rows(index) for index in active]
    by_record = [np.zeros(n) for _ in sensitive]
    by_draw = [np.zeros(n_draws) for _ in sensitive]
    for block in blocks(n_draws, n):
        part = likelihood.at(block)
        log_gamma = {form.range: part.log_gamma(form.range) for form in sensitive if form.range is not None}
        for k, form in enumerate(sensitive):
            index = active[k]
            if not len(index):
                continue
            log_share = None if form.range is None else log_gamma[form.range][:, index]
            values = _combined(part.plain(rows[k]), log_share, form, index)
            np.abs(values, out=values)
            by_draw[k][block] = values.max(axis=1)
            by_record[k][index] = np.maximum(by_record[k][index], values.max(axis=0))
    return list(zip(by_record, by_draw, strict=True))


def _over_corners(likelihood: _Likelihood, sensitive: Sequence[Sensitive]) -> dict[int, tuple[Array, Array]]:
    """Compute :func:`_over_draws`, up to rounding, from the corners of the draws' hull if that is possible and saves time.

    ``-v`` is convex, so its maximum over the draws is at a corner of their convex hull. ``v`` itself may be larger in
    absolute value, for example where a density is above 1. Let m be the centre of the draws and m' a corner mirrored at it, at r
    times the corner's distance: by concavity no draw has ``v > v(m) + (v(m) - min v(m')) / r``. Only records for which this is
    not conclusive are evaluated under all draws.

    With a range and 2000 records, this takes a quarter of the time; it saves about 7 % of a whole run at scale paper. The last
    digit of a bound may differ from that over all draws.
    """
    family = concave(likelihood.family)
    chosen = _worth_corners(likelihood, sensitive) if family else []
    hull = hull_of(family, likelihood.draws) if family and chosen else None
    if hull is None:
        return {}
    at_corners, mirrored = likelihood.at(hull.corners), likelihood.under(hull.mirrored)
    maxima = {}
    for k in chosen:
        active = np.flatnonzero(_touched(sensitive[k]))
        largest, is_open = np.empty(len(active)), np.empty(len(active), dtype=bool)
        for part in blocks(len(active), len(mirrored.left), SAME_ROUNDING):
            corners = at_corners.sensitive(sensitive[k], active[part])
            mirror = mirrored.sensitive(sensitive[k], active[part])
            below, centre = -corners.min(axis=0), mirror[0]
            largest[part] = np.maximum(below, corners.max(axis=0))
            with np.errstate(invalid="ignore"):
                settled = centre + (centre - mirror[1:].min(axis=0)) / hull.reach <= below
            is_open[part] = ~settled
        if is_open.sum() <= LARGEST_OPEN_SHARE * len(active):
            maxima[k] = _settled(likelihood, sensitive[k], active, largest, is_open)
    return maxima


def _worth_corners(likelihood: _Likelihood, sensitive: Sequence[Sensitive]) -> list[int]:
    """Select the forms that are concave and costly enough for a hull of the draws to save time.

    A form is concave if it has no range, or if the range has the same weights as the likelihood. A form whose range another form
    needs under all draws costs little more than a form without a range.
    """
    concave_forms = [k for k, form in enumerate(sensitive) if _is_concave(form)]
    taken = {form.range for k, form in enumerate(sensitive) if k not in concave_forms}
    cost = [1 if sensitive[k].range in {None, *taken} else RANGE_COST for k in concave_forms]
    return concave_forms if sum(cost) * likelihood.left.shape[0] * len(likelihood.records) >= LEAST_WORK else []


def _is_concave(form: Sensitive) -> bool:
    """Return True if ``v`` is a nonnegative multiple of a log-likelihood, truncated or not."""
    same = form.range_weights is None or np.array_equal(form.weights, form.range_weights)
    same &= not isinstance(form.range, Range) or type(form.range) is Range  # own public parts may not be concave
    return same and bool((form.weights >= 0).all())


def _settled(
    likelihood: _Likelihood, form: Sensitive, active: Index, largest: Array, is_open: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Compute both maxima of a form from the bounds at its corners.

    Open records are evaluated under all draws first, then the others in order of decreasing bound, until no remaining record can
    change the tail of the maxima over the records.

    Args:
        likelihood: log-likelihood under all draws.
        form: the form.
        active: (m,) indices of the records that it depends on.
        largest: (m,) their bounds, valid for records that are not open.
        is_open: (m,) True for open records.
    """
    n_draws = len(likelihood.left)
    last = max(n_draws - _tail(n_draws) - 1, 0)
    by_record, by_draw = np.zeros(len(likelihood.records)), np.zeros(n_draws)
    by_record[active] = largest
    closed = active[~is_open]
    order = np.concatenate([active[is_open], closed[np.argsort(-by_record[closed], kind="stable")]])
    for part in blocks(len(order), n_draws, SAME_ROUNDING):
        index = order[part]
        if part.start >= is_open.sum() and by_record[index[0]] <= np.partition(by_draw, last)[last]:
            break
        values = np.abs(likelihood.sensitive(form, index))
        by_record[index] = values.max(axis=0)
        np.maximum(by_draw, values.max(axis=1), out=by_draw)
    return by_record, by_draw


def _distinct(records: Records, sensitive: Sequence[Sensitive]) -> tuple[Index, Index]:
    """Find records that differ in data or weights: their positions, and for each record the index of its equal among them.

    Counts repeat: a thousand records have about a hundred distinct counts. If values hardly repeat, finding equal records costs
    more than it saves, and every record is treated as distinct; many of them are sorted by predictors, for products of factors
    in groups.
    """
    n = len(records.x)
    if 2 * len(np.unique(records.x)) > n:
        first = np.arange(n) if n <= BLOCK else np.lexsort(records.design.T)
        return first, np.argsort(first)
    weights = [form.weights for form in sensitive]
    weights += [form.range_weights for form in sensitive if form.range_weights is not None]
    weights += [ends for form in sensitive if isinstance(form.range, Range) for ends in (form.range.low, form.range.high)]
    return distinct_rows(np.column_stack([records.x, records.design, *records.inputs.values(), *weights]))


def _at(sensitive: Sensitive, index: Index | slice) -> Sensitive:
    range_weights = None if sensitive.range_weights is None else sensitive.range_weights[index]
    range = sensitive.range.take(index) if isinstance(sensitive.range, Range) else sensitive.range
    return replace(sensitive, weights=sensitive.weights[index], range=range, range_weights=range_weights)


def _touched(sensitive: Sensitive) -> NDArray[np.bool_]:
    """Return a mask of the records that the sensitive log-likelihood depends on; the bound of the others is 0."""
    touched: NDArray[np.bool_] = sensitive.weights != 0
    return touched if sensitive.range_weights is None else touched | (sensitive.range_weights != 0)


def _censored(by_record: Array, by_draw: Array, sensitive: Sensitive) -> Bounds:
    by_record = np.where(np.isnan(by_record), np.inf, by_record)
    if sensitive.threshold is None:
        return Bounds(by_record, by_draw)
    limit = sensitive.threshold
    beyond = int((by_record > limit).sum())
    return Bounds(np.minimum(by_record, limit), np.minimum(by_draw, limit), beyond)


def _tail(n_draws: int, share: float = TAIL) -> int:
    """Count the draws in the tail of a maximum."""
    return max(2, round(share * n_draws))


def maximum_mcse(values: Array, share: float = TAIL) -> float:
    """Monte Carlo standard error of the maximum of independent draws.

    The upper tail is modelled as exponential, with the mean excess of the largest ``share`` of the values as its scale;
    the maximum is then a Gumbel variable with standard deviation ``pi / sqrt(6)`` times that scale.

    Args:
        values: (S,) draws.
        share: share of the draws in the tail.
    """
    tail = _tail(len(values), share)
    if len(values) <= tail or not np.isfinite(values).all():
        return float("nan")
    largest = np.sort(np.partition(values, -tail - 1)[-tail - 1 :])
    return float(np.pi / np.sqrt(6) * (largest[1:] - largest[0]).mean())
