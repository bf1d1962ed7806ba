"""Distributions of single columns from noisy counts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formalsynth_release.levels import levels_of
from formalsynth_release.margins import decreasing_outwards, shares_of
from formalsynth_release.schema import Column


def of_column(**declared):
    return levels_of(Column.model_validate({"release": "synthesized"} | declared))


def mean_shares(levels, counts):
    """Mean over 50 draws of noise of the shares of 2,000 rows with some counts, and none in the other levels."""
    counts, generator = np.pad(np.array(counts, dtype=float), (0, len(levels) - len(counts))), np.random.default_rng(1)
    noisy = counts + np.rint(generator.laplace(0, 20, (50, len(levels))))
    return np.mean([shares_of(levels, drawn, 20.0, 2000.0) for drawn in noisy], axis=0)


def test_noise_of_empty_categories_does_not_lower_large_shares():
    """If counts were cut at 0 and divided by their sum, the noise of 38 empty categories would lower 0.5 to 0.41."""
    levels = of_column(type="category", categories=[f"c{k}" for k in range(40)])
    assert mean_shares(levels, [1000, 1000])[:2].mean() == pytest.approx(0.5, abs=0.03)


def test_noise_of_empty_bins_does_not_lower_a_share_of_zeros():
    """A third of the rows are 0; amounts are in five of forty bins."""
    shares = mean_shares(of_column(type="whole", lower=0, upper=400, bins=41, own_zero=True), [700, 200, 400, 400, 200, 100])
    assert shares[0] == pytest.approx(0.35, abs=0.015)
    assert shares[6:].sum() < 0.05


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(-(10**7), 10**7), min_size=13, max_size=13), st.floats(0.01, 1e5),
    st.floats(1, 1e7), st.sampled_from(["category", "whole"]),
)  # fmt: skip
def test_whatever_the_noisy_counts_shares_add_up_to_1(noisy, scale, rows, kind):
    declared = {
        "category": {"categories": [f"c{k}" for k in range(12)]},
        "whole": {"lower": 0, "upper": 110, "bins": 12, "own_zero": True},
    }
    levels = of_column(type=kind, may_be_missing=True, **declared[kind])
    shares = shares_of(levels, np.array(noisy, dtype=float)[: len(levels) + 1], scale, rows)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()


def test_noise_in_an_empty_last_bin_is_no_second_mode():
    noisy = np.array([3.0, -4, 60, 400, 500, 90, 2, -3, 1, 30])
    pooled = decreasing_outwards(noisy, 100.0, np.ones(10))
    assert (pooled[2:6] == noisy[2:6]).all()
    assert pooled[6:] == pytest.approx(7.5)
    assert (np.diff(pooled[:2]) >= 0).all()


@given(st.lists(st.integers(-100, 1000), min_size=4, max_size=40), st.floats(1, 1000))
def test_sums_stay_and_ends_decrease_outwards(counts, variance):
    noisy = np.array(counts, dtype=float)
    pooled = decreasing_outwards(noisy, variance, np.ones(len(noisy)))
    assert pooled.sum() == pytest.approx(noisy.sum())
    standing = np.flatnonzero(noisy > 5 * np.sqrt(variance))
    if len(standing):
        assert (np.diff(pooled[standing[-1] + 1 :]) <= 1e-9).all()
        assert (np.diff(pooled[: standing[0]]) >= -1e-9).all()
    else:
        assert (pooled == noisy).all()


def test_a_mode_in_narrow_bins_is_kept_and_adds_nothing_to_the_tail():
    """Bins on a log scale with two decimals: those at the lower end have few values, and are narrower than others."""
    levels = of_column(type="number", lower=0.01, upper=1e5, decimals=2, scale="log", bins=20)
    assert levels.widths.max() > 1.5 * levels.widths.min()
    values = np.exp(2 * np.random.default_rng(7).standard_normal(60_000)).round(2).clip(0.01, 1e5)
    counts = np.bincount(levels.of(pd.Series(values)), minlength=len(levels)).astype(float)
    shares = shares_of(levels, counts, 0.5, 60_000.0)
    assert np.abs(shares * 60_000 - counts).max() < 300
    assert shares[-4:].sum() * 60_000 < 2
