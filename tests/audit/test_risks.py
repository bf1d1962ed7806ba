"""Tests of risks of records against densities of scipy, and of their tails against simulated records."""

import math

import numpy as np
import pytest
from risk_data import DATA, BetaData, LognormalData, PoissonData
from scipy import optimize, stats

from formalsynth.audit.risks import RISK_POPULATIONS

POPULATIONS = {population.name: population for population in RISK_POPULATIONS}


def densities(data, parameters):
    """Log density of each record, by scipy."""
    if isinstance(data, BetaData):
        return stats.beta(*parameters).logpdf(np.exp(data.log_x))
    if isinstance(data, PoissonData):
        return stats.poisson(*parameters).logpmf(data.x)
    assert isinstance(data, LognormalData)
    intercept, slope, sigma = parameters
    return stats.lognorm(sigma, scale=np.exp(intercept + slope * data.z)).logpdf(np.exp(data.y))


TRUE = {"Beta(0.5, 3)": (0.5, 3.0), "Poisson(100)": (100.0,), "lognormal regression": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize("name", POPULATIONS)
def test_risks_are_absolute_log_densities(name):
    data = DATA[name].draw(np.random.default_rng(1), 300)
    np.testing.assert_allclose(data.true_risk, np.abs(densities(data, TRUE[name])), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", POPULATIONS)
def test_risks_of_weighted_data_are_those_at_the_mode(name):
    generator = np.random.default_rng(2)
    data = DATA[name].draw(generator, 300)
    risks = np.asarray(data.true_risk)
    weights = generator.uniform(0.2, 1, len(risks))
    records = data.records if isinstance(data, PoissonData) else np.ones(len(risks))
    fit = optimize.minimize(
        lambda at: -(weights * records) @ densities(data, at) if min(at[-1], at[0]) > 0 else math.inf,
        TRUE[name], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9, "maxiter": 5000},
    )  # fmt: skip
    np.testing.assert_allclose(data.risk(weights), np.abs(densities(data, fit.x)), atol=1e-4)


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("share", [0.3, 0.03, 0.003])
def test_quantiles_and_tails_are_those_of_simulated_records(name, share):
    """Within five standard errors of 400,000 records; counts at their own risks, since the tail is interpolated between them."""
    population, n = POPULATIONS[name], 400_000
    data = DATA[name].draw(np.random.default_rng(3), n)
    risks = np.asarray(data.true_risk)
    records = data.records if isinstance(data, PoissonData) else np.ones(n)
    quantile = population.quantile(math.log(share))
    assert population.log_tail(quantile) == pytest.approx(math.log(share), abs=1e-5)
    if isinstance(data, PoissonData):
        quantile = risks[np.abs(risks - quantile).argmin()] - 1e-9
        share = math.exp(population.log_tail(quantile))
    assert records[risks > quantile].sum() / n == pytest.approx(share, abs=5 * math.sqrt(share / n))


def test_tails_far_out_follow_the_ends_of_the_density():
    """Beta(0.5, 3) near 0 is 15/16 x^-1/2 and near 1 15/16 (1 - x)^2, so both ends have a known tail."""
    low = 15 / 8 * 15 / 16 * math.exp(-50.0)
    high = 5 / 16 * (16 / 15) ** 1.5 * math.exp(-1.5 * 50.0)
    beta = POPULATIONS["Beta(0.5, 3)"]
    assert beta.log_tail(50.0) == pytest.approx(math.log(low + high), abs=1e-9)
    assert beta.quantile(beta.log_tail(50.0)) == pytest.approx(50.0, abs=1e-6)
