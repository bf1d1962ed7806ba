"""Values on declared scales, and made-up rows."""

import numpy as np
import pandas as pd
import pytest

from formalsynth_release.levels import codes, from_unit, to_unit
from formalsynth_release.schema import Column

LINEAR = Column(type="number", lower=-2, upper=6)
LOG = Column(type="number", lower=1, upper=10_000, scale="log")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["str", "object", "category"])
def test_values_that_are_missing_or_not_declared_have_no_code(kind):
    column = Column(type="category", categories=["b", "a", "nan"])
    values = pd.Series(["a", "b", None, "A", "nan"], dtype=kind)
    assert codes(column, values).tolist() == [1, 0, -1, -1, 2]


@pytest.mark.parametrize(("column", "middle"), [(LINEAR, 2.0), (LOG, 100.0)])
def test_the_unit_scale_is_the_declared_one_and_inverts(column, middle):
    assert to_unit(column, np.array([*column.ends, middle])) == pytest.approx([0, 1, 0.5])
    values = np.linspace(*column.ends, 7)
    assert from_unit(column, to_unit(column, values)) == pytest.approx(values)
