"""Scores and indicators of the levels of a column."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formalsynth_release.variables import Variable, hats, knots_of, products, recentred, scores_of

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=40).filter(lambda shares: sum(shares) > 0.01)


def an_order(shares, positions=None):
    """An ordered variable, each of whose places is a level of its column."""
    positions = np.arange(len(shares), dtype=float) if positions is None else positions
    of_places = np.array(shares) / sum(shares)
    return Variable("v", "v", np.arange(len(shares)), scores_of(positions, np.maximum(of_places, 1e-6)), of_places)


def test_scores_are_distances_from_the_mean_up_to_one_and_a_half_standard_deviations():
    variable = an_order([1.0, 1.0, 1.0, 1.0])  # mean 1.5, standard deviation 1.118
    assert variable.indicators[:, 0].tolist() == [-20, -7, 7, 20]
    rare = an_order([0.01] + [0.98 / 9] * 9 + [0.01], np.array([-30.0, *range(9), 38.0]))
    cut = rare.indicators[:, 0]
    assert cut[0] < cut[1] < cut[-2] < cut[-1]
    assert (np.diff(cut[1:-1]) >= 2).all()  # without a limit, the outermost levels would leave only 1 to each of the others
    assert np.abs(cut).max() == 20


def test_two_levels_have_the_largest_scores_that_differ_by_a_constant():
    """The more frequent of two levels is closer to the mean."""
    assert an_order([0.75, 0.25]).indicators[:, 0].tolist() == [-7, 20]


@given(SHARES)
def test_scores_keep_the_order_and_the_limits_whatever_the_shares(shares):
    scores = an_order(shares).indicators[:, 0]
    assert np.abs(scores).max() == 20
    assert (np.diff(scores) >= 0).all()
    assert abs(scores @ (np.array(shares) / sum(shares))) <= 0.51


@given(SHARES, st.floats(-1e6, 1e6))
def test_centred_scores_keep_the_order_and_the_limits_whatever_the_mean(shares, mean):
    scores = recentred(an_order(shares).scores, mean)
    assert np.abs(scores).max() <= 20
    assert (np.diff(scores) >= 0).all()


def test_centred_scores_have_the_given_mean_subtracted():
    assert recentred(np.array([-20, -5, 4, 20]), 6.4).tolist() == [-20, -11, -2, 14]
    assert recentred(np.array([-7, 20]), -np.inf).tolist() == [3, 20]  # two levels always stay different


@given(SHARES, st.integers(2, 12))
def test_hats_add_up_to_20_and_have_their_peaks_at_the_knots(shares, number):
    knots = knots_of(np.array(shares), number)
    assert len(set(knots)) == len(knots) == min(number, len(shares))
    assert (knots[0], knots[-1]) == (0, len(shares) - 1)
    values = hats(len(shares), knots)
    assert (values.sum(axis=1) == 20).all()
    assert (values >= 0).all()
    assert (np.count_nonzero(values, axis=1) <= 2).all()
    assert (values[list(knots)] == 20 * np.eye(len(knots))).all()
    places, between = np.arange(len(shares)), np.array(knots) @ values.T / 20
    assert np.abs(between - places).max() <= (np.diff(knots).max()) / 40 + 1e-9


def test_knots_are_where_values_are_and_in_the_tails():
    shares = np.array([0.001] * 8 + [0.2] * 4 + [0.024] * 8)
    assert knots_of(shares, 9) == (0, 7, 9, 10, 11, 13, 15, 18, 19)
    assert knots_of(np.ones(1), 9) == ()


def test_polynomials_of_hats_are_orthonormal():
    shares = np.random.default_rng(1).dirichlet(np.full(30, 5.0))
    variable = replace(an_order(shares), knots=knots_of(shares, 9))
    weights = variable.mean
    assert variable.basis.T @ np.diag(weights) @ variable.basis == pytest.approx(np.eye(9), abs=1e-9)
    assert np.abs(variable.basis[:, 0]) == pytest.approx(1.0)
    assert not variable.scored
    assert variable.complete
    assert (np.sign(np.diff(variable.basis[:, 1])) == np.sign(np.diff(variable.basis[:2, 1]))).all()


def test_levels_without_a_place_count_as_0():
    """A column with 0, three bins and missing values: its amounts, and the kind of its values."""
    shares = np.array([0.2, 0.3, 0.3, 0.1, 0.1])
    amounts = Variable("income", "income", np.array([-1, 0, 1, 2, -1]), np.array([-20, 0, 15]), shares)
    assert amounts.indicators[[0, 4]].tolist() == [[0], [0]]
    kinds = Variable("income kind", "income", np.array([0, 1, 1, 1, 2]), None, shares)
    assert kinds.indicators.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert kinds.own == pytest.approx([0.2, 0.7, 0.1])
    rows = np.array([1, 1, 3, 0, 4])
    assert products(kinds, amounts, rows, rows).ravel().tolist() == [
        0, 2 * amounts.indicators[1, 0] + amounts.indicators[3, 0], 0
    ]  # fmt: skip


def test_a_row_contributes_to_the_sums_of_a_pair_at_most_its_limit():
    generator = np.random.default_rng(1)
    ordered = an_order(generator.dirichlet(np.ones(12)))
    categories = Variable("c", "c", np.arange(5), None, generator.dirichlet(np.ones(5)))
    with_hats = replace(an_order(np.ones(12)), knots=(0, 3, 7, 11))
    for first in (ordered, categories, with_hats):
        for second in (ordered, categories, with_hats):
            for row in range(5):
                sums = products(first, second, np.array([row]), np.array([4 - row]))
                assert np.array_equal(sums, first.indicators[[row]].T @ second.indicators[[4 - row]])
                assert np.abs(sums).sum() <= first.largest * second.largest
    assert (ordered.largest, categories.largest, with_hats.largest) == (20, 1, 20)


def test_the_spread_is_that_of_the_values():
    shares = np.array([0.5, 0.25, 0.25])
    assert Variable("c", "c", np.arange(3), None, shares).spread == pytest.approx(1 / np.sqrt(0.5 / 0.25 + 0.5 / 0.1875))
    assert an_order([0.5, 0.5]).spread == pytest.approx(1.0)
    half = Variable("x", "x", np.array([-1, 0, 1]), np.array([-20, 20]), shares)
    assert half.spread == pytest.approx(0.5)  # +1 and -1 for half of the rows
