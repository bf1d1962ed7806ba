"""Distributions of single columns from noisy counts."""

import numpy as np
import pytest
from formalsynth.custodian.margins import decreasing_outwards
from hypothesis import given
from hypothesis import strategies as st


def test_noise_in_an_empty_last_bin_is_no_second_mode():
    noisy = np.array([3.0, -4, 60, 400, 500, 90, 2, -3, 1, 30])
    pooled = decreasing_outwards(noisy, 100.0)
    assert (pooled[2:6] == noisy[2:6]).all()
    assert pooled[6:] == pytest.approx(7.5)
    assert (np.diff(pooled[:2]) >= 0).all()


@given(st.lists(st.integers(-100, 1000), min_size=4, max_size=40), st.floats(1, 1000))
def test_sums_stay_and_ends_decrease_outwards(counts, variance):
    noisy = np.array(counts, dtype=float)
    pooled = decreasing_outwards(noisy, variance)
    assert pooled.sum() == pytest.approx(noisy.sum())
    standing = np.flatnonzero(noisy > 5 * np.sqrt(variance))
    if len(standing):
        assert (np.diff(pooled[standing[-1] + 1 :]) <= 1e-9).all()
        assert (np.diff(pooled[: standing[0]]) >= -1e-9).all()
    else:
        assert (pooled == noisy).all()
