"""Monthly data sets, against posteriors on a grid by scipy's density."""

import numpy as np
import pytest
from scipy.stats import beta

from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.papers.censor_audit.study_months import ARMS, Month, Plan, by_value, chosen

EPSILON, DELTA, N = 4.0, 1e-3, 300
EXTRA = np.array([1e-9, 0.98])
UNIFORMS = np.random.default_rng(4).random((1000, 2))


def data(seed):
    return np.random.default_rng(seed).beta(0.5, 3, N)


@pytest.fixture(scope="module")
def month():
    return Month(data(1), EXTRA, UNIFORMS)


@pytest.fixture(scope="module")
def plan():
    sequences = [np.random.SeedSequence(t) for t in range(3)]
    return Plan([Month(data(t), EXTRA, UNIFORMS) for t in range(3)], sequences, EPSILON, DELTA)


PRESENT = np.append(np.ones(N), [0.0, 0.0])
PHI, LAMBDA = (axis.ravel() for axis in np.meshgrid(np.linspace(0.05, 0.3, 101), np.linspace(1, 8, 101), indexing="ij"))


def grid_posterior(x, weights, threshold):
    """Log mass on a regular grid of phi and lambda."""
    total = -(BetaFamily().priors["lambda_shape"] + 1) * np.log(LAMBDA)
    for value, weight in zip(x, weights, strict=True):
        if weight > 0:
            total = total + np.clip(weight * beta.logpdf(value, LAMBDA * PHI, LAMBDA * (1 - PHI)), -threshold, threshold)
    total -= total.max()
    return total - np.log(np.exp(total).sum())


def grid_epsilon(base, other, delta):
    """Smallest epsilon at delta in both directions, by a scan."""
    values = np.linspace(0, 30, 6001)
    both = []
    for p, q in ((base, other), (other, base)):
        deltas = [np.exp(p) @ -np.expm1(np.minimum(epsilon - (p - q), 0)) for epsilon in values]
        both.append(values[np.argmax(np.array(deltas) <= delta)])
    return max(both)


def test_the_loss_between_neighbours_is_that_of_posteriors_on_a_grid(month):
    other = np.append(np.ones(N), [0.0, 1.0])
    pair = [(present, month.min_max(present)(1.2, 0.1)) for present in (PRESENT, other)]
    ours = month.loss(*(month.posterior(weights, EPSILON / 2) for _, weights in pair), DELTA)
    theirs = grid_epsilon(*(grid_posterior(month.x, weights, EPSILON / 2) for _, weights in pair), DELTA)
    assert ours == pytest.approx(theirs, rel=0.03, abs=0.02)


def test_the_chosen_scale_is_the_largest_that_keeps_the_target(month):
    weights = month.min_max(PRESENT)
    choice = chosen(month, PRESENT, weights, EPSILON, np.random.SeedSequence(1))
    assert month.epsilon(weights(choice.scale, choice.shift)) <= EPSILON * 1.01
    assert month.epsilon(weights(choice.scale * 1.05, choice.shift)) > EPSILON


def test_a_weight_by_value_depends_on_no_other_record_and_is_strict(month):
    """A neighbour's loss at delta 0, over the whole support of the prior, is at most epsilon."""
    weight = by_value(data(2), UNIFORMS, EPSILON, np.random.SeedSequence(2))
    np.testing.assert_array_equal(weight(month.x)[5:9], weight(month.x[5:9]))
    weights = weight(month.x)
    base = month.posterior(PRESENT * weights, EPSILON / 2)
    for k in (0, N, N + 1):
        changed = PRESENT.copy()
        changed[k] = 1 - changed[k]
        assert month.loss(base, month.posterior(changed * weights, EPSILON / 2), 0) <= EPSILON


@pytest.mark.parametrize("arm", ARMS)
def test_only_later_months_of_the_procedure_are_censored(plan, arm):
    rows = [plan.measured(arm, t) for t in range(2)]
    assert rows[0] == plan.measured("chosen_each_month", 0) or arm == "unscaled"
    assert all(row["loss"] > 0 for row in rows)
    if arm == "chosen_each_month":
        assert [row["censored"] for row in rows] == [0, 0]
        assert rows[1]["largest_epsilon"] == pytest.approx(EPSILON, rel=0.02)
    if arm == "frozen_by_value":
        assert rows[1]["loss"] <= EPSILON
