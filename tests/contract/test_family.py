"""Contract of a family: faults are reported; that ours meet it is in ``test_parts.py``."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from formalsynth.contract.density import Support, check_density
from formalsynth.contract.family import Fitted, check_family, trial
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.centring import Centred, Reference
from formalsynth.core.family import FAMILIES, log_likelihood
from formalsynth.core.registry import load
from formalsynth.stan.generate import evaluate, visited

POPULATIONS = {
    "poisson": lambda generator: intercept_only(generator.poisson(6, 25)),
    "negative_binomial": lambda generator: intercept_only(generator.negative_binomial(4, 0.4, 25)),
    "lognormal": lambda generator: intercept_only(np.exp(generator.normal(1, 0.6, 25))),
    "beta": lambda generator: intercept_only(generator.beta(2, 5, 25)),
    "gamma_regression": lambda generator: Records(generator.gamma(3, 2, 25), with_predictor(generator)),
    "normal": lambda generator: Records(generator.normal(2, 3, 25), with_predictor(generator)),
    "lognormal_regression": lambda generator: Records(generator.lognormal(2, 0.5, 25), with_predictor(generator)),
    "negative_binomial_regression": lambda generator: Records(
        generator.negative_binomial(3, 0.1, 25).astype(float), with_predictor(generator)
    ),
    "beta_regression": lambda generator: Records(generator.beta(2, 5, 25), with_predictor(generator)),
    "lognormal_areas": lambda generator: Records(generator.lognormal(1, 0.6, 25), np.eye(5)[np.arange(25) % 5]),
}


def with_predictor(generator):
    """A design of 25 rows with a constant and a normal predictor."""
    return np.column_stack([np.ones(25), generator.normal(size=25)])


@pytest.fixture(scope="session")
def fitted(compiled):
    """A family of ours with records and draws, by name."""
    others = sorted(set(POPULATIONS) - {"normal", "lognormal", "lognormal_regression"})
    load(["formalsynth.families.linear", *(f"formalsynth.families.{name}" for name in others)])
    tried = {}

    def fitted(name):
        if name not in tried:
            family, records = FAMILIES[name], POPULATIONS[name](np.random.default_rng(11))
            executable = compiled(family.program)
            data = family.stan_data(records, np.ones(25), family.priors)
            points = visited(executable, data, family.inits(data), 3, 60)
            draws = {parameter: np.array([point.values[parameter] for point in points]) for parameter in family.parameters}
            tried[name] = Fitted(family, records, draws, executable, dict(family.priors))
        return tried[name]

    return fitted


@pytest.mark.stan
@pytest.mark.parametrize("name", POPULATIONS)
def test_ours_clip_around_a_reference(fitted, name):
    ours = fitted(name)
    reference = Reference.of({parameter: values[:1] for parameter, values in ours.draws.items()})
    centred = Centred(ours.family, reference)
    weights, data = np.linspace(0, 1, 25), {}
    for threshold in (0.3, 2.0):
        data[threshold] = centred.stan_data(ours.records, weights, ours.priors, threshold)
    points = visited(ours.executable, data[2.0], ours.family.inits(data[2.0]), 3, 20)
    densities = np.array([[evaluate(ours.executable, data[end], point.values) for point in points] for end in data])
    draws = {name: np.array([point.values[name] for point in densities[0]]) for name in ours.family.parameters}
    ratios = weights * centred_by_hand(ours, draws)
    expected = [np.clip(ratios, -end, end).sum(axis=1) for end in data]
    sampled = [[point.log_density for point in row] for row in densities]
    np.testing.assert_allclose(np.subtract(*sampled), np.subtract(*expected), rtol=1e-6, atol=1e-6)
    assert (np.abs(ratios) > 0.3).any()


def centred_by_hand(ours, draws):
    """Log-likelihood ratios (S, n) of the records: those of draws less that at the first draw of the fitted family."""
    both = {name: np.concatenate([ours.draws[name][:1], values]) for name, values in draws.items()}
    values = log_likelihood(ours.family, ours.records, both)
    return values[1:] - values[:1]


class Changed:
    """A family of which one method gives something else."""

    def __init__(self, family, **methods):
        self._family, self._methods = family, methods

    def __getattr__(self, name):
        return self._methods.get(name) or getattr(self._family, name)


@pytest.mark.stan
@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        ("factors", lambda real: lambda r, d: (real(r, d)[0], real(r, d)[1] * [1, 1, 0]), "has a density that integrates to"),
        ("predict", lambda real: lambda g, r, d: real(g, r, d) + 1, "do not follow its density"),
        ("log_interval_probability", lambda real: lambda r, d, low, high: real(r, d, low, high) / 2, "returns the probability"),
        ("stan_data", lambda real: lambda r, w, p, t=None: real(r, w, p, t) | {"weighted_sum": 1.3 * float(w @ r.x)},
         "its Stan program poisson has a different density"),
        ("predict", lambda real: lambda g, r, d: real(g, r, d)[0], "returns predictive values of shape (25,)"),
        ("factors", lambda real: lambda r, d: None, "stops with TypeError"),
        ("factors", lambda real: lambda r, d: (2 * real(r, d)[0], real(r, d)[1]), "has a density that integrates to"),
        ("stan_data", lambda real: lambda r, w, p, t=None: real(r, w / 2, p, t),
         "its Stan program poisson has a different density"),
        ("factors", lambda real: lambda r, d: (real(r, d)[0], real(r, d)[1] + 1e-4 * r.x.max()), "when other records change"),
        ("factors", lambda real: lambda r, d: (real(r, d)[0], real(r, d)[1] * (1 + 1e-4 * len(r))), "when other records change"),
        ("predict", lambda real: lambda g, r, d: np.where(g.random(len(r)) < 0.1, r.x, real(g, r, d)),
         "returns different predictive values when the outcomes change"),
        ("stan_data", lambda real: lambda r, w, p, t=None: real(r, w, {name: v + 0.1 * r.x.mean() for name, v in p.items()}, t),
         "its Stan program poisson has a different density"),
    ],
)  # fmt: skip
def test_a_fault_is_reported(fitted, method, change, words):
    right = fitted("poisson")
    wrong = Changed(right.family, **{method: change(getattr(right.family, method))})
    problems = check_family(dataclasses.replace(right, family=wrong))
    assert any(words in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("distribution", "support"),
    [
        (stats.norm(3, 0.2), Support(-np.inf, np.inf, False)),
        (stats.lognorm(1.5), Support(0, np.inf, False)),
        (stats.t(3), Support(-np.inf, np.inf, False)),
        (stats.beta(0.7, 2), Support(0, 1, False)),
        (stats.uniform(2, 3), Support(2, 5, False)),
        (stats.poisson(4), Support(0, np.inf, True)),
        (stats.nbinom(2, 0.01), Support(0, np.inf, True)),
    ],
)
def test_densities_of_many_shapes_pass_and_wrong_ones_do_not(distribution, support):
    predicted = distribution.rvs(2000, random_state=np.random.default_rng(5)).astype(float)
    log_density = distribution.logpmf if support.whole else distribution.logpdf
    assert check_density(log_density, predicted, support) == []
    assert "integrates to" in check_density(lambda x: log_density(x) + 0.1, predicted, support)[0]
    shifted = predicted + distribution.std() if np.isinf(support.upper) else np.sort(predicted)[1000:].repeat(2)
    assert check_density(log_density, np.maximum(shifted, support.lower), support)


def test_a_point_mass_next_to_a_density_is_counted():
    generator, support = np.random.default_rng(6), Support(0, np.inf, False)
    predicted = np.where(generator.random(2000) < 0.3, 0, generator.lognormal(size=2000))

    def log_density(x):
        with np.errstate(divide="ignore"):
            return np.where(x == 0, np.log(0.3), np.log(0.7) + stats.lognorm.logpdf(x, 1))

    assert check_density(log_density, predicted, support) == []
    assert check_density(lambda x: np.where(x == 0, np.log(0.5), log_density(x)), predicted, support)


@pytest.mark.stan
def test_a_family_is_tried_before_its_first_fit(fitted):
    right = fitted("poisson")
    records = intercept_only(np.random.default_rng(3).poisson(6, 400))
    assert check_family(trial(right.family, records, right.executable, right.priors)) == []
    wrong = Changed(
        right.family, factors=lambda r, d: (right.family.factors(r, d)[0][:, :2], right.family.factors(r, d)[1][:, :2])
    )
    assert any("integrates to" in problem for problem in check_family(trial(wrong, records, right.executable, right.priors)))
    stops = Changed(right.family, stan_data=lambda r, w, p, t=None: {}["n"])
    assert trial(stops, records, right.executable, right.priors) == "stops with KeyError: 'n'"
