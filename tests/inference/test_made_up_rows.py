"""Noisy tables by a declared distribution function: weights, refusals, and fits with the family's own program."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from formalsynth.contract.program import ProgramUse, broken
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES, program, program_name
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.private import Bins, PublicTables, Tables
from formalsynth.core.registry import forget_own, load
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import SamplerSettings, Synthesizer
from formalsynth.engine.chain import Step
from formalsynth.families.poisson import PoissonFamily
from formalsynth.inference import made_up_rows
from formalsynth.inference.made_up_rows import RowsModel, _projected
from formalsynth.posteriors import StanPosteriors
from formalsynth.stan.compile import compile_program
from formalsynth.stan.generate import generate

for register in (FAMILIES, MECHANISMS):
    register.find()

TWO = {"epsilon": 1.0, "low": -2.0, "high": 4.0, "bins": 12, "x_low": -0.5, "x_high": 1.5, "x_bins": 2, "x_discrete": 1}
SETTINGS = SamplerSettings(draws=600, warmup=300, ess_min=40, rhat_max=1.1)


class OwnCounts(PoissonFamily):
    """Poisson counts without a kind of their own in the program of noisy tables."""

    tabled = None
    distribution = True


def made(family, records, parameters):
    """Private fit of one data set."""
    return MECHANISMS["noisy_tables"].apply(Context(family, records, Address(1, 1, 1, 1, 0)), parameters)


def fitted(family, records, parameters, executable, priors):
    """Fit to the noisy tables of one data set."""
    words = MECHANISMS["noisy_tables"].words(parameters)
    synthesizer = Synthesizer(id="t", mechanism="noisy_tables", parameters=parameters, parents=(), fit="t", words=words)
    source = StanPosteriors(executable, priors, SETTINGS)
    return Step(synthesizer, Context(family, records, Address(1, 1, 1, 1, 0)), source).run().posterior


def test_cells_are_the_probabilities_of_the_bins():
    """Three bins of counts: 0 to 2, 3 to 5, and the rest."""
    release = made(OwnCounts(), Records(np.arange(9.0), np.ones((9, 1))), {"epsilon": 1.0, "low": 0.0, "high": 9.0, "bins": 3})
    assert isinstance(release.model, RowsModel)
    cells = release.model.cells({"mu": np.array([0.5, 4.0])}, release.public)
    upto = stats.poisson.cdf([[2, 5]], np.array([[0.5], [4.0]]))
    assert cells[:, 0, :] == pytest.approx(np.diff(np.column_stack([[0, 0], upto, [1, 1]]), axis=1), abs=1e-9)


def test_weights_are_the_likelihood_of_the_noisy_counts_over_that_of_the_made_up_records():
    """The weighted draws of a wide proposal have the posterior of a lattice, with the noise summed out."""
    generator = np.random.default_rng(2)
    records = Records(generator.poisson(3.0, 300).astype(float), np.ones((300, 1)))
    release = made(OwnCounts(), records, {"epsilon": 1.0, "low": 0.0, "high": 9.0, "bins": 3})
    model, public = release.model, release.public
    pseudo, weights = model._made_up(public)
    # the prior gamma(1, 0.001) and the made-up records
    shape, rate = 1 + weights @ pseudo.x, 0.001 + weights.sum()
    draws = {"mu": generator.gamma(shape, 1 / rate, 4000)}
    resampled = model.draws(draws, public)["mu"]
    mu, total = np.linspace(2, 4.5, 400)[:, None], np.arange(150.0, 450)
    cells = model.cells({"mu": mu.ravel()}, public)[:, 0, :]
    noise = np.arange(-40, 41)
    mass = np.exp(-np.abs(noise)) / np.exp(-np.abs(noise)).sum()
    likelihood = np.ones((400, 300))
    for k, count in enumerate(public.noisy.flat):
        rates = np.maximum(cells[:, k, None] * total, 1e-12)
        likelihood *= sum(m * stats.poisson.pmf(count - z, rates) for m, z in zip(mass, noise, strict=True))
    density = likelihood.sum(axis=1) * stats.gamma.pdf(mu.ravel(), 1, scale=1000)
    density /= density.sum()
    mean = density @ mu.ravel()
    sd = np.sqrt(density @ (mu.ravel() - mean) ** 2)
    assert abs(resampled.mean() - mean) < 0.25 * sd
    assert resampled.std() == pytest.approx(sd, rel=0.2)


def test_many_made_up_records_are_evaluated_a_few_at_a_time(monkeypatch):
    """The same weights, and predictions of all of them, without a matrix of all draws and all records."""
    generator = np.random.default_rng(3)
    records = Records(generator.poisson(3.0, 900).astype(float), np.ones((900, 1)))
    release = made(OwnCounts(), records, {"epsilon": 1.0, "low": 0.0, "high": 9.0, "bins": 3})
    draws = {"mu": generator.gamma(900, 1 / 300, 100)}
    whole = release.model._log_weight(draws, release.public)
    monkeypatch.setattr(made_up_rows, "AT_A_TIME", 50)
    assert release.model._log_weight(draws, release.public) == pytest.approx(whole, rel=1e-10)
    predicted = release.model._predicted({"mu": np.repeat([1.0, 50.0], 25)}, release.public)
    assert len(predicted) > 800
    by_draw = predicted.x[:800].reshape(-1, 50)
    assert (by_draw[:, :25] < 15).all() and (by_draw[:, 25:] > 15).all()  # each from its own draw, in every part


def test_draws_far_from_the_posterior_are_refused():
    release = made(OwnCounts(), Records(np.full(500, 4.0), np.ones((500, 1))), {"epsilon": 1.0, "low": 0, "high": 9, "bins": 9})
    with pytest.raises(ValueError, match="effective draws of 50, fewer than 40"):
        release.model.draws({"mu": np.linspace(0.1, 20, 50)}, release.public)


@pytest.mark.parametrize(
    ("family", "columns", "changes", "message"),
    [
        ("normal", 3, {}, "at most 1 predictor"),
        ("beta_regression", 2, {"low": -1.0, "high": 1.0}, "noisy tables of proportions need bins from 0 to 1"),
    ],
)
def test_tables_without_a_model_are_refused(family, columns, changes, message):
    with pytest.raises(ValueError, match=message):
        made(FAMILIES[family], Records(np.full(4, 0.5), np.ones((4, columns))), TWO | changes)


@given(st.lists(st.integers(-50, 500), min_size=1, max_size=30))
def test_projected_counts_are_positive_with_the_same_sum_and_the_same_order(counts):
    noisy = np.array(counts, dtype=float)
    kept = _projected(noisy)
    assert (kept >= 0).all()
    assert kept.sum() == pytest.approx(max(noisy.sum(), 1.0))
    assert (np.diff(kept[np.argsort(noisy)]) >= 0).all()


def two_groups(generator, error):
    """Records with a predictor of 0 and 1, and the slope 0.8."""
    x = (generator.random(2000) < 0.4) * 1.0
    return Records(1 + 0.8 * x + error, np.column_stack([np.ones(2000), x]))


@pytest.mark.stan
def test_a_predictor_of_two_values_has_the_right_slope(compiled):
    generator = np.random.default_rng(3)
    records, family = two_groups(generator, 0.6 * generator.standard_normal(2000)), FAMILIES["normal"]
    posterior = fitted(family, records, TWO, compiled("linear_regression"), family.priors)
    slope = posterior.draws["beta"][:, 1]
    assert 0.02 < slope.std() < 0.06
    assert abs(slope.mean() - 0.8) < 4.5 * slope.std()
    assert posterior.fit_p > 1e-5


UNIFORM = {"epsilon": 1.0, "low": -2.0, "high": 4.0, "bins": 12, "x_low": 0.0, "x_high": 1.0, "x_bins": 8, "x_closed": 1}


@pytest.mark.stan
@pytest.mark.parametrize("shape", [(1.0, 1.0), (1.0, 4.0), (0.3, 0.3)])
def test_a_predictor_between_its_bounds_has_the_right_slope_whatever_its_distribution(shape, compiled):
    """Uniform, skewed, and with most values at both ends: with normal predictors the slope is off by up to 5 errors."""
    generator, family = np.random.default_rng(6), FAMILIES["normal"]
    x = generator.beta(*shape, 4000)
    records = Records(0.5 + 0.8 * x + 0.6 * generator.standard_normal(4000), np.column_stack([np.ones(4000), x]))
    posterior = fitted(family, records, UNIFORM, compiled("linear_regression"), family.priors)
    slope = posterior.draws["beta"][:, 1]
    assert 0.02 < slope.std() < 0.12
    assert abs(slope.mean() - 0.8) < 4.5 * slope.std()
    assert posterior.fit_p > 1e-5


def test_the_density_of_a_closed_predictor_is_within_its_bins_and_leans_to_the_fuller_side():
    model = made(FAMILIES["normal"], Records(np.zeros(8), np.column_stack([np.ones(8), np.linspace(0, 0.9, 8)])), UNIFORM).model
    noisy = Tables(np.full((1, 8, 12), 10.0) * np.arange(1, 9)[None, :, None], np.empty((0, 8, 8)))
    points, share, row = model._points(PublicTables(Bins(-2, 4, 12), (Bins(0, 1, 8),), noisy, 1.0, 1.0))
    assert points[:, 1].min() > 0
    assert points[:, 1].max() < 1
    assert (np.floor(points[:, 1] * 8) == row).all()
    assert np.bincount(row, share) == pytest.approx(np.ones(8))
    assert (np.bincount(row, share * points[:, 1]) * 8 > np.arange(8) + 0.5).all()


def test_a_predictor_is_discrete_or_closed():
    with pytest.raises(ValueError, match="cannot have both x_discrete: 1 and x_closed: 1"):
        made(FAMILIES["normal"], Records(np.zeros(4), np.ones((4, 2))), UNIFORM | {"x_discrete": 1})


GUMBEL = Path(__file__).parents[2].joinpath("examples", "delays.stan").read_text(encoding="utf-8")


@pytest.mark.stan
def test_a_program_with_log_cdf_is_fitted_to_noisy_tables(cmdstan, tmp_path):
    path, generator = tmp_path / "gumbel.stan", np.random.default_rng(4)
    path.write_text(GUMBEL, encoding="utf-8")
    compile_program(path, path.with_suffix(""), cmdstan)
    try:
        load([str(path)])
        family = FAMILIES[program_name(path)]
        use = ProgramUse(data={}, lower=-2, upper=6, predictors=2)
        assert broken(family, path.with_suffix(""), [use]) == []
        program(family).bind(lambda data, draws, seed: generate(path.with_suffix(""), data, draws, seed), {})
        records = two_groups(generator, generator.gumbel(scale=0.6, size=2000))
        posterior = fitted(family, records, TWO, path.with_suffix(""), {})
        for name, truth in (("beta", [1.0, 0.8]), ("sigma", 0.6)):
            draws = posterior.draws[name]
            assert (np.abs(draws.mean(axis=0) - truth) < 4.5 * draws.std(axis=0)).all(), name
            assert (draws.std(axis=0) < 0.08).all()
        assert posterior.fit_p > 1e-5
    finally:
        forget_own()
