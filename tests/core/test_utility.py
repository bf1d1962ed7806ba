"""Utility measures against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from formalsynth.core import utility as own
from formalsynth.core.registry import DuplicateError
from formalsynth.core.utility import (
    CENTRES,
    COLUMNS,
    OWN_UTILITY,
    UTILITY,
    centres,
    ecdf_distances,
    statistics,
    utility_columns,
)
from formalsynth.core.words import Words, metric

# few distinct values, so that ties within and between the samples are common
VALUES = arrays(float, st.integers(1, 25), elements=st.integers(-5, 5).map(float))
SPREAD = arrays(float, st.integers(1, 25), elements=st.floats(-1e6, 1e6))


def brute_force(data, synthetic):
    """Both distances by counting, value by value."""
    at = [*data, *synthetic]
    differences = [np.mean([d <= t for d in data]) - np.mean([s <= t for s in synthetic]) for t in at]
    return max(abs(difference) for difference in differences), sum(difference**2 for difference in differences) / len(differences)


@given(VALUES | SPREAD, VALUES | SPREAD)
def test_distances_are_those_of_counting(data, synthetic):
    """The largest is that of Kolmogorov and Smirnov."""
    assert ecdf_distances(data, synthetic) == pytest.approx(brute_force(data, synthetic), abs=1e-12)


@given(SPREAD)
def test_quantiles_are_of_type_seven(x):
    values, ordered = statistics(x), np.sort(x)
    for name, p in (("q15", 0.15), ("median", 0.5), ("q90", 0.9)):
        place = (len(x) - 1) * p
        low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
        assert values[name] == pytest.approx(low + (place - np.floor(place)) * (high - low), rel=1e-9, abs=1e-6)
    assert values["mean"] == pytest.approx(sum(x) / len(x), rel=1e-9, abs=1e-6)


def test_utility_has_every_column():
    values = utility_columns(np.arange(5.0), np.arange(5.0) + 1)
    assert tuple(values) == COLUMNS
    assert set(UTILITY) < set(COLUMNS)
    assert values["mean"] == 3
    assert values["ecdf_max"] == pytest.approx(0.2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_synthetic_data_that_are_no_numbers_have_no_utility(bad):
    values = utility_columns(np.arange(3.0), np.array([0.0, bad, 1.0]))
    assert tuple(values) == COLUMNS
    assert np.isnan(list(values.values())).all()


@given(arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 9)), elements=st.floats(-1e6, 1e6)))
def test_a_centre_is_the_average_of_a_statistic_over_data_sets(sets):
    one_by_one = [statistics(values) for values in sets]
    expected = [np.mean([summary[name] for summary in one_by_one]) for name in UTILITY]
    assert list(centres(sets)) == list(CENTRES)
    assert list(centres(sets).values()) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_a_statistic_of_a_user_is_a_column_of_its_name_with_words():
    with OWN_UTILITY.trial():

        @own.utility("top_share", label="Top share", meaning="Share of the largest value.")
        def top_share(x):
            return x.max() / x.sum()

        assert own.own_utility(np.array([1.0, 3.0]), ["top_share"]) == {"top_share": 0.75}
        assert np.isnan(own.own_utility(np.array([1.0, np.inf]), ["top_share"])["top_share"])
        assert metric("top_share") == Words("Top share", "Share of the largest value.")
        with pytest.raises(DuplicateError, match="'top_share'"):
            own.utility("top_share")(top_share)
    assert metric("top_share").name == "top_share"


def test_the_spread_and_the_upper_tail_can_be_requested():
    values = own.own_utility(np.arange(101.0), ["sd", "q99"])
    assert values == {"sd": pytest.approx((101 * 102 / 12) ** 0.5), "q99": 99}
    assert metric("q99").name == "99 % quantile" and metric("sd").name == "Standard deviation"


@pytest.mark.parametrize("name", ["Gini", "p90/p10", "", "9th", "mean", "ecdf_max", "q90_centre"])
def test_a_statistic_needs_a_name_of_its_own(name):
    with pytest.raises(ValueError, match="allowed: lower-case letters, digits and _"):
        own.utility(name)


def test_a_statistic_cannot_change_the_data():
    x = np.array([2.0, 1.0])
    with OWN_UTILITY.trial():
        own.utility("sorts")(lambda values: values.sort() or values[0])
        with pytest.raises(ValueError, match="read-only"):
            own.own_utility(x, ["sorts"])
    assert x.tolist() == [2, 1]
