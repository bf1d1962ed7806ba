import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from formalsynth_workflow.papers.reps.weighting import cap_weights, choose_strength, hinge_weights, removal_weights

scores = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e3, allow_subnormal=False))
thresholds = st.floats(0, 1e3, allow_subnormal=False)


@given(scores, thresholds, st.floats(0, 50))
def test_weights_are_shares_that_fall_with_the_score_and_spare_all_below_the_threshold(values, threshold, strength):
    order = np.argsort(values)
    result = (cap_weights(values, threshold), hinge_weights(values, threshold, strength), removal_weights(values, threshold))
    for weights in result:
        assert ((weights >= 0) & (weights <= 1)).all()
        assert (np.diff(weights[order]) <= 0).all()
        assert (weights[values <= threshold] == 1).all()


@given(scores, thresholds)
def test_hard_removal_is_zero_or_one(values, threshold):
    assert np.array_equal(removal_weights(values, threshold), np.where(values > threshold, 0.0, 1.0))


def test_printed_maps():
    assert cap_weights(np.array([1.0, 2.0, 4.0]), 2.0).tolist() == [1, 1, 0.5]
    assert hinge_weights(np.array([1.0, 2.0, 4.0]), 2.0, 0.5) == pytest.approx([1, 1, np.exp(-1)])


@pytest.mark.parametrize(("utility", "chosen"), [
    ({0.5: 0.80, 1.0: 0.80, 2.0: 0.79, 4.0: 0.70}, 2.0),
    ({0.5: 0.70, 1.0: 0.79, 2.0: 0.70, 4.0: 0.79}, 4.0),
    ({0.5: 0.70, 1.0: 0.70, 2.0: 0.70, 4.0: 0.70}, 0.5),
])  # fmt: skip
def test_the_largest_strength_close_to_uniform_is_chosen(utility, chosen):
    assert choose_strength(utility, 0.80, 0.02) == chosen
