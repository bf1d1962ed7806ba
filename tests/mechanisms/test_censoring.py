"""Weighted-e: which records it cuts, under both readings."""

import numpy as np
import pytest

from formalsynth.core.arrays import intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.streams import Address

for register in (FAMILIES, MECHANISMS):
    register.find()
ALPHA = np.array([1.0, 0.5, 0.5, 0.25, 0.0])
RISK = np.array([1.0, 2.0, 6.0, 8.0, np.inf])
REFITTED = np.array([1.9, 1.0, 1.2, 2.4, 0.0])


def cut(name, parents, epsilon):
    context = Context(FAMILIES["lognormal"], intercept_only(np.ones(5)), Address(1, 1, 1, 5, 0), parents)
    return MECHANISMS[name].function(context, epsilon=epsilon)


@pytest.mark.parametrize(
    ("epsilon", "kept"), [(7, [1, 1, 1, 1, 1]), (5, [1, 1, 0, 1, 1]), (3, [1, 1, 0, 0, 1]), (1, [0, 0, 0, 0, 1])]
)
def test_weighted_e_cuts_where_weight_times_risk_is_beyond_half_of_epsilon(epsilon, kept):
    """The risk is that under the unweighted fit; a record of weight 0, whose risk is infinite, is not counted."""
    form = cut("weighted_e", [Parent({}, REFITTED, ALPHA), Parent({}, RISK, np.ones(5))], epsilon)
    assert (form.weights == ALPHA * kept).all()
    assert (form.sensitive.weights == form.weights).all()
    assert form.affected == 5 - sum(kept)
