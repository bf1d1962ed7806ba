"""Tests of pi(n) and of the attack on released draws."""

import numpy as np
import pytest
from scipy import stats
from small_audit import LW, PLAIN, N, linear, shares

from formalsynth.audit.exceedance import exceedance
from formalsynth.audit.neighbours import added, same
from formalsynth.audit.posterior_attack import attack_posterior


def test_the_share_has_exact_limits():
    result = exceedance(np.array([1.0, 3, 5, 7]), np.array([2.0, 2, 8, 6]))
    assert (result.share, result.data_sets) == (0.5, 4)
    limits = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert (result.low, result.high) == pytest.approx((limits.low, limits.high))
    with pytest.raises(ValueError, match="each data set"):
        exceedance(np.array([1.0]), np.array([np.nan]))


def attacked(replay, n, id, neighbour, runs, seed):
    """Attack on a synthesizer, and its audited epsilon at the same delta."""
    outcomes = tuple(replay.outcomes_on(index)[id] for index in (np.arange(n), neighbour.index))
    attack = attack_posterior(replay, n, neighbour, outcomes, runs, 1e-3, seed)
    return attack, replay.losses(*([outcome] for outcome in outcomes)).epsilon(1e-3)


def test_the_attack_on_an_outlier_stays_below_the_audited_epsilon_and_well_above_zero():
    replay = linear((PLAIN, LW), n=300, outcomes=(1e5,), draws=100)
    attack, audited = attacked(replay, 300, "lw", added(300, len(replay.universe))[0], 240, 1)
    assert 1 < attack.epsilon < audited


def test_a_family_without_sufficient_statistics_is_attacked_by_its_records():
    replay = shares((PLAIN,), n=30, draws=100)
    neighbour = next(near for near in added(30, len(replay.universe)) if replay.universe.x[near.index[-1]] == 1 - 1e-6)
    attack, audited = attacked(replay, 30, "plain", neighbour, 400, 1)
    assert 0.5 < attack.epsilon < audited


def test_the_attack_finds_nothing_between_equal_data():
    attack, _ = attacked(linear((PLAIN,)), N, "plain", same(N), 400, 2)
    assert attack.epsilon < 0.4
