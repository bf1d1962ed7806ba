"""Noisy tables: the exact ratio for all small data sets, what is refused, and estimates from tables of known probabilities."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables, Tables
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import SamplerSettings, Synthesizer
from formalsynth.core.tables import tabled
from formalsynth.engine.chain import PublicPosterior, Step
from formalsynth.inference.tables_model import TablesModel
from formalsynth.mechanisms.noisy_tables import ratio
from formalsynth.posteriors import StanPosteriors
from formalsynth.stan.sample import sample

for register in (FAMILIES, MECHANISMS):
    register.find()

DECLARED = {"epsilon": 0.7, "low": 0.0, "high": 3.0, "bins": 3, "x_low": -1.0, "x_high": 1.0, "x_bins": 2}
VALUES = [-9.0, 0.5, 1.0, 2.5, 1e300]
PREDICTORS = {0: [()], 1: [(-7.0,), (0.5,)], 2: [(-7.0, -1.0), (-7.0, 0.5), (0.5, 3.0)]}


def records(rows, q):
    """Records of pairs of an outcome and its predictors."""
    x = np.array([value for value, _ in rows], dtype=float)
    design = np.array([(1.0, *predictors) for _, predictors in rows], dtype=float).reshape(len(rows), q + 1)
    return Records(x, design)


def small_pairs(q, most):
    """Every data set of up to ``most`` records, as a multiset, with each neighbour and the relation between them."""
    grid = list(itertools.product(VALUES, PREDICTORS[q]))
    for n in range(most + 1):
        for rows in itertools.combinations_with_replacement(grid, n):
            for added in grid:
                yield "add_remove", rows, (*rows, added)
                if rows:
                    yield "replace", rows, (*rows[1:], added)


@pytest.mark.parametrize(("q", "most"), [(0, 4), (1, 2), (2, 1)])
def test_no_small_data_set_has_a_neighbour_with_a_larger_ratio_than_claimed(q, most):
    """Both claims are reached: no smaller epsilon would be true."""
    largest = {"add_remove": 0.0, "replace": 0.0}
    for relation, rows, others in small_pairs(q, most):
        ratios = [ratio(DECLARED, records(a, q), records(b, q)) for a, b in ((rows, others), (others, rows))]
        assert ratios[0] == ratios[1]
        largest[relation] = max(largest[relation], *ratios)
    assert largest["add_remove"] == pytest.approx(0.7, rel=1e-12)
    assert largest["replace"] == pytest.approx(1.4, rel=1e-12)


@pytest.mark.parametrize("q", [0, 1, 2])
def test_the_ratio_is_that_of_the_probabilities_on_a_lattice_of_outputs(q):
    """Noise of scale tables / epsilon, written out: its probabilities at all outputs near both data sets."""
    scale, outputs = {0: 1, 1: 1, 2: 3}[q] / 0.7, np.arange(-6, 9)
    log_mass = -np.abs(outputs[:, None] - np.arange(5)) / scale
    bins = (Bins(-1, 1, 2),) * q
    rng = np.random.default_rng(1)
    for _relation, rows, others in list(small_pairs(q, 1)) + [
        (None, [(rng.choice(VALUES), PREDICTORS[q][0])] * 4, [(2.5, PREDICTORS[q][-1])] * 3) for _ in range(3)
    ]:
        ours, theirs = (Tables.of(records(part, q), Bins(0, 3, 3), bins).flat.astype(int) for part in (rows, others))
        # the noise is independent: the largest ratio over all outputs is the product of those of the cells
        by_cell = [(log_mass[:, a] - log_mass[:, b]).max() for a, b in zip(ours, theirs, strict=True)]
        assert ratio(DECLARED, records(rows, q), records(others, q)) == pytest.approx(sum(by_cell), abs=1e-12)


@pytest.mark.parametrize(("epsilon", "q", "scale"), [(0.5, 0, 2.0), (0.5, 1, 2.0), (3.0, 3, 2.0)])
def test_the_budget_is_split_over_the_tables(epsilon, q, scale):
    data = Records(np.array([0.5, 99.0]), np.ones((2, q + 1)))
    made = MECHANISMS["noisy_tables"].apply(context("normal", data), DECLARED | {"epsilon": epsilon})
    assert isinstance(made.counts, DiscreteLaplaceCounts)
    assert made.counts.scale == made.public.scale == pytest.approx(scale, rel=1e-12)
    assert made.epsilon == epsilon
    assert made.counts.counts.sum() == 2 * {0: 1, 1: 1, 3: 6}[q]
    assert made.public.noisy.outcome.shape == (max(q, 1), 2 if q else 1, 3)
    assert made.public.noisy.pairs.shape == (q * (q - 1) // 2, 2 if q else 1, 2 if q else 1)
    assert (made.public.noisy.flat == np.round(made.public.noisy.flat)).all()


def test_noise_depends_on_the_declarations_and_not_on_the_records():
    noise = []
    for values, more in [([0.5], {}), ([1.5, 2.5, 2.5], {}), ([0.5], {"epsilon": 0.6}), ([0.5], {"high": 3.5})]:
        made = MECHANISMS["noisy_tables"].apply(context("normal", intercept_only(np.array(values))), DECLARED | more)
        noise.append((made.public.noisy.flat - made.counts.counts).tolist())
    assert noise[0] == noise[1]
    assert noise[0] != noise[2]
    assert noise[0] != noise[3]


def test_a_data_set_without_records_has_tables_too():
    made = MECHANISMS["noisy_tables"].apply(context("normal", Records(np.empty(0), np.ones((0, 2)))), DECLARED)
    assert made.counts.counts.tolist() == [0.0] * 6


def context(family, data):
    return Context(FAMILIES[family], data, Address(1, 1, 1, 1, 0))


def expected_table(distribution, outcome, x_bins, mean, sd, n):
    """Expected counts (rows, bins) by sums over 4,000 quantiles of a normal predictor, from scipy's distribution functions."""
    edges = np.exp(outcome.edges) if outcome.log else outcome.edges
    inner = np.ceil(edges[1:-1]) - 1 if isinstance(distribution(np.zeros(1)).dist, stats.rv_discrete) else edges[1:-1]
    x = mean + sd * stats.norm.ppf((np.arange(4000) + 0.5) / 4000) if x_bins else np.zeros(1)
    below = np.column_stack([np.zeros(len(x)), *(distribution(x).cdf(edge) for edge in inner), np.ones(len(x))])
    row = x_bins.of(x) if x_bins else np.zeros(1, dtype=int)
    counts = np.zeros((x_bins.number if x_bins else 1, outcome.number))
    np.add.at(counts, row, np.diff(below, axis=1))
    return counts * n / len(x)


