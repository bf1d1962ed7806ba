"""Exact delta of normal releases against simulated releases, for normal and skewed confidential data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from formalsynth.audit.normal_release import fitted_pair, release_delta
from formalsynth.core.arrays import Array
from formalsynth.core.constraints import Count, NonNegative
from formalsynth.core.gaussian import gaussian_delta
from formalsynth_workflow.papers.zcdp.accounting import APPROXIMATE, ZCDP
from formalsynth_workflow.papers.zcdp.unknown_variance import LOCAL
from formalsynth_workflow.study import Arm, Outcome, Run, study


@dataclass(frozen=True)
class Release:
    """Release between two neighbouring data sets."""

    label: str
    guarantee: str
    variables: int = 1
    skewed: bool = False
    """True if the confidential data are exponential instead of normal quantiles."""
    known: bool = False
    """True if the covariance matrix is known: variances 1 and correlations 0.6."""
    bayes: bool = False
    """True if the mean of a data set is drawn from its posterior, with a known covariance matrix."""
    added: float = 0.0
    """Multiple of the identity that is added to the fitted covariance matrix."""


RELEASES: dict[str, Release] = {
    "known": Release("known variance", ZCDP, known=True),
    "known_skewed": Release("known variance, skewed data", ZCDP, known=True, skewed=True),
    "known_several": Release("three variables, known covariance", ZCDP, 3, known=True),
    "bayes_several": Release("three variables, Bayesian, known covariance", ZCDP, 3, known=True, bayes=True),
    "fitted": Release("fitted variance", LOCAL),
    "fitted_skewed": Release("fitted variance, skewed data", LOCAL, skewed=True),
    "added": Release("fitted and added variance", APPROXIMATE, added=1.0),
    "fitted_several": Release("three variables, fitted covariance", LOCAL, 3),
    "added_several": Release("three variables, fitted and added covariance", APPROXIMATE, 3, skewed=True, added=1.0),
}
"""Releases by id."""


@study(
    arms={id: Arm(release.guarantee, f"{release.label}.".capitalize()) for id, release in RELEASES.items()},
    data=lambda settings: "simulated data, quantiles of a distribution",
)
def losses(run: Run, *, n_syn: Count, epsilon: NonNegative) -> Outcome:
    """Simulate releases of ``n_syn`` records, each a replicate, and their losses from the densities of all records.

    Column ``excess`` is ``max(0, 1 - exp(epsilon - loss))``, whose mean is delta; ``exact`` is delta; ``gap`` is the difference.
    """
    import pandas as pd

    rows = []
    for arm in run.arms:
        release = RELEASES[arm.name]
        data, neighbour = neighbours(release, run.n)
        exact = exact_delta(release, data, neighbour, int(n_syn), epsilon)
        for replicate in run.replicates:
            generator = run.address(replicate).generator("synthesize", [list(RELEASES).index(arm.name)])
            loss = simulated_loss(release, data, neighbour, int(n_syn), generator)
            excess = max(0.0, -math.expm1(epsilon - loss))
            rows.append(
                {"replicate": replicate, "synthesizer": arm.id, "loss": loss, "excess": excess, "exact": exact}
                | {"gap": excess - exact}
            )
    return Outcome(pd.DataFrame(rows))


def neighbours(release: Release, n: int) -> tuple[Array, Array]:
    """Confidential data (n, p) and a neighbour: correlated quantiles, of which the last record is replaced."""
    quantile = (np.arange(n - 1) + 0.5) / (n - 1)
    order = [np.random.default_rng(k).permutation(n - 1) for k in range(release.variables)]
    columns = np.column_stack([quantile[places] for places in order])
    others = -np.log1p(-columns) - 1 if release.skewed else ndtri(columns)
    others = np.clip(others @ np.linalg.cholesky(_known(release)).T, -4, 4)
    before, after = np.array([4.0, -2.0, 3.0]), np.array([-3.0, 4.0, 1.0])
    return np.vstack([others, before[: release.variables]]), np.vstack([others, after[: release.variables]])


def exact_delta(release: Release, data: Array, neighbour: Array, n_syn: int, epsilon: float) -> float:
    """Exact delta between the releases of two data sets that differ in the last record."""
    n, others = len(data), data[:-1]
    covariance = _known(release) if release.known else np.cov(others.T, ddof=0).reshape(2 * (release.variables,))
    whiten = np.linalg.inv(np.linalg.cholesky(covariance + release.added * np.eye(release.variables)))
    u, v = (whiten @ (x[-1] - others.mean(axis=0)) for x in (data, neighbour))
    if not release.known:
        return float(release_delta(epsilon, n_syn, *fitted_pair(u[None], v[None], n))[0])
    spread = math.sqrt(1 / n_syn + release.bayes / n)
    return float(gaussian_delta(spread, float(np.linalg.norm(u - v)) / n, epsilon))


def simulated_loss(release: Release, data: Array, neighbour: Array, n_syn: int, generator: np.random.Generator) -> float:
    """Log density of a simulated release from ``data``, minus that from ``neighbour``; both models are fitted to all records."""
    models = []
    for records in (data, neighbour):
        fit = np.cov(records.T).reshape(2 * (release.variables,)) + release.added * np.eye(release.variables)
        models.append((records.mean(axis=0), _known(release) if release.known else fit))
    mean, covariance = models[0]
    draws = generator.multivariate_normal(mean, covariance, n_syn, method="cholesky")
    if release.bayes:
        draws += generator.multivariate_normal(np.zeros(release.variables), covariance / len(data), method="cholesky")
    between = np.eye(n_syn) + release.bayes * np.ones((n_syn, n_syn)) / len(data)
    return _log_density(draws, *models[0], between) - _log_density(draws, *models[1], between)


def _known(release: Release) -> Array:
    return 0.4 * np.eye(release.variables) + 0.6


def _log_density(records: Array, mean: Array, covariance: Array, between: Array) -> float:
    """Log density of records (N, p) with covariance ``between`` times ``covariance``, up to a constant of both data sets."""
    away = records - mean
    inner = np.linalg.solve(covariance, (away.T @ np.linalg.solve(between, away)))
    return float(-(np.trace(inner) + len(records) * np.linalg.slogdet(covariance)[1]) / 2)
