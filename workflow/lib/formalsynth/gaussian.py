"""Gaussian accounting: what Gaussian noise, and synthetic data from a normal model, cost in privacy.

Everywhere the neighbouring relation is replace-one (bounded DP): two data sets of the same, public size n differ in one
record. Sensitivities are of data clamped to ``[-d, d]``: ``2 d / n`` for the mean, ``(2 d)^2 / n`` for the sample
variance with denominator n - 1. A synthesizer with known variance is a Gaussian mechanism on the mean, whatever the
distribution of the confidential data, so one number, the rho of zero-concentrated DP, says all about it. With an estimated
variance it is not, and every number is local to the variance of the data set at hand.

The formulas are short enough to need no accounting library; the tests hold them against numerical integration, simulated
privacy losses and values of two such libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, special, stats
from scipy.stats.distributions import rv_frozen

from formalsynth.families import Array

ZCDP = "zCDP"
APPROXIMATE = "(eps, delta)-DP"
LOCAL = "(eps, delta)-DP, local to s^2"
"""The kind of the numbers that depend on the confidential variance: they cannot be published without a cost of their own."""


# Gaussian noise ------------------------------------------------------------------------------------------------------


def gaussian_delta(sigma: float | Array, sensitivity: float | Array, epsilon: float | Array) -> float | Array:
    """The smallest delta at which Gaussian noise gives (epsilon, delta)-DP: exact, for every epsilon >= 0.

    Args:
        sigma: standard deviation of the noise.
        sensitivity: largest Euclidean distance of the statistic between neighbours, in the units of ``sigma``.
        epsilon: privacy budget.

    Source: Balle and Wang (2018), Theorem 8.
    """
    _check_positive(sigma=sigma, sensitivity=sensitivity)
    ratio = np.asarray(sensitivity) / sigma
    with np.errstate(over="ignore"):  # no sensitivity to speak of: infinitely many noise units, delta 0
        upper, lower = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
    return np.maximum(special.ndtr(upper) - np.exp(epsilon + special.log_ndtr(lower)), 0.0)[()]


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> float:
    """The smallest epsilon at which Gaussian noise gives (epsilon, delta)-DP; arguments as in :func:`gaussian_delta`."""
    _check_positive(sigma=sigma, sensitivity=sensitivity)
    return smallest_epsilon(lambda epsilon: gaussian_delta(sigma, sensitivity, epsilon), delta)


def analytic_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """The smallest standard deviation of Gaussian noise that gives (epsilon, delta)-DP, for every epsilon > 0.

    The result always meets the curve: ``gaussian_delta(analytic_sigma(s, e, d), s, e) <= d``.

    Args:
        sensitivity: largest Euclidean distance of the statistic between neighbours.
        epsilon: privacy budget.
        delta: in (0, 1).

    Raises:
        ValueError: an argument is outside its range.

    Source: Balle and Wang (2018), Algorithm 1, solved as a root of the exact curve.
    """
    _check_positive(sensitivity=sensitivity, epsilon=epsilon)
    _check_delta(delta)

    def excess(log_sigma: float) -> float:
        return float(gaussian_delta(math.exp(log_sigma), 1.0, epsilon)) - delta

    low = high = 0.0
    while excess(high) > 0:
        high += 1
    while excess(low) < 0:
        low -= 1
    sigma = sensitivity * math.exp(optimize.brentq(excess, low, high, xtol=1e-13) if high > low else low)
    while gaussian_delta(sigma, sensitivity, epsilon) > delta:  # the last bits of the root may be on the wrong side
        sigma *= 1 + 1e-12
    return sigma


def classical_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """The classical calibration ``sensitivity sqrt(2 log(1.25 / delta)) / epsilon``.

    It is proved for epsilon < 1 only. Beyond, hold the result against :func:`gaussian_delta`: it wastes noise up to a
    crossing that depends on delta, and past it gives less privacy than it says. Arguments as in :func:`analytic_sigma`.

    Source: Dwork and Roth (2014), Theorem A.1.
    """
    _check_positive(sensitivity=sensitivity, epsilon=epsilon)
    _check_delta(delta)
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def zcdp_rho(sigma: float | Array, sensitivity: float | Array) -> float | Array:
    """Rho of Gaussian noise, ``sensitivity^2 / (2 sigma^2)`` (Bun and Steinke 2016, Proposition 1.6)."""
    return np.square(sensitivity) / (2 * np.square(sigma))


def zcdp_sigma(rho: float | Array, sensitivity: float | Array) -> float | Array:
    """Standard deviation of Gaussian noise that costs ``rho``, the inverse of :func:`zcdp_rho`."""
    return sensitivity / np.sqrt(2 * np.asarray(rho))[()]


# Composition and conversion ------------------------------------------------------------------------------------------


def compose_rho(rhos: Iterable[float]) -> float:
    """Rho of several mechanisms with independent noise on the same data: the sum (zcdp paper, Theorem 2.4)."""
    return math.fsum(rhos)


def compose_approximate(parts: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """(epsilon, delta) of several mechanisms with independent noise on the same data: both sum (zcdp paper, Section 4.3)."""
    epsilons, deltas = zip(*parts, strict=True)
    return math.fsum(epsilons), math.fsum(deltas)


def epsilon_printed(rho: float, delta: float) -> float:
    """``rho + 2 sqrt(rho log(1 / delta))``, valid for every rho-zCDP mechanism (zcdp paper, Section 2)."""
    _check_delta(delta)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def epsilon_renyi(rho: float, delta: float) -> float:
    """The best epsilon over all Renyi orders, valid for every rho-zCDP mechanism.

    The minimum over alpha > 1 of ``rho alpha + log(1 - 1 / alpha) + (log(1 / delta) - log alpha) / (alpha - 1)``.

    Source: Canonne, Kamath and Steinke (2020), Section 2.3.
    """
    _check_delta(delta)
    if rho == 0:
        return 0.0
    log_delta = math.log(delta)

    def epsilon(log_excess: float) -> float:
        excess = math.exp(log_excess)  # alpha - 1
        log_alpha = math.log1p(excess)
        return rho * (1 + excess) + log_excess - log_alpha - (log_delta + log_alpha) / excess

    near = 0.5 * math.log(-log_delta / rho)  # where the printed conversion has its best order
    best = optimize.minimize_scalar(epsilon, bounds=(near - 12, near + 12), method="bounded", options={"xatol": 1e-10})
    return max(float(best.fun), 0.0)


def epsilon_exact(rho: float, delta: float) -> float:
    """The exact epsilon of a Gaussian mechanism of that rho; for other rho-zCDP mechanisms it may be too small.

    Every route with known variance here is a Gaussian mechanism, so it applies to all of them.
    """
    return gaussian_epsilon(1.0, math.sqrt(2 * rho), delta) if rho > 0 else 0.0


CONVERSIONS: dict[str, Callable[[float, float], float]] = {
    "printed": epsilon_printed,
    "renyi": epsilon_renyi,
    "exact": epsilon_exact,
}
"""From (rho, delta) to epsilon, the loosest first."""


def smallest_epsilon(curve: Callable[[float], float], delta: float) -> float:
    """The smallest epsilon >= 0 with ``curve(epsilon) <= delta`` for a decreasing privacy curve."""
    _check_delta(delta)
    if curve(0.0) <= delta:
        return 0.0
    high = 1.0
    while curve(high) > delta:
        high *= 2
    return float(optimize.brentq(lambda epsilon: curve(epsilon) - delta, 0.0, high, xtol=1e-12))


# Synthesis with known variance ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A univariate release: n confidential values clamped to ``[-d, d]``, m synthetic data sets from a normal model.

    Raises:
        ValueError: a field is not positive, or n is below 2.
    """

    n: int
    """Confidential records, public."""
    d: float
    """Bound of the clamped values, in their units."""
    variance: float = 1.0
    """sigma^2 of the synthesis model; public where it is called known, else the confidential s^2 of the data set."""
    m: int = 1
    """Synthetic data sets."""

    def __post_init__(self) -> None:
        _check_positive(n=self.n - 1, d=self.d, variance=self.variance, m=self.m)

    @property
    def mean_sensitivity(self) -> float:
        """``2 d / n``, replace-one (zcdp paper, Section 4.1)."""
        return 2 * self.d / self.n

    @property
    def variance_sensitivity(self) -> float:
        """``(2 d)^2 / n`` of the sample variance with denominator n - 1, replace-one (zcdp paper, Section 4.3)."""
        return (2 * self.d) ** 2 / self.n