def logistic(x):
    return 1 / (1 + np.exp(-x))


CASES = {
    # name: family, distribution at predictors x, bounds and bins of the outcome, with a predictor, draws that are known
    "normal": ("normal", lambda x: stats.norm(2 + 0 * x, 1.5), (-3, 8, 12), False, {"beta": [2.0], "sigma": 1.5}),
    "linear": ("normal", lambda x: stats.norm(2 - 0.7 * x, 1.5), (-5, 9, 14), True, {"beta": [2.0, -0.7], "sigma": 1.5}),
    "lognormal": (
        "lognormal", lambda x: stats.lognorm(0.8, scale=np.exp(1 + 0.5 * x)), (0.05, 200, 14), True,
        {"beta": [1.0, 0.5], "sigma": 0.8},
    ),
    "beta": ("beta", lambda x: stats.beta(0.5 + 0 * x, 3), (0, 1, 7), False, {"phi": 0.5 / 3.5, "lambda": 3.5}),
    "beta_regression": (
        "beta_regression", lambda x: stats.beta(6 * logistic(0.8 * x - 0.5), 6 * (1 - logistic(0.8 * x - 0.5))), (0, 1, 8), True,
        {"coefficient": [-0.5, 0.8], "lambda": 6.0},
    ),
    "gamma": (
        "gamma_regression", lambda x: stats.gamma(3, scale=np.exp(2 + 0.5 * x) / 3), (0.5, 200, 12), True,
        {"beta": [2.0, 0.5], "shape": 3.0},
    ),
    "poisson": ("poisson", lambda x: stats.poisson(6 + 0 * x), (0, 24, 8), False, {"mu": 6.0}),
    "counts": ("negative_binomial", lambda x: stats.nbinom(2 + 0 * x, 2 / 12), (0, 65, 10), False, {"mu": 10.0, "phi": 2.0}),
    "count_regression": (
        "negative_binomial_regression", lambda x: stats.nbinom(2, 2 / (2 + np.exp(2 + 0.5 * x))), (0, 60, 10), True,
        {"beta": [2.0, 0.5], "phi": 2.0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_table_of_expected_counts_gives_back_the_parameters(name, compiled):
    """Posterior means for 400,000 records are within 4 posterior standard deviations: there are no sampling errors."""
    family, distribution, declared, predictor, truth = CASES[name]
    model = TablesModel(tabled(FAMILIES[family]))
    outcome, x_bins = Bins(*declared, model.tabled.log), Bins(-1, 5, 8) if predictor else None
    # a predictor that is not centred on its bounds, of which some values are beyond them
    counts = expected_table(lambda x: distribution(x / 2), outcome, x_bins, 1.2, 1.6, 400_000)
    public = PublicTables(outcome, (x_bins,) if x_bins else (), Tables(counts[None], np.empty((0, 1, 1))), 2.0, 0.5)
    data = model.stan_data(public, FAMILIES[family].priors)
    settings = SamplerSettings(draws=400, warmup=300, ess_min=50, rhat_max=1.1)
    fit = sample(compiled("noisy_tables"), data, model.inits(public, data), model.parameters, 1, settings)
    assert fit.status == "ok", fit.reason
    draws = model.draws(fit.draws, public)
    assert set(draws) == set(truth)
    assert np.abs(fit.draws["total"].mean() / 400_000 - 1) < 0.01
    for parameter, value in truth.items():
        value = np.array(value) / (np.array([1, 2]) if np.size(value) == 2 else 1)
        error = np.abs(draws[parameter].mean(axis=0) - value)
        assert (error < 4 * draws[parameter].std(axis=0)).all(), (parameter, error, draws[parameter].std(axis=0))
        assert (error < 0.02 * np.abs(value) + 0.002).all()


def test_correlated_predictors_have_a_table_of_their_pair_and_both_slopes(compiled):
    rng = np.random.default_rng(3)
    z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 4000)
    y = 1 + z @ [0.8, -0.4] + 0.6 * rng.standard_normal(4000)
    data = context("normal", Records(y, np.column_stack([np.ones(4000), z])))
    parameters = {"epsilon": 3.0, "low": -1.5, "high": 3.5, "bins": 6, "x_low": -1.5, "x_high": 1.5, "x_bins": 4}
    words = MECHANISMS["noisy_tables"].words(parameters)
    synthesizer = Synthesizer(id="t", mechanism="noisy_tables", parameters=parameters, parents=(), fit="t", words=words)
    source = StanPosteriors(compiled("noisy_tables"), FAMILIES["normal"].priors, SamplerSettings())
    result = Step(synthesizer, data, source).run()
    assert isinstance(result, PublicPosterior)
    draws = result.posterior.draws
    assert set(draws) == {"beta", "sigma"}
    # the errors have standard deviations near 0.03
    np.testing.assert_allclose(draws["beta"].mean(axis=0), [1, 0.8, -0.4], atol=0.15)
    assert draws["sigma"].mean() == pytest.approx(0.6, abs=0.15)


def test_the_largest_ratio_of_the_declared_example_is_epsilon():
    assert ratio(DECLARED, intercept_only(np.empty(0)), intercept_only(np.array([7.0]))) == 0.7
    assert math.isclose(ratio(DECLARED, intercept_only(np.array([0.0])), intercept_only(np.array([7.0]))), 1.4)
