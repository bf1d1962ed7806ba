"""Tests of the audit of one data set: its rows, and that their numbers agree with its parts."""

import numpy as np
import pytest
from small_audit import FINAL, FIXED, LW, PLAIN, SCALED, N, linear, synthesizer

from formalsynth.audit.attack import ERROR_RATES
from formalsynth.audit.audit import audit
from formalsynth.audit.neighbours import additions
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import Records, joined
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import AuditSearch, Search

SETTINGS = AuditSearch(deltas=(1e-2, 1e-3), releases=3, each=1, random=2, refined=2, streams=3, attack=100)


@pytest.fixture(scope="module")
def audited():
    replay = linear((PLAIN, LW, FIXED))
    return replay, audit(replay, N, ["lw", "fixed"], SETTINGS, 1)


def select(table, **columns):
    return [row for row in table if all(getattr(row, name) == value for name, value in columns.items())]


def test_there_is_a_row_for_each_synthesizer_kind_delta_and_number_of_releases(audited):
    _, table = audited
    for id in ("lw", "fixed"):
        for kind in ("add", "remove", "replace"):
            for delta in SETTINGS.deltas:
                chosen = select(table, synthesizer=id, neighbour=kind, delta=delta, worst=True, streams=1)
                assert sorted(row.releases for row in chosen) == [1, 3] if delta == SETTINGS.deltas[0] else [1]
                # weights at a declared reference use no secret random numbers
                assert len(select(table, synthesizer=id, neighbour=kind, delta=delta, streams=3)) == (id == "lw")
        assert len(select(table, synthesizer=id, neighbour="same")) == 2


def test_the_worst_is_the_largest_of_its_kind_and_composition_is_larger(audited):
    _, table = audited
    for id in ("lw", "fixed"):
        for kind in ("add", "remove"):
            singles = select(table, synthesizer=id, neighbour=kind, delta=1e-2, releases=1, streams=1)
            worst = next(row for row in singles if row.worst)
            assert all(row.audited <= worst.audited for row in singles)
            composed = select(table, synthesizer=id, neighbour=kind, delta=1e-2, releases=3, streams=1)[0]
            assert worst.audited < composed.audited < 3 * worst.audited + 0.1
            stricter = select(table, synthesizer=id, neighbour=kind, delta=1e-3, releases=1, streams=1, worst=True)[0]
            assert stricter.audited > worst.audited


def test_a_row_is_the_loss_between_the_two_runs(audited):
    replay, table = audited
    worst = next(row for row in select(table, synthesizer="lw", neighbour="add", delta=1e-2, releases=1, streams=1) if row.worst)
    data = np.arange(N)
    base = replay.outcomes_on(data, bounds=True)["lw"]
    outcomes = {k: replay.outcomes_on(np.append(data, k), bounds=True)["lw"] for k in range(N, len(replay.universe))}
    losses = [replay.losses([base], [outcomes[k]]).epsilon(1e-2) for k in outcomes if replay.universe.x[k] == worst.value]
    assert worst.audited == pytest.approx(max(losses))
    assert worst.claimed == base.bounds.epsilon
    claims = [outcome.bounds.epsilon for outcome in outcomes.values()]
    assert worst.claimed_larger in [max(worst.claimed, outcome) for outcome in claims]
    assert worst.claimed_larger > worst.claimed
    assert worst.weight == pytest.approx(base.weights[:N].mean())
    assert worst.row()["audited"] == worst.audited


def test_unknown_random_numbers_are_a_mixture_over_as_many_streams_on_both_sides(audited):
    replay, table = audited
    row = select(table, synthesizer="lw", neighbour="add", delta=1e-2, streams=3)[0]
    added = [k for k in range(N, len(replay.universe)) if replay.universe.x[k] == row.value]
    base, other = (
        [[replay.outcomes_on(index, stream)["lw"] for stream in (1, 2, 3)] for index in indices]
        for indices in ([np.arange(N)], [np.append(np.arange(N), k) for k in added])
    )
    assert any(row.audited == pytest.approx(replay.losses(base[0], outcomes).epsilon(1e-2)) for outcomes in other)


