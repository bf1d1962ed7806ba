"""The public functions of the library."""

import doctest
import inspect
import operator
import os
import re
import subprocess
import sys
import venv

import matplotlib.pyplot as plt
import numpy as np
import pytest

import formalsynth as fs
from conftest import REPOSITORY

X = [3, 5, 4, 8, 2, 4, 6, 1, 0, 3]


@pytest.fixture(scope="module")
def plain(cmdstan):
    return fs.fit("poisson", X, seed=3)


@pytest.mark.stan
def test_the_examples_run(cmdstan):
    import formalsynth.api

    for module, number in ((formalsynth.api, 30), (fs.plots, 4)):
        examples = doctest.testmod(module)
        assert examples.failed == 0
        assert examples.attempted > number
    plt.close("all")


def test_importing_the_library_imports_nothing_that_takes_long():
    others = {"numpy", "pandas", "scipy", "yaml", "snakemake", "matplotlib"}
    subprocess.run([sys.executable, "-c", f"import sys, formalsynth; assert not {others} & set(sys.modules)"], check=True)


PARTS = (r"Args:\n", r"(Returns|Raises):\n", r"Example:\n +>>> ")


@pytest.mark.parametrize("name", [*sorted(set(fs.__all__) - {"Posterior", "plots"}), "plots.violins", "plots.distributions"])
def test_every_public_function_documents_its_arguments_and_result_with_an_example(name):
    text = inspect.getdoc(operator.attrgetter(name)(fs))
    assert [part for part in PARTS if not re.search(part, text)] == []


