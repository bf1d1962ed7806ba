"""Compiled loops against the same in NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from formalsynth.core import compiled


def clipped(left: np.ndarray, right: np.ndarray, threshold: float) -> np.ndarray:
    return np.clip(left @ right.T, -threshold, threshold).sum(axis=1)


@given(
    seed=st.integers(0, 2**32 - 1), points=st.integers(0, 70), records=st.integers(0, 400), rank=st.integers(0, 5),
    threshold=st.sampled_from([0.0, 1e-3, 0.7, 1e6]),
)  # fmt: skip
def test_clipped_sums(seed, points, records, rank, threshold):
    generator = np.random.default_rng(seed)
    left, right = generator.normal(size=(points, rank)), generator.normal(size=(records, rank))
    result = compiled.clipped_sums(left, right, threshold)
    assert result == pytest.approx(clipped(left, right, threshold), rel=1e-12, abs=1e-11)
    assert compiled.clipped_sums(np.asfortranarray(left), right[::-1], threshold) == pytest.approx(result, rel=1e-12, abs=1e-11)


def test_clipped_sums_of_what_is_not_finite(generator):
    left, right = generator.normal(size=(40, 2)), generator.normal(size=(30, 2))
    left[3], left[5], left[7] = np.nan, (np.inf, 0), (-np.inf, 1)
    right[:, 0] = np.abs(right[:, 0])
    with np.errstate(invalid="ignore"):
        expected = clipped(left, right, 2.0)
    assert compiled.clipped_sums(left, right, 2.0) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_sums_of_many_records_are_precise():
    """One after the other, a million sums of 0.1 have a relative error of 1e-11."""
    value = 0.1
    sums = compiled.clipped_sums(np.ones((1, 1)), np.full((1_000_000, 1), value), 1.0)
    assert sums[0] == pytest.approx(100_000, rel=1e-12)


@pytest.mark.parametrize(
    ("left", "right", "threshold"),
    [((5, 3), (4, 1), 1.0), ((5, 1), (4, 3), 1.0), ((5, 3), (4, 3), -1.0), ((5, 3), (4, 3), np.nan)],
)
def test_sums_of_what_does_not_fit_are_refused(left, right, threshold):
    with pytest.raises(ValueError, match="must be equal, and the threshold"):
        compiled.clipped_sums(np.ones(left), np.ones(right), threshold)


def test_a_factor_may_be_sparse(generator):
    left, right = generator.normal(size=(40, 2)), generator.normal(size=(30, 2))
    assert compiled.clipped_sums(left, csr_array(right), 1.0) == pytest.approx(clipped(left, right, 1.0), rel=1e-12)


def test_sums_are_added_in_the_same_order_everywhere(generator):
    """One record after the other in parts of 128, so results do not depend on the compiler or the number of points."""
    left, right = generator.normal(size=(300, 2)), generator.normal(size=(200, 2))
    values = np.clip(left[:, :1] * right[:, 0] + left[:, 1:] * right[:, 1], -1.0, 1.0)
    first, second = (part.cumsum(axis=1)[:, -1] for part in (values[:, :128], values[:, 128:]))
    assert np.array_equal(compiled.clipped_sums(left, right, 1.0), first + second)


def test_loops_are_compiled_where_no_cache_can_be_written(tmp_path):
    code = (
        "import numpy as np\n"
        "from formalsynth.core.compiled import clipped_sums\n"
        "print(clipped_sums(np.ones((1, 1)), np.ones((3, 1)), 0.5))\n"
    )
    # No such class looks for a folder.
    settings = {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
    run = subprocess.run([sys.executable, "-c", code], env=os.environ | settings, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[1.5]"
