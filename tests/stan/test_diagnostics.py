"""R-hat and effective sample sizes against ArviZ, and against what is known exactly."""

import warnings

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.stan.diagnostics import diagnose

KINDS = {
    "independent": lambda noise: noise,
    "random walk": lambda noise: noise.cumsum(axis=0),
    "heavy tails": lambda noise: noise**5,
    "ties": lambda noise: np.round(2 * noise),
    "two values": lambda noise: np.sign(noise),
    "alternating": lambda noise: np.abs(noise) * np.where(np.arange(len(noise)) % 2, 1, -1)[:, None],
    "negatively correlated": lambda noise: np.diff(noise.cumsum(axis=0), n=5, axis=0, prepend=np.zeros((5, 1))),
    "late start": lambda noise: np.where(np.arange(len(noise)) < len(noise) // 10, 0, noise.T).T,
}


def by_arviz(draws):
    """As ArviZ has it, which gives no R-hat for a single chain: its halves are passed as chains, and are split once more."""
    half = len(draws) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        rhat = array_stats.rhat(draws[: 2 * half].reshape(2, half, -1), chain_axis=0, draw_axis=1)
        bulk = array_stats.ess(draws[None], chain_axis=0, draw_axis=1, method="bulk")
        tail = array_stats.ess(draws[None], chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))
    return float(np.max(rhat)), float(np.min(bulk)), float(np.min(tail))


@given(
    size=st.integers(8, 1200),
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_it_agrees_with_arviz(size, kinds, seed):
    """Effective sizes but for the rounding of sums of up to as many autocorrelations as there are draws."""
    generator = np.random.default_rng(seed)
    draws = np.hstack([KINDS[kind](generator.standard_normal((size, 1))) for kind in kinds])
    (rhat, *sizes), (its_rhat, *its_sizes) = diagnose(draws), by_arviz(draws)
    assert rhat == pytest.approx(its_rhat, rel=3e-15, nan_ok=True)
    assert sizes == pytest.approx(its_sizes, rel=1e-13)


@pytest.mark.parametrize("size", [1000, 1001, 1002, 1003])
def test_it_agrees_with_arviz_to_the_last_digits_for_a_usual_chain(generator, size):
    draws = generator.standard_normal((size, 3))
    assert diagnose(draws) == pytest.approx(by_arviz(draws), rel=3e-15)


@pytest.mark.parametrize("size", [8, 9, 101, 1000])
def test_what_never_moves_has_no_rhat_and_as_many_effective_draws_as_there_are(size):
    rhat, *sizes = diagnose(np.full((size, 2), 3.5))
    assert np.isnan(rhat)
    assert sizes == [size // 2 * 2] * 2 == list(by_arviz(np.full((size, 2), 3.5))[1:])


@pytest.mark.parametrize("harm", [np.nan, np.inf, -np.inf])
def test_a_draw_that_is_no_number_leaves_nothing_to_say(generator, harm):
    draws = generator.standard_normal((100, 2))
    draws[17, 1] = harm
    assert np.isnan(diagnose(draws)).all()
    assert np.isnan(diagnose(generator.standard_normal((7, 2)))).all()


def test_diagnostics_of_independent_draws(generator):
    rhat, bulk, tail = diagnose(generator.standard_normal((4000, 3)))
    assert 0.99 < rhat < 1.01
    # the least of three estimates, each good to a few per cent
    assert 3200 < bulk < 4800
    assert 3000 < tail < 5000


def test_diagnostics_of_a_slow_chain(generator):
    """An autoregression with coefficient 0.9 has (1 - 0.9) / (1 + 0.9) effective draws for each draw."""
    noise = generator.standard_normal(20_000)
    chain = np.empty_like(noise)
    chain[0] = noise[0] / np.sqrt(1 - 0.81)
    for t in range(1, len(chain)):
        chain[t] = 0.9 * chain[t - 1] + noise[t]
    _, bulk, _ = diagnose(chain[:, None])
    assert bulk == pytest.approx(20_000 / 19, rel=0.35)


def test_diagnostics_take_the_worst_column(generator):
    good, drifting = generator.standard_normal(1000), np.linspace(0, 10, 1000) + generator.standard_normal(1000)
    rhat, bulk, _ = diagnose(np.column_stack([good, drifting]))
    assert rhat > 1.5
    assert bulk < 20
    assert (rhat, bulk) == diagnose(drifting[:, None])[:2]
