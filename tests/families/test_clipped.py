"""Censored pseudo posteriors of families that have two parameters, against quadrature on a grid that shares no code."""

import numpy as np
import pytest
from scipy import stats

from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Range, Sensitive, record_bounds
from formalsynth.core.centring import Reference
from formalsynth.core.family import FAMILIES, StanData, starts
from formalsynth.core.registry import load
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.stan.sample import sample

N = 200
SETTINGS = SamplerSettings(draws=4000, ess_min=500)
WIDTH = 5.0
"""Standard errors, in which a difference of means is at most this large."""


def log_weights(kind, records, weights, threshold, axes):
    """Logarithm of prior times clipped likelihood at the points of a grid, in the parameters of the axes."""
    first, second = np.meshgrid(*axes, indexing="ij")
    prior, density = LAWS[kind]
    values = prior(first, second)
    for x, weight in zip(records.x, weights, strict=True):
        values = values + np.clip(weight * density(x, first, second), -threshold, threshold)
    return values


def scaled_normal(mean, sd):
    """Conjugate prior of the linear families, on the mean and the standard deviation."""
    return stats.invgamma.logpdf(sd**2, 0.01, scale=0.01) + np.log(2 * sd) + stats.norm.logpdf(mean, 0, 100 * sd)


def negative_binomial(x, mean, r):
    return stats.nbinom.logpmf(x, 1 / r, 1 / (1 + mean * r))


LAWS = {
    "normal": (scaled_normal, stats.norm.logpdf),
    "lognormal": (scaled_normal, lambda x, mean, sd: stats.lognorm.logpdf(x, sd, scale=np.exp(mean))),
    "negative_binomial": (
        lambda mean, r: stats.gamma.logpdf(mean, 1, scale=1000) + stats.halfcauchy.logpdf(r, scale=5),
        negative_binomial,
    ),
    "gamma_regression": (
        lambda eta, shape: stats.norm.logpdf(eta, 0, 10) + stats.gamma.logpdf(shape, 2, scale=10),
        lambda x, eta, shape: stats.gamma.logpdf(x, shape, scale=np.exp(eta) / shape),
    ),
    "poisson": (lambda mean, _: stats.gamma.logpdf(mean, 1, scale=1000), lambda x, mean, _: stats.poisson.logpmf(x, mean)),
    "beta": (
        lambda mean, precision: stats.pareto.logpdf(precision, 1.5, scale=0.1) + 0 * mean,
        lambda x, mean, precision: stats.beta.logpdf(x, precision * mean, precision * (1 - mean)),
    ),
}
"""Prior density, and density of a record, at two parameters; a Poisson distribution uses the first only."""
CASES = {
    "normal": (lambda generator: generator.normal(2, 0.4, N), ("beta", "sigma"), ((1, 3, 300), (0.15, 1.2, 300))),
    "lognormal": (lambda generator: generator.lognormal(0, 0.4, N), ("beta", "sigma"), ((-1, 1, 300), (0.15, 1.2, 300))),
    "negative_binomial": (
        lambda generator: generator.negative_binomial(1, 0.3, N),
        ("mu", "phi"),
        ((0.5, 7, 150), (0.02, 6, 250)),
    ),
    "gamma_regression": (lambda generator: generator.gamma(8, 0.1, N), ("beta", "shape"), ((-0.9, 0.5, 300), (1, 20, 300))),
    "poisson": (lambda generator: generator.poisson(2, N), ("mu", None), ((0.2, 6, 3000), (1, 1, 1))),
}
"""Records, names of the parameters, and ends and numbers of points of the grid."""


@pytest.fixture(params=CASES)
def case(request):
    """Name of a family with its records, weights, parameters and grid."""
    load([f"formalsynth.families.{name}" for name in ("linear", "negative_binomial", "gamma_regression", "poisson")])
    generator = np.random.default_rng(5)
    draw, names, grid = CASES[request.param]
    records = intercept_only(np.asarray(draw(generator), dtype=float))
    return request.param, records, generator.uniform(0.3, 1, N), names, [np.linspace(*axis) for axis in grid]


