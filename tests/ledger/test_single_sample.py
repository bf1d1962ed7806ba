"""Tests of claims about one sample: its numbers within the range of many samples, and a comparison of two gains."""

import numpy as np
import pytest
from made_up_claims import claim_of, normal, row_of, table_of, verdict_of

from formalsynth_workflow.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDETERMINED

COMMON = normal(100, 10)
NEAR = {"A": COMMON, "B": COMMON + normal(2, 0.5, seed=2), "C": COMMON + normal(-3, 0.5, seed=3)}


def typical(printed, **keys):
    return claim_of({"kind": "typical", "printed": printed, **keys}, {"of": list(NEAR)[: len(printed)]})


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [([100, 102, 97], REPRODUCED), ([115, 117, 112], REPRODUCED), ([100, 108, 97], DIRECTION), ([100, 97, 102], NOT_REPRODUCED)],
)
def test_numbers_of_one_sample_are_compared_with_its_first(printed, verdict):
    """The level of the sample may differ if the differences to its first number are as in the replicates."""
    assert verdict_of(typical(printed, less_first=True), table_of(**NEAR)) == verdict


def test_permuted_numbers_pass_if_each_is_compared_alone():
    assert verdict_of(typical([100, 97, 102]), table_of(**NEAR)) == REPRODUCED
    assert verdict_of(typical([100, 97, 160]), table_of(**NEAR)) == NOT_REPRODUCED


def test_the_limits_hold_for_all_numbers_together():
    """For three numbers the range is the central 98.3 % of the replicates instead of 95 %."""
    beyond = float(np.quantile(COMMON, 0.98))
    assert beyond > np.quantile(COMMON, 0.975)
    assert verdict_of(typical([beyond]), table_of(A=COMMON)) == NOT_REPRODUCED
    assert verdict_of(typical([beyond, 102, 97]), table_of(**NEAR)) == REPRODUCED
    assert (
        "Range of most replicates, and the printed number in parentheses: " in row_of(typical([beyond]), table_of(A=COMMON)).note
    )


@pytest.mark.parametrize(("share", "verdict"), [(0.7, REPRODUCED), (0.55, UNDETERMINED), (0.3, NOT_REPRODUCED)])
def test_a_gain_is_larger_in_some_share_of_the_replicates(share, verdict):
    gain = np.where(np.arange(100) < 100 * share, 3.0, 1.0)
    tables = table_of(A=COMMON, B=COMMON - gain, C=COMMON, D=COMMON - 2)
    claim = claim_of({"kind": "gain"}, {"of": ["A", "B", "C", "D"]})
    assert verdict_of(claim, tables) == verdict


def test_a_gain_may_be_a_rise():
    tables = table_of(A=COMMON, B=COMMON + 3, C=COMMON, D=COMMON + 2)
    rising = claim_of({"kind": "gain", "direction": "rising"}, {"of": ["A", "B", "C", "D"]})
    assert verdict_of(rising, tables) == REPRODUCED
    assert verdict_of(claim_of({"kind": "gain"}, {"of": ["A", "B", "C", "D"]}), tables) == NOT_REPRODUCED
