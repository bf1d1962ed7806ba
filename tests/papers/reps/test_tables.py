import numpy as np
import pandas as pd
import pytest

from formalsynth_workflow.papers.reps.datasets import simulated
from formalsynth_workflow.papers.reps.tables import (
    Categorical,
    Continuous,
    Schema,
    Table,
    declared_standardiser,
    encode,
    split_table,
    table_of,
    training_standardiser,
)

from .conftest import frame_of


@pytest.mark.parametrize("n", [50, 569, 1000])
def test_split_has_the_shares_within_each_label(generator, n):
    table = simulated(generator, n=n)
    split = split_table(table, generator)
    parts = [split.train, split.validation, split.test]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(n))
    for part, share in zip(parts, (0.56, 0.14, 0.30), strict=True):
        for label in (0, 1):
            assert abs((table.label[part] == label).sum() - share * (table.label == label).sum()) <= 1


def test_split_depends_on_its_generator_alone(generator):
    table = simulated(generator, n=200)
    first, same, other = (split_table(table, np.random.default_rng(seed)).train for seed in (1, 1, 2))
    assert np.array_equal(first, same) and not np.array_equal(first, other)


def test_every_record_is_equally_likely_to_be_a_member(generator):
    table = simulated(generator, n=100)
    counts = sum(np.bincount(split_table(table, generator).train, minlength=100) for _ in range(1000))
    expected = np.array([round(0.56 * (table.label == y).sum()) / (table.label == y).sum() for y in (0, 1)])[table.label]
    # 100 binomial counts of 1,000 trials: five standard deviations hold all of them but once in 17,000 runs.
    assert np.abs(counts - 1000 * expected).max() < 5 * np.sqrt(1000 * 0.25)


def test_frame_and_table_of_are_inverse(generator):
    table = simulated(generator, n=50)
    back = table_of(table.schema, {name: values.to_numpy() for name, values in frame_of(table).items()}, "frame")
    assert np.array_equal(back.continuous, table.continuous) and np.array_equal(back.categories, table.categories)


def test_encoding_is_standardised_numbers_and_one_hot(generator):
    table = simulated(generator, n=300)
    encoded = encode(table, training_standardiser(table))
    assert np.allclose(encoded[:, :6].mean(axis=0), 0, atol=1e-5) and np.allclose(encoded[:, :6].std(axis=0), 1, atol=1e-5)
    dummies = pd.get_dummies(frame_of(table)[["c1", "c2", "c3"]])
    values = [f"{column.name}_{value}" for column in table.schema.categorical for value in column.values]
    assert np.array_equal(encoded[:, 6:], dummies.reindex(columns=values, fill_value=0).to_numpy(dtype=float))


def test_declared_standardiser_maps_bounds_to_the_clip_whatever_the_records_are():
    schema = Schema((Continuous("a", -1, 3), Continuous("b", 0, 100)), (), Categorical("y", ("0", "1")))
    standardiser = declared_standardiser(schema, 4.0)
    assert np.allclose(standardiser(np.array([[-1.0, 0.0], [3.0, 100.0], [1.0, 50.0]])), [[-4, -4], [4, 4], [0, 0]])
    assert np.allclose(standardiser.inverse(np.array([[-4.0, 4.0]])), [[-1, 100]])


def test_a_constant_column_is_left_finite():
    schema = Schema((Continuous("a", 0, 1),), (), Categorical("y", ("0", "1")))
    table = Table(schema, np.full((4, 1), 0.5), np.empty((4, 0), dtype=np.int64), np.array([0, 1, 0, 1]))
    assert np.isfinite(encode(table, training_standardiser(table))).all()