def test_type_checkers_and_python_know_the_same_names():
    stub = (REPOSITORY / "workflow" / "lib" / "formalsynth" / "__init__.pyi").read_text()
    assert sorted(re.findall(r'"(\w+)"', stub)) == sorted(fs.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        fs.no_such_name  # noqa: B018


@pytest.mark.stan
def test_draws_have_the_axes_of_arviz(plain):
    groups = plain.arviz()
    np.testing.assert_array_equal(groups["posterior"]["mu"], [plain.draws["mu"]])
    assert list(groups) == ["posterior"]


@pytest.mark.stan
def test_plots_show_the_bounds_and_the_data(plain):
    axis = fs.plots.violins({"plain": plain})
    assert axis.get_ylabel() == "Lipschitz bound"
    assert axis.dataLim.y1 == pytest.approx(plain.by_record.max())
    axis = plt.figure().subplots()
    assert fs.plots.distributions(X, fs.synthesize(plain, 3), axis) is axis
    np.testing.assert_array_equal(np.unique(axis.lines[-1].get_xdata()[1:]), np.unique(X))
    assert [text.get_text() for text in axis.get_legend().texts] == ["Synthetic", "Data"]
    plt.close("all")


@pytest.mark.stan
def test_a_fit_is_the_conjugate_posterior(plain):
    """With the gamma prior, the posterior of a Poisson mean is gamma: its mean and standard deviation are known."""
    from formalsynth.core.family import FAMILIES

    priors = FAMILIES["poisson"].priors
    shape, rate = priors["shape"] + sum(X), priors["rate"] + len(X)
    mu = plain.draws["mu"]
    error = np.sqrt(shape) / rate / np.sqrt(plain.ess)
    assert abs(mu.mean() - shape / rate) < 5 * error
    assert plain.rhat < 1.05


@pytest.mark.stan
def test_bounds_are_the_largest_log_likelihoods_of_the_records(plain):
    from scipy.stats import poisson

    logs = np.abs(poisson.logpmf(np.array(X), plain.draws["mu"][:, None]))
    np.testing.assert_allclose(plain.by_record, logs.max(axis=0))
    np.testing.assert_allclose(fs.record_bounds("poisson", X, plain.draws), plain.by_record)
    assert plain.epsilon == pytest.approx(2 * logs.max())
    half = fs.fit("poisson", X, np.full(len(X), 0.5))
    logs = np.abs(poisson.logpmf(np.array(X), half.draws["mu"][:, None]))
    np.testing.assert_allclose(half.by_record, logs.max(axis=0) / 2)


@pytest.mark.stan
def test_draws_depend_on_the_seed_only(plain):
    again, other = fs.fit("poisson", X, seed=3), fs.fit("poisson", X, seed=4)
    np.testing.assert_array_equal(again.draws["mu"], plain.draws["mu"])
    assert not np.array_equal(other.draws["mu"], plain.draws["mu"])
    np.testing.assert_array_equal(fs.synthesize(plain, 3, seed=1), fs.synthesize(again, 3, seed=1))


SALARIES = np.round(np.random.default_rng(8).lognormal(11, 0.6, 100))
"""Whole dollars: their quotients by a unit are the same for data and unit times 1000."""


@pytest.mark.stan
def test_data_and_unit_times_1000_change_nothing(cmdstan):
    """Draws, weights, bounds and claims are equal; synthetic data are 1000 times as large."""

    def chain(times):
        plain = fs.fit("lognormal", times * SALARIES, unit=times * 1e5)
        weighted = fs.fit("lognormal", times * SALARIES, fs.lipschitz_weights(plain), unit=times * 1e5)
        ranged = fs.range_averaged(plain, 0.5, 1.5)
        return [plain, weighted, ranged, fs.censor("lognormal", times * SALARIES, 3.0, unit=times * 1e5)]

    for ours, theirs in zip(chain(1.0), chain(1000.0), strict=True):
        for name in ("sigma", "beta"):
            np.testing.assert_array_equal(theirs.draws[name], ours.draws[name])
        np.testing.assert_array_equal(theirs.weights, ours.weights)
        np.testing.assert_array_equal(theirs.by_record, ours.by_record)
        assert (theirs.epsilon, theirs.unit) == (ours.epsilon, 1000 * ours.unit)
        np.testing.assert_allclose(fs.synthesize(theirs), 1000 * fs.synthesize(ours), rtol=1e-14)


@pytest.mark.stan
def test_bounds_are_log_densities_in_the_unit(cmdstan):
    """A density of amounts in thousands is 1000 times that of amounts in dollars."""
    from scipy.stats import lognorm

    fit = fs.fit("lognormal", SALARIES, unit=1000.0)
    mean, sigma = fit.draws["beta"][:, :1], fit.draws["sigma"][:, None]
    logs = lognorm.logpdf(SALARIES, sigma, scale=1000 * np.exp(mean)) + np.log(1000)
    np.testing.assert_allclose(fit.by_record, np.abs(logs).max(axis=0))
    np.testing.assert_allclose(fs.record_bounds("lognormal", SALARIES, fit.draws, unit=1000.0), fit.by_record)
    assert abs(np.log(np.median(fs.synthesize(fit)) / np.median(SALARIES))) < 0.5


@pytest.mark.stan
def test_synthetic_data_are_at_most_one_set_for_each_draw(plain):
    with pytest.raises(ValueError, match="sets: given 0; allowed: 1 to 1000"):
        fs.synthesize(plain, 0)
    with pytest.raises(ValueError, match="sets: given 1001"):
        fs.synthesize(plain, 1001)


def test_a_noisy_table_has_the_declared_noise():
    edges = [0, 2, 4, 10]
    exact = np.histogram(X, edges)[0]
    noise = np.array([fs.noisy_table(X, edges, epsilon=1.0, seed=seed) - exact for seed in range(4000)])
    ratio = np.exp(-1.0)
    variance = 2 * ratio / (1 - ratio) ** 2
    assert abs(noise.mean()) < 5 * np.sqrt(variance / noise.size)
    assert noise.var() == pytest.approx(variance, rel=0.15)


def test_every_value_is_in_one_bin_of_a_noisy_table():
    values = [-1e300, 0.0, 1.0, 1.5, 2.0, 7.0, np.inf, np.nan]
    assert fs.noisy_table(values, [0, 1, 2], epsilon=29.0, seed=1).tolist() == [2, 6]


def test_a_noisy_table_without_a_seed_is_new_each_time():
    tables = {tuple(fs.noisy_table(X, [0, 5, 10], epsilon=0.01)) for _ in range(5)}
    assert len(tables) > 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fs.fit("poisson", X, [0.5] * 3), r"weights: given an array \(3,\); allowed: 10 numbers from 0 to 1"),
        (lambda: fs.fit("poisson", X, [1.5] * 10), "allowed: 10 numbers from 0 to 1"),
        (lambda: fs.censor("lognormal", SALARIES, 3.0, unit=0.0), "unit: given 0; allowed: a positive number"),
        (lambda: fs.fit("beta", X), "data: the family beta allows"),
        (lambda: fs.noisy_table(X, [9, 0], 1.0), "edges: allowed: at least two increasing numbers"),
        (lambda: fs.noisy_table(X, [0, 9], 0.0), "epsilon: given 0; allowed: a positive number"),
    ],
)
def test_a_wrong_argument_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fs.fit("gauss", X), "family: given 'gauss'; allowed: .*beta, .*poisson"),
        (lambda: fs.load("no_file"), "data file: given 'no_file'; allowed: .*fatigue"),
        (lambda: fs.simulate("nobody", 3), "population: given 'nobody'; allowed: .*incomes"),
        (lambda: fs.privacy_audit("poisson", X, "none"), "mechanism: given 'none'; allowed: .*weighted"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_are_allowed(call, words):
    with pytest.raises(KeyError, match=words):
        call()


@pytest.mark.slow
def test_the_library_installs_alone_and_runs_the_notebook_and_all_examples(tmp_path, cmdstan):
    """In an empty environment: first without Snakemake or a package for figures, then with the extra for notebooks."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"

    def run(*arguments):
        subprocess.run([python, *arguments], check=True, timeout=900, cwd=tmp_path, env=os.environ | {"MPLBACKEND": "Agg"})

    def install(extra):
        run("-m", "pip", "install", "--quiet", "--no-compile", f"{REPOSITORY}{extra}")

    install("")
    run(
        "-c",
        "import doctest, importlib.util, formalsynth.api as api; "
        "assert not any(map(importlib.util.find_spec, ['snakemake', 'seaborn', 'matplotlib', 'formalsynth_workflow'])); "
        "examples = doctest.testmod(api); assert examples.attempted > 30 and not examples.failed, examples",
    )
    install("[notebook]")
    notebook, examples = REPOSITORY / "docs" / "tutorials" / "python.md", REPOSITORY / "examples"
    run("-m", "jupytext", "--to", "ipynb", "--set-kernel", "python3", "--output", "python.ipynb", notebook)
    run(python.with_name("jupyter-execute"), "python.ipynb")
    for name in ("range_restricted", "censoring", "own_program"):
        run(examples / f"{name}.py")
