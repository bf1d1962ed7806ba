"""The audit of one data set: which rows it gives, and that its numbers are those of its parts."""

import numpy as np
import pytest
from formalsynth.audit.audit import AuditSettings, audit
from small_audit import FIXED, LW, PLAIN, N, linear

SETTINGS = AuditSettings(deltas=(1e-2, 1e-3), releases=3, each=1, random=2, refined=2, streams=3)


@pytest.fixture(scope="module")
def audited():
    replay = linear((PLAIN, LW, FIXED))
    return replay, audit(replay, N, ["lw", "fixed"], SETTINGS, 1)


def rows(found, **columns):
    return [row for row in found if all(getattr(row, name) == value for name, value in columns.items())]


def test_there_is_a_row_for_each_synthesizer_kind_delta_and_number_of_releases(audited):
    _, found = audited
    for id in ("lw", "fixed"):
        for kind in ("add", "remove", "replace"):
            for delta in SETTINGS.deltas:
                told = rows(found, synthesizer=id, kind=kind, delta=delta, worst=True, streams=1)
                assert sorted(row.releases for row in told) == [1, 3]
                # weights at a declared reference use no random number that could be kept from anybody
                assert len(rows(found, synthesizer=id, kind=kind, delta=delta, streams=3)) == (id == "lw")
        assert len(rows(found, synthesizer=id, kind="same")) == 2


def test_the_worst_is_the_largest_of_its_kind_and_what_composes_is_more(audited):
    _, found = audited
    for id in ("lw", "fixed"):
        for kind in ("add", "remove"):
            one = rows(found, synthesizer=id, kind=kind, delta=1e-2, releases=1, streams=1)
            worst = next(row for row in one if row.worst)
            assert all(row.epsilon <= worst.epsilon for row in one)
            composed = rows(found, synthesizer=id, kind=kind, delta=1e-2, releases=3, streams=1)[0]
            assert worst.epsilon < composed.epsilon < 3 * worst.epsilon + 0.1
            stricter = rows(found, synthesizer=id, kind=kind, delta=1e-3, releases=1, streams=1, worst=True)[0]
            assert stricter.epsilon > worst.epsilon


def test_a_row_is_the_loss_between_the_two_runs(audited):
    replay, found = audited
    worst = next(row for row in rows(found, synthesizer="lw", kind="add", delta=1e-2, releases=1, streams=1) if row.worst)
    data = np.arange(N)
    base = replay.run(data, bounds=True)["lw"]
    there = [replay.run(np.append(data, k))["lw"] for k in range(N, len(replay.universe)) if replay.universe.x[k] == worst.value]
    losses = [replay.losses([base], [each]).epsilon(1e-2) for each in there]
    assert worst.epsilon == pytest.approx(max(losses))
    assert worst.claimed == base.bounds.epsilon
    assert worst.weight == pytest.approx(base.weights[:N].mean())
    assert worst.row()["epsilon"] == worst.epsilon


def test_the_floor_of_weights_that_use_no_random_number_is_0(audited):
    _, found = audited
    assert all(row.epsilon == pytest.approx(0, abs=1e-9) for row in rows(found, synthesizer="fixed", kind="same"))
    assert all(row.epsilon > 0.01 for row in rows(found, synthesizer="lw", kind="same"))
    assert all(np.isnan(row.value) for row in rows(found, kind="same"))
