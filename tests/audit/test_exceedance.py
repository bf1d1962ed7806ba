"""Tests of pi(n) and of the attack on released draws."""

import numpy as np
import pytest
from scipy import stats
from small_audit import LW, PLAIN, N, linear, shares

from formalsynth.audit.exceedance import exceedance
from formalsynth.audit.neighbours import added
from formalsynth.audit.posterior_attack import attack_posterior


def test_the_share_has_exact_limits():
    result = exceedance(np.array([1.0, 3, 5, 7]), np.array([2.0, 2, 8, 6]))
    assert (result.share, result.data_sets) == (0.5, 4)
    limits = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert (result.low, result.high) == pytest.approx((limits.low, limits.high))
    with pytest.raises(ValueError, match="each data set"):
        exceedance(np.array([1.0]), np.array([np.nan]))


@pytest.mark.parametrize("weights_known", [True, False])
def test_the_attack_on_an_outlier_stays_below_the_audited_epsilon_and_well_above_zero(weights_known):
    n = 300
    replay = linear((PLAIN, LW), n=n, outcomes=(1e5,), draws=100)
    neighbour = added(n, len(replay.universe))[0]
    base, near = replay.run(np.arange(n)), replay.run(neighbour.index)
    audited = replay.losses([base["lw"]], [near["lw"]]).epsilon(1e-3)
    attack = attack_posterior(replay, n, "lw", neighbour, 240, 1e-3, 1, weights_known)
    assert attack.runs == 120
    assert 1 < attack.epsilon < audited


def test_a_family_without_sufficient_statistics_is_attacked_by_its_records():
    replay = shares((PLAIN,), n=30, draws=100)
    neighbour = next(near for near in added(30, len(replay.universe)) if replay.universe.x[near.index[-1]] == 1 - 1e-6)
    base, near = replay.run(np.arange(30)), replay.run(neighbour.index)
    audited = replay.losses([base["plain"]], [near["plain"]]).epsilon(1e-3)
    assert 0.5 < attack_posterior(replay, 30, "plain", neighbour, 400, 1e-3, 1).epsilon < audited


def test_the_attack_finds_nothing_between_equal_data():
    replay = linear((PLAIN,))
    twin = added(N, len(replay.universe))[0]
    near = type(twin)("same", "itself", np.arange(N))
    assert attack_posterior(replay, N, "plain", near, 400, 1e-3, 2).epsilon < 0.4
