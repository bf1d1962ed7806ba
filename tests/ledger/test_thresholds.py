"""When an estimate agrees: the errors that are allowed for one number, and for several together."""

import numpy as np
import pytest
from formalsynth.ledger.thresholds import Thresholds


@pytest.mark.parametrize("numbers", [1, 2, 5, 12])
def test_what_is_allowed_for_several_numbers_rejects_true_ones_as_seldom_as_for_one(numbers):
    thresholds, runs = Thresholds(), 200_000
    errors = np.random.default_rng(numbers).standard_normal((runs, numbers))
    alone = (np.abs(errors[:, 0]) > thresholds.errors).mean()
    together = (np.abs(errors) > thresholds.errors_of(numbers)).any(axis=1).mean()
    # a share of 0.0455 of 200,000 has a standard error of 0.0005
    assert together == pytest.approx(alone, abs=0.004)


def test_no_errors_stay_none():
    assert Thresholds(errors=0).errors_of(3) == 0
