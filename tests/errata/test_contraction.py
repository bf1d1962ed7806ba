"""Tests of the limit law of the bounds of min-max weights, and of its populations."""

import math

import contraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_data import DATA, BetaData, LognormalData, PoissonData

from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.limit_law import LIMIT, law, min_max_bound
from formalsynth.audit.risks import RISK_POPULATIONS
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.weights import lipschitz_weights

FAMILIES.find()
BY_NAME = pytest.mark.parametrize("population", RISK_POPULATIONS, ids=lambda population: population.name)


@given(st.floats(0.0, 5.0), st.floats(0.01, 50.0))
def test_the_bound_is_the_largest_weighted_risk(smallest, width):
    risk = np.linspace(smallest, smallest + width, 20_001)
    bound = float((lipschitz_weights(risk) * risk).max())
    assert bound == pytest.approx(float(min_max_bound(risk[0], risk[-1])), rel=1e-6)


@BY_NAME
def test_tails_are_those_of_drawn_risks(population):
    generator = np.random.default_rng(3)
    data = DATA[population.name].draw(generator, 20_000)
    risk = np.repeat(data.true_risk, getattr(data, "records", np.ones(len(data.true_risk))).astype(int))
    for share in (0.9, 0.3, 0.02):
        at = float(np.quantile(risk, 1 - share))
        beyond = float((risk > at + 1e-9).mean())
        if population.name == "Poisson(100)":  # no record has a risk between those of two counts
            beyond = float((risk > at - 1e-9).mean())
        assert math.exp(population.log_tail(at)) == pytest.approx(beyond, abs=4.5 * math.sqrt(share / 20_000))


@BY_NAME
def test_a_quantile_is_the_inverse_of_the_tail(population):
    for log_tail in (-0.5, -5.0, -12.0):
        assert population.log_tail(population.quantile(log_tail)) == pytest.approx(log_tail, abs=1e-5)


def test_the_scale_is_1_for_an_exponential_tail_and_falls_to_1_for_the_regression():
    beta, _, regression = RISK_POPULATIONS
    assert law(beta, 10**6).a == pytest.approx(1, abs=0.002)
    assert law(beta, 10**6).sd == pytest.approx(LIMIT, rel=0.01)
    scales = [law(regression, n).a for n in (100, 10**4, 10**8)]
    assert scales == sorted(scales, reverse=True)
    assert 1.1 < scales[-1] < scales[0] < 1.3


def exact_mode(name, records, weights):
    """Risks at the mean of the exact pseudo posterior, which differs from the mode by about ``1 / n``."""
    family = FAMILIES[name]
    exact = exact_posteriors(family, records, family.priors)
    draws = exact.draws(exact.posterior(weights), np.random.default_rng(1).random((4000, exact.dimension)))
    left, right = family.factors(records, {name: values.mean(axis=0)[None] for name, values in draws.items()})
    return np.abs(left @ right.T)[0]


def test_modes_are_those_of_the_exact_posteriors():
    generator = np.random.default_rng(4)
    n = 2000
    weights = generator.uniform(0.2, 1, n)
    x = generator.beta(0.5, 3, n)
    counts = generator.poisson(100, n).astype(float)
    z = generator.normal(2, 1, n)
    y = z + 1 + generator.standard_normal(n)
    design = np.column_stack([np.ones(n), z])
    for name, records, data in (
        ("beta", intercept_only(x), BetaData(np.log(x), np.log1p(-x))),
        ("poisson", intercept_only(counts), PoissonData(counts, np.ones(n))),
        ("lognormal_regression", Records(np.exp(y), design), LognormalData(y, z)),
    ):
        np.testing.assert_allclose(data.risk(weights), exact_mode(name, records, weights), atol=0.05, rtol=0.02)


SIZES = pytest.mark.parametrize(
    "sizes",
    [{100: 100, 20_000: 100}, pytest.param({n: contraction.SIZES[n] for n in (1000, 100_000)}, marks=pytest.mark.slow)],
)
"""Numbers of data sets of two sample sizes; those of the table are slow."""


@SIZES
@BY_NAME
def test_the_bounds_of_min_max_weights_follow_the_limit_law_and_not_the_printed_rate(population, sizes):
    """Printed: one value at the rate n^(−1/2). Derived: Δ = M² / (4 (M − m)), M = b_n + a G with G a Gumbel variable."""
    first, last = (contraction.simulated(population, n, number) for n, number in sizes.items())
    (before, _), (sd, error) = (contraction.sd_with_error(bounds["min-max"]) for bounds in (first, last))
    smaller, larger = (law(population, n) for n in sizes)
    assert larger.sd == pytest.approx(sd, abs=4 * error)
    assert before / math.sqrt(max(sizes) / min(sizes)) != pytest.approx(sd, abs=4 * error)
    growth = np.median(last["min-max"]) - np.median(first["min-max"])
    errors = [1.25 * spread / math.sqrt(number) for spread, number in zip((before, sd), sizes.values(), strict=True)]
    tolerance = 4 * math.hypot(*errors) + 0.05  # 0.05 for the error of the fits
    assert larger.median - smaller.median == pytest.approx(growth, abs=tolerance)
    assert growth > tolerance


@SIZES
@BY_NAME
def test_bounds_contract_with_a_declared_scale_unless_there_are_predictors_and_with_censoring(population, sizes):
    first, last = (contraction.simulated(population, n, number) for n, number in sizes.items())
    assert last["censored"].std(ddof=1) == 0
    if population.name != "lognormal regression":
        assert last["declared scale"].std(ddof=1) < 0.25 * first["declared scale"].std(ddof=1)