@pytest.mark.stan
@pytest.mark.parametrize("epsilon", [6.0, 5.0])
def test_censored_posteriors_agree_with_the_grid(compiled, case, epsilon):
    kind, records, weights, names, axes = case
    family = FAMILIES[kind]
    values = log_weights(kind, records, weights, epsilon / 2, axes)
    probability = np.exp(values - values.max())
    probability /= probability.sum()
    assert max(probability[[0, -1]].sum(), 0 if len(axes[1]) == 1 else probability[:, [0, -1]].sum()) < 1e-4, (
        "the grid is too narrow"
    )
    data = family.stan_data(records, weights, family.priors, epsilon / 2)
    near, far = starts(family, data)
    fit = sample(compiled(family.program), data, [near, far], family.parameters, 7, SETTINGS)
    assert fit.status == "ok", fit.reason
    effective = min(fit.ess_bulk_min, fit.ess_tail_min)
    for axis, (name, points) in enumerate(zip(names, axes, strict=True)):
        if name is None:
            continue
        drawn = np.ravel(fit.draws[name]) ** (-1.0 if name == "phi" else 1.0)
        margin = probability.sum(axis=1 - axis)
        mean = float(margin @ points)
        sd = float(np.sqrt(margin @ (points - mean) ** 2))
        assert abs(drawn.mean() - mean) < WIDTH * sd / np.sqrt(effective), name
        assert drawn.std() == pytest.approx(sd, rel=0.15), name
    (bounds,) = record_bounds(family, records, fit.draws, [Sensitive(weights, threshold=epsilon / 2)])
    assert bounds.delta <= epsilon / 2
    assert bounds.beyond > 0


DISTRIBUTIONS = {
    "lognormal": lambda mean, sd: stats.lognorm(sd, scale=np.exp(mean)),
    "gamma_regression": lambda eta, shape: stats.gamma(shape, scale=np.exp(eta) / shape),
    "negative_binomial": lambda mean, r: stats.nbinom(1 / r, 1 / (1 + mean * r)),
    "poisson": lambda mean, _: stats.poisson(mean),
    "beta": lambda mean, precision: stats.beta(precision * mean, precision * (1 - mean)),
}
"""Distribution of an outcome at two parameters."""
BRACKETS = {
    "lognormal": ([0, 0.6, 0.9, 1.2, np.inf], (0.1, 0.5), ((-0.3, 0.3, 150), (0.2, 0.8, 150))),
    "gamma_regression": ([0, 0.6, 0.9, 1.2, np.inf], (-0.1, 6), ((-0.6, 0.2, 150), (2, 30, 150))),
    "negative_binomial": ([-0.5, 1.5, 3.5, np.inf], (2, 0.5), ((0.8, 6, 100), (0.005, 6, 200))),
    "poisson": ([-0.5, 1.5, 3.5, np.inf], (2.5,), ((1, 3.5, 600), (1, 1, 1))),
    "beta": ([0, 0.1, 0.2, 0.5, 1], (0.2, 4), ((0.1, 0.35, 150), (1, 16, 150))),
}
"""Edges of brackets, a reference, and ends and numbers of points of the grid."""


