"""Mechanisms run again on neighbours: what is computed again, and what stays the same."""

import numpy as np
import pytest
from formalsynth.audit.neighbours import (
    added,
    additions,
    joined,
    pull,
    removed,
    replaced,
    small_data_sets,
    to_remove,
)
from formalsynth.audit.search import searched_value
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.job import Search
from formalsynth.core.weights import lipschitz_weights
from hypothesis import given
from hypothesis import strategies as st
from small_audit import CENSORED, CENSORED_LW, FINAL, LW, PLAIN, N, linear, shares, synthesizer

ALL = np.arange(N)


def test_weights_come_from_the_draws_of_the_same_data_set():
    replay = linear()
    for index in (ALL, ALL[1:], np.append(ALL, N + 5)):
        found, records = replay.run(index), replay.universe.take(index)
        risk = record_bounds(replay.family, records, found["plain"].draws, [Sensitive(np.ones(len(index)))])[0].by_record
        np.testing.assert_allclose(found["lw"].weights[index], lipschitz_weights(risk))
        assert (np.delete(found["lw"].weights, index) == 0).all()
        np.testing.assert_allclose(found["scaled"].weights[index], np.clip(1 - risk / 20, 0, 1))


def test_neighbours_share_their_random_numbers_and_streams_do_not():
    replay = linear()
    base, near, again, other = replay.run(ALL), replay.run(ALL[1:]), replay.run(ALL), replay.run(ALL, stream=1)
    np.testing.assert_array_equal(again["lw"].weights, base["lw"].weights)
    ours, theirs, apart = (each["plain"].draws["sigma"] for each in (base, near, other))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.999
    assert abs(np.corrcoef(ours, apart)[0, 1]) < 0.35
    # LW weights move with the seed, weights at a declared reference do not
    assert not np.array_equal(other["lw"].weights, base["lw"].weights)
    np.testing.assert_array_equal(other["fixed"].weights, base["fixed"].weights)


def test_an_outlier_moves_everybodys_lw_weight_and_nobodys_fixed_one():
    replay = linear()
    base, near = replay.run(ALL), replay.run(np.append(ALL, N + 5))
    shift = {id: np.abs(near[id].weights[:N] - base[id].weights[:N]).mean() for id in base}
    assert shift["lw"] > 0.1
    assert shift["fixed"] < 1e-9
    loss = {id: replay.losses([base[id]], [near[id]]).epsilon(1e-3) for id in base}
    assert loss["lw"] > 1.5 * loss["fixed"]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_weights_at_a_declared_reference_are_strict_when_censored_and_lw_weights_are_not(epsilon):
    """The mend's control: at most epsilon for any record more or less; erratum E6 for weights that are computed again."""
    censored = [
        each.model_copy(update={"parameters": each.parameters | {"epsilon": epsilon}}) for each in (CENSORED, CENSORED_LW)
    ]
    replay = shares([PLAIN, LW, *censored])
    base = replay.run(ALL)
    worst = {"censored": 0.0, "censored_lw": 0.0}
    for k in range(N, len(replay.universe)):
        near = replay.run(np.append(ALL, k))
        for id in worst:
            worst[id] = max(worst[id], replay.losses([base[id]], [near[id]]).epsilon(0))
    assert worst["censored"] <= epsilon + 1e-9
    assert worst["censored_lw"] > epsilon


def test_a_searched_parameter_is_searched_again():
    replay = linear((PLAIN, LW, FINAL))
    for index in (ALL, np.append(ALL, N + 5)):
        found = replay.run(index, bounds=True)
        assert found["final"].bounds.epsilon <= found["lw"].bounds.epsilon


@given(st.floats(0.5, 8), st.floats(0.02, 0.3))
def test_a_search_ends_where_the_target_is(target, tolerance):
    value = searched_value(Search(parameter="c", target=target, tolerance=tolerance), target, lambda c: 10 * c)
    assert abs(10 * value - target) <= tolerance * target


def test_a_target_that_is_met_at_the_top_is_taken_there_and_one_out_of_reach_is_refused():
    assert searched_value(Search(parameter="c", target=50.0), 50.0, lambda c: 10 * c) == 1
    stepwise = Search(parameter="k", target=7.5, high=0.95, lower_by=0.05)
    assert searched_value(stepwise, 7.5, lambda k: 10 * k) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="not within reach"):
        searched_value(Search(parameter="c", target=1.0, steps=3), 1.0, lambda c: 10.0)


def test_parents_have_to_come_first_and_direct_releases_are_refused():
    with pytest.raises(KeyError, match="plain"):
        linear((LW, PLAIN)).run(ALL)
    histogram = synthesizer("ph", "perturbed_histogram", epsilon=1.0, low=0.0, high=1.0)
    with pytest.raises(ValueError, match="releases directly"):
        shares((histogram,)).run(ALL)


def test_neighbours_are_the_data_but_for_their_records():
    universe = 10
    assert [each.index.tolist() for each in added(3, 5)] == [[0, 1, 2, 3], [0, 1, 2, 4]]
    chosen = removed(4, {"largest risk": [2, 0], "random": [2, 3]})
    assert [(each.candidate, each.removed, each.index.tolist()) for each in chosen] == [
        ("largest risk", 2, [0, 1, 3]), ("largest risk", 0, [1, 2, 3]), ("random", 3, [0, 1, 2]),
    ]  # fmt: skip
    change = replaced(4, 1, universe - 1)
    assert change.index.tolist() == [0, 2, 3, universe - 1]


def test_additions_are_a_grid_over_what_varies():
    records = Records(np.array([1.0, 2.0]), np.array([[1.0, 5.0, 0.0], [1.0, 6.0, 1.0]]))
    more = additions(records, np.array([0.0, 9.0]), [np.array([4.0, 7.0]), np.array([0.5])])
    assert more.x.tolist() == [0, 0, 9, 9]
    assert more.design.tolist() == [[1, 4, 0.5], [1, 7, 0.5]] * 2
    assert len(joined(records, more)) == 6
    with pytest.raises(ValueError, match="2 columns of the design vary"):
        additions(records, np.array([0.0]))


def test_what_is_removed_has_the_largest_risk_bound_weight_or_pull():
    replay = linear((PLAIN, LW))
    base, records = replay.run(ALL, bounds=True), replay.universe.take(ALL)
    chosen = to_remove(replay.family, records, base, 2, 3, np.random.default_rng(1))
    risk = base["plain"].bounds.by_record
    assert chosen["largest risk"] == np.argsort(-risk)[:2].tolist()
    assert chosen["smallest risk"] == [int(risk.argmin())]
    assert int(base["lw"].bounds.by_record.argmax()) in chosen["largest bound"]
    assert len(chosen["random"]) == 3
    left, right = replay.family.factors(records, base["plain"].draws)
    np.testing.assert_allclose(pull(replay.family, records, base["plain"].draws), (left @ right.T).std(axis=0), rtol=1e-6)


def test_small_data_sets_are_made_of_given_records():
    records = intercept_only(np.random.default_rng(1).random(101))
    found = small_data_sets(records, (2, 5))
    assert {name: len(each) for name, each in found.items()} == {
        "2 alike": 2, "2 in two clusters": 2, "2, one apart": 2, "5 alike": 5, "5 in two clusters": 5, "5, one apart": 5,
    }  # fmt: skip
    assert np.ptp(found["5 alike"].x) == 0
    assert found["5 alike"].x[0] == np.median(records.x)
    assert all(np.isin(each.x, records.x).all() for each in found.values())
