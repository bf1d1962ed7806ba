"""Standard errors of noisy tables, predicted before the file is opened."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import Synthesizer
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.custodian.fitted_plan import widths

for register in (FAMILIES, MECHANISMS):
    register.find()
LINE = {"low": math.exp(-1), "high": math.exp(7), "bins": 8, "x_low": 0.0, "x_high": 4.0, "x_bins": 8}
SHARES = {"low": 0.0, "high": 1.0, "bins": 10}


def study(family, mechanism="noisy_tables", **parameters):
    """A study with one candidate."""
    candidate = Synthesizer(id="T", mechanism=mechanism, parameters=parameters, parents=(), fit="T", words=(1,))
    return SimpleNamespace(family=family, priors=FAMILIES[family].priors, expanded=SimpleNamespace(synthesizers={"T": candidate}))


def factor_of(line):
    return float(line.split("about ")[1].split(" times")[0])


@pytest.mark.parametrize(("epsilon", "simulated"), [(1.0, 1.20), (0.5, 1.38)])
def test_the_factor_is_that_of_simulated_releases(epsilon, simulated):
    """Root mean square errors of the slope in 200 releases, n = 2000, over those of least squares."""
    generator = np.random.default_rng(1)
    z = generator.normal(2, 1, 2000)
    records = Records(np.exp(1 + z + generator.standard_normal(2000)), np.column_stack([np.ones(2000), z]))
    (line,) = widths(study("lognormal_regression", epsilon=epsilon, **LINE), records)
    assert line.startswith(f"T: at epsilon {epsilon:g} the standard error of a slope will be")
    assert factor_of(line) == pytest.approx(simulated, rel=0.1)


def test_a_closed_predictor_and_a_mean_have_a_line_too():
    generator = np.random.default_rng(2)
    (line,) = widths(study("beta", epsilon=0.5, **SHARES), intercept_only(generator.beta(2, 4, 500)))
    assert "the standard error of a mean" in line
    assert 1.05 < factor_of(line) < 1.6
    records = Records(np.exp(2 + 2 * generator.standard_normal(900)), np.column_stack([np.ones(900), generator.random(900)]))
    closed = {**LINE, "x_high": 1.0, "x_closed": 1, "epsilon": 1.0}
    assert 1 < factor_of(widths(study("lognormal_regression", **closed), records)[0]) < 2.5


def test_other_candidates_have_none():
    records = intercept_only(np.random.default_rng(3).beta(2, 4, 50))
    assert widths(study("beta", "unweighted"), records) == []
    assert widths(study("poisson", epsilon=1.0, low=0.0, high=60.0, bins=12), intercept_only(np.arange(50.0)))
