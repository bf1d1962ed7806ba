"""The shadow attack on REPS: its releases run the mechanism on the given members, and only these are recognised."""

import math

import numpy as np
import pytest
from shadows import aucs, released

from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.stages import LEARNERS, Budget


class Declared:
    """Part of an experiment that a release uses."""

    domain, learner = Domain(400, 0, (2, 9), 1.0), LEARNERS["naive_bayes"]()


@pytest.mark.parametrize(("weights", "kept"), [("uniform", 0.05), ("removal", 0.0)])
def test_a_release_learns_from_the_given_records_with_their_weights(weights, kept):
    """One record in twenty has a rare value, which removal must keep from the synthetic records."""
    rare = np.arange(400) % 20 == 0
    categories = np.column_stack([np.arange(400) // 20 % 2, np.where(rare, 8, 0)])
    records = MixedRecords(np.empty((400, 0)), categories, categories[:, 0])
    drawn = released(Declared, weights, Budget(math.inf, 0.0), records, np.random.default_rng(1))
    assert len(drawn) == 400 and (drawn.categories[:, 1] == 8).mean() == pytest.approx(kept, abs=0.03)


def test_shadows_recognise_members_without_noise_and_nobody_under_much_noise():
    known, hidden = (aucs("simulated", "dp_sgd", "uniform", epsilon, 0, 8, n=200) for epsilon in (math.inf, 0.01))
    assert set(known) == {"domias last decile", "likelihood last decile", "shadows last decile", "shadows all"}
    assert known["shadows all"] > 0.6
    assert abs(hidden["shadows all"] - 0.5) < 0.1