def rho_plugin(setting: Setting, n_syn: float | Array) -> float | Array:
    """Rho of plug-in synthesis, records from ``N(mean, sigma^2)``: ``m n_syn (2d)^2 / (2 n^2 sigma^2)``.

    Args:
        setting: the release; replace-one, sensitivity 2d/n of the mean.
        n_syn: synthetic records in each of the m data sets.

    Source: zcdp paper, Section 4.1.
    """
    return _rho_of_records(setting, n_syn, setting.variance)


def rho_bayes_per_record(setting: Setting, n_syn: float | Array) -> float | Array:
    """Rho of Bayesian synthesis as printed, every record composed as independent ``N(mean, sigma^2 (1 + 1 / n))``.

    Exact for a synthesizer that draws a new mean for each record. Records of one data set share their draw of the mean, for
    which this is an upper bound, often a very loose one (erratum E4): see :func:`rho_bayes_joint`. Arguments as in
    :func:`rho_plugin`.

    Source: zcdp paper, Section 4.2.
    """
    return _rho_of_records(setting, n_syn, setting.variance * (1 + 1 / setting.n))


def rho_bayes_joint(setting: Setting, n_syn: float | Array) -> float | Array:
    """Exact rho of Bayesian synthesis, where the n_syn records of a data set share one draw of the mean.

    The mean of a data set is sufficient and normal with variance ``sigma^2 (1/n + 1/n_syn)``, so a data set costs
    ``(2d/n)^2 n_syn / (2 sigma^2 (1 + n_syn / n))``, and m data sets with a draw each cost m times that. It is below both
    :func:`rho_plugin` and :func:`rho_postprocessing` for every n_syn, and reaches the latter as n_syn grows. Arguments as
    in :func:`rho_plugin`.

    Source: derived; zcdp paper, Section 4.2 (erratum E4).
    """
    return _rho_of_records(setting, n_syn, setting.variance * (1 + np.asarray(n_syn)[()] / setting.n))


