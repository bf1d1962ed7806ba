"""Privacy cost of plug-in synthesis from a normal model with unknown variance (zcdp paper, Section 4.3).

Neighbours are as in :mod:`formalsynth_workflow.papers.zcdp.accounting`. With an estimated variance, the release is not a Gaussian
mechanism, and every number is local: it depends on the variance of the data set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import check_delta, gaussian_delta, smallest_epsilon
from formalsynth_workflow.papers.zcdp.accounting import Setting, compose_approximate, epsilon_exact, epsilon_printed, rho_plugin

if TYPE_CHECKING:
    import pandas as pd

LOCAL = "(eps, delta)-DP, local to s^2"
"""Kind of guarantee of numbers that depend on the confidential variance; publishing them has a privacy cost."""


# The synthetic variance ----------------------------------------------------------------------------------------------


def variance_loss(setting: Setting, n_syn: float, other: float, x: Array) -> Array:
    """Privacy loss at synthetic variances ``x``, between this data set and a neighbour with sample variance ``other``.

    ``(N-1)/2 (log(other / s^2) - x (1 / s^2 - 1 / other))``. Source: zcdp paper, Section 4.3, for any variance of the neighbour.
    """
    log_part, slope = _variance_loss_parts(setting, n_syn, other)
    return log_part - slope * x


def variance_epsilon_printed(setting: Setting, n_syn: float, delta: float) -> float:
    """Return the bound on the loss through the synthetic variance, exactly as printed (zcdp paper, Section 4.3).

    It has two errors. The neighbour's rate contains ``2 s^2 +- (2d)^2/n``, which is half the step of the variance (erratum E3).
    In the term for the decreasing variance, the slope has the sign for the increasing one, so two terms that should nearly
    cancel add up (erratum E9). The bound is infinite if the printed logarithm does not exist.

    Args:
        setting: the release; replace-one, sensitivity (2d)^2/n of the sample variance.
        n_syn: synthetic records in each data set.
        delta: probability that the loss exceeds the bound, half of it in each tail.
    """
    step = setting.variance_sensitivity / 2
    if step >= setting.variance:
        return math.inf
    x = _percentiles(setting, n_syn, delta)
    rising = variance_loss(setting, n_syn, setting.variance + step, x)
    log_part, slope = _variance_loss_parts(setting, n_syn, setting.variance - step)
    return float(np.abs([rising, log_part + slope * x]).max())


def variance_epsilon_half_step(setting: Setting, n_syn: float, delta: float) -> float:
    """Return the printed bound with the correct sign, with the neighbour at half the step; arguments as printed."""
    return _percentile_epsilon(setting, n_syn, delta, setting.variance_sensitivity / 2)


def variance_epsilon_derived(setting: Setting, n_syn: float, delta: float) -> float:
    """Return the bound with the neighbour at ``s^2 +- (2d)^2/n``: the printed recipe, derived (erratum E3); arguments as printed.

    It is infinite if a neighbour may have variance 0.
    """
    return _percentile_epsilon(setting, n_syn, delta, setting.variance_sensitivity)


def variance_epsilon_curve(setting: Setting, n_syn: float, delta: float) -> float:
    """Return the smallest epsilon for the synthetic variance: the inverse of :func:`variance_delta`; arguments as printed."""
    return _smallest_epsilon(variance_delta, setting, n_syn, delta)


def variance_delta(setting: Setting, n_syn: float, epsilon: float) -> float:
    """Return the smallest delta for the synthetic variance at ``epsilon``: the exact curve of the two Gamma distributions.

    It is the maximum over both neighbours ``s^2 +- (2d)^2/n``, each in both directions; 1 if a neighbour may have variance 0.
    """
    shape = _variance_shape(setting, n_syn)
    return _largest_delta(setting, (-1, 1), lambda here, other: gamma_pair_delta(epsilon, shape, here, other))


def _variance_shape(setting: Setting, n_syn: float) -> float:
    if setting.m * n_syn < 2:
        raise ValueError(f"a variance needs at least 2 synthetic records, got {setting.m * n_syn}")
    return (setting.m * n_syn - 1) / 2


def _variance_loss_parts(setting: Setting, n_syn: float, other: float) -> tuple[float, float]:
    shape = _variance_shape(setting, n_syn)
    return shape * math.log(other / setting.variance), shape * (1 / setting.variance - 1 / other)


def _percentiles(setting: Setting, n_syn: float, delta: float) -> Array:
    """Percentiles of the synthetic variance with ``delta / 2`` in each tail.

    The variance of N normal records has a Gamma distribution: shape (N-1)/2, rate (N-1)/(2 s^2) (zcdp paper, Section 4.3).
    """
    check_delta(delta)
    shape = _variance_shape(setting, n_syn)
    quantiles = special.gammaincinv(shape, [delta / 2, 1 - delta / 2])
    return np.asarray(quantiles * (setting.variance / shape), dtype=np.float64)


def _percentile_epsilon(setting: Setting, n_syn: float, delta: float, step: float) -> float:
    if step >= setting.variance:
        return math.inf
    x = _percentiles(setting, n_syn, delta)
    return float(np.abs([variance_loss(setting, n_syn, setting.variance + sign * step, x) for sign in (-1, 1)]).max())


# The synthetic mean --------------------------------------------------------------------------------------------------


def mean_epsilon_printed(setting: Setting, n_syn: float, delta: float) -> float:
    """Epsilon of the synthetic mean as printed: rho for known variance, with s^2 as that variance, converted as printed.

    Neighbours also differ in s^2, so the mean is not a Gaussian mechanism and no rho exists: the Renyi divergence is infinite
    from order ``n s^2 / (2d)^2`` on (erratum E10); see :func:`mean_epsilon_curve`. Arguments as for the printed variance bound.

    Source: zcdp paper, Section 4.3.
    """
    return epsilon_printed(float(rho_plugin(setting, n_syn)), delta)


def mean_epsilon_curve(setting: Setting, n_syn: float, delta: float) -> float:
    """Return the smallest epsilon for the synthetic mean: the inverse of :func:`mean_delta`."""
    return _smallest_epsilon(mean_delta, setting, n_syn, delta)


def mean_delta(setting: Setting, n_syn: float, epsilon: float) -> float:
    """Return the smallest delta for the synthetic mean at ``epsilon`` when neighbours differ in mean and in variance.

    It is the exact curve of two normal distributions whose means differ by 2d/n: the maximum over equal variances and
    ``s^2 +- (2d)^2/n``, each in both directions; 1 if a neighbour may have variance 0.
    """
    records, shift = setting.m * n_syn, setting.mean_sensitivity
    return _largest_delta(
        setting, (-1, 0, 1), lambda here, other: normal_pair_delta(epsilon, shift, here / records, other / records)
    )


# Exact curves of two distributions -----------------------------------------------------------------------------------


def _smallest_epsilon(delta_at: Callable[[Setting, float, float], float], setting: Setting, n_syn: float, delta: float) -> float:
    """Invert a curve of delta in epsilon; infinite if a neighbour may have variance 0."""
    if setting.variance_sensitivity >= setting.variance:
        return math.inf
    return smallest_epsilon(lambda epsilon: delta_at(setting, n_syn, epsilon), delta)


def _largest_delta(setting: Setting, steps: Sequence[int], pair_delta: Callable[[float, float], float]) -> float:
    """Largest delta of the variance and its neighbours, in both directions; 1 if a neighbour may have variance 0.

    Args:
        setting: the release.
        steps: changes of the variance, in units of its sensitivity.
        pair_delta: delta of a pair of variances.
    """
    if setting.variance_sensitivity >= setting.variance:
        return 1.0
    others = [setting.variance + step * setting.variance_sensitivity for step in steps]
    return max(pair_delta(*pair) for other in others for pair in ((setting.variance, other), (other, setting.variance)))


def gamma_pair_delta(epsilon: float, shape: float, mean: float, other: float) -> float:
    """``sup_S P(S) - e^epsilon Q(S)`` of two Gamma distributions with the same shape and means ``mean`` (P) and ``other`` (Q)."""
    if mean == other:
        return 0.0
    edge = (shape * math.log(other / mean) - epsilon) / (1 / mean - 1 / other)  # shape * x where the loss is epsilon
    if edge <= 0:
        return 0.0
    tail = special.gammainc if other > mean else special.gammaincc
    return _excess_mass(epsilon, float(tail(shape, edge / mean)), float(tail(shape, edge / other)))


def normal_pair_delta(epsilon: float, shift: float, variance: float, other: float) -> float:
    """``sup_S P(S) - e^epsilon Q(S)`` of P = N(0, variance) and Q = N(shift, other), epsilon >= 0."""
    if variance == other:
        return float(gaussian_delta(math.sqrt(variance), abs(shift), epsilon)) if shift else 0.0
    # The loss exceeds epsilon where a x^2 + b x + c > 0.
    a = (1 / other - 1 / variance) / 2
    b = -shift / other
    c = shift**2 / (2 * other) + math.log(other / variance) / 2 - epsilon
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        return 0.0
    far = -(b + math.copysign(math.sqrt(discriminant), b)) / 2  # form of the roots without cancellation
    low, high = sorted((far / a, c / far))

    def mass(mean: float, variance: float) -> float:
        sd = math.sqrt(variance)
        if a > 0:
            return float(special.ndtr((low - mean) / sd) + special.ndtr((mean - high) / sd))
        return float(special.ndtr((high - mean) / sd) - special.ndtr((low - mean) / sd))

    return _excess_mass(epsilon, mass(0.0, variance), mass(shift, other))


def _excess_mass(epsilon: float, p: float, q: float) -> float:
    """``p - e^epsilon q`` for a set on which P exceeds ``e^epsilon Q``, computed without overflow."""
    return max(p - (math.exp(epsilon + math.log(q)) if q > 0 else 0.0), 0.0)


# Both ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnknownVariance:
    """Bounds for plug-in synthesis with unknown variance: one for the mean and one for the variance."""

    label: str
    mean: Callable[[Setting, float, float], float]
    variance: Callable[[Setting, float, float], float]


UNKNOWN_VARIANCE: dict[str, UnknownVariance] = {
    "printed": UnknownVariance("as printed", mean_epsilon_printed, variance_epsilon_printed),
    "half_step": UnknownVariance("correct sign, half step", mean_epsilon_printed, variance_epsilon_half_step),
    "derived": UnknownVariance("derived, percentiles", mean_epsilon_curve, variance_epsilon_derived),
    "curve": UnknownVariance("derived, exact curves", mean_epsilon_curve, variance_epsilon_curve),
}
"""The bounds by id."""


def unknown_variance_table(
    setting: Setting, n_syn: Sequence[float] | Array, delta: float, forms: Iterable[str] = UNKNOWN_VARIANCE
) -> pd.DataFrame:
    """Return a tidy table of bounds for plug-in synthesis with unknown variance against n_syn.

    Delta is split evenly between mean and variance (chosen: the paper does not specify the split). The two bounds are composed.

    Args:
        setting: the release, with the s^2 of its data set.
        n_syn: (K,) numbers of synthetic records in each data set.
        delta: delta of the complete release.
        forms: ids of :data:`UNKNOWN_VARIANCE`.

    Returns:
        Columns n, d, variance, m, n_syn, form, label, epsilon_known (exact, with known variance), part (mean, variance,
        total), delta, epsilon, delta_found (the smallest delta at that epsilon; NaN for the total), guarantee.
    """
    import pandas as pd

    counts = np.asarray(n_syn, float).tolist()
    return pd.DataFrame([row for count in counts for id in forms for row in _bounds(setting, count, delta, id)])


def _bounds(setting: Setting, n_syn: float, delta: float, id: str) -> list[dict[str, float | str]]:
    """Rows of one form at one n_syn: mean, variance and total."""
    form = UNKNOWN_VARIANCE[id]
    parts = {"mean": (form.mean(setting, n_syn, delta / 2), delta / 2)}
    parts["variance"] = (form.variance(setting, n_syn, delta / 2), delta / 2)
    parts["total"] = compose_approximate(parts.values())
    smallest = {"mean": mean_delta(setting, n_syn, parts["mean"][0])}
    smallest["variance"] = variance_delta(setting, n_syn, parts["variance"][0])
    head = asdict(setting) | {"n_syn": n_syn, "form": id, "label": form.label}
    head["epsilon_known"] = epsilon_exact(float(rho_plugin(setting, n_syn)), delta)
    return [
        head
        | {"part": part, "delta": part_delta, "epsilon": epsilon}
        | {"delta_found": smallest.get(part, math.nan), "guarantee": LOCAL}
        for part, (epsilon, part_delta) in parts.items()
    ]
