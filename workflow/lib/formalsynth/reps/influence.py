"""Per-instance privacy of a weighted Gaussian release from the influences of its records (REPS paper, Section 6).

A record's influence is the norm of the change in the released sums when the record is replaced with the null record, in units
of ``sigma``. Its privacy loss on this data set is that of Gaussian noise with this sensitivity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import analytic_sigma, classical_sigma, gaussian_delta

Mask = NDArray[np.bool_]
Noise = Literal["per_block", "joint"]
"""Calibration of the noise: by the printed formula for the histograms and for each block of statistics (Sections 7.4 and B.3),
or the smallest noise for the histograms and for all statistics together."""
Calibration = Literal["analytic", "classical"]
CALIBRATIONS = {"analytic": analytic_sigma, "classical": classical_sigma}


@dataclass(frozen=True)
class Accounting:
    """Accounting of equal Gaussian noise on blocks of statistics, each in units of its norm bound."""

    calibration: Calibration
    order: Literal[1, 2]
    """Order of the norm over the blocks: 1 if each block has an equal share of epsilon and delta, 2 for one release of all.

    By the classical formula, epsilons are proportional to influences: the shares of the blocks add up as the influences do.
    """

    def influence(self, norms: Array) -> Array:
        """Influence on all blocks, from the influence on each block in the last dimension."""
        return np.asarray(np.linalg.norm(norms, self.order, axis=-1))

    def delta(self, delta: float, blocks: int) -> float:
        """Delta of each separately calibrated release."""
        return delta / blocks if self.order == 1 else delta

    def sigma(self, blocks: int, epsilon: float, delta: float) -> float:
        """Compute the standard deviation of the noise on each block."""
        sensitivity = float(self.influence(np.ones(blocks)))
        return noise_sigma(self.calibration, sensitivity, epsilon, self.delta(delta, blocks))


ACCOUNTINGS: Mapping[Noise, Accounting] = {"per_block": Accounting("classical", 1), "joint": Accounting("analytic", 2)}


def noise_sigma(calibration: Calibration, sensitivity: float, epsilon: float, delta: float) -> float:
    """Compute the standard deviation of the noise that gives (epsilon, delta)-DP at the sensitivity.

    The classical calibration, which the paper cites, is proved only for epsilon below 1.
    """
    return CALIBRATIONS[calibration](sensitivity, epsilon, delta)


def instance_epsilon(influence: Array, sigma: float, delta: float, calibration: Calibration = "analytic") -> Array:
    """Per-instance epsilon of each record at ``delta``: (n,).

    Args:
        influence: (n,) distance between the released sums with and without the record: ``w_i |u_i|`` (Definition 4) or
            ``w_i`` times the clipping norm (Lemma 1).
        sigma: noise standard deviation; 0 for no noise.
        delta: in (0, 1).
        calibration: ``analytic`` for the smallest epsilon; ``classical`` for the closed form
            ``influence sqrt(2 log(1.25 / delta)) / sigma`` as printed, which is proved for values below 1.

    Returns:
        0 for influence 0; infinite without noise.

    Source: Theorem 2 and Corollary 2.
    """
    influence = np.asarray(influence, dtype=np.float64)
    epsilons = np.zeros_like(influence)
    moved = influence > 0
    if sigma == 0:
        return np.where(moved, np.inf, 0.0)
    ratio = influence[moved] / sigma
    epsilons[moved] = ratio * classical_sigma(1.0, 1.0, delta) if calibration == "classical" else _smallest(ratio, delta)
    return epsilons


def _smallest(ratio: Array, delta: float) -> Array:
    """Return the smallest epsilon >= 0 with ``gaussian_delta <= delta``, for each sensitivity in units of the noise."""
    from scipy.optimize import elementwise  # takes half a second, which a plan does not need

    distinct, inverse = np.unique(ratio, return_inverse=True)
    epsilons = np.zeros_like(distinct)
    reaching = np.asarray(gaussian_delta(1.0, distinct, 0.0)) > delta
    if reaching.any():
        ratios = distinct[reaching]
        # The loss is normal with mean r^2 / 2 and standard deviation r: its tail above r^2 / 2 + r t is below delta.
        high = ratios**2 / 2 + ratios * np.sqrt(2 * np.log(1 / delta))

        def excess(epsilon: Array, ratio: Array) -> Array:
            return np.asarray(gaussian_delta(1.0, ratio, epsilon) - delta)

        root = elementwise.find_root(excess, (np.zeros_like(high), high), args=(ratios,))
        # Use the upper end of the bracket, which is never below the smallest epsilon.
        epsilons[reaching] = np.max(root.bracket, axis=0)
    return epsilons[inverse]


def composed_epsilon(influences: list[tuple[Array, float]], delta: float) -> Array:
    """Exact per-instance epsilon of several Gaussian releases with independent noise, at their common delta: (n,).

    Gaussian releases compose to one whose squared sensitivity in units of noise is their sum, even if later ones depend on the
    output of earlier ones (Dong, Roth and Su 2022, Corollary 2). The result is at most the sum of the releases' epsilons
    with delta split among them (the paper's Corollary 1).

    Args:
        influences: for each release the influence (n,) of each record and the noise standard deviation.
        delta: in (0, 1), delta of the composition.
    """
    squares = [np.square(np.asarray(influence) / sigma) for influence, sigma in influences]
    return instance_epsilon(np.sqrt(np.sum(np.broadcast_arrays(*squares), axis=0)), 1.0, delta)


def protective_weights(
    influence: Array, high_risk: Mask, target: float, sigma: float, delta: float, calibration: Calibration = "analytic"
) -> Array:
    """Largest weights that limit the high-risk records to a per-instance epsilon of ``target``; 1 for all others.

    The noise is unchanged, and so is the guarantee of the complete release.

    Args:
        influence: (n,) influence with weight 1.
        high_risk: (n,) bool, the records to protect.
        target: epsilon for these records.
        sigma: noise standard deviation of the release.
        delta: in (0, 1).
        calibration: form of the bound; the paper's is ``classical``.

    Source: Proposition 1; Section 5.2.
    """
    allowed = sigma / noise_sigma(calibration, 1.0, target, delta)
    limit = np.divide(allowed, influence, out=np.ones_like(influence), where=influence > allowed)
    return np.where(high_risk, limit, 1.0)
