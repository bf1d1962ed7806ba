"""Privacy weights: the printed formula, its edge cases and its symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from formalsynth.core.weights import lipschitz_weights, outside_share, sensitive_range

RISKS = arrays(float, st.integers(1, 30), elements=st.floats(0, 1e300) | st.sampled_from([np.inf, np.nan, 0.0]))
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
def test_weights_are_those_of_the_formula_for_each_record_alone(risk, c, g):
    """With the smallest and the largest finite risk, whatever the order of the records; equal risks count as none."""
    finite = [value for value in risk.tolist() if np.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    scaled = [(value - low) / (high - low) if high > low else 0.0 for value in risk.tolist()]
    expected = [min(max(c * (1 - share) + g, 0.0), 1.0) if np.isfinite(share) else 0.0 for share in scaled]
    expected = [weight if np.isfinite(value) else 0.0 for weight, value in zip(expected, risk, strict=True)]
    np.testing.assert_allclose(lipschitz_weights(risk, c, g), expected, rtol=1e-12, atol=1e-12)


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


@given(POSITIVE, PREDICTIONS, arrays(float, 6, elements=RATIOS), arrays(float, 6, elements=st.floats(1, 10) | st.just(np.inf)))
def test_known_share_counts_predictions_outside_the_range_of_each_record(x, predictive, a, b):
    expected = [np.mean([not a[i] * x[i] <= value <= b[i] * x[i] for value in predictive[:, i]]) for i in range(len(x))]
    assert outside_share([predictive[:7], predictive[7:]], *sensitive_range(x, a, b)) == pytest.approx(expected, abs=1e-12)


def test_known_share_counts_far_beyond_a_byte():
    assert outside_share([np.tile([1.0, 3.0], (1000, 1))], *sensitive_range(np.ones(2), 0.5, 2)).tolist() == [0, 1]
