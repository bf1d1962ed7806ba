"""Tests of the limit law of the bounds of min-max weights, and of its populations."""

import math

import numpy as np
import pytest
from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.limit_law import LIMIT, law, min_max_bound
from formalsynth.audit.risks import RISK_POPULATIONS, BetaData, LognormalData, PoissonData
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.weights import lipschitz_weights
from formalsynth.errata.check import CHECKS
from formalsynth.errata.checks import min_max
from hypothesis import given
from hypothesis import strategies as st

CHECKS.find()
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
    data = population.draw(generator, 20_000)
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


def test_the_check_of_contraction_holds_and_fails_with_the_rate_as_printed(monkeypatch):
    """The check holds at smaller sizes than those of the command."""
    min_max.simulated.cache_clear()
    monkeypatch.setattr(min_max, "SIZES", {100: 100, 1000: 100, 20_000: 100})
    monkeypatch.setattr(min_max, "FIRST", 100)
    monkeypatch.setattr(min_max, "LAST", 20_000)
    evidence = CHECKS["contraction"].run()
    min_max.simulated.cache_clear()
    assert evidence.holds, [comparison for comparison in evidence.derived if not comparison.agrees]
    wrong = [comparison.quantity for comparison in evidence.printed if not comparison.agrees]
    assert len(wrong) == 6
    assert not any("declared" in quantity or "censored" in quantity for quantity in wrong)


@pytest.mark.slow
def test_the_check_of_contraction_holds_at_the_sizes_of_the_command():
    assert CHECKS["contraction"].run().holds