def rho_postprocessing(setting: Setting, n_syn: float | Array = 1) -> float | Array:
    """Rho of the draws of the mean alone, ``m (2d)^2 / (2 n sigma^2)``: what follows them is post-processing.

    Each of the m data sets has its own draw from ``N(mean, sigma^2 / n)``; for data sets that share one, take m = 1. It does
    not depend on ``n_syn``, which only gives the result its shape.

    Source: derived from the mean's sensitivity 2d/n; zcdp paper, Section 4.2 (erratum E2).
    """
    return (
        setting.m * zcdp_rho(math.sqrt(setting.variance / setting.n), setting.mean_sensitivity) * np.ones_like(n_syn, float)[()]
    )


def rho_postprocessing_printed(setting: Setting, n_syn: float | Array = 1) -> float | Array:
    """The same as printed, ``4 d^2 n / (2 sigma^2)``, too large by n^2 (zcdp paper, Section 4.2; erratum E2)."""
    return 4 * setting.d**2 * setting.n / (2 * setting.variance) * np.ones_like(n_syn, float)[()]


@dataclass(frozen=True)
class Route:
    """A way to account for the release of synthetic data with known variance."""

    label: str
    rho: Callable[[Setting, float | Array], float | Array]


ROUTES: dict[str, Route] = {
    "plugin": Route("plug-in", rho_plugin),
    "bayes_per_record": Route("Bayes, per record", rho_bayes_per_record),
    "bayes_joint": Route("Bayes, exact joint", rho_bayes_joint),
    "post_processing": Route("Bayes, post-processing", rho_postprocessing),
    "post_processing_printed": Route("Bayes, post-processing as printed", rho_postprocessing_printed),
}
"""The routes by id."""


def n_syn_plugin(setting: Setting, rho: float | Array) -> float | Array:
    """Synthetic records in each data set that plug-in synthesis may release for ``rho`` (zcdp paper, Section 4.1)."""
    return rho / rho_plugin(setting, 1)


def n_syn_bayes_per_record(setting: Setting, rho: float | Array) -> float | Array:
    """The same for Bayesian synthesis as printed (zcdp paper, Section 4.2)."""
    return rho / rho_bayes_per_record(setting, 1)


def n_syn_bayes_joint(setting: Setting, rho: float | Array) -> float | Array:
    """The same for the exact joint rho: infinite from :func:`rho_postprocessing` on."""
    share = np.asarray(rho / rho_postprocessing(setting), float)  # = n_syn / (n + n_syn)
    with np.errstate(divide="ignore"):
        return np.where(share < 1, setting.n * share / np.maximum(1 - share, 0), np.inf)[()]


def whole_records(n_syn: float) -> int:
    """The whole number of records that an inverse allows; forgives the last bits of its arithmetic."""
    return math.floor(n_syn * (1 + 1e-12))


