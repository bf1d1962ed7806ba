"""Noise of a release: OpenDP's discrete Laplace, from the operating system's randomness.

Counts and noise are whole numbers, so no bits of a floating point number reveal the count (Mironov 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.private import PrivateFit

FINER = 1 + 1e-9
"""Factor that makes the scale slightly larger, so rounding never makes epsilon larger."""


def noisy_counts(counts: Sequence[int], epsilon: float, sensitivity: float) -> list[int]:
    """Add discrete Laplace noise to counts: epsilon-DP for neighbours whose counts differ by at most the sensitivity in total.

    Args:
        counts: count of each bin or cell.
        epsilon: privacy budget.
        sensitivity: largest sum of the absolute differences of the counts of two neighbours.

    Raises:
        RuntimeError: OpenDP's own accounting finds a larger epsilon.
    """
    # opendp.prelude would also load scikit-learn, which takes longer than the rest of a release
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    # 64 bits: a sum of 5,000,000 rows nearly fills 32, and an overflow would be an error that depends on the data
    space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")
    mechanism = make_laplace(*space, scale=sensitivity / epsilon * FINER)
    if not mechanism.map(int(sensitivity)) <= epsilon:  # type: ignore[no-untyped-call]
        raise RuntimeError(f"the noise would not give epsilon = {epsilon:g}")
    return [int(count) for count in mechanism([int(count) for count in counts])]


def with_safe_noise(fit: PrivateFit) -> PrivateFit:
    """Replace the noise of private tables: a mechanism's own noise consists of floating point numbers.

    Raises:
        RuntimeError: OpenDP's own accounting finds a larger epsilon.
    """
    public = fit.public  # an added or removed record changes one count of each table
    noisy = noisy_counts([int(number) for number in fit.counts.counts], public.epsilon, len(public.noisy))
    return replace(fit, public=replace(public, noisy=public.noisy.with_counts(np.array(noisy, dtype=float))))


def shares(noisy: Sequence[int], threshold: float = 0.0) -> Array:
    """Convert noisy counts to probabilities: those below a threshold count as 0; uniform if all do.

    A threshold that would remove more than half of the noisy total is not applied: hardly anything but noise would be left.
    """
    counts = np.asarray(noisy, dtype=float)
    kept = np.where(counts >= threshold, np.maximum(counts, 0), 0)
    if 2 * kept.sum() < counts.sum():
        kept = np.maximum(counts, 0)
    return kept / kept.sum() if kept.sum() > 0 else np.full(len(kept), 1 / len(kept))
