"""Privacy of records drawn from a normal model that is fitted to confidential records.

Neighbours replace one of n records, and n is public. With a known covariance matrix, the release is a Gaussian mechanism on the
mean, whose rho depends only on the sensitivity of the mean in Mahalanobis norm. With a fitted covariance matrix, the loss between
two neighbours has a moment generating function in closed form, and :class:`FittedNormal` searches for the worst pair.

Example:
    >>> release = FittedNormal.with_added_variance(n=1000, d=4, added=4)
    >>> round(release.epsilon(200, delta=1e-5), 2)
    0.68
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import check_delta, check_positive, smallest_epsilon

VERTICES = 20
"""Largest number of variables for which all vertices of a box are enumerated."""
POINTS = 17
"""Points along each axis of a grid of pairs of neighbours."""
ZOOMS = 4
"""Number of grids, each around the worst pair of the previous one."""
CONTOURS = np.geomspace(1e-3, 1e6, 120)
"""Candidates for the real part of the contour of integration."""
ANGLES = np.linspace(0, 8, 121)
"""Nodes of the trapezoidal rule; sinh of them are imaginary parts in units of the width of the integrand."""


# Known covariance ----------------------------------------------------------------------------------------------------


def box_sensitivity(covariance: Array, d: Array, n: int) -> float:
    """Sensitivity of the mean in Mahalanobis norm for records in the box ``[-d_j, d_j]``.

    It is the maximum over the vertices, ``(2 / n) max_s sqrt((s d)' V^-1 (s d))``; for more than 20 variables, an upper bound.

    Args:
        covariance: (p, p) public covariance matrix of the model.
        d: (p,) bounds of the variables.
        n: number of confidential records.
    """
    precision = np.linalg.inv(covariance) * np.outer(d, d)
    p = len(precision)
    if p > VERTICES:
        return 2 / n * math.sqrt(np.abs(precision).sum())
    signs = 1.0 - 2 * (np.arange(2 ** (p - 1))[:, None] >> np.arange(p) & 1)
    return 2 / n * math.sqrt(((signs @ precision) * signs).sum(axis=1).max())


def ball_sensitivity(radius: float, n: int) -> float:
    """Sensitivity of the mean in Mahalanobis norm for records clamped by :func:`clamp_to_ball`: ``2 radius / n``."""
    return 2 * radius / n


def clamp_to_ball(records: Array, centre: Array, covariance: Array, radius: float) -> Array:
    """Move records (n, p) outside a Mahalanobis ball about a declared centre to its surface."""
    away = records - centre
    norms = np.sqrt((away @ np.linalg.inv(covariance) * away).sum(axis=1))
    return np.asarray(centre + away * (radius / np.maximum(norms, radius))[:, None])


def rho_of_records(sensitivity: float, n_syn: float, m: int = 1, n: float = math.inf) -> float:
    """Rho of m data sets of n_syn records, ``m n_syn sensitivity^2 / (2 (1 + n_syn / n))``.

    Args:
        sensitivity: of the mean, in Mahalanobis norm.
        n_syn: records in each data set.
        m: number of data sets.
        n: number of confidential records for Bayesian synthesis, in which each data set has its own draw of the mean from
            ``N(mean, V / n)``; infinite for plug-in synthesis.
    """
    return m * sensitivity**2 / 2 / (1 / n_syn + 1 / n)


def records_of_rho(sensitivity: float, rho: float, m: int = 1, n: float = math.inf) -> float:
    """Compute the n_syn that costs ``rho``, the inverse of :func:`rho_of_records`.

    It is infinite from the ceiling ``m n sensitivity^2 / 2`` on: no number of records costs more than the draws of the mean.
    """
    inverse = m * sensitivity**2 / (2 * rho) - 1 / n
    return 1 / inverse if inverse > 1e-15 / n else math.inf


# Fitted covariance ---------------------------------------------------------------------------------------------------


def fitted_pair(u: Array, v: Array, n: int) -> tuple[Array, Array]:
    """Excess variances and shifts (K, p) between fits to neighbours, in coordinates that make both covariance matrices diagonal.

    The fits are ``N(u / n, I + u u' / n)`` and ``N(v / n, I + v v' / n)``: the covariance matrix with denominator n - 1 is that
    of the other records plus one matrix of rank one. Each coordinate is then ``N(0, 1 + excess)`` and ``N(shift, 1)``.

    Args:
        u: (K, p) positions of the record, relative to the mean of the n - 1 others, whitened by their covariance matrix with
            denominator n - 1.
        v: (K, p) positions of the record that replaces it.
        n: number of confidential records.
    """
    identity = np.eye(u.shape[1])
    first, second = (identity + x[:, :, None] * x[:, None, :] / n for x in (u, v))
    half = np.linalg.inv(np.linalg.cholesky(second))
    excess, axes = np.linalg.eigh(half @ (first - second) @ half.transpose(0, 2, 1))
    return excess, np.einsum("kji,kjl,kl->ki", axes, half, (v - u) / n)


def release_delta(epsilon: float, records: float, excess: Array, shift: Array) -> Array:
    """Smallest delta of P against Q: exact, (K,).

    ``records`` values are drawn from P or from Q; in each of p independent coordinates, P is ``N(0, 1 + excess)`` and Q is
    ``N(shift, 1)``. With the moment generating function M of the privacy loss under P,
    ``delta = 1 / (2 pi i) integral of M(s) exp(-s epsilon) / (s (s + 1)) ds`` along a line with a positive real part. The line is
    close to the saddle point, so that even a small delta has a small relative error: below 1e-8 from ten records on, and below
    1e-3 for one.

    Args:
        epsilon: any real number.
        records: number of records in the release.
        excess: (K, p), above -1.
        shift: (K, p).

    Source: derived from the Laplace transform of ``max(0, 1 - exp(epsilon - loss))``.
    """

    def log_integrand(s: Array) -> Array:
        """Logarithm of the integrand at s (K, S)."""
        s = s[..., None]
        room = 1 - s * excess[:, None]
        moments = shift[:, None] ** 2 * s * (1 + s) / room - s * np.log1p(excess[:, None]) - np.log(room)
        return np.asarray(records / 2 * moments.sum(axis=-1) - s[..., 0] * epsilon - np.log(s[..., 0]) - np.log1p(s[..., 0]))

    largest = np.maximum(excess.max(axis=1), 0)[:, None]
    candidates = 1 / (1 / CONTOURS + largest * (1 + 1e-9))  # M is finite below 1 / largest
    real = np.take_along_axis(candidates, log_integrand(candidates).argmin(axis=1)[:, None], axis=1)
    room = 1 - real * excess
    curvature = records / 2 * ((excess / room) ** 2 + 2 * shift**2 * (1 + excess) / room**3).sum(axis=1)
    width = (curvature[:, None] + 1 / real**2 + 1 / (1 + real) ** 2) ** -0.5
    values = np.exp(log_integrand(real + 1j * width * np.sinh(ANGLES))).real * width * np.cosh(ANGLES)
    return np.asarray(np.clip(np.trapezoid(values, ANGLES, axis=1) / math.pi, 0, 1))


def _pair_delta(epsilon: float, records: float, excess: Array, shift: Array) -> float:
    return float(release_delta(epsilon, records, excess, shift)[0])


@dataclass(frozen=True)
class FittedNormal:
    """Release of records from a normal model with the mean and covariance matrix of n confidential records.

    Lengths are in standard deviations of the smallest possible model, that is, whitened by a lower bound of the covariance matrix
    of n - 1 records (denominator n - 1). A larger covariance matrix gives a smaller loss: both releases are then those of the
    smaller one with the same independent noise. Nor is a pair worse than the same pair moved away from the mean by a common
    factor. The worst pair is therefore on the boundary of the possible pairs, which is searched on a grid with refinement.
    """

    n: int
    """Number of confidential records, which is public."""
    reach: float
    """Largest distance of a record from the mean of the others."""
    width: float
    """Largest distance of two possible records, at most twice the reach."""
    variables: int = 1
    """1, or 2 for any larger number: the loss depends on the plane of the two records alone."""

    def __post_init__(self) -> None:
        check_positive(n=self.n - 1, reach=self.reach, width=self.width)

    @classmethod
    def with_added_variance(cls, n: int, d: float, added: float, variables: int = 1) -> FittedNormal:
        """Release from ``N(mean, s^2 + added)``: a guarantee for every data set of records within ``[-d, d]``.

        For several variables, ``added`` multiplies a declared matrix F that is added to the covariance matrix, and records are in
        a ball of radius ``d`` in its Mahalanobis norm.
        """
        return cls(n, 2 * d / math.sqrt(added), 2 * d / math.sqrt(added), variables)

    @classmethod
    def with_smallest_variance(cls, n: int, d: float, variance: float) -> FittedNormal:
        """Release from ``N(mean, s^2)`` if any n - 1 records in ``[-d, d]`` have at least this variance (denominator n - 1)."""
        sd = math.sqrt(variance)
        return cls(n, (d + math.sqrt(max(d**2 - variance, 0))) / sd, 2 * d / sd)

    @classmethod
    def at_centre(cls, n: int, d: float, variance: float, variables: int = 1) -> FittedNormal:
        """Release from ``N(mean, s^2)`` if n - 1 records have mean 0 and this variance: a local loss, not a guarantee."""
        return cls(n, d / math.sqrt(variance), 2 * d / math.sqrt(variance), variables)

    def worst_pair(self, epsilon: float, records: float) -> tuple[float, Array, Array]:
        """Largest delta of a release of ``records`` records, and the pair of records (``variables``,) that has it."""
        low, high = np.zeros(2), np.array([1.0, float(self.variables > 1)])
        for _ in range(ZOOMS):
            s, t = np.meshgrid(*(np.unique(np.linspace(*ends, POINTS)) for ends in zip(low, high, strict=True)))
            u, v = (x[:, : self.variables] for x in self._boundary(s.ravel(), t.ravel()))
            deltas = release_delta(epsilon, records, *fitted_pair(u, v, self.n))
            best = int(deltas.argmax())
            place, step = np.array([s.flat[best % s.size], t.flat[best % s.size]]), (high - low) / (POINTS - 1)
            low, high = np.maximum(place - step, 0), np.minimum(place + step, 1)
        return float(deltas[best]), u[best], v[best]

    def delta(self, epsilon: float, records: float) -> float:
        """Smallest delta of a release of ``records`` records."""
        return self.worst_pair(epsilon, records)[0]

    def epsilon(self, records: float, delta: float) -> float:
        """Smallest epsilon of a release of ``records`` records."""
        check_delta(delta)
        epsilon = 0.0
        while True:
            largest, u, v = self.worst_pair(epsilon, records)
            if largest <= delta * (1 + 1e-6):
                return epsilon
            excess, shift = fitted_pair(u[None], v[None], self.n)
            epsilon = smallest_epsilon(partial(_pair_delta, records=records, excess=excess, shift=shift), delta)

    def records(self, epsilon: float, delta: float) -> int:
        """Largest number of records for (epsilon, delta)-DP; 0 if not even one is possible."""
        check_positive(epsilon=epsilon)
        check_delta(delta)
        records = self.n
        largest, u, v = self.worst_pair(epsilon, records)
        while largest <= delta:
            records *= 8
            largest, u, v = self.worst_pair(epsilon, records)
        while largest > delta and records:
            low, high = 0, records  # for this pair, `high` is too many
            while high - low > 1:
                middle = (low + high) // 2
                safe = _pair_delta(epsilon, middle, *fitted_pair(u[None], v[None], self.n)) <= delta
                low, high = (middle, high) if safe else (low, middle)
            records = low
            largest, u, v = self.worst_pair(epsilon, max(records, 1))
        return records

    def _boundary(self, s: Array, t: Array) -> tuple[Array, Array]:
        """Pairs of records (4 K, 2) on the boundary of the possible ones, from coordinates in [0, 1]; collinear for t = 0."""
        reach, width = self.reach, self.width
        apart = width * s  # from a record at the reach to the other
        near = np.abs(reach - apart)
        first = np.maximum(width - reach + s * (2 * reach - width), 1e-6 * reach)  # of a pair with the largest distance
        a = np.concatenate([np.full_like(s, reach), first])
        b = np.concatenate([near + t * (reach - near), width - first + t * (reach - width + first)])
        c = np.concatenate([apart, np.full_like(s, width)])
        along = (a**2 + b**2 - c**2) / (2 * a)
        flat = np.column_stack([a, np.zeros_like(a)])
        other = np.column_stack([along, np.sqrt(np.maximum(b**2 - along**2, 0))])
        return np.concatenate([flat, other]), np.concatenate([other, flat])