def test_the_floor_of_weights_that_use_no_random_number_is_0(audited):
    _, table = audited
    assert all(row.audited == pytest.approx(0, abs=1e-9) for row in select(table, synthesizer="fixed", neighbour="same"))
    assert all(row.audited > 0.01 for row in select(table, synthesizer="lw", neighbour="same"))
    assert all(np.isnan(row.value) for row in select(table, neighbour="same"))


def test_the_worst_record_that_joins_or_leaves_is_attacked_at_the_first_delta(audited):
    _, table = audited
    attacked = [row for row in table if not np.isnan(row.attacked)]
    assert [row.synthesizer for row in attacked] == ["lw", "fixed"]
    for row in attacked:
        assert (row.delta, row.releases, row.streams, row.worst) == (1e-2, 1, 1, True)
        assert 0 <= row.attacked < row.audited + 0.5
        others = [other for kind in ("add", "remove") for other in select(table, synthesizer=row.synthesizer, neighbour=kind)]
        chosen = [other.audited for other in others if (other.delta, other.releases, other.streams) == (1e-2, 1, 1)]
        assert row.audited == max(chosen)


def test_both_error_rates_of_the_attack_have_rows_of_their_own(audited):
    _, table = audited
    for id in ("lw", "fixed"):
        (attacked,) = [row for row in select(table, synthesizer=id) if not np.isnan(row.attacked)]
        chosen = select(table, synthesizer=id, candidate=ERROR_RATES)
        assert len(chosen) > 20
        assert {(row.neighbour, row.audited, row.worst) for row in chosen} == {(attacked.neighbour, attacked.audited, False)}
        positive, negative = np.array([(row.value, row.error) for row in chosen]).T
        assert (np.diff(positive) >= 0).all()
        assert (np.diff(negative) <= 0).all()
        assert ((positive >= 0) & (positive <= 1) & (negative >= 0) & (negative <= 1)).all()


@pytest.mark.parametrize("kinds", [("add",), ("same", "remove"), ("replace",)])
def test_only_the_kinds_of_neighbours_that_are_asked_for_have_rows(audited, kinds):
    replay, complete = audited
    table = audit(replay, N, ["lw", "fixed"], SETTINGS.model_copy(update={"kinds": kinds, "attack": 0}), 1)
    assert {row.neighbour for row in table} == set(kinds)
    for kind in kinds:
        expected = [row.audited for row in select(complete, neighbour=kind) if row.candidate != ERROR_RATES]
        assert [row.audited for row in select(table, neighbour=kind)] == pytest.approx(expected)


def test_without_refined_neighbours_there_are_no_rows(audited):
    replay, _ = audited
    assert audit(replay, N, ["lw", "fixed"], SETTINGS.model_copy(update={"refined": 0}), 1) == []


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("copies", [True, False])
def test_the_smallest_data_sets_are_audited_and_what_fails_is_named(n, copies):
    linear_replay = linear()
    records = linear_replay.universe.take([0] * n if copies else list(range(n)))
    spread = Records(records.x, np.ones((n, 1)))
    universe = joined(spread, additions(spread, np.array([1e-3, 20.0, 1e5])))
    replay = Replay(
        linear_replay.family, linear_replay.family.priors, universe, (PLAIN, LW, SCALED, FINAL), Address(1, 2, 5, n, 0), 100
    )
    table = audit(replay, n, ["plain", "lw", "scaled", "final"], AuditSearch(each=1, random=0, refined=1), 1)
    for id in ("plain", "lw", "scaled", "final"):
        for kind in ("remove", "add", "replace"):
            chosen = select(table, synthesizer=id, neighbour=kind)
            assert chosen
            # a number, or the reason why it is missing
            assert all(row.audited >= 0 or "left out: " in row.candidate for row in chosen)


def test_a_synthesizer_without_an_outcome_is_named_and_the_others_are_audited():
    unreachable = synthesizer("low", "weighted", ("plain",), Search(parameter="c", target=1e-6, low=0.5, steps=3))
    replay = linear((PLAIN, unreachable, LW))
    table = audit(replay, N, ["low", "lw"], AuditSearch(each=1, random=0, refined=1), 1)
    (chosen,) = select(table, synthesizer="low")
    assert chosen.candidate.startswith("left out: epsilon")
    assert np.isnan(chosen.audited)
    assert select(table, synthesizer="lw", neighbour="add")[0].audited > 0
