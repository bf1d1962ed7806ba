"""Goodness-of-fit test of a family on noisy tables, from public numbers only: it costs no privacy."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from formalsynth.core.arrays import Draws
from formalsynth.core.family import StanData
from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth.core.private import PublicModel, PublicTables


def p_value(model: PublicModel, public: PublicTables, stan_data: StanData, draws: Draws) -> float:
    """Compute the p value of a goodness-of-fit test: small if noisy and fitted counts differ by more than chance explains.

    The statistic is the sum of squared residuals of the noisy counts, each divided by its variance, or of squared whitened
    residuals if several tables count the same records. Its null distribution is approximated by a gamma distribution, whose
    mean is the number of cells minus the number of free values. The variance allows for the heavy tails of the noise and of
    small counts.

    Args:
        model: fitted model.
        public: noisy tables.
        stan_data: data of the model's Stan program.
        draws: posterior draws of the family's parameters.
    """
    expected, free = model.discrepancy(public, stan_data, draws)
    residual, noise = public.noisy.by_column - expected, discrete_laplace_variance(public.scale)
    spread = expected + noise
    whiten = np.asarray(stan_data.get("whiten", np.empty(0)))
    z = whiten @ residual if whiten.size else residual / np.sqrt(spread)
    cells = len(residual)
    left = max(cells - free, 1)
    fourth = expected + _fourth_cumulant(public.scale)
    variance = (2 * cells + float((fourth / spread**2).sum())) * left / cells
    return float(special.gammaincc(left**2 / variance, float(z @ z) * left / variance))


def _fourth_cumulant(scale: float) -> float:
    """Fourth cumulant of discrete Laplace noise, the difference of two geometric variables."""
    ratio, success = math.exp(-1 / scale), -math.expm1(-1 / scale)
    return 2 * ratio * (success**2 + 6 * ratio) / success**4
