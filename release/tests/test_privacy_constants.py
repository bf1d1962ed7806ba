"""The numbers that the privacy of a release rests on, by hand: the noise of counts and sums."""

import random

import numpy as np
import pytest
from scipy import stats
from small_release import COLUMNS, a_schema, crossing_folder, typed_incomes

from formalsynth_release import tables
from formalsynth_release.crossing import read_crossing
from formalsynth_release.noise import noisy_counts


@pytest.fixture
def noise(monkeypatch):
    """Record the noise that a release adds to each table of counts."""
    added = []

    def recorded(counts, epsilon, sensitivity):
        noisy = original(counts, epsilon, sensitivity)
        added.append(np.subtract(noisy, counts))
        return noisy

    original = noisy_counts
    monkeypatch.setattr("formalsynth_release.noise.noisy_counts", recorded)
    return added


ALONE = {"columns": {"income": COLUMNS["income"] | {"bins": 50}}}
TWO = {"columns": {"income": COLUMNS["income"] | {"bins": 50}, "age": COLUMNS["age"] | {"weight": 3}}, "pairs": []}


@pytest.mark.parametrize(("changes", "decays"), [
    # epsilon 2: replacing a record changes two counts by 1, adding or removing one changes one
    (ALONE, [1.0]), (ALONE | {"neighbours": "add_remove"}, [2.0]), (TWO, [0.25, 0.75]),
], ids=["replace", "add or remove", "two columns"])  # fmt: skip
def test_noise_has_the_decay_epsilon_over_sensitivity(noise, changes, decays):
    """Over 15 releases: noise k has a probability in proportion to exp(-decay |k|)."""
    schema = a_schema(**changes)
    rows = typed_incomes(schema)
    for _ in range(15):
        tables.measured(schema, rows, 2.0)
    assert len(noise) == 15 * len(decays)
    for place, decay in enumerate(decays):
        values = np.abs(np.concatenate(noise[place :: len(decays)]))
        law = stats.dlaplace(decay)
        mean = 2 * sum(k * law.pmf(k) for k in range(1, 200))
        error = np.sqrt((law.var() - mean**2) / len(values))
        assert abs(values.mean() - mean) < 5 * error


def test_noise_is_that_of_the_discrete_laplace_distribution():
    noise = np.array(noisy_counts([1000] * 4000, epsilon=0.5, sensitivity=2)) - 1000
    decay = np.exp(-0.25)
    assert noise.dtype == np.int64
    # a correct sampler is outside these bands less than once in 100,000 runs
    assert abs(noise.mean()) < 5 * np.sqrt(2 * decay / (1 - decay) ** 2 / 4000)
    expected = stats.dlaplace(0.25)
    for value in (0, 1, -1, 4):
        assert abs((noise == value).mean() - expected.pmf(value)) < 5 * np.sqrt(expected.pmf(value) / 4000)


def test_the_largest_sums_have_noise_too():
    """That of 5,000,000 rows with scores of 20 and 20, and beyond: an error would depend on the data."""
    for largest in (2_000_000_000, 4_000_000_000):
        assert abs(noisy_counts([largest, -largest], 1.0, 800.0)[0] - largest) < 800 * 40


@pytest.mark.usefixtures("true_chance")
def test_two_releases_of_the_same_data_differ_whatever_is_seeded(tmp_path):
    crossings = []
    for name in "ab":
        np.random.seed(1)  # noqa: NPY002 # somebody else's habit
        random.seed(1)
        crossings.append(read_crossing(crossing_folder(tmp_path / name))[0])
    (first, *_), (second, *_) = (crossing.tables for crossing in crossings)
    assert np.not_equal(first.numbers, second.numbers).mean() > 0.5
    assert crossings[0].seed != crossings[1].seed


def test_what_crosses_are_the_noisy_counts(noise):
    schema = a_schema(columns={"income": COLUMNS["income"] | {"lower": 1, "bins": 50}})
    rows = typed_incomes(schema)
    (table,) = tables.measured(schema, rows, 1.0)
    counts = np.histogram(rows["income"], 10_000 * np.arange(51) + 0.5)[0]
    assert (np.array(table.numbers) - counts == noise[0]).all()
    assert noise[0].any()
