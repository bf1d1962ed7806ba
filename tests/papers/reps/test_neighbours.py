"""Nearest neighbours against distances to every record, in double precision."""

import numpy as np
import pytest
from formalsynth.papers.reps import neighbours
from formalsynth.papers.reps.neighbours import nearest
from hypothesis import given
from hypothesis import strategies as st


def every_distance(queries: np.ndarray, pool: np.ndarray) -> np.ndarray:
    return np.linalg.norm(queries[:, None].astype(np.float64) - pool, axis=2)


def encoded(generator: np.random.Generator, n: int, scale: float = 1.0) -> np.ndarray:
    """Encoded records, numbers with one-hot categories; some numbers are outliers, some records are equal."""
    numbers = scale * generator.normal(size=(n, 3)) * np.exp(generator.normal(size=(n, 1)))
    levels = np.eye(7)[generator.integers(7, size=n)]
    records = np.hstack([np.clip(numbers, -4 * scale, 4 * scale), levels]).astype(np.float32)
    records[: n // 5] = records[generator.integers(n, size=n // 5)]
    return records


@given(
    seed=st.integers(0, 2**32 - 1), queries=st.integers(1, 40), pool=st.integers(1, 900),
    k=st.integers(1, 6), scale=st.sampled_from([1e-3, 1.0, 1e3]),
)  # fmt: skip
def test_distances_are_the_least_and_those_of_the_positions(seed, queries, pool, k, scale):
    generator = np.random.default_rng(seed)
    queries, pool = encoded(generator, queries, scale), encoded(generator, max(pool, k), scale)
    distances, index = nearest(queries, pool, k)
    expected = every_distance(queries, pool)
    assert distances == pytest.approx(np.sort(expected, axis=1)[:, :k], rel=1e-12, abs=1e-12 * scale)
    assert np.take_along_axis(expected, index, axis=1) == pytest.approx(distances, rel=1e-12, abs=1e-12 * scale)
    assert all(len(set(row)) == k for row in index.tolist())


def test_neighbours_that_single_precision_cannot_tell_apart_are_found(generator, monkeypatch):
    """Far from the origin products are rounded more than the distances differ: the candidates alone would not do."""
    pool = (1000 + generator.normal(size=(2000, 3))).astype(np.float32)
    queries = pool[:20]
    expected = np.sort(every_distance(queries, pool), axis=1)[:, :5]
    assert nearest(queries, pool, 5)[0] == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr(neighbours, "_ROUNDING", 0.0)
    assert nearest(queries, pool, 5)[0] != pytest.approx(expected, rel=1e-12), "the case does not need the bound"


def test_order_of_queries_and_parts_changes_nothing(generator, monkeypatch):
    queries, pool = encoded(generator, 300), encoded(generator, 500)
    distances, index = nearest(queries, pool, 4)
    shuffled = generator.permutation(300)
    monkeypatch.setattr(neighbours, "_QUERIES", 7)
    again, _ = nearest(queries[shuffled], pool, 4)
    assert np.array_equal(again, distances[shuffled])
    assert (index < 500).all()
