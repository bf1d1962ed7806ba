import numpy as np
import pytest

from formalsynth.core.gaussian import gaussian_delta
from formalsynth.reps.selection import select_strength
from formalsynth.reps.stages import WEIGHT_MAPS, Budget, Risk

WEIGHT_MAPS.find()
CANDIDATES = (0.5, 1.0, 2.0, 4.0)
HINGE = WEIGHT_MAPS["hinge"].function


def test_without_noise_the_largest_rate_that_leaves_the_share_is_chosen(generator):
    risk = Risk(np.repeat([1.0, 2.0], [80, 20]), 1.0)
    totals = {lam: 80 + 20 * np.exp(-lam) for lam in CANDIDATES}
    for share in (0.81, 0.83, 0.87, 0.9):
        chosen, cost = select_strength(HINGE, risk, CANDIDATES, share, 100, Budget(np.inf, 0.0), generator)
        assert chosen == max((lam for lam, total in totals.items() if total >= 100 * share), default=0.5)
        assert cost.mu == np.inf


def test_a_record_moves_all_totals_by_at_most_the_sensitivity_and_the_cost_is_the_budget(generator):
    scores, budget = generator.exponential(size=40), Budget(0.7, 1e-4)
    totals = [np.array([HINGE(Risk(part, 0.5, strength=lam)).sum() for lam in CANDIDATES]) for part in (scores, scores[1:])]
    assert np.linalg.norm(totals[0] - totals[1]) <= np.sqrt(len(CANDIDATES))
    _, cost = select_strength(HINGE, Risk(scores, 0.5), CANDIDATES, 0.9, 40, budget, generator)
    assert gaussian_delta(1.0, cost.mu, 0.7) == pytest.approx(1e-4, rel=1e-6)
