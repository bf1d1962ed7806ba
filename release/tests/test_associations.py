"""Associations of pairs, against values by hand."""

import numpy as np
import pytest

from formalsynth_release.associations import association

FIRST = np.repeat([0, 1, 2, 3, -1], 25)
"""Levels of rows, and no level for the last ones."""


@pytest.mark.parametrize(("second", "ordered", "expected"), [
    (FIRST, (True, True), 1.0), (3 - FIRST, (True, True), -1.0), (FIRST % 2, (True, True), 0.4472136),
    (FIRST, (False, False), 1.0), (np.tile(np.arange(5), 25), (False, False), 0.0), (FIRST // 2, (True, False), 1.0),
    (FIRST * 0, (True, True), 0.0), (FIRST * 0, (True, False), 0.0),
])  # fmt: skip
def test_associations_are_rank_correlations_or_cramers_v(second, ordered, expected):
    assert association((FIRST, ordered[0]), (second, ordered[1])) == pytest.approx(expected, abs=1e-7)
