"""Distinct rows against numpy's own."""

import numpy as np
from formalsynth.core.arrays import distinct_rows
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

ROWS = arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.sampled_from([-1.5, 0.0, 1.0, 2.0, np.nan]))


@given(ROWS, st.booleans())
def test_distinct_rows_are_those_of_numpy(rows, tells):
    """Also where the first column tells the others."""
    rows = np.column_stack([rows[:, 0], np.sign(rows[:, 0])]) if tells else rows
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(distinct_rows(rows)[0], first)
    np.testing.assert_array_equal(distinct_rows(rows)[1], inverse)
