"""Privacy cost of synthetic data from a normal model with known variance, by each route of the zcdp paper.

The neighbouring relation is always replace-one (bounded DP): two data sets of the same, public size n differ in one
record. Sensitivities are for data clamped to ``[-d, d]``: ``2 d / n`` for the mean, ``(2 d)^2 / n`` for the sample
variance with denominator n - 1. A synthesizer with known variance is a Gaussian mechanism on the mean for any
distribution of the confidential data, so one number, the rho of zero-concentrated DP, characterises its privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy  # imports its submodules lazily

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import check_delta, check_positive, gaussian_epsilon

if TYPE_CHECKING:
    import pandas as pd

ZCDP = "zCDP"
APPROXIMATE = "(eps, delta)-DP"


# Conversion and composition ------------------------------------------------------------------------------------------


def zcdp_rho(sigma: float | Array, sensitivity: float | Array) -> float | Array:
    """Rho of Gaussian noise, ``sensitivity^2 / (2 sigma^2)`` (Bun and Steinke 2016, arXiv:1605.02065, Proposition 1.6)."""
    rho: float | Array = np.square(sensitivity) / (2 * np.square(sigma))
    return rho


def zcdp_sigma(rho: float | Array, sensitivity: float | Array) -> float | Array:
    """Compute the standard deviation of Gaussian noise that costs ``rho``, the inverse of :func:`zcdp_rho`."""
    sigma: float | Array = sensitivity / np.sqrt(2 * np.asarray(rho))[()]
    return sigma


def epsilon_printed(rho: float, delta: float) -> float:
    """``rho + 2 sqrt(rho log(1 / delta))``, valid for every rho-zCDP mechanism (zcdp paper, Section 2)."""
    check_delta(delta)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def epsilon_renyi(rho: float, delta: float) -> float:
    """Return the best epsilon over all Renyi orders, valid for every rho-zCDP mechanism.

    It is the minimum over alpha > 1 of ``rho alpha + log(1 - 1 / alpha) + (log(1 / delta) - log alpha) / (alpha - 1)``.

    Source: Canonne, Kamath and Steinke 2020 (arXiv:2004.00010), Section 2.3.
    """
    check_delta(delta)
    if rho == 0:
        return 0.0
    log_delta = math.log(delta)

    def epsilon(log_excess: float) -> float:
        excess = math.exp(log_excess)  # alpha - 1
        log_alpha = math.log1p(excess)
        return rho * (1 + excess) + log_excess - log_alpha - (log_delta + log_alpha) / excess

    near = 0.5 * math.log(-log_delta / rho)  # where the printed conversion has its best order
    best = scipy.optimize.minimize_scalar(epsilon, bounds=(near - 12, near + 12), method="bounded", options={"xatol": 1e-10})
    return max(float(best.fun), 0.0)


def epsilon_exact(rho: float, delta: float) -> float:
    """Return the exact epsilon of a Gaussian mechanism with this rho; for other rho-zCDP mechanisms it may be too small.

    Every route with known variance here is a Gaussian mechanism, so it applies to all routes.
    """
    return gaussian_epsilon(1.0, math.sqrt(2 * rho), delta) if rho > 0 else 0.0


CONVERSIONS: dict[str, Callable[[float, float], float]] = {
    "printed": epsilon_printed,
    "renyi": epsilon_renyi,
    "exact": epsilon_exact,
}
"""Functions that convert (rho, delta) to epsilon, from the loosest to the tightest."""


def compose_approximate(parts: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """(epsilon, delta) of several mechanisms with independent noise on the same data: both add up (zcdp paper, Section 4.3)."""
    epsilons, deltas = zip(*parts, strict=True)
    return math.fsum(epsilons), math.fsum(deltas)


# The release ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """A univariate release: n confidential values clamped to ``[-d, d]``, m synthetic data sets from a normal model.

    Raises:
        ValueError: a field is not positive, or n is below 2.
    """

    n: int
    """Number of confidential records, which is public."""
    d: float
    """Bound of the clamped values, in their units."""
    variance: float = 1.0
    """sigma^2 of the synthesis model: public if known, otherwise the confidential s^2 of the data set."""
    m: int = 1
    """Number of synthetic data sets."""

    def __post_init__(self) -> None:
        check_positive(n=self.n - 1, d=self.d, variance=self.variance, m=self.m)

    @property
    def mean_sensitivity(self) -> float:
        """Sensitivity ``2 d / n`` of the mean, replace-one (zcdp paper, Section 4.1)."""
        return 2 * self.d / self.n

    @property
    def variance_sensitivity(self) -> float:
        """Sensitivity ``(2 d)^2 / n`` of the sample variance with denominator n - 1, replace-one (zcdp paper, Section 4.3)."""
        return (2 * self.d) ** 2 / self.n


def largest_steps(setting: Setting, points: int = 9) -> tuple[float, float]:
    """Search for the largest changes of the sample mean and of the sample variance when one record changes.

    The other records are at the bounds, with ``points`` different shares at the upper bound; the changes depend on them only
    through their mean. The record moves between any two of ``points`` places in ``[-d, d]`` and the mean of the others.

    Returns:
        The changes of the mean and of the variance with denominator n - 1; n is ``setting.n``.
    """
    steps, others = [], setting.n - 1
    for high in np.unique(np.rint(np.linspace(0, others, points))).astype(int):
        rest = np.repeat([-setting.d, setting.d], [others - high, high])
        places = np.append(np.linspace(-setting.d, setting.d, points), rest.mean())
        values = np.column_stack([np.tile(rest, (len(places), 1)), places])
        steps.append((np.ptp(values.mean(axis=1)), np.ptp(values.var(axis=1, ddof=1))))
    mean, variance = np.max(steps, axis=0).tolist()
    return mean, variance


# Routes --------------------------------------------------------------------------------------------------------------


def rho_plugin(setting: Setting, n_syn: float | Array) -> float | Array:
    """Rho of plug-in synthesis, with records from ``N(mean, sigma^2)``: ``m n_syn (2d)^2 / (2 n^2 sigma^2)``.

    Args:
        setting: the release; replace-one, sensitivity 2d/n of the mean.
        n_syn: number of synthetic records in each of the m data sets.

    Source: zcdp paper, Section 4.1.
    """
    return _rho_of_records(setting, n_syn, setting.variance)


def rho_bayes_per_record(setting: Setting, n_syn: float | Array) -> float | Array:
    """Rho of Bayesian synthesis as printed: records are composed as if independent ``N(mean, sigma^2 (1 + 1 / n))``.

    It is exact for a synthesizer that draws a new mean for each record. If the records of a data set share one draw of the mean,
    it is an upper bound, often a very loose one (erratum E4): see :func:`rho_bayes_joint`. Arguments as in :func:`rho_plugin`.

    Source: zcdp paper, Section 4.2.
    """
    return _rho_of_records(setting, n_syn, setting.variance * (1 + 1 / setting.n))


def rho_bayes_joint(setting: Setting, n_syn: float | Array) -> float | Array:
    """Exact rho of Bayesian synthesis if the n_syn records of a data set share one draw of the mean.

    The mean of a data set is sufficient and normal with variance ``sigma^2 (1/n + 1/n_syn)``, so a data set costs
    ``(2d/n)^2 n_syn / (2 sigma^2 (1 + n_syn / n))``, and m data sets with one draw each cost m times that. It is below both
    :func:`rho_plugin` and :func:`rho_postprocessing` for every n_syn, and reaches the latter as n_syn grows. Arguments as
    in :func:`rho_plugin`.

    Source: derived; zcdp paper, Section 4.2 (erratum E4).
    """
    return _rho_of_records(setting, n_syn, setting.variance * (1 + np.asarray(n_syn)[()] / setting.n))


def rho_postprocessing(setting: Setting, n_syn: float | Array = 1) -> float | Array:
    """Rho of the draws of the mean only, ``m (2d)^2 / (2 n sigma^2)``; all later steps are post-processing.

    Each of the m data sets has its own draw from ``N(mean, sigma^2 / n)``; for data sets that share a draw, use m = 1. Rho does
    not depend on ``n_syn``, which only determines the shape of the result.

    Source: derived from the mean's sensitivity 2d/n; zcdp paper, Section 4.2 (erratum E2).
    """
    return (
        setting.m * zcdp_rho(math.sqrt(setting.variance / setting.n), setting.mean_sensitivity) * np.ones_like(n_syn, float)[()]
    )


def rho_postprocessing_printed(setting: Setting, n_syn: float | Array = 1) -> float | Array:
    """Rho of post-processing as printed, ``4 d^2 n / (2 sigma^2)``, n^2 times too large (zcdp paper, Section 4.2; erratum E2)."""
    return 4 * setting.d**2 * setting.n / (2 * setting.variance) * np.ones_like(n_syn, float)[()]


def _rho_of_records(setting: Setting, n_syn: float | Array, variance: float | Array) -> float | Array:
    """Rho of m n_syn independent records whose location is the confidential mean."""
    return setting.m * np.asarray(n_syn)[()] * zcdp_rho(np.sqrt(variance), setting.mean_sensitivity)


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
    """Compute how many synthetic records per data set plug-in synthesis may release for ``rho`` (zcdp paper, Section 4.1)."""
    return rho / rho_plugin(setting, 1)


def whole_records(n_syn: float) -> int:
    """Round a number of records down to an integer, with a tolerance for rounding errors."""
    return math.floor(n_syn * (1 + 1e-12))


def route_table(setting: Setting, n_syn: Sequence[float] | Array, delta: float, routes: Iterable[str] = ROUTES) -> pd.DataFrame:
    """Return a tidy table of rho and epsilon against n_syn for each route and conversion.

    Args:
        setting: the release.
        n_syn: (K,) numbers of synthetic records in each data set.
        delta: delta of the conversion.
        routes: ids of :data:`ROUTES`.

    Returns:
        Columns n, d, variance, m, n_syn, route, label, rho, delta, conversion, epsilon, guarantee; a row for each n_syn,
        route and conversion.
    """
    import pandas as pd

    counts = np.asarray(n_syn, float)
    rows = []
    for id in routes:
        for count, rho in zip(counts.tolist(), np.asarray(ROUTES[id].rho(setting, counts)).tolist(), strict=True):
            head = asdict(setting) | {"n_syn": count, "route": id, "label": ROUTES[id].label, "rho": rho, "delta": delta}
            for name, convert in CONVERSIONS.items():
                rows.append(head | {"conversion": name, "epsilon": convert(rho, delta), "guarantee": APPROXIMATE})
    return pd.DataFrame(rows)
