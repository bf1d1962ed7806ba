"""Families whose pseudo posterior is summed over a lattice: Poisson, Beta and negative binomial."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import expit, log_expit, logit

from formalsynth.audit.exact import exact
from formalsynth.audit.lattice import Coordinates, LatticePosteriors
from formalsynth.core.arrays import Array, Records
from formalsynth.core.family import Family


@exact("poisson")
def exact_poisson(family: Family, universe: Records, priors: Mapping[str, float]) -> LatticePosteriors:
    """Posterior in ``log mu``; the weighted posterior is a gamma distribution, with which the tests compare the lattice."""
    centre = np.log(universe.x.mean() + 0.5)
    return LatticePosteriors(
        family,
        universe,
        Coordinates(
            start=np.array([centre]),
            draws=lambda points: {"mu": np.exp(points[:, 0])},
            log_prior=lambda points: _log_gamma(points[:, 0], priors),
            support=((-20.0, 15.0),),
        ),
    )


@exact("negative_binomial")
def exact_negative_binomial(family: Family, universe: Records, priors: Mapping[str, float]) -> LatticePosteriors:
    """Posterior in ``log mu`` and ``log (1 / phi)``, with a half-Cauchy prior on ``1 / phi``."""
    mean = universe.x.mean() + 0.5
    scale = np.log(priors["dispersion"])
    excess = float(np.clip((universe.x.var() - mean) / mean**2, 1e-3, 1e3))

    def log_prior(points: Array) -> Array:
        # the density of v = log(1 / phi) has the Jacobian e^v
        v = points[:, 1]
        return np.asarray(_log_gamma(points[:, 0], priors) + v - np.logaddexp(0, 2 * (v - scale)))

    return LatticePosteriors(
        family,
        universe,
        Coordinates(
            start=np.array([np.log(mean), np.log(excess)]),
            draws=lambda points: {"mu": np.exp(points[:, 0]), "phi": np.exp(-points[:, 1])},
            log_prior=log_prior,
            support=((-20.0, 15.0), (-18.0, 18.0)),
        ),
    )


@exact("beta")
def exact_beta(family: Family, universe: Records, priors: Mapping[str, float]) -> LatticePosteriors:
    """Posterior in ``logit phi`` and ``log (lambda - lambda_min)``."""
    lowest, shape = priors["lambda_min"], priors["lambda_shape"]
    middle = float(np.clip(universe.x.mean(), 0.02, 0.98))
    precision = float(np.clip(middle * (1 - middle) / max(universe.x.var(), 1e-6) - 1, 0.2, 1e4))

    def log_prior(points: Array) -> Array:
        t, v = points[:, 0], points[:, 1]
        return log_expit(t) + log_expit(-t) + v - (shape + 1) * np.log(lowest + np.exp(v))

    def draws(points: Array) -> dict[str, Array]:
        return {"phi": expit(points[:, 0]), "lambda": lowest + np.exp(points[:, 1])}

    return LatticePosteriors(
        family,
        universe,
        Coordinates(
            start=np.array([logit(middle), np.log(precision)]),
            draws=draws,
            log_prior=log_prior,
            support=((-12.0, 12.0), (-12.0, 10.0)),
        ),
    )


def _log_gamma(log_mu: Array, priors: Mapping[str, float]) -> Array:
    """Log density of ``log mu`` under ``mu ~ gamma(shape, rate)``, up to a constant."""
    log_density: Array = priors["shape"] * log_mu - priors["rate"] * np.exp(log_mu)
    return log_density