def break_even(setting: Setting) -> float:
    """n_syn in each data set above which post-processing beats composing the records: ``n + 1``.

    It does not depend on m, since each data set has its own draw of the mean.

    Source: derived; zcdp paper, Section 4.2 (erratum E2).
    """
    return setting.n + 1


def break_even_printed(setting: Setting) -> float:
    """The same as printed, ``n^2 (n + 1) / m`` (zcdp paper, Section 4.2; erratum E2)."""
    return setting.n**2 * (setting.n + 1) / setting.m


def route_table(setting: Setting, n_syn: Sequence[float] | Array, delta: float, routes: Iterable[str] = ROUTES) -> pd.DataFrame:
    """Rho and epsilon against n_syn for each route and conversion, tidy.

    Args:
        setting: the release.
        n_syn: (K,) synthetic records in each data set.
        delta: of the conversion.
        routes: ids of :data:`ROUTES`.

    Returns:
        Columns n, d, variance, m, n_syn, route, label, rho, delta, conversion, epsilon, guarantee; a row for each n_syn,
        route and conversion.
    """
    at = np.asarray(n_syn, float)
    rows = []
    for id in routes:
        for k, rho in zip(at.tolist(), ROUTES[id].rho(setting, at).tolist(), strict=True):
            head = _row(setting) | {"n_syn": k, "route": id, "label": ROUTES[id].label, "rho": rho, "delta": delta}
            for name, convert in CONVERSIONS.items():
                rows.append(head | {"conversion": name, "epsilon": convert(rho, delta), "guarantee": APPROXIMATE})
    return pd.DataFrame(rows)


def _rho_of_records(setting: Setting, n_syn: float | Array, variance: float | Array) -> float | Array:
    """Rho of m n_syn independent records with the confidential mean as location."""
    return setting.m * np.asarray(n_syn)[()] * zcdp_rho(np.sqrt(variance), setting.mean_sensitivity)


def _row(setting: Setting) -> dict[str, float]:
    return {"n": setting.n, "d": setting.d, "variance": setting.variance, "m": setting.m}


# Plug-in synthesis with unknown variance -----------------------------------------------------------------------------


def variance_distribution(setting: Setting, n_syn: float, variance: float | None = None) -> rv_frozen:
    """The Gamma distribution of the variance of ``m n_syn`` normal records: shape (N-1)/2, rate (N-1)/(2 s^2).

    Args:
        setting: the release; its variance is the confidential s^2.
        n_syn: synthetic records in each data set; m n_syn at least 2.
        variance: s^2 of another data set.

    Source: zcdp paper, Section 4.3.
    """
    shape = _variance_shape(setting, n_syn)
    return stats.gamma(shape, scale=(setting.variance if variance is None else variance) / shape)


def variance_loss(setting: Setting, n_syn: float, other: float, x: float | Array) -> float | Array:
    """Privacy loss at synthetic variance ``x``, between this data set and a neighbour with sample variance ``other``.

    ``(N-1)/2 (log(other / s^2) - x (1 / s^2 - 1 / other))``. Source: zcdp paper, Section 4.3, with the neighbour's variance
    left open.
    """
    log_part, slope = _variance_loss_parts(setting, n_syn, other)
    return log_part - slope * np.asarray(x)[()]


def variance_epsilon_printed(setting: Setting, n_syn: float, delta: float) -> float:
    """The bound on the loss through the synthetic variance, letter by letter as printed (zcdp paper, Section 4.3).

    Two slips: the neighbour's rate has ``2 s^2 +- (2d)^2/n``, half the step of the variance (erratum E3), and the term of
    the falling variance keeps the sign that the slope has for the rising one, so that two terms add up that cancel but for
    the noise (erratum E9). Infinite where the printed logarithm does not exist.

    Args:
        setting: the release; replace-one, sensitivity (2d)^2/n of the sample variance.
        n_syn: synthetic records in each data set.
        delta: probability of a loss beyond the bound, half of it in each tail.
    """
    step = setting.variance_sensitivity / 2
    if step >= setting.variance:
        return math.inf
    x = _percentiles(setting, n_syn, delta)
    rising = variance_loss(setting, n_syn, setting.variance + step, x)
    log_part, slope = _variance_loss_parts(setting, n_syn, setting.variance - step)
    return float(np.abs([rising, log_part + slope * x]).max())


