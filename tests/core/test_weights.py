"""Privacy weights: the printed formula, its edge cases and its symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from formalsynth.core.weights import lipschitz_weights, outside_share, sensitive_range

RISKS = arrays(float, st.integers(1, 30), elements=st.floats(0, 1e300) | st.sampled_from([np.inf, np.nan, 0.0]))
FINITE_RISKS = arrays(float, st.integers(2, 30), elements=st.floats(0, 1e6))
SCALES = st.floats(0, 3)
SHIFTS = st.floats(-1, 1)
VALUES = arrays(float, 6, elements=st.floats(-1e6, 1e6))
RATIOS = st.floats(0, 1)


def test_weights_of_three_records():
    assert lipschitz_weights(np.array([2.0, 6.0, 3.0])) == pytest.approx([1, 0, 0.75])


def test_scale_and_shift_are_applied_before_clipping():
    assert lipschitz_weights(np.array([0.0, 1.0, 0.5]), c=2, g=-0.5) == pytest.approx([1, 0, 0.5])
    assert lipschitz_weights(np.array([0.0, 1.0, 0.5]), c=0.73) == pytest.approx([0.73, 0, 0.365])


@given(RISKS, SCALES, SHIFTS)
def test_weights_lie_in_the_unit_interval_whatever_the_risks(risk, c, g):
    weights = lipschitz_weights(risk, c, g)
    assert weights.shape == risk.shape
    assert ((weights >= 0) & (weights <= 1)).all()


@given(RISKS, SCALES, SHIFTS)
def test_a_record_without_a_finite_risk_has_weight_zero(risk, c, g):
    assert (lipschitz_weights(risk, c, g)[~np.isfinite(risk)] == 0).all()


@given(RISKS, SCALES, SHIFTS)
def test_non_finite_risks_do_not_change_the_weights_of_the_others(risk, c, g):
    finite = np.isfinite(risk)
    if finite.any():
        assert (lipschitz_weights(risk, c, g)[finite] == lipschitz_weights(risk[finite], c, g)).all()


@given(st.floats(0, 1e6), SCALES, SHIFTS)
def test_equal_risks_have_the_weight_of_no_risk(risk, c, g):
    assert (lipschitz_weights(np.full(5, risk), c, g) == np.clip(c + g, 0, 1)).all()


@given(FINITE_RISKS)
def test_the_riskiest_record_has_weight_zero_and_the_safest_weight_one(risk):
    weights = lipschitz_weights(risk)
    if risk.max() > risk.min():
        assert weights[risk.argmax()] == 0
        assert weights[risk.argmin()] == 1


@given(FINITE_RISKS, SCALES, SHIFTS)
def test_more_risk_never_means_more_weight(risk, c, g):
    assert (np.diff(lipschitz_weights(risk, c, g)[np.argsort(risk)]) <= 0).all()


@given(FINITE_RISKS, SCALES, SHIFTS, st.randoms(use_true_random=False))
def test_permuting_records_permutes_weights(risk, c, g, random):
    order = random.sample(range(len(risk)), len(risk))
    assert (lipschitz_weights(risk[order], c, g) == lipschitz_weights(risk, c, g)[order]).all()


@given(arrays(float, 12, elements=st.integers(0, 1000).map(float)), st.integers(1, 64), st.integers(-100, 100))
def test_weights_do_not_depend_on_the_unit_or_the_origin_of_the_risks(risk, factor, shift):
    assert lipschitz_weights(factor * risk + shift) == pytest.approx(lipschitz_weights(risk), abs=1e-12)


@given(VALUES, RATIOS, st.floats(1, 10))
def test_a_sensitive_range_holds_its_record(x, a, b):
    lower, upper = sensitive_range(x, a, b)
    assert ((lower <= x) & (x <= upper)).all()


@given(VALUES, RATIOS, st.floats(1, 10))
def test_a_sensitive_range_mirrors_with_its_record(x, a, b):
    lower, upper = sensitive_range(x, a, b)
    mirrored_lower, mirrored_upper = sensitive_range(-x, a, b)
    assert (mirrored_lower == -upper).all()
    assert (mirrored_upper == -lower).all()


def test_the_range_without_ends_is_the_half_line():
    lower, upper = sensitive_range(np.array([1e-300, 2.0, 1e300]), 0, np.inf)
    assert (lower == 0).all()
    assert (upper == np.inf).all()


@pytest.mark.parametrize(("a", "b", "ends"), [(0.5, np.inf, (0, np.inf)), (-np.inf, 2, (-np.inf, 0)), (0.5, 2, (0, 0))])
def test_an_open_end_stays_open_where_the_record_is_zero(a, b, ends):
    lower, upper = sensitive_range(np.zeros(3), a, b)
    assert (lower.tolist(), upper.tolist()) == ([ends[0]] * 3, [ends[1]] * 3)
    wide = sensitive_range(np.zeros(1), np.array([a]), np.array([b]))
    assert [end.item() for end in wide] == list(ends)


@pytest.mark.parametrize(("a", "b"), [(1.2, 1.8), (0.4, 0.9), (np.array([0.4, 1.2]), np.array([1.8, 2.4]))])
def test_a_range_without_its_record_is_refused(a, b):
    """A bound of such a range would not be the record's: the paper gives it the bound 0 and full weight."""
    with pytest.raises(ValueError, match="needs a <= 1 <= b"):
        sensitive_range(np.ones(2), a, b)


