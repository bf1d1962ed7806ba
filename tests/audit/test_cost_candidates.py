"""The records that the study of cost adds: the worst of them costs nearly as much as the worst of a much finer grid."""

import numpy as np
import pytest
from formalsynth.audit.neighbours import added, additions, joined
from formalsynth.audit.replay import Replay
from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import load
from formalsynth.core.streams import Address
from formalsynth.steps.simulate import simulate_batch

FINEST = [
    ("shares", "declared_20", 0.63),
    ("shares", "declared_40", 1.42),
    ("shares", "capped_2", 0.99),
    ("shares", "reference_shares_4", 0.82),
    ("counts", "CW", 0.189),
]
"""Scenario, synthesizer and the largest audited epsilon at delta = 0.001 on replicate 0, over 57 shares or 101 counts to add."""


@pytest.mark.parametrize(("name", "id", "finest"), FINEST)
def test_a_record_that_joins_costs_nearly_the_most_that_any_can_cost(plan_of, name, id, finest):
    plan = plan_of("cost")
    scenario = next(one for one in plan.papers["cost"].scenarios.values() if one.name == name)
    job = scenario.batch_job("0000", plan.config.sampler)
    load(job.modules)
    told, family = job.audit, FAMILIES[job.audit.family]
    records = simulate_batch(job.simulate.model_copy(update={"replicates": (0,)})).records(0)
    universe = joined(records, additions(records, np.array(told.outcomes)))
    replay = Replay(family, told.priors, universe, told.synthesizers, Address.of(told.key, 0), told.draws)
    base = replay.run(np.arange(len(records)), only=[id])[id]
    there = [replay.run(each.index, only=[id])[id] for each in added(len(records), len(universe))]
    worst = max(there, key=lambda outcome: replay.divergence(base, outcome))
    assert 0.85 * finest < replay.losses([base], [worst]).epsilon(1e-3) < 1.05 * finest
