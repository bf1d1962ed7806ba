"""Tests of the attack on mechanisms with a known epsilon."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from formalsynth.audit.attack import attack_bound, error_rates, least_errors, lower_limit, scores, upper_limit
from formalsynth.audit.posterior_attack import linear_scores
from formalsynth.core import arrays
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.gaussian import gaussian_epsilon

FAMILIES.find()
SEEDS = st.integers(0, 2**32 - 1)


@given(st.integers(0, 200), st.integers(1, 200), st.floats(0.001, 0.2))
def test_limits_are_those_of_the_exact_binomial(hits, more, error):
    runs = hits + more
    low, high = lower_limit(hits, runs, error), upper_limit(hits, runs, error)
    assert low <= hits / runs <= high
    if hits:
        assert stats.binom.sf(hits - 1, runs, low) == pytest.approx(error, rel=1e-6)
    assert stats.binom.cdf(hits, runs, high) == pytest.approx(error, rel=1e-6)


def test_the_bound_is_almost_never_above_the_truth():
    """The coverage over runs of the Gaussian mechanism is at least 95 %."""
    generator, shift = np.random.default_rng(1), 1.0
    exact = gaussian_epsilon(1, shift, 1e-3)
    attacks = [attack_bound(generator.standard_normal(400), shift + generator.standard_normal(400), 1e-3) for _ in range(60)]
    assert sum(attack.epsilon > exact for attack in attacks) <= stats.binom.isf(1e-4, 60, 0.05)
    strong = attack_bound(shift + generator.standard_normal(20_000), generator.standard_normal(20_000), 1e-3)
    assert exact / 4 < strong.epsilon < exact


@given(SEEDS, st.integers(20, 400))
def test_bound_of_a_complete_leak_depends_on_the_number_of_runs_only(seed, runs):
    generator = np.random.default_rng(seed)
    attack = attack_bound(9 + generator.random(runs), generator.random(runs), 0.0)
    limit = (0.05 / 4) ** (1 / len(range(1, runs, 2)))
    assert attack.epsilon == pytest.approx(math.log(limit / (1 - limit)), abs=1e-6)


def test_delta_is_subtracted_from_the_share_of_true_positives():
    """100 counted runs on each side, all right: log((0.0125 ** 0.01 - 0.4) / (1 - 0.0125 ** 0.01))."""
    attack = attack_bound(9 + np.random.default_rng(5).random(200), np.random.default_rng(6).random(200), 0.4)
    limit = 0.0125**0.01
    assert attack.epsilon == pytest.approx(math.log((limit - 0.4) / (1 - limit)), abs=1e-9)


def test_bound_without_signal_is_near_zero():
    generator = np.random.default_rng(2)
    assert attack_bound(generator.standard_normal(2000), generator.standard_normal(2000), 1e-3).epsilon < 0.2
    assert attack_bound(np.zeros(100), np.zeros(100), 1e-3).epsilon == 0


@given(SEEDS, st.integers(2, 300), st.integers(2, 300))
def test_error_rates_are_shares_above_a_threshold(seed, runs, others):
    generator = np.random.default_rng(seed)
    base, other = 1 + generator.standard_normal(runs), generator.standard_normal(others)
    rates = error_rates(base, other)
    thresholds = [*base, *other]
    shares = {((other > at).mean(), (base <= at).mean()) for at in thresholds}
    assert all(min(abs(x - a) + abs(y - b) for a, b in shares) < 1e-9 for x, y in rates)
    assert (np.diff(rates[:, 0]) >= 0).all()
    assert (np.diff(rates[:, 1]) <= 0).all()
    assert rates[0, 0] == 0
    assert rates[-1, 1] < 1 / runs + 1e-9


def test_least_errors_are_attained_by_randomized_response():
    """Both error rates of randomized response are 1 / (1 + e^epsilon), the minimum for delta = 0."""
    for epsilon in (0.1, 1.0, 5.0):
        error = 1 / (1 + math.exp(epsilon))
        assert least_errors(np.array([error]), epsilon, 0.0)[0] == pytest.approx(error)
    assert least_errors(np.array([0.0, 1.0]), 2.0, 1e-3).tolist() == pytest.approx([1 - 1e-3, 0])
    assert (least_errors(np.geomspace(1e-5, 1, 50), np.inf, 0.0) == 0).all()
    allowed = least_errors(np.linspace(0, 1, 50), 0.0, 0.0)
    assert allowed == pytest.approx(1 - np.linspace(0, 1, 50))


@pytest.mark.parametrize("dense", [0, 5_000_000])
def test_scores_are_log_likelihood_ratios(monkeypatch, dense):
    monkeypatch.setattr(arrays, "LARGEST_DENSE", dense)
    family, generator = FAMILIES["poisson"], np.random.default_rng(3)
    base, other = {"mu": np.array([4.0])}, {"mu": np.array([5.0])}
    x = generator.poisson(4, (3, 20)).astype(float)
    expected = [(stats.poisson.logpmf(values, 4) - stats.poisson.logpmf(values, 5)).sum() for values in x]
    np.testing.assert_allclose(scores(family, x, np.ones((20, 1)), base, other), expected)


def test_scores_from_sufficient_statistics_equal_those_from_records_in_distribution():
    """The distributions agree under both hypotheses in two-sample tests at level 1e-5."""
    family, generator = FAMILIES["lognormal_regression"], np.random.default_rng(4)
    design = np.column_stack([np.ones(30), generator.normal(2, 1, 30)])

    def drawn(shift, size):
        return {
            "beta": np.array([1 + shift, 1]) + 0.1 * generator.standard_normal((size, 2)),
            "sigma": 1 + 0.2 * generator.random(size),
        }

    base, other = drawn(0.0, 50), drawn(0.3, 60)
    for shift in (0.0, 0.3):
        released = drawn(shift, 2000)
        from_records = scores(family, family.predict(generator, Records(np.ones(30), design), released), design, base, other)
        from_statistics = linear_scores(design, released, (base, other), generator)
        assert stats.ks_2samp(from_records, from_statistics).pvalue > 1e-5
        assert from_statistics.std() > 0.1
