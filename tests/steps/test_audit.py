"""The curve of an audit: records to add whose predictors and further columns are in the middle of their ranges."""

from types import SimpleNamespace

import numpy as np
from formalsynth.audit.neighbours import additions
from formalsynth.core.arrays import Records, joined
from formalsynth.steps.audit import _curve


class Counted:
    """A replay whose posteriors are the numbers of records, and whose losses are differences of those."""

    def __init__(self, universe):
        self.universe = universe

    def run(self, index, only, failed):
        weights = np.zeros(len(self.universe))
        weights[index] = 1.0
        return {id: SimpleNamespace(weights=weights, sensitive=SimpleNamespace(threshold=None)) for id in only}

    def fixed(self, base, weights, threshold):
        return SimpleNamespace(weights=weights)

    def losses(self, base, other):
        difference = float(other[0].weights.sum() - base[0].weights.sum())
        return SimpleNamespace(epsilon=lambda delta: difference)


def test_a_curve_has_each_outcome_once():
    data = Records(np.zeros(3), np.column_stack([np.ones(3), np.arange(3)]), {"years": np.array([1.0, 2.0, 3.0])})
    predictors, inputs = [(0.0, 5.0, 9.0)], {"years": (1.0, 2.0, 4.0)}
    more = additions(data, np.array([0.0, 7.0]), [np.array(predictors[0])], {"years": np.array(inputs["years"])})
    job = SimpleNamespace(search=SimpleNamespace(deltas=(1e-3,)), predictors=predictors, inputs=inputs, audited=("all",))
    rows = _curve(job, Counted(joined(data, more)), 3)
    assert [(row["value"], row["audited"], row["held"]) for row in rows] == [(0.0, 1.0, 1.0), (7.0, 1.0, 1.0)]
