"""Nearest neighbours against distances to every record, in double precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formalsynth_workflow.papers.reps.neighbours import nearest

LEVELS = (7, 3)


def every_distance(queries: np.ndarray, pool: np.ndarray) -> np.ndarray:
    return np.linalg.norm(queries[:, None].astype(np.float64) - pool, axis=2)


def encoded(
    generator: np.random.Generator, n: int, scale: float = 1.0, levels: tuple[int, ...] = LEVELS, columns: int = 3
) -> np.ndarray:
    """Encoded records, numbers with one-hot categories; some numbers are outliers, some records are equal."""
    numbers = scale * generator.normal(size=(n, columns)) * np.exp(generator.normal(size=(n, 1)))
    categories = [np.eye(values)[generator.integers(values, size=n)] for values in levels]
    records = np.hstack([np.clip(numbers, -4 * scale, 4 * scale), *categories]).astype(np.float32)
    records[: n // 5] = records[generator.integers(n, size=n // 5)]
    return records


@given(
    seed=st.integers(0, 2**32 - 1), queries=st.integers(1, 40), pool=st.integers(1, 900), k=st.integers(1, 6),
    scale=st.sampled_from([1e-30, 1e-3, 1.0, 1e3, 1e18]),
    levels=st.sampled_from([(), (256,), (7, 3), (1, 2, 1)]), columns=st.sampled_from([0, 1, 3]),
)  # fmt: skip
def test_distances_are_the_least_and_those_of_the_positions(seed, queries, pool, k, scale, levels, columns):
    generator = np.random.default_rng(seed)
    queries, pool = (encoded(generator, n, scale, levels, columns) for n in (queries, max(pool, k)))
    distances, index = nearest(queries, pool, k, levels)
    expected = every_distance(queries, pool)
    assert distances == pytest.approx(np.sort(expected, axis=1)[:, :k], rel=1e-12, abs=1e-12 * scale)
    assert np.take_along_axis(expected, index, axis=1) == pytest.approx(distances, rel=1e-12, abs=1e-12 * scale)
    assert all(len(set(row)) == k for row in index.tolist())


def test_distances_among_many_records(generator):
    queries, pool = encoded(generator, 300), encoded(generator, 5000)
    expected = np.sort(every_distance(queries, pool), axis=1)[:, :6]
    assert nearest(queries, pool, 6, LEVELS)[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_categories_that_are_not_named_are_numbers(generator):
    queries, pool = encoded(generator, 100), encoded(generator, 400)
    assert np.array_equal(nearest(queries, pool, 3)[0], nearest(queries, pool, 3, LEVELS)[0])


def test_neighbours_that_single_precision_cannot_tell_apart_are_found(generator):
    """Many records at almost the same distance: their order in single precision is not that of the distances."""
    direction = generator.normal(size=(4000, 6))
    pool = (direction / np.linalg.norm(direction, axis=1, keepdims=True) * (1 + 1e-9 * generator.random((4000, 1)))).astype(
        np.float32
    )
    queries = np.zeros((1, 6), dtype=np.float32)
    exact = every_distance(queries, pool)
    single = np.square(pool).sum(axis=1, dtype=np.float32)
    assert np.sort(exact[0, np.argsort(single, kind="stable")[:5]]) != pytest.approx(np.sort(exact[0])[:5], rel=1e-13)
    assert nearest(queries, pool, 5)[0] == pytest.approx(np.sort(exact, axis=1)[:, :5], rel=1e-13)


def test_order_of_queries_and_records_changes_nothing(generator):
    queries, pool = encoded(generator, 300), encoded(generator, 500)
    distances, index = nearest(queries, pool, 4, LEVELS)
    asked, searched = generator.permutation(300), generator.permutation(500)
    assert np.array_equal(nearest(queries[asked], pool, 4, LEVELS)[0], distances[asked])
    assert np.array_equal(nearest(queries, pool[searched], 4, LEVELS)[0], distances)
    assert (index < 500).all()


def test_as_many_features_as_a_count_can_hold(generator):
    """All differ: one more, and a count of differences in a byte would begin again at 0."""
    queries, pool = (encoded(generator, n, 0.1, (2,) * 255) for n in (20, 300))
    queries[:, 3:] = np.tile([1, 0], 255)
    pool[:200, 3:] = np.tile([0, 1], 255)
    expected = np.sort(every_distance(queries, pool), axis=1)
    assert nearest(queries, pool, 300, (2,) * 255)[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def no_pool(queries, pool):
    return queries, pool[:3]


def no_number(queries, pool):
    queries[0, 0] = np.nan
    return queries, pool


@pytest.mark.parametrize(
    ("levels", "k", "change", "problem"),
    [
        ((257,), 2, None, "has 257 values, at most 256 are allowed"),
        ((2,) * 256, 2, None, "3 numbers and 256 categories are not possible"),
        (LEVELS, 0, None, "0 neighbours among 30 records"),
        (LEVELS, 4, no_pool, "4 neighbours among 3 records"),
        (LEVELS, 4, no_number, "fewer than 4 records at a finite distance"),
    ],
)
def test_what_cannot_be_searched_is_refused(generator, levels, k, change, problem):
    queries, pool = (encoded(generator, n, levels=levels) for n in (5, 30))
    if change:
        queries, pool = change(queries, pool)
    with pytest.raises(ValueError, match=problem):
        nearest(queries, pool, k, levels)
