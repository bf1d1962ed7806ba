"""Privacy loss of censoring between neighbouring data sets (censor paper, Definition 1 and Section 3)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from scipy.special import expit, logit

from formalsynth.core.arrays import Array
from formalsynth.core.constraints import CountOfTwo, OpenProportion, PositiveNumber
from formalsynth.core.weights import lipschitz_weights
from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.papers.censor_audit.audit import (
    Budget,
    Grid,
    Loss,
    beta_grid,
    log_likelihood,
    moments,
    posterior,
    privacy_loss,
    record_risks,
    region,
)
from formalsynth_workflow.study import Arm, ChosenArm, Outcome, Run, study

AUDITED = "lower bound of epsilon, by audit"
UNWEIGHTED, FIXED, RECOMPUTED = "unweighted", "fixed_weights", "recomputed_weights"
MIN_MAX, PRINTED, POSTERIOR = "recomputed_min_max_weights", "recomputed_printed_weights", "posterior"
K = 0.95
"""Factor of the weights recomputed from the min-max weights (reweight paper, Equation 3.1)."""
WIDE = 2.0
"""Reach of the grid for the printed weights, which remove most of the likelihood and move the posterior away from the truth."""
DIGITS = 9
"""Number of decimals of a loss; its sums are slightly more precise."""


ARMS = {
    UNWEIGHTED: Arm(AUDITED, "Censor_uw.", Budget),
    FIXED: Arm(
        AUDITED,
        "Censor_w with weights that do not depend on the record in which neighbours differ; that record has weight 1, the worst "
        "case.",
        Budget,
    ),
    RECOMPUTED: Arm(AUDITED, "Censor_w in practice: the weights are computed from each data set.", Budget),
    MIN_MAX: Arm(AUDITED, "Censor_w with min-max weights, computed from each data set.", Budget),
    PRINTED: Arm(
        AUDITED,
        "Censor_w with weights proportional to 1 / risk and a maximum of 1, as printed in the paper (Section 2.1), "
        "computed from each data set.",
        Budget,
    ),
    POSTERIOR: Arm(AUDITED, "The posterior without censoring; its loss has no bound and grows with the grid."),
}


@study(arms=ARMS)
def neighbours(
    run: Run,
    *,
    shape1: PositiveNumber,
    shape2: PositiveNumber,
    closest: OpenProportion = 1e-6,
    extremes: CountOfTwo = 9,
    share: OpenProportion = 0.999,
) -> Outcome:
    """Exact privacy loss of censored posteriors between neighbours: a record is added, removed or replaced.

    A replicate draws ``n - 1`` records from ``Beta(shape1, shape2)``; its neighbours have an additional record, one of
    ``extremes`` values between ``closest`` and ``1 - closest``, equally spaced on the logit scale.

    Min-max weights come from the exact unweighted posterior: the risk of a record is its largest absolute log-likelihood over
    the region of highest likelihood with ``share`` of the mass (chosen; a maximum over 1000 draws reaches about 0.999). The
    weights of Censor_w come from these in the same way: ``min(1, 0.95 Delta / risk)`` over the region of the posterior with
    min-max weights. The printed weights are the smallest risk divided by the record's risk.

    Columns: ``add_remove`` and ``replace_one``, the largest absolute log ratios over the prior's support; the same with suffix
    ``_region``, over the region where either posterior has ``share`` of its mass, and with suffix ``_delta``, the smallest
    delta at which (epsilon, delta)-DP holds with the claimed epsilon; ``phi_mean``, ``phi_sd``, ``beta2_mean`` and ``beta2_sd``,
    of the posterior of the ``n - 1`` records.
    """
    import pandas as pd

    grid, wide = (
        beta_grid(shape1 / (shape1 + shape2), shape1 + shape2, run.n, BetaFamily().priors, reach) for reach in (1, WIDE)
    )
    extra = expit(np.linspace(logit(closest), -logit(closest), int(extremes)))
    rows = []
    for replicate in run.replicates:
        x = run.address(replicate).generator("data").beta(shape1, shape2, run.n - 1)
        data = [x, *(np.append(x, value) for value in extra)]
        weights = _weights(grid, data, share)
        for arm in run.arms:
            kind, epsilon = _censoring(arm)
            points = wide if kind == PRINTED else grid
            posteriors = _posteriors(points, data, weights[kind], epsilon / 2)
            row: dict[str, object] = {"replicate": replicate, "synthesizer": arm.id} | _losses(points, posteriors, epsilon, share)
            for name, values in (("phi", points.phi), ("beta2", points.beta2)):
                row |= dict(zip((f"{name}_mean", f"{name}_sd"), moments(values, posteriors[0]), strict=True))
            rows.append(row)
    return Outcome(pd.DataFrame(rows))


def _censoring(arm: ChosenArm) -> tuple[str, float]:
    """Kind of weights, and the claimed epsilon, which is infinite without censoring."""
    return (UNWEIGHTED, math.inf) if arm.name == POSTERIOR else (arm.name, arm.parameters["epsilon"])


def _weights(grid: Grid, data: Sequence[Array], share: float) -> Mapping[str, Sequence[Array]]:
    """Weights of the records of every data set, by kind; all data sets but the first have an additional last record."""
    ones = [np.ones(len(x)) for x in data]
    risks = [_risks(grid, x, weights, share) for x, weights in zip(data, ones, strict=True)]
    min_max = [lipschitz_weights(risk) for risk in risks]
    printed = [risk.min() / risk for risk in risks]
    recomputed = []
    for x, alpha in zip(data, min_max, strict=True):
        risk = _risks(grid, x, alpha, share)
        recomputed.append(np.minimum(1.0, K * (alpha * risk).max() / risk))
    fixed = [np.append(recomputed[0], np.ones(len(x) - len(data[0]))) for x in data]
    return {UNWEIGHTED: ones, FIXED: fixed, RECOMPUTED: recomputed, MIN_MAX: min_max, PRINTED: printed}


def _risks(grid: Grid, x: Array, weights: Array, share: float) -> Array:
    """Risks (n,) of the records under the posterior with these weights."""
    return record_risks(grid, x, region(posterior(grid, log_likelihood(grid, x, weights)), grid.log_prior, share))


def _posteriors(grid: Grid, data: Sequence[Array], weights: Sequence[Array], threshold: float) -> list[Array]:
    """Log mass of the censored posterior of every data set."""
    first = log_likelihood(grid, data[0], weights[0], threshold)
    totals = [first]
    for x, alpha in zip(data[1:], weights[1:], strict=True):
        if np.array_equal(alpha[:-1], weights[0]):
            totals.append(first + log_likelihood(grid, x[-1:], alpha[-1:], threshold))
        else:
            totals.append(log_likelihood(grid, x, alpha, threshold))
    return [posterior(grid, total) for total in totals]


def _losses(grid: Grid, posteriors: Sequence[Array], epsilon: float, share: float) -> dict[str, float]:
    """Return the worst losses between the first posterior and the others, and among the others."""
    first, *others = zip(posteriors, [region(log_mass, grid.log_prior, share) for log_mass in posteriors], strict=True)
    pairs = {"add_remove": [(first, other) for other in others], "replace_one": itertools.combinations(others, 2)}
    row: dict[str, float] = {}
    for name, chosen in pairs.items():
        losses = [privacy_loss(base, other, inside | other_inside, epsilon) for (base, inside), (other, other_inside) in chosen]
        worst = asdict(Loss.worst(losses))
        row |= {name if key == "support" else f"{name}_{key}": round(value, DIGITS) for key, value in worst.items()}
    return row
