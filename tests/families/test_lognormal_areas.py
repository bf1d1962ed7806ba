"""Areas with random effects: the prior of the Stan program against scipy, and the clipped posterior against quadrature."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES, starts
from formalsynth.core.registry import load
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.stan.generate import evaluate
from formalsynth.stan.sample import sample

AREAS, EACH = 8, 25
SETTINGS = SamplerSettings(draws=4000, ess_min=400)
WIDTH = 5.0
"""Standard errors, in which a difference of means is at most this large."""


@pytest.fixture
def family():
    load(["formalsynth.families.lognormal_areas"])
    return FAMILIES["lognormal_areas"]


def records():
    generator, area = np.random.default_rng(4), np.repeat(np.arange(AREAS), EACH)
    means = -1 + 0.4 * generator.standard_normal(AREAS)
    return Records(np.exp(means[area] + 0.6 * generator.standard_normal(len(area))), np.eye(AREAS)[area])


@pytest.mark.stan
def test_without_weight_the_target_is_the_documented_prior(compiled, family):
    """Log densities, with the Jacobians of two positive parameters, differ between points as those of scipy."""
    ours = records()
    data = family.stan_data(ours, np.zeros(len(ours)), family.priors)

    def by_hand(beta, sigma, intercept, area_sd):
        effects = stats.norm.logpdf(beta, intercept, area_sd).sum() + stats.norm.logpdf(intercept, 0, 10)
        spreads = stats.invgamma.logpdf(area_sd**2, 2, scale=0.2) + np.log(2 * area_sd) + stats.halfnorm.logpdf(sigma)
        return effects + spreads + np.log(area_sd) + np.log(sigma)

    points = [(np.linspace(-1, k, AREAS), 0.3 + k, -1.0 * k, 0.2 + 0.4 * k) for k in range(3)]
    densities = [
        evaluate(compiled(family.program), data, dict(zip(family.parameters, at, strict=True))).log_density for at in points
    ]
    np.testing.assert_allclose(np.diff(densities), np.diff([by_hand(*at) for at in points]), rtol=1e-6)


@pytest.mark.stan
@pytest.mark.parametrize("threshold", [None, 1.5])
def test_posteriors_agree_with_quadrature(compiled, family, threshold):
    ours, weights = records(), np.random.default_rng(6).uniform(0.5, 1, AREAS * EACH)
    data = family.stan_data(ours, weights, family.priors, threshold)
    near, *far = starts(family, data)
    fit = sample(compiled(family.program), data, [near, *far], family.parameters, 7, SETTINGS)
    assert fit.status == "ok", fit.reason
    effective = min(fit.ess_bulk_min, fit.ess_tail_min)
    for name, (mean, sd) in moments(ours, weights, np.inf if threshold is None else threshold).items():
        assert abs(fit.draws[name].mean() - mean) < WIDTH * sd / np.sqrt(effective), name
        assert fit.draws[name].std() == pytest.approx(sd, rel=0.15), name


def moments(ours, weights, threshold):
    """Means and standard deviations of three parameters: the effects are integrated on a grid, area by area."""
    effects, sigmas = np.linspace(-4, 2, 301), np.linspace(0.3, 1.6, 60)
    intercepts, spreads = np.linspace(-3, 1, 60), np.geomspace(0.1, 2.5, 60)
    logs = stats.lognorm.logpdf(ours.x[:, None, None], sigmas, scale=np.exp(effects[:, None]))
    terms = np.clip(weights[:, None, None] * logs, -threshold, threshold)
    likelihood = ours.design.T @ terms.reshape(len(ours), -1)
    likelihood = likelihood.reshape(AREAS, len(effects), len(sigmas))
    prior = stats.norm.logpdf(effects, intercepts[:, None, None], spreads[:, None])
    joint = stats.norm.logpdf(intercepts, 0, 10)[:, None, None] + stats.halfnorm.logpdf(sigmas)
    joint = joint + (stats.invgamma.logpdf(spreads**2, 2, scale=0.2) + 2 * np.log(spreads))[:, None]  # even in the logarithm
    for values in likelihood:
        largest = values.max(axis=0)
        joint = joint + np.log(np.exp(prior) @ np.exp(values - largest)) + largest
    probability = np.exp(joint - logsumexp(joint))
    computed = {}
    for axis, (name, points) in enumerate((("intercept", intercepts), ("area_sd", spreads), ("sigma", sigmas))):
        margin = probability.sum(axis=tuple({0, 1, 2} - {axis}))
        assert max(margin[0], margin[-1]) < 1e-3, f"the grid of {name} is too narrow"
        mean = float(margin @ points)
        computed[name] = mean, float(np.sqrt(margin @ (points - mean) ** 2))
    return computed