def variance_epsilon_half_step(setting: Setting, n_syn: float, delta: float) -> float:
    """The printed bound with its sign mended, the neighbour still at half the step; arguments as printed."""
    return _percentile_epsilon(setting, n_syn, delta, setting.variance_sensitivity / 2)


def variance_epsilon_derived(setting: Setting, n_syn: float, delta: float) -> float:
    """The bound with the neighbour at ``s^2 +- (2d)^2/n``: the printed recipe, derived (erratum E3); arguments as printed.

    Infinite where a neighbour may have no variance at all.
    """
    return _percentile_epsilon(setting, n_syn, delta, setting.variance_sensitivity)


def variance_epsilon_curve(setting: Setting, n_syn: float, delta: float) -> float:
    """The smallest epsilon for the synthetic variance: the inverse of :func:`variance_delta`; arguments as printed."""
    if setting.variance_sensitivity >= setting.variance:
        return math.inf
    return smallest_epsilon(lambda epsilon: variance_delta(setting, n_syn, epsilon), delta)


def variance_delta(setting: Setting, n_syn: float, epsilon: float) -> float:
    """The smallest delta for the synthetic variance at ``epsilon``: the exact curve of the two Gamma distributions.

    The largest over both neighbours ``s^2 +- (2d)^2/n``, each in both directions; 1 where one has no variance at all.
    """
    if setting.variance_sensitivity >= setting.variance:
        return 1.0
    shape = _variance_shape(setting, n_syn)
    neighbours = (setting.variance + sign * setting.variance_sensitivity for sign in (-1, 1))
    pairs = [pair for other in neighbours for pair in ((setting.variance, other), (other, setting.variance))]
    return max(gamma_pair_delta(epsilon, shape, *pair) for pair in pairs)


def gamma_pair_delta(epsilon: float, shape: float, mean: float, other: float) -> float:
    """``sup_S P(S) - e^epsilon Q(S)`` of two Gamma distributions of one shape with means ``mean`` (P) and ``other`` (Q)."""
    if mean == other:
        return 0.0
    edge = (shape * math.log(other / mean) - epsilon) / (1 / mean - 1 / other)  # shape * x where the loss is epsilon
    if edge <= 0:
        return 0.0
    tail = special.gammainc if other > mean else special.gammaincc
    return _excess_mass(epsilon, tail(shape, edge / mean), tail(shape, edge / other))


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
    far = -(b + math.copysign(math.sqrt(discriminant), b)) / 2  # the form of the roots that loses no digits
    low, high = sorted((far / a, c / far))

    def mass(mean: float, variance: float) -> float:
        sd = math.sqrt(variance)
        if a > 0:
            return special.ndtr((low - mean) / sd) + special.ndtr((mean - high) / sd)
        return special.ndtr((high - mean) / sd) - special.ndtr((low - mean) / sd)

    return _excess_mass(epsilon, mass(0.0, variance), mass(shift, other))


def _excess_mass(epsilon: float, p: float, q: float) -> float:
    """``p - e^epsilon q`` for a set on which P exceeds ``e^epsilon Q``, so that the exponent cannot overflow."""
    return max(float(p) - (math.exp(epsilon + math.log(q)) if q > 0 else 0.0), 0.0)


def mean_epsilon_printed(setting: Setting, n_syn: float, delta: float) -> float:
    """Epsilon through the synthetic mean as printed: rho of known variance with s^2 in its place, converted as printed.

    Neighbours differ in s^2 too, so the mean is no Gaussian mechanism and no rho exists: the Renyi divergence is infinite
    from order ``n s^2 / (2d)^2`` on (erratum E10), see :func:`mean_epsilon_curve`. Arguments as for the variance as printed.

    Source: zcdp paper, Section 4.3.
    """
    return epsilon_printed(float(rho_plugin(setting, n_syn)), delta)


def mean_epsilon_curve(setting: Setting, n_syn: float, delta: float) -> float:
    """The smallest epsilon for the synthetic mean: the inverse of :func:`mean_delta`."""
    if setting.variance_sensitivity >= setting.variance:
        return math.inf
    return smallest_epsilon(lambda epsilon: mean_delta(setting, n_syn, epsilon), delta)


