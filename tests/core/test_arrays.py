"""Records with all their columns, and distinct rows against numpy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from formalsynth.core import arrays as of_core
from formalsynth.core.arrays import Records, distinct_rows, joined

SHAPES = st.tuples(st.integers(1, 30), st.integers(1, 3))
ROWS = arrays(float, SHAPES, elements=st.sampled_from([-1.5, -0.0, 0.0, 1.0, 2.0, np.inf]))
WITH_NAN = arrays(float, SHAPES, elements=st.sampled_from([-1.5, 0.0, np.nan]))


@given(ROWS, st.booleans(), st.booleans())
def test_distinct_rows_are_those_of_numpy(rows, tells, constant):
    """Also where the first column tells the others, or is constant."""
    rows = np.column_stack([rows[:, 0], np.sign(rows[:, 0])]) if tells else rows
    rows = np.column_stack([np.ones(len(rows)), rows]) if constant else rows
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(distinct_rows(rows)[0], first)
    np.testing.assert_array_equal(distinct_rows(rows)[1], inverse)


@given(WITH_NAN)
def test_a_row_that_is_not_a_number_equals_no_other(rows):
    first, inverse = distinct_rows(rows)
    np.testing.assert_array_equal(rows[first[inverse]], rows)
    assert len(first) == len(np.unique(rows, axis=0, equal_nan=False))


def test_records_keep_their_further_columns():
    records = Records(np.array([1.0, 2.0]), np.array([[1.0, 3.0], [1.0, 4.0]]), {"years": np.array([5.0, 6.0])})
    assert records.take([1]).inputs["years"].tolist() == [6]
    many = records.take([1]).repeated(np.array([7.0, 8.0, 9.0]))
    assert (many.x.tolist(), many.design[:, 1].tolist(), many.inputs["years"].tolist()) == ([7, 8, 9], [4] * 3, [6] * 3)
    both = joined(records, many)
    assert (len(both), both.inputs["years"].tolist()) == (5, [5, 6, 6, 6, 6])
    with pytest.raises(ValueError, match="read-only"):
        records.inputs["years"][0] = 0.0


def test_factors_of_many_records_in_groups_omit_zeros_and_give_the_same_products(monkeypatch):
    generator = np.random.default_rng(1)
    values, common, group = generator.random((50, 3)), generator.random((50, 2)), generator.integers(0, 7, 50)
    left, index = generator.random((4, 23)), np.array([3, 0, 49])
    dense = of_core.in_groups(values, group, 7, common)
    assert dense.shape == (50, 23)
    assert np.array_equal(dense[:, :2], common)
    assert np.array_equal(dense[8, 2 + 3 * group[8] :][:3], values[8])
    assert np.count_nonzero(dense) == 250
    monkeypatch.setattr(of_core, "LARGEST_DENSE", 10)
    sparse = of_core.in_groups(values, group, 7, common)
    assert of_core.is_sparse(sparse)
    assert not of_core.is_sparse(dense)
    assert np.array_equal(sparse.toarray(), dense)
    assert np.array_equal(of_core.each(sparse, np.square).toarray(), of_core.each(dense, np.square))
    assert np.allclose(left @ sparse.T, left @ dense.T, rtol=1e-14)
    assert np.allclose(sparse.T @ values[:, 0], dense.T @ values[:, 0], rtol=1e-14)
    assert np.allclose(left @ sparse[index].T, left @ dense[index].T, rtol=1e-14)
