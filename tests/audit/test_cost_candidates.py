"""Test of the candidate records of the study of cost: their worst loss is close to that of a much finer grid."""

import numpy as np
import pytest

from formalsynth.audit.neighbours import added, additions
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import joined
from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import load
from formalsynth.core.streams import Address
from formalsynth_workflow.steps.simulate import simulate_batch

FINEST = [
    ("shares", "declared_20", 0.63),
    ("shares", "declared_40", 1.42),
    ("shares", "capped_2", 0.99),
    ("shares", "reference_shares_4", 0.82),
    ("counts", "CW", 0.189),
]
"""Scenario, synthesizer and the largest audited epsilon at delta = 0.001 on replicate 0, over 57 shares or 101 counts to add."""


@pytest.mark.parametrize(("name", "id", "finest"), FINEST)
def test_the_worst_candidate_is_close_to_the_worst_of_a_finer_grid(plan_of, name, id, finest):
    plan = plan_of("cost")
    scenario = next(entry for entry in plan.papers["cost"].scenarios.values() if entry.name == name)
    settings, simulate = scenario.audit_job("0000-0000", plan.config.sampler), scenario.simulate_job("0000-0000")
    load([*settings.modules, *simulate.modules])
    family = FAMILIES[settings.family]
    records = simulate_batch(simulate).records(0)
    universe = joined(records, additions(records, np.array(settings.outcomes)))
    replay = Replay(family, settings.priors, universe, settings.synthesizers, Address.of(settings.key, 0), settings.draws)
    base = replay.outcomes_on(np.arange(len(records)), only=[id])[id]
    outcomes = [replay.outcomes_on(neighbour.index, only=[id])[id] for neighbour in added(len(records), len(universe))]
    worst = max(outcomes, key=lambda outcome: replay.divergence(base, outcome))
    assert 0.85 * finest < replay.losses([base], [worst]).epsilon(1e-3) < 1.05 * finest
