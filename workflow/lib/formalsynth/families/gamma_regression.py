"""Gamma regression with log link; intercept-only when the design is one constant column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln, xlogy

from formalsynth.core.arrays import Array, Draws, Index, Records, in_groups
from formalsynth.core.clipped import clipped_in_ranges_of_groups, clipped_records
from formalsynth.core.constraints import Allowed
from formalsynth.core.family import StanData, array_in, family, number_in
from formalsynth.core.tables import GAMMA, Tabled, gamma_draws
from formalsynth.families._counts import grouped

TINY = 1e-280
"""Probability below which the log scale is used."""
NEGLIGIBLE = 1e-16
"""Relative change below which a series or continued fraction has converged."""
TERMS = 100_000
"""Largest number of terms of a series or continued fraction."""
LARGEST_EXPONENT = 600.0
"""Clip exponents here: exp overflows to inf, and 0 * inf is NaN."""
STEPS = 20
"""Number of scoring steps towards a starting point."""
LONGEST_STEP = 1.0
"""Longest scoring step, on the log scale of the means."""


@family("gamma_regression")
@dataclass(frozen=True)
class GammaRegressionFamily:
    """``x ~ gamma(shape, shape / mean)`` with ``log mean = design . beta``: the variance is ``mean^2 / shape``.

    Prior (our choice): each coefficient ``normal(0, coefficient_sd)``, which allows means in any unit, and ``shape ~
    gamma(shape_shape, shape_rate)``, with 95 % between 2 and 56, i.e. coefficients of variation from 0.13 to 0.64. Source: ours.
    """

    program: str = "gamma_regression"
    parameters: tuple[str, ...] = ("beta", "shape")
    censors: bool = True
    priors: Mapping[str, float] = field(default_factory=lambda: {"coefficient_sd": 10.0, "shape_shape": 2.0, "shape_rate": 0.1})
    outcomes = Allowed("numbers > 0", lambda x: bool((x > 0).all()))

    tabled = Tabled(GAMMA, ("coefficient_sd", "shape_shape", "shape_rate"), gamma_draws, log=True, predictors=1)

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Weighted sums for each distinct row of the design, in an orthonormal basis of the weighted design, or censored records.

        Raises:
            ValueError: a value is not positive and finite, or the weighted design does not identify the coefficients.
        """
        x = records.x
        if not (np.isfinite(x).all() and (x > 0).all()):
            raise ValueError("a gamma family needs finite numbers above 0")
        first, inverse, weight = grouped(records.design, weights)
        design = records.design[first]
        root = np.sqrt(weight / weight.sum())[:, None]
        if np.linalg.matrix_rank(root * design) < design.shape[1]:
            raise ValueError("too few records with a positive weight to identify the regression")
        inverse_factor = np.linalg.inv(np.linalg.qr(root * design).R)
        kept = weights > 0

        def terms(at: Index) -> Array:
            return np.column_stack([np.ones(len(at)), np.log(x[at]), x[at], np.zeros(len(at))])

        return {
            "p": design.shape[1],
            "groups": len(design),
            "basis": design @ inverse_factor,
            "inverse_factor": inverse_factor,
            "weight": weight,
            "weighted_sum": np.bincount(inverse, (weights * x)[kept], minlength=len(design)),
            "weighted_log_sum": float(weights[kept] @ np.log(x[kept])),
            **clipped_records(terms, weights, threshold, inverse),
            **priors,
        }

    def with_ranges(self, data: StanData, records: Records, weights: Array, low: Array, high: Array, base: Array) -> StanData:
        """Add the distinct ranges of the records with equal predictors."""
        return clipped_in_ranges_of_groups(data, weights, np.maximum(low, 0), high, base)

    def inits(self, stan_data: StanData) -> StanData:
        """Approximate maximum of the likelihood: Fisher scoring for the means, a closed form for the shape (Minka 2002)."""
        basis, weight, weighted_sum = (array_in(stan_data, name) for name in ("basis", "weight", "weighted_sum"))
        total = weight.sum()
        # The basis is orthonormal under the weights.
        theta = basis.T @ (weight * np.log(weighted_sum / weight)) / total
        for _ in range(STEPS):
            step = basis.T @ (weighted_sum * np.exp(-basis @ theta) - weight) / total
            theta = theta + step * min(1.0, LONGEST_STEP / max(float(np.abs(basis @ step).max()), 1e-300))
        eta = basis @ theta
        spread = (weight @ eta - number_in(stan_data, "weighted_log_sum") + weighted_sum @ np.exp(-eta)) / total - 1
        spread = max(float(spread), 1e-6)
        return {"theta": theta, "shape": (3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)}

    def far_start(self, stan_data: StanData) -> StanData:
        """Second starting point of a clipped fit: means and shape three times as large or small."""
        near = self.inits(stan_data)
        return {"theta": array_in(near, "theta") + np.log(3), "shape": number_in(near, "shape") / 3}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 2 + p + u: only the mean itself needs a column for each of the u distinct rows of the design.

        The log density is ``shape log(shape) - log Gamma(shape) + shape log x - log x - shape design . beta - shape x / mean``.
        With continuous predictors u is n.
        """
        first, inverse, _ = grouped(records.design)
        shape, eta = draws["shape"][:, None], draws["beta"] @ records.design[first].T
        log_x = np.log(records.x)
        reciprocal = np.exp(np.minimum(-eta, LARGEST_EXPONENT))
        left = [shape * np.log(shape) - gammaln(shape), shape - 1, -shape * draws["beta"], -shape * reciprocal]
        common = np.column_stack([np.ones(len(records)), log_x, records.design])
        return np.hstack(left), in_groups(records.x[:, None], inverse, len(first), common)

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability (S, n) of the intervals, with full relative accuracy in both tails."""
        shape = draws["shape"][:, None]
        rate = shape * np.exp(-(draws["beta"] @ records.design.T))
        shape = np.broadcast_to(shape, rate.shape)
        low, high = (rate * np.maximum(end, 0) for end in (lower, upper))
        # Above the mean, the upper tail is the smaller one: take the difference of complements there.
        flip = low > shape
        probability = np.where(flip, gammaincc(shape, low) - gammaincc(shape, high), gammainc(shape, high) - gammainc(shape, low))
        with np.errstate(divide="ignore"):
            result: Array = np.log(probability)
        for side, log_tail, ends in ((flip, log_upper_tail, (low, high)), (~flip, log_lower_tail, (high, low))):
            tiny = side & (probability < TINY) & (low < high)
            if tiny.any():
                larger, smaller = (log_tail(shape[tiny], end[tiny]) for end in ends)
                with np.errstate(divide="ignore"):
                    result[tiny] = larger + np.log1p(-np.exp(smaller - larger))
        return result

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive values (S, n); values that underflow become the smallest positive number."""
        mean = np.exp(draws["beta"] @ records.design.T)
        shape = draws["shape"][:, None]
        values: Array = generator.standard_gamma(np.broadcast_to(shape, mean.shape))
        values *= mean / shape
        return np.maximum(values, np.finfo(float).tiny)


def log_upper_tail(shape: Array, z: Array) -> Array:
    """``log P(Z > z)`` far above the mean, for ``Z ~ gamma(shape, 1)``, by Legendre's continued fraction.

    Args:
        shape: (k,) shapes.
        z: (k,) values well above their shapes, perhaps infinite.
    """
    result = np.full(z.shape, -np.inf)
    finite = np.isfinite(z)
    a, x = shape[finite], z[finite]
    # Lentz's method
    b = x + 1 - a
    c, d = np.full(x.shape, 1e300), 1 / b
    fraction = d.copy()
    for k in range(1, TERMS):
        term = -k * (k - a)
        b = b + 2
        d, c = 1 / (term * d + b), b + term / c
        fraction *= c * d
        if (np.abs(c * d - 1) < NEGLIGIBLE * 10).all():
            break
    result[finite] = a * np.log(x) - x - gammaln(a) + np.log(fraction)
    return result


def log_lower_tail(shape: Array, z: Array) -> Array:
    """``log P(Z <= z)`` far below the mean, for ``Z ~ gamma(shape, 1)``, by the power series.

    Args:
        shape: (k,) shapes.
        z: (k,) values well below their shapes, perhaps 0.
    """
    term = np.ones(z.shape)
    total = term.copy()
    for k in range(1, TERMS):
        term = term * z / (shape + k)
        total += term
        if (term < NEGLIGIBLE * total).all():
            break
    with np.errstate(divide="ignore"):
        result: Array = xlogy(shape, z) - z - gammaln(shape + 1) + np.log(total)
    return result