@pytest.mark.stan
@pytest.mark.parametrize(
    ("kind", "centred"), [("lognormal", False), *((kind, True) for kind in BRACKETS), ("gamma_regression", False)]
)
def test_posteriors_clipped_inside_brackets_agree_with_the_grid(compiled, kind, centred):
    """The probability of a bracket counts in full; without records outside, an open bracket is included."""
    load([f"formalsynth.families.{name}" for name in ("linear", "negative_binomial", "gamma_regression", "poisson", "beta")])
    family, (edges, theta, grid), threshold = FAMILIES[kind], BRACKETS[kind], 0.3
    draw = CASES[kind][0] if kind in CASES else lambda generator: generator.beta(0.8, 3, N)
    x, edges = np.asarray(draw(np.random.default_rng(6)), dtype=float), np.array(edges)
    at, axes = np.digitize(x, edges) - 1, [np.linspace(*axis) for axis in grid]
    first, second = np.meshgrid(*axes, indexing="ij")
    prior, density = LAWS[kind]
    values = prior(first, second)

    def inside(k, *parameters):
        law = DISTRIBUTIONS[kind](*parameters, *[None] * (2 - len(parameters)))
        known = np.log(law.cdf(edges[at[k] + 1]) - law.cdf(edges[at[k]]))
        return known, density(x[k], *parameters, *[None] * (2 - len(parameters))) - known

    for k in range(N):
        known, conditional = inside(k, first, second)
        base = inside(k, *theta)[1] if centred else 0
        values = values + known + np.clip(conditional - base, -threshold, threshold)
    probability = np.exp(values - values.max())
    probability /= probability.sum()
    assert probability[[0, -1]].sum() + (0 if len(axes[1]) == 1 else probability[:, [0, -1]].sum()) < 2e-3
    stan = {"beta": theta[:1], "phi": 1 / theta[-1], "mu": theta[0], "sigma": theta[-1], "shape": theta[-1]}
    stan |= {"phi": theta[0], "lambda": theta[-1]} if kind == "beta" else {}
    reference = Reference(tuple((name, stan[name]) for name in family.parameters)) if centred else None
    sensitive = Sensitive(np.ones(N), Range(edges[at], edges[at + 1], reference), np.ones(N), threshold, reference)
    data = sensitive.stan_data(family, intercept_only(x), np.ones(N), family.priors)
    fit = sample(compiled(family.program), data, starts(family, data), family.parameters, 7, SETTINGS)
    assert fit.status == "ok", fit.reason
    effective = min(fit.ess_bulk_min, fit.ess_tail_min)
    for axis, name in enumerate(family.parameters):
        drawn = np.ravel(fit.draws[name]) ** (-1.0 if kind == "negative_binomial" and name == "phi" else 1.0)
        margin, points = probability.sum(axis=1 - axis), axes[axis]
        expected = float(margin @ points)
        spread = float(np.sqrt(margin @ (points - expected) ** 2))
        assert abs(drawn.mean() - expected) < WIDTH * spread / np.sqrt(effective), name
        assert drawn.std() == pytest.approx(spread, rel=0.15), name
    (bounds,) = record_bounds(family, intercept_only(x), fit.draws, [sensitive])
    assert bounds.delta <= threshold < bounds.beyond


def test_only_censored_fits_start_twice(case):
    kind, records, weights, _, _ = case
    family = FAMILIES[kind]
    assert len(starts(family, family.stan_data(records, weights, family.priors, 0.5))) == 2
    assert len(starts(family, family.stan_data(records, weights, family.priors))) == 1


@pytest.mark.stan
def test_chains_in_different_modes_fail_the_gate(program):
    """A cluster of records that are all clipped at the other one leaves each chain where it starts."""
    load(["formalsynth.families.linear"])
    family, generator = FAMILIES["normal"], np.random.default_rng(3)
    records = intercept_only(np.concatenate([generator.normal(centre, 0.05, N) for centre in (0, 10)]))
    data = family.stan_data(records, np.ones(2 * N), family.priors, 1.5)
    starting: list[StanData] = [{"theta": np.array([centre]), "log_sigma": -3.0} for centre in (0.0, 10.0)]
    near, far = starting
    settings = SamplerSettings(draws=400, ess_min=50, attempts=1)
    alone = sample(program, data, near, family.parameters, 1, settings)
    both = sample(program, data, [near, far], family.parameters, 1, settings)
    assert alone.status == "ok", alone.reason
    assert both.status == "failed"
    assert "R-hat" in both.reason
