"""Records with all their columns, and distinct rows against numpy's own."""

import numpy as np
import pytest
from formalsynth.core.arrays import Records, distinct_rows, joined
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


def test_records_keep_their_further_columns():
    records = Records(np.array([1.0, 2.0]), np.array([[1.0, 3.0], [1.0, 4.0]]), {"years": np.array([5.0, 6.0])})
    assert records.take([1]).inputs["years"].tolist() == [6]
    many = records.take([1]).repeated(np.array([7.0, 8.0, 9.0]))
    assert (many.x.tolist(), many.design[:, 1].tolist(), many.inputs["years"].tolist()) == ([7, 8, 9], [4] * 3, [6] * 3)
    both = joined(records, many)
    assert (len(both), both.inputs["years"].tolist()) == (5, [5, 6, 6, 6, 6])
    with pytest.raises(ValueError, match="read-only"):
        records.inputs["years"][0] = 0.0
