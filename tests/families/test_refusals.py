"""Records and weights that a family refuses, each with the sentence about it."""

import numpy as np
import pytest

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES

FAMILIES.find()
ONES, LINE = np.ones((3, 1)), np.column_stack([np.ones(3), [0.0, 1, 2]])
COUNTS = ("poisson", "negative_binomial", "negative_binomial_regression")
AMOUNTS = ("gamma_regression", "lognormal")


@pytest.mark.parametrize(
    ("family", "x", "design", "weights", "words"),
    [
        *((name, [1.0, x, 3], ONES, [1, 1, 1], "whole numbers") for name in COUNTS for x in (2.5, -1, np.nan)),
        *((name, [1.0, 2, 3], ONES, [0, 0, 0], "no record") for name in COUNTS),
        ("negative_binomial_regression", [1.0, 2, 3], np.ones((3, 2)), [1, 1, 1], "identify"),
        *(("gamma_regression", [1.0, x, 3], LINE, [1, 1, 1], "above 0") for x in (0.0, -1, np.nan, np.inf)),
        *((name, [1.0, 2, 3], LINE, weights, "identify") for name in AMOUNTS for weights in ([1, 0, 0], [0, 0, 0])),
        ("beta_regression", [0.5, 0.5, 0.5], np.ones((3, 2)), [1, 1, 1], "collinear"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_unusable_data_are_refused(family, x, design, weights, words):
    kind = FAMILIES[family]
    with pytest.raises(ValueError, match=words):
        kind.stan_data(Records(np.array(x), design), np.array(weights, dtype=float), kind.priors)
