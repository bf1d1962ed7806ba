"""Distances between two samples of one population, against samples."""

import numpy as np
import pytest

from formalsynth.core.two_samples import two_samples
from formalsynth.core.utility import ecdf_distances


def test_two_samples_are_as_far_apart_as_samples_are(generator):
    n, runs = 400, 1500
    distances = np.array([ecdf_distances(generator.random(n), generator.random(n)) for _ in range(runs)])
    expected = two_samples(n)
    # the band of the median is four of its standard errors, and what steps of 1 / n do to it
    assert np.median(distances[:, 0]) == pytest.approx(expected["ecdf_max"], rel=0.05)
    assert distances[:, 1].mean() == pytest.approx(expected["ecdf_avg"], abs=4 * distances[:, 1].std() / runs**0.5 + 1 / n**2)