PREDICTIONS = arrays(float, (20, 6), elements=st.floats(0, 100))
POSITIVE = arrays(float, 6, elements=st.floats(0.01, 100))


@given(POSITIVE, PREDICTIONS, RATIOS, st.floats(1, 10))
def test_known_share_counts_predictions_outside_the_range(x, predictive, a, b):
    expected = [np.mean([not a * x[i] <= value <= b * x[i] for value in predictive[:, i]]) for i in range(len(x))]
    assert outside_share([predictive[:7], predictive[7:]], *sensitive_range(x, a, b)) == pytest.approx(expected, abs=1e-12)


def test_known_share_counts_far_beyond_a_byte():
    assert outside_share([np.tile([1.0, 3.0], (1000, 1))], *sensitive_range(np.ones(2), 0.5, 2)).tolist() == [0, 1]


@given(POSITIVE, PREDICTIONS)
def test_nothing_is_known_without_a_range(x, predictive):
    assert (outside_share([predictive], *sensitive_range(x, 0, np.inf)) == 0).all()


@given(POSITIVE, PREDICTIONS, RATIOS, RATIOS, st.floats(1, 10), st.floats(1, 10))
def test_a_wider_range_leaves_less_known(x, predictive, a, closer, b, factor):
    narrow, wide = (
        outside_share([predictive], *sensitive_range(x, a, b)),
        outside_share([predictive], *sensitive_range(x, a * closer, b * factor)),
    )
    assert (wide <= narrow).all()


@given(POSITIVE, PREDICTIONS, st.permutations(range(6)))
def test_permuting_records_permutes_what_is_known(x, predictive, order):
    permuted = outside_share([predictive[:, order]], *sensitive_range(x[order], 0.4, 1.8))
    assert (permuted == outside_share([predictive], *sensitive_range(x, 0.4, 1.8))[order]).all()


@given(PREDICTIONS)
def test_each_record_may_have_its_own_range(predictive):
    x, a, b = np.full(6, 10.0), np.linspace(0, 1, 6), np.linspace(1, 5, 6)
    alone = [outside_share([predictive[:, i : i + 1]], *sensitive_range(x[i : i + 1], a[i], b[i]))[0] for i in range(6)]
    assert (outside_share([predictive], *sensitive_range(x, a, b)) == alone).all()
