"""Bins, discrete Laplace noise, and the data that a fit to public tables gets."""

import inspect
import math
from dataclasses import fields

import numpy as np
import pytest
from scipy import stats

from formalsynth.core.arrays import Records
from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth.core.mechanism import Context
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables
from formalsynth.core.tables import BETA, GAMMA
from formalsynth.engine.chain import PublicRequest
from formalsynth.inference.tables_model import TablesModel, nodes_of


def test_values_beyond_the_bounds_are_in_the_end_bins_and_an_edge_in_the_bin_above():
    values = np.array([-np.inf, -5, 0, 0.999, 1, 2.5, 4, 99, np.inf, np.nan])
    assert Bins(0, 4, 4).of(values).tolist() == [0, 0, 0, 0, 1, 2, 3, 3, 3, 0]
    assert Bins(1, 100, 2, log=True).of(np.array([-1.0, 0, 9.9, 10.1, 1e300])).tolist() == [0, 0, 0, 1, 1]
    assert Bins(0, 4, 4).of(np.empty(0)).tolist() == []


@pytest.mark.parametrize("declared", [(1.0, 1.0, 3, False), (2.0, 1.0, 3, False), (0.0, 1.0, 3, True)])
def test_bounds_that_make_no_bins_are_refused(declared):
    with pytest.raises(ValueError, match="bins from"):
        Bins(*declared)


@pytest.mark.parametrize("scale", [0.4, 2.0])
def test_noise_is_a_whole_number_with_the_probabilities_of_discrete_laplace(scale):
    noise = DiscreteLaplaceCounts(np.zeros(40_000), scale).noisy(np.random.default_rng(1), 1)[0]
    assert (noise == np.round(noise)).all()
    ratio = math.exp(-1 / scale)
    at = np.arange(-3, 4)
    expected = (1 - ratio) / (1 + ratio) * ratio ** np.abs(at)
    share = (noise[:, None] == at).mean(axis=0)
    assert (np.abs(share - expected) < 5.5 * np.sqrt(expected / len(noise))).all()
    mass = ratio ** np.abs(np.arange(-400, 401)) * (1 - ratio) / (1 + ratio)
    assert discrete_laplace_variance(scale) == pytest.approx(mass @ np.arange(-400, 401) ** 2)


@pytest.mark.parametrize(("scale", "allowed"), [(1e-3, False), (1 / 31, False), (1 / 30, True), (1e12, True), (1e13, False)])
def test_noise_that_would_always_be_0_is_refused(scale, allowed):
    """At epsilon 50 the probability of no noise rounds to 1; at 1e-25 both geometric variables are the largest integer."""
    if not allowed:
        with pytest.raises(ValueError, match=r"allowed: 0\.0333 to 1e\+12, that is, an epsilon of 1e-12 to 30 for each table"):
            DiscreteLaplaceCounts(np.zeros(3), scale)
        return
    noise = DiscreteLaplaceCounts(np.zeros(1), scale).noisy(np.random.default_rng(1), 20_000)
    assert np.abs(noise).mean() == pytest.approx(scale if scale > 1 else 0, rel=0.05, abs=1e-3)


def test_nothing_that_makes_the_data_of_the_fit_gets_a_record():
    """The request for a posterior, its tables, and the functions of the model: no field and no argument is one of these."""
    kept = {part.type for kind in (PublicRequest, PublicTables) for part in fields(kind)}
    asked = {str(given.annotation) for name in ("stan_data", "inits", "draws")
             for given in inspect.signature(getattr(TablesModel, name)).parameters.values()}  # fmt: skip
    assert not {kind for kind in kept | asked for forbidden in (Records, Context) if forbidden.__name__ in kind.split("[")}
    assert "counts" not in {part.name for part in fields(PublicTables)}


@pytest.mark.parametrize(("mean", "precision"), [(0.14, 3.5), (0.02, 0.6), (0.9, 40.0), (0.5, 400.0)])
def test_nodes_of_shares_give_the_probabilities_of_the_bins(mean, precision):
    outcome = Bins(0, 1, 7)
    nodes = nodes_of(BETA, outcome)
    exact = stats.beta(mean * precision, (1 - mean) * precision)
    log_density = mean * precision * nodes.at + (1 - mean) * precision * nodes.at_other
    shares = np.bincount(nodes.bin, np.exp(log_density + nodes.log_weight), minlength=7)
    np.testing.assert_allclose(shares / shares.sum(), np.diff(exact.cdf(outcome.edges)), atol=2e-4)


@pytest.mark.parametrize(("mean", "shape"), [(10.0, 0.3), (10.0, 3.0), (60.0, 40.0), (1e-3, 2.0), (1e4, 2.0)])
def test_nodes_of_gamma_outcomes_give_the_probabilities_of_the_bins_with_open_ends(mean, shape):
    outcome = Bins(0.5, 200, 12, log=True)
    nodes = nodes_of(GAMMA, outcome)
    log_density = shape * nodes.at - shape / mean * nodes.at_other
    shares = np.bincount(nodes.bin, np.exp(log_density - log_density.max() + nodes.log_weight), minlength=12)
    edges = np.exp(outcome.edges)
    edges[[0, -1]] = 0, np.inf
    np.testing.assert_allclose(shares / shares.sum(), np.diff(stats.gamma(shape, scale=mean / shape).cdf(edges)), atol=2e-4)


@pytest.mark.parametrize("declared", [(0.0, 4.0, 4, False), (0.1, 50.0, 40, True)])
def test_bins_do_not_depend_on_the_layout_of_an_array_in_memory(declared):
    """NumPy's logarithm differs in the last bit between layouts, which must not move a value to another bin."""
    bins = Bins(*declared)
    edges = np.exp(bins.edges) if bins.log else bins.edges
    near = np.concatenate([np.nextafter(edges, end) for end in (-np.inf, np.inf)])
    values = np.concatenate([np.random.default_rng(1).lognormal(size=20_000), *([edges, near] * 50)])
    table = np.zeros((len(values), 3))
    table[:, 1] = values
    layouts = [table[:, 1], np.repeat(values, 2)[::2], values[::-1].copy()[::-1], np.asfortranarray(table)[:, 1]]
    for layout in layouts:
        assert (layout == values).all()
        assert (bins.of(layout) == bins.of(values)).all()
