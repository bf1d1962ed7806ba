"""Intervals of a release from the noisy table to which a family is fitted."""

import re

import numpy as np
import pytest
from formalsynth.core.family import FAMILIES
from formalsynth.custodian.crossing import read_crossing
from formalsynth.custodian.fitted_intervals import table_intervals
from formalsynth.custodian.schema import Analyses
from small_release import made_draws

FAMILIES.find()
OTHERS = [{"column": "income", "above": 30_000}, {"column": "income", "value": 1000}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_draws(tmp_path_factory.mktemp("release") / "income", "noisy_tables", "suppressed")


def test_the_readme_has_the_intervals_of_the_table_and_the_power_of_the_test(folder):
    text = " ".join((folder / "README.md").read_text().split())
    assert "combine.py gives no interval, since nobody has declared that the outcome follows lognormal regression" in text
    assert re.search(r"\| mean of income \| [\d.]+ to [\d.]+ \| \| 0\.15 quantile of income \| [\d.]+ to \d", text)
    assert re.search(
        r"misfits that move a share by up to 0\.\d+, or the mean of the middles of bins by up to \d+,000, pass", text
    )


def test_only_shares_at_edges_have_an_interval(folder):
    """Eight bins from 1,000 to 500,000 on the logarithmic scale, with 185 rows in each: a quarter is below 4,729."""
    edges = np.exp(np.linspace(np.log(1000), np.log(500_000), 9))
    at_edge = {"column": "income", "below": float(np.ceil(edges[2]))}
    crossing, declarations = read_crossing(folder)
    analyses = Analyses.model_validate({"shares": [at_edge, *OTHERS], "quantiles": [0.5]})
    release = declarations.release.model_copy(update={"analyses": analyses})
    of_table = table_intervals(crossing, declarations.model_copy(update={"release": release}), FAMILIES["lognormal_regression"])
    shares = [limits for name, limits in of_table.of_analyses.items() if name.startswith("share")]
    assert shares[0].low < 0.25 < shares[0].high
    assert shares[1:] == [None]  # one that is no share above or below a number has no line
    assert of_table.of_analyses["0.5 quantile of income"] == pytest.approx((edges[3], edges[5]))
    assert 0 < of_table.share < 0.5
