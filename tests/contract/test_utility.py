"""The contract of a utility statistic."""

import numpy as np
import pytest

from formalsynth.contract.utility import broken_utility
from formalsynth.core.utility import OwnUtility

X = np.array([3.0, 1.0, 2.0, 7.0])


def sorts(x):
    x.sort()
    return x[0]


def random(x):
    return np.random.default_rng().random()


@pytest.mark.parametrize(
    ("statistic", "fault"),
    [
        (sorts, "writes into the data set that is passed to it"),
        (random, "returns different numbers for the same data set"),
        (lambda x: np.log(x - 1).sum(), "returns -inf for the data: the result must be a finite number"),
        (lambda x: x.mean() / (x.std() > 0), "returns inf for values that are all equal"),
        (lambda x: x[3], "fails on their first half: IndexError"),
        (lambda x: x, "fails on the data: TypeError"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_fault_has_a_sentence(statistic, fault):
    assert broken_utility(OwnUtility("own", statistic, "", ""), X)[0].startswith(fault)


def test_a_statistic_of_each_data_set_keeps_to_the_contract():
    assert broken_utility(OwnUtility("share", lambda x: np.sort(x)[-1] / x.sum(), "", ""), X) == []
    assert X.tolist() == [3, 1, 2, 7]
