"""Warning before a run that clipping at a declared epsilon would clip every record at every draw."""

import numpy as np
import pytest
from scipy import stats

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.synthesizer import Synthesizer
from formalsynth_workflow.plan.data import silence

for register in (FAMILIES, MECHANISMS):
    register.find()


def warning(mechanism, epsilon, mean, family="poisson", **parameters):
    synthesizer = Synthesizer(
        id="S", mechanism=mechanism, parameters={"epsilon": epsilon, **parameters}, parents=(), fit="S", words=(1,)
    )
    x = np.random.default_rng(1).poisson(mean, 400).astype(float)
    return silence(family, Records(x, np.ones((400, 1))), [synthesizer])


@pytest.mark.parametrize(("epsilon", "limit"), [(5, 23.6), (3, 3.2), (1, 0.43)])
def test_a_mean_above_the_limit_is_warned_of_and_one_below_is_not(epsilon, limit):
    """The limit is the mean whose own probability is exp(-epsilon / 2), here found by scipy."""
    assert f"no count above {limit}" in warning("censored_unweighted", epsilon, 1.2 * limit + 1)
    assert warning("censored_unweighted", epsilon, 0.6 * limit) == ""
    above = np.ceil(1.1 * limit)
    assert stats.poisson.pmf(above, above) < np.exp(-epsilon / 2)


def test_only_clipping_of_plain_counts_is_warned_of(plan_of):
    assert "clips 100% of the records" in warning("censored_unweighted", 1, 50, "negative_binomial")
    assert warning("censored_unweighted", 1, 50, "normal") == warning("censored_centred", 1, 50, theta1=40) == ""
    assert warning("reference_censored", 1, 50, theta1=40, scale=1) == ""
    warned = [sentence.split(":")[1] for sentence in plan_of("censor").warnings if "carry nothing" in sentence]
    assert warned == [" Sections 1 and 6 (poisson)", " Sections 1 and 6 (negative_binomial)"]
