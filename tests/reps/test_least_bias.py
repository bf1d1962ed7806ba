"""Problem (1): the solution in closed form, against a linear program and against all records as the median."""

import numpy as np
import pytest
from scipy import optimize

from formalsynth.reps.least_bias import MEASURES, gini, least_biased_weights, max_over_median, quantile_gap

N = 15


def by_linear_program(influence, allowed, bound):
    """Least bias under a Gini coefficient of at most the bound, with a variable for each absolute difference."""
    i, j = np.triu_indices(len(allowed), 1)
    pairs, n = np.arange(len(i)), len(allowed)
    rows = np.zeros((2 * len(i) + 1, n + len(i)))
    for k, sign in enumerate((1, -1)):
        rows[k * len(i) + pairs, i], rows[k * len(i) + pairs, j], rows[k * len(i) + pairs, n + pairs] = sign, -sign, -1
    rows[-1, :n], rows[-1, n:] = -n * bound, 1
    cost = np.concatenate([-np.ones(n), np.zeros(len(i))])
    limits = [(0, largest) for largest in allowed] + [(0, None)] * len(i)
    return (influence.sum() + optimize.linprog(cost, rows, np.zeros(len(rows)), bounds=limits).fun) / n


def by_enumeration(influence, allowed, bound):
    """Least bias under a bounded ratio, with each record in turn as the median; n is odd."""
    middle = (len(allowed) + 1) // 2
    medians = [value for value in allowed if value > 0 and (allowed >= value).sum() >= middle]
    return min((influence - np.minimum(allowed, bound * value)).mean() for value in medians)


@pytest.mark.parametrize(("measure", "oracle", "bounds"), [
    ("gini", by_linear_program, (0.02, 0.3)), ("max_over_median", by_enumeration, (1.0, 2.0)),
])  # fmt: skip
def test_no_weights_are_less_biased(measure, oracle, bounds):
    generator = np.random.default_rng(2)
    for _ in range(12):
        influence = generator.lognormal(0, 0.8, N) * (generator.random(N) > 0.1)
        cap = np.where(influence > np.quantile(influence, 0.8), 1.2, 3.0)
        bound = generator.uniform(*bounds)
        weights = least_biased_weights(influence, cap, measure=measure, bound=bound)
        kept = weights * influence
        assert ((weights >= 0) & (weights <= 1)).all() and (kept <= cap * (1 + 1e-12)).all()
        assert MEASURES[measure](kept) <= bound + 1e-9
        least = oracle(influence, np.minimum(influence, cap), bound)
        assert ((1 - weights) * influence).mean() == pytest.approx(least, abs=1e-8)


def test_a_ratio_of_costs_is_bounded_through_the_inverse():
    influence = np.array([1.0, 2.0, 3.0, 8.0, 20.0])
    weights = least_biased_weights(influence, measure="max_over_median", bound=4.0, cost=np.square, inverse=np.sqrt)
    assert weights * influence == pytest.approx([1, 2, 3, 6, 6])  # 36 is four times 9
    assert least_biased_weights(influence, 4.0) == pytest.approx([1, 1, 1, 0.5, 0.2])


def test_a_cap_for_the_high_risk_set_leaves_the_others_alone():
    influence = np.array([0.0, 1.0, 2.0, 4.0])
    assert least_biased_weights(influence, np.where(influence > 1, 1.0, np.inf)) == pytest.approx([1, 1, 0.5, 0.25])


def test_zeros_that_exceed_the_bound_leave_no_influence():
    assert least_biased_weights(np.array([0.0, 0.0, 1.0, 2.0]), measure="gini", bound=0.3).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(("values", "ratio", "coefficient"), [
    ([0.0, 0.0], 1.0, 0.0), ([0.0, 0.0, 1.0], np.inf, 2 / 3), ([2.0, 2.0], 1.0, 0.0), ([1.0, 1.0, 4.0], 4.0, 1 / 3),
])  # fmt: skip
def test_measures(values, ratio, coefficient):
    assert max_over_median(np.array(values)) == ratio
    assert gini(np.array(values)) == pytest.approx(coefficient)


def test_a_gap_of_quantiles_is_met_at_least_cost_without_the_records_at_risk():
    influence = np.random.default_rng(2).lognormal(0, 0.6, 2000)
    middle, upper = np.quantile(influence, [0.5, 0.9])
    bound = (upper - middle) / 2
    kept = np.where((influence > middle + bound) & (influence <= upper * 1.001), middle + bound, influence)
    everyone = np.minimum(influence, middle + bound)
    assert quantile_gap(kept) <= bound * (1 + 1e-3) and quantile_gap(everyone) <= bound * (1 + 1e-9)
    assert kept.max() == influence.max()
    assert (influence - kept).mean() < (influence - everyone).mean() / 3


@pytest.mark.parametrize("given", [
    {"influence": np.ones(3), "measure": "gini", "bound": -0.1}, {"influence": np.array([-1.0, 1.0])},
    {"influence": np.ones(3), "measure": "max_over_median", "bound": 0.9},
])  # fmt: skip
def test_bounds_and_influences_that_are_refused(given):
    with pytest.raises(ValueError, match=r"bound: given .*allowed"):
        least_biased_weights(**given)
