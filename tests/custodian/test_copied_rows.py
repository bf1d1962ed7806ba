"""The comparison of synthetic outcomes with confidential ones: exact, in little memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from formalsynth.custodian.copied_rows import copied, hits_by_step
from formalsynth.custodian.schema import Schema


def test_hits_are_counted_exactly_in_little_memory():
    generator = np.random.default_rng(1)
    ours, theirs = generator.integers(0, 60_000, 50_000), generator.integers(-100, 61_000, 60_001)
    tracemalloc.start()
    hits = hits_by_step(ours, theirs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    known = np.zeros(61_200, dtype=bool)
    known[ours + 100] = True  # by outcome, from -100
    expected = [known[np.clip(theirs - step + 100, 0, len(known) - 1)].sum() for step in range(-60, 61)]
    assert hits.tolist() == expected
    assert peak < 100_000_000


def hours(n, seed):
    values = np.clip(np.round(np.random.default_rng(seed).normal(38, 12, n)), 0, 80)
    return pd.DataFrame({"hours": values})


def few_values(n):
    column = {"type": "whole", "lower": 0, "upper": 80}
    return Schema(
        file="file.csv", rows=n, protected="person", rows_each=1, neighbours="add_remove", outside_bounds="clip",
        missing="refuse", zeros="keep", outcome="hours", columns={"hours": column},
    )  # fmt: skip


@pytest.mark.parametrize(("rows", "synthetic"), [(1500, 50), (3000, 300), (20_000, 1000), (200_000, 200_000)])
def test_independent_sets_of_few_values_do_not_repeat_the_file(rows, synthetic):
    # a released set is smaller than the file, or has few whole outcomes: nearly each of its rows is in the file by chance
    assert list(copied(few_values(rows), hours(rows, 1), [hours(synthetic, 2)])) == []


@pytest.mark.parametrize("rows", [500, 1500, 20_000])
def test_a_set_of_few_values_that_repeats_the_file_is_found(rows):
    table = hours(rows, 1)
    assert list(copied(few_values(rows), table, [table.sample(frac=1, random_state=3)])) == ["set 1 repeats the rows of the file"]
