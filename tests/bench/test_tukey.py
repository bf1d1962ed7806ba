"""TukeyEM: what a record changes, its test with the stated noise, and draws of the stated depth."""

from importlib import import_module

import numpy as np
import pytest

from formalsynth.core.arrays import Records

tukey = import_module("bench.competitors.tukey")
TASKS = import_module("bench.competitors.tasks").tasks()


class Recording:
    """Generator that records the scale of Laplace noise, which is a declared value."""

    def __init__(self, noise=0.0):
        self.generator, self.noise, self.scales = np.random.default_rng(1), noise, []

    def __getattr__(self, name):
        return getattr(self.generator, name)

    def laplace(self, scale):
        self.scales.append(scale)
        return self.noise


def test_a_replaced_record_changes_at_most_one_fit():
    task = TASKS["lognormal"]
    records = task.draw(np.random.default_rng(1))
    base = tukey.parts(task, records, np.random.default_rng(2))
    assert base.shape == (666, 3)
    for k in range(0, 2000, 273):
        x = records.x.copy()
        x[k] = 1e9
        other = tukey.parts(task, Records(x, records.design), np.random.default_rng(2))
        assert (other != base).any(axis=1).sum() <= 1


def test_parts_that_are_not_full_have_fits_without_data():
    task = TASKS["lognormal"]
    records = task.draw(np.random.default_rng(1)).take(np.arange(7))
    fits = tukey.parts(task, records, np.random.default_rng(2))
    assert fits.shape == (666, 3)
    other = tukey.parts(task, Records(np.exp(records.x), records.design), np.random.default_rng(2))
    assert (fits[2:] == other[2:]).all()
    assert (fits[:2] != other[:2]).any(axis=1).all()


@pytest.mark.parametrize(("epsilon", "scale", "needed"), [(1.0, 2.0, 21.64), (0.5, 4.0, 43.28)])
def test_the_test_has_the_stated_noise_and_threshold(epsilon, scale, needed):
    """Scale 2 / epsilon, and the distance has to be above log(1 / (2 delta)) / (epsilon / 2)."""
    fits = np.random.default_rng(3).standard_normal((4000, 2))
    volumes = tukey.log_volumes(np.sort(fits.T, axis=1))
    distance = tukey.safe_distance(volumes, epsilon / 2, 1e-5, 1000)
    assert distance > 50
    passing, failing = Recording(needed + 0.1 - distance), Recording(needed - 0.1 - distance)
    assert tukey.tukey_draw(fits, epsilon, passing) is not None
    assert tukey.tukey_draw(fits, epsilon, failing) is None
    assert passing.scales == failing.scales == [scale]


def test_few_fits_are_not_safe():
    fits = np.random.default_rng(3).standard_normal((40, 2))
    volumes = tukey.log_volumes(np.sort(fits.T, axis=1))
    assert tukey.safe_distance(volumes, 0.5, 1e-5, 10) == -1


def test_volumes_are_those_of_the_boxes_of_each_depth():
    ordered = np.array([[0.0, 1, 2, 4, 7, 9], [0, 2, 3, 4, 5, 8]])
    np.testing.assert_allclose(tukey.log_volumes(ordered), np.log([9 * 8, 6 * 3, 2 * 1]))


def test_the_distance_is_the_one_of_its_definition():
    """Lemma 3.8: the largest k with V(t - k - 1) / V(t + k + 1 + g) exp(-epsilon g / 2) at most delta / (8 exp(epsilon))."""
    volumes = np.log(np.linspace(1, 0.2, 60) ** 3)
    epsilon, delta, t = 0.8, 1e-2, 20

    def safe(k):
        ratios = [np.exp(volumes[t - k - 2] - volumes[t + k + g]) * np.exp(-epsilon * g / 2) for g in range(1, 60 - t - k - 1)]
        return min(ratios) <= delta / (8 * np.exp(epsilon))

    expected = max((k for k in range(t - 1) if all(safe(j) for j in range(k + 1))), default=-1)
    assert expected == 8
    assert tukey.safe_distance(volumes, epsilon, delta, t) == expected


def test_draws_have_their_depth():
    ordered = np.sort(np.random.default_rng(4).standard_normal((2, 41)), axis=1)
    rng = np.random.default_rng(5)
    for depth in (3, 10, 20):
        for _ in range(20):
            point = tukey._uniform(ordered, depth, rng)
            depths = [min((row <= value).sum(), (row >= value).sum()) for row, value in zip(ordered, point, strict=True)]
            assert min(depths) == depth


def test_deep_points_are_preferred():
    """The exponent is epsilon / 4 for each step of depth: half of epsilon, and half of that since depths move both ways."""
    fits = np.random.default_rng(6).standard_normal((2000, 1))
    ordered = np.sort(fits.T, axis=1)
    drawn = [tukey.tukey_draw(fits, 0.04, Recording(1e9)) is not None for _ in range(2)]
    assert all(drawn)
    recording = Recording(1e9)
    points = np.array([tukey.tukey_draw(fits, 0.04, recording)[0] for _ in range(400)])
    depths = np.minimum(np.searchsorted(ordered[0], points), 2000 - np.searchsorted(ordered[0], points))
    # probabilities proportional to exp(depth / 100) times the length of the intervals
    volumes = np.exp(tukey.log_volumes(ordered))
    at = np.arange(500, 1001)
    mass = (volumes[499:] - np.append(volumes[500:], 0)) * np.exp(at * 0.01)
    expected = (at * mass).sum() / mass.sum()
    spread = np.sqrt(((at - expected) ** 2 * mass).sum() / mass.sum() / 400)
    assert abs(depths.mean() - expected) < 4.5 * spread