def mean_delta(setting: Setting, n_syn: float, epsilon: float) -> float:
    """The smallest delta for the synthetic mean at ``epsilon`` when neighbours differ in mean and in variance.

    The exact curve of two normal distributions whose means differ by 2d/n, the largest over equal variances and
    ``s^2 +- (2d)^2/n``, each in both directions; 1 where a neighbour may have no variance at all.
    """
    if setting.variance_sensitivity >= setting.variance:
        return 1.0
    records, step = setting.m * n_syn, setting.variance_sensitivity
    here = setting.variance / records
    others = [(setting.variance + change) / records for change in (-step, 0.0, step)]
    pairs = [pair for other in others for pair in ((here, other), (other, here))]
    return max(normal_pair_delta(epsilon, setting.mean_sensitivity, *pair) for pair in pairs)


@dataclass(frozen=True)
class UnknownVariance:
    """A way to bound plug-in synthesis with unknown variance: one bound for the mean, one for the variance."""

    label: str
    mean: Callable[[Setting, float, float], float]
    variance: Callable[[Setting, float, float], float]


UNKNOWN_VARIANCE: dict[str, UnknownVariance] = {
    "printed": UnknownVariance("as printed", mean_epsilon_printed, variance_epsilon_printed),
    "half_step": UnknownVariance("sign mended, half step", mean_epsilon_printed, variance_epsilon_half_step),
    "derived": UnknownVariance("derived, percentiles", mean_epsilon_curve, variance_epsilon_derived),
    "curve": UnknownVariance("derived, exact curves", mean_epsilon_curve, variance_epsilon_curve),
}
"""The bounds by id."""


def unknown_variance_table(
    settings: Iterable[Setting], n_syn: Sequence[float] | Array, delta: float, forms: Iterable[str] = UNKNOWN_VARIANCE
) -> pd.DataFrame:
    """Bounds of plug-in synthesis with unknown variance over a grid, tidy.

    Delta is split evenly over mean and variance (chosen: the paper leaves the split open), whose bounds are then composed.

    Args:
        settings: releases, each with the s^2 of its data set.
        n_syn: (K,) synthetic records in each data set.
        delta: of the whole release.
        forms: ids of :data:`UNKNOWN_VARIANCE`.

    Returns:
        Columns n, d, variance, m, n_syn, form, label, epsilon_known (exact, with known variance), part (mean, variance,
        total), delta, epsilon, delta_found (the smallest delta at that epsilon; NaN for the total), guarantee.
    """
    rows = []
    for setting in settings:
        for k in np.asarray(n_syn, float).tolist():
            for id in forms:
                form = UNKNOWN_VARIANCE[id]
                parts = {"mean": (form.mean(setting, k, delta / 2), delta / 2)}
                parts["variance"] = (form.variance(setting, k, delta / 2), delta / 2)
                parts["total"] = compose_approximate(parts.values())
                found = {"mean": mean_delta(setting, k, parts["mean"][0])}
                found["variance"] = variance_delta(setting, k, parts["variance"][0])
                head = _row(setting) | {"n_syn": k, "form": id, "label": form.label}
                head["epsilon_known"] = epsilon_exact(float(rho_plugin(setting, k)), delta)
                rows += [
                    head
                    | {"part": part, "delta": share, "epsilon": epsilon}
                    | {"delta_found": found.get(part, math.nan), "guarantee": LOCAL}
                    for part, (epsilon, share) in parts.items()
                ]
    return pd.DataFrame(rows)


def _variance_shape(setting: Setting, n_syn: float) -> float:
    if setting.m * n_syn < 2:
        raise ValueError(f"a variance needs at least 2 synthetic records, got {setting.m * n_syn}")
    return (setting.m * n_syn - 1) / 2


def _variance_loss_parts(setting: Setting, n_syn: float, other: float) -> tuple[float, float]:
    shape = _variance_shape(setting, n_syn)
    return shape * math.log(other / setting.variance), shape * (1 / setting.variance - 1 / other)


def _percentiles(setting: Setting, n_syn: float, delta: float) -> Array:
    _check_delta(delta)
    return variance_distribution(setting, n_syn).ppf([delta / 2, 1 - delta / 2])


def _percentile_epsilon(setting: Setting, n_syn: float, delta: float, step: float) -> float:
    if step >= setting.variance:
        return math.inf
    x = _percentiles(setting, n_syn, delta)
    return float(np.abs([variance_loss(setting, n_syn, setting.variance + sign * step, x) for sign in (-1, 1)]).max())


# Checks --------------------------------------------------------------------------------------------------------------


def _check_positive(**values: float | Array) -> None:
    for name, value in values.items():
        if not (np.all(np.asarray(value) > 0) and np.all(np.isfinite(value))):
            raise ValueError(f"{name} must be positive and finite, got {value}")


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie in (0, 1), got {delta}")
