import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from formalsynth.reps.stages import WEIGHT_MAPS, Risk

WEIGHT_MAPS.find()
scores = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e3, allow_subnormal=False))
thresholds = st.floats(0, 1e3, allow_subnormal=False)
FALLING = ("cap", "hinge", "removal", "targeted", "uniform")
"""Maps whose weights decrease with the score and are 1 up to the threshold, at equal influences."""


@pytest.mark.parametrize("name", FALLING)
@given(scores, thresholds, st.floats(0, 50))
def test_weights_fall_with_the_score_and_spare_all_below_the_threshold(name, values, threshold, strength):
    weights = WEIGHT_MAPS[name].function(Risk(values, threshold, np.ones_like(values), strength))
    assert (np.diff(weights[np.argsort(values)]) <= 0).all()
    assert (weights[values <= threshold] == 1).all()


@pytest.mark.parametrize("name", list(WEIGHT_MAPS))
def test_contract_of_weight_maps(name):
    """Weights are in [0, 1], and a weight stays when any other record changes."""
    generator, entry = np.random.default_rng(3), WEIGHT_MAPS[name]

    def weights(scores, influence):
        return entry.function(Risk(scores, 1.0, influence, redrawn=redrawn))

    scores, influence, redrawn = generator.exponential(size=(3, 50))
    whole = weights(scores, influence)
    assert whole.shape == (50,) and ((whole >= 0) & (whole <= 1)).all()
    scores[1:], influence[1:] = generator.exponential(size=(2, 49))
    assert entry.alone and weights(scores, influence)[0] == whole[0]


def test_printed_maps():
    risk = Risk(np.array([1.0, 2.0, 4.0]), 2.0, np.array([1.0, 0.5, 0.8]), 0.5, cap=0.4)
    expected = {
        "cap": [1, 1, 0.5], "hinge": [1, 1, np.exp(-1)], "removal": [1, 1, 0], "uniform": [1, 1, 1],
        "equalize": [0.4, 0.8, 0.5], "targeted": [1, 1, 0.5], "naive": [0.4, 0.4, 0.4],
    }  # fmt: skip
    for name, weights in expected.items():
        assert WEIGHT_MAPS[name].function(risk) == pytest.approx(weights)


def test_random_weights_need_scores_of_other_records():
    with pytest.raises(ValueError, match="drawn from the tables"):
        WEIGHT_MAPS["random"].function(Risk(np.ones(3), 1.0))
