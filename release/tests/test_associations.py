"""Associations of pairs, against scipy."""

import numpy as np
import pytest
from scipy import stats

from formalsynth_release.associations import association


@pytest.mark.parametrize("ordered", [(True, True), (True, False), (False, True), (False, False)])
def test_associations_are_those_of_scipy(ordered):
    """Levels stand for their rows, and ranks are divided into five groups where the other column has no order."""
    generator = np.random.default_rng(5)
    first = generator.integers(-1, 12, 400)
    second = np.where(first < 0, first, (first + generator.integers(0, 6, 400)) % 14)
    computed = association((first, ordered[0]), (second, ordered[1]))
    columns = [first[first >= 0], second[first >= 0]]
    if all(ordered):
        expected = stats.spearmanr(*columns).statistic
    else:
        groups = [np.minimum(stats.rankdata(column) * 5 // len(column), 4) if order else column
                  for column, order in zip(columns, ordered, strict=True)]  # fmt: skip
        expected = stats.contingency.association(stats.contingency.crosstab(*groups).count, method="cramer")
    assert computed == pytest.approx(expected, abs=1e-12)
    assert association((first * 0, ordered[0]), (second, ordered[1])) == 0
