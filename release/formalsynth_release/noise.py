"""Noise of a release: OpenDP's discrete Laplace, from the operating system's randomness.

Counts and noise are whole numbers, so no bits of a floating point number reveal the count (Mironov 2012).
"""

from __future__ import annotations

from collections.abc import Sequence

FINER = 1 + 1e-9  # factor that makes the scale slightly larger, so rounding never makes epsilon larger


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
