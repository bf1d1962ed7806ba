"""Intervals for a mean, a correlation and a slope from synthetic data with estimated covariance (zcdp paper, Section 3.1)."""

from __future__ import annotations

import itertools
import math

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.constraints import OpenProportion, ZeroOrOne
from formalsynth_workflow.papers.zcdp.combining import RULES, Estimates, intervals
from formalsynth_workflow.papers.zcdp.study_coverage import SyntheticSets
from formalsynth_workflow.study import Arm, Outcome, Run, study

QUANTITIES = {"mean": 0.0, "correlation": math.atanh(0.5), "slope": 0.5}
"""Values in the population, by quantity: mean of y, Fisher's transform of the correlation, and slope of y on x."""
COMBINATIONS = {
    f"{synthesis}_{rule.lower()}_{quantity}": (synthesis, rule, quantity)
    for synthesis, rule, quantity in itertools.product(("plugin", "bayes"), RULES, QUANTITIES)
}
"""Synthesis, combining rule and quantity of each arm."""


@study(
    arms={
        name: Arm("none", f"The rule {rule} for a {quantity} after {synthesis} synthesis.", SyntheticSets)
        for name, (synthesis, rule, quantity) in COMBINATIONS.items()
    }
)
def quantities(run: Run, *, heteroscedastic: ZeroOrOne = 0, level: OpenProportion = 0.95) -> Outcome:
    """Intervals for quantities of two variables x and y: one row for each replicate and synthesizer.

    Both have variance 1, and their correlation is 0.5. If ``heteroscedastic`` is 1, the standard deviation of y given x is
    proportional to |x|, so the normal model of the synthesizer is wrong.
    """
    import pandas as pd

    parts = []
    for arm in run.arms:
        synthesis, rule, quantity = COMBINATIONS[arm.name]
        m, n_syn = int(arm.parameters["m"]), int(arm.parameters["n_syn"])
        if m < RULES[rule].sets:
            continue
        results = []
        for replicate in run.replicates:
            address = run.address(replicate)
            data = confidential_data(address.generator("data"), run.n, bool(heteroscedastic))
            generator = address.generator("synthesize", [int(synthesis == "bayes"), m, n_syn])
            moments = synthetic_moments(generator, data, m, n_syn, bayes=synthesis == "bayes")
            results.append(estimates_of(*moments, n_syn)[quantity])
        q, u = np.array(results).transpose(1, 0, 2)
        table = intervals(Estimates.of(run.n, n_syn, q, u), rule, level)
        truth = QUANTITIES[quantity]
        table = table.assign(
            error=table["point"] - truth, width=table["upper"] - table["lower"],
            covered=(table["lower"] <= truth) & (truth <= table["upper"]),
            replicate=run.replicates, synthesizer=arm.id, synthesis=synthesis, rule=rule, quantity=quantity, m=m, n_syn=n_syn,
        )  # fmt: skip
        parts.append(table)
    return Outcome(pd.concat(parts, ignore_index=True))


def confidential_data(generator: np.random.Generator, n: int, heteroscedastic: bool) -> Array:
    """Draw records (n, 2) of x and y."""
    x, noise = generator.standard_normal((2, n))
    return np.column_stack([x, 0.5 * x + math.sqrt(0.75) * noise * (np.abs(x) if heteroscedastic else 1)])


def synthetic_moments(generator: np.random.Generator, data: Array, m: int, n_syn: int, *, bayes: bool) -> tuple[Array, Array]:
    """Draw means (m, 2) and covariance matrices (m, 2, 2) of m synthetic data sets, without their records.

    Bayesian synthesis draws covariance matrix and mean from their posterior under Jeffreys' prior, once for each data set.
    """
    n, mean = len(data), data.mean(axis=0)
    roots = np.repeat(np.linalg.cholesky(np.cov(data.T))[None], m, axis=0)
    means = np.repeat(mean[None], m, axis=0)
    if bayes:
        inverse = np.linalg.inv(_wisharts(generator, n - 1, m)) * (n - 1)
        roots = np.linalg.cholesky(roots @ inverse @ roots.transpose(0, 2, 1))
        means = means + np.einsum("kij,kj->ki", roots, generator.standard_normal((m, 2))) / math.sqrt(n)
    means = means + np.einsum("kij,kj->ki", roots, generator.standard_normal((m, 2))) / math.sqrt(n_syn)
    return means, roots @ _wisharts(generator, n_syn - 1, m) @ roots.transpose(0, 2, 1) / (n_syn - 1)


def _wisharts(generator: np.random.Generator, df: int, m: int) -> Array:
    from scipy import stats

    return np.asarray(stats.wishart(df, np.eye(2)).rvs(m, random_state=generator)).reshape(m, 2, 2)


def estimates_of(means: Array, covariances: Array, n_syn: int) -> dict[str, tuple[Array, Array]]:
    """Estimates and their estimated variances (m,) by quantity, from the moments of m data sets."""
    xx, xy, yy = covariances[:, 0, 0], covariances[:, 0, 1], covariances[:, 1, 1]
    slope = xy / xx
    return {
        "mean": (means[:, 1], yy / n_syn),
        "correlation": (np.arctanh(xy / np.sqrt(xx * yy)), np.full_like(xx, 1 / (n_syn - 3))),
        "slope": (slope, (yy - slope * xy) / xx / (n_syn - 2)),
    }
