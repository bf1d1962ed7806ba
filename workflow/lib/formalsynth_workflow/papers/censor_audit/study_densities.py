"""Effect of censoring on a posterior, computed exactly (censor paper, Section 3 and Figure 1)."""

from __future__ import annotations

import math

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.mechanism import ASYMPTOTIC
from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.papers.censor_audit.audit import (
    Budget,
    Grid,
    beta_grid,
    log_likelihood,
    moments,
    posterior,
    product_grid,
    shape_grid,
)
from formalsynth_workflow.study import Arm, ChosenArm, Outcome, Run, study

PRIOR, POSTERIOR, CENSORED = "prior", "posterior", "censored"
POINTS, OTHER_VALUES = 201, 240
"""Number of points of a curve, and number of values of the other parameter at each point."""
REACH = 6.0
"""Half-width of the curve in standard deviations of the posterior."""
LARGEST = 4.0
"""Right end of the prior's curve of beta2."""
PHI, BETA2 = "phi", "beta2"
"""Parameters with a curve: the mean, and the second shape."""


ARMS = {
    PRIOR: Arm("none: prior", "The prior, which does not depend on the data."),
    POSTERIOR: Arm(ASYMPTOTIC, "The posterior without weights."),
    CENSORED: Arm("DP (add/remove) | exact draws", "The posterior with clipped log-likelihoods.", Budget),
}


@study(arms=ARMS)
def densities(run: Run, *, shape1: PositiveNumber, shape2: PositiveNumber) -> Outcome:
    """Exact densities of phi, the mean, and beta2, the second shape of a Beta distribution, for ``Beta(shape1, shape2)`` samples.

    Columns: ``phi_mean``, ``phi_sd``, ``beta2_mean`` and ``beta2_sd``; the prior of beta2 has no finite sd. The details contain
    the points ``x`` and ``density`` of a curve; ``column`` is ``phi_mean`` or ``beta2_mean``.
    """
    import pandas as pd

    grid = beta_grid(shape1 / (shape1 + shape2), shape1 + shape2, run.n, BetaFamily().priors)
    rows, curves = [], []
    for replicate in run.replicates:
        x = run.address(replicate).generator("data").beta(shape1, shape2, run.n)
        for arm in run.arms:
            row: dict[str, object] = {"replicate": replicate, "synthesizer": arm.id}
            for name in (PHI, BETA2):
                mean, sd, points, density = _prior(name) if arm.name == PRIOR else _density(grid, x, arm, name)
                row |= {f"{name}_mean": mean, f"{name}_sd": sd}
                curves.append(
                    pd.DataFrame({
                        "replicate": replicate, "synthesizer": arm.id, "column": f"{name}_mean", "x": points, "density": density
                    })
                )  # fmt: skip
            rows.append(row)
    return Outcome(pd.DataFrame(rows), pd.concat(curves, ignore_index=True))


def _prior(name: str) -> tuple[float, float, Array, Array]:
    """Mean and standard deviation of a parameter under the prior, and the coordinates of its density curve."""
    if name == PHI:
        return 0.5, float(np.sqrt(1 / 12)), np.linspace(0, 1, POINTS), np.ones(POINTS)
    lowest, shape = BetaFamily().priors["lambda_min"], BetaFamily().priors["lambda_shape"]
    points = np.linspace(0, LARGEST, POINTS)
    density = shape / (shape + 1) * lowest**shape * np.maximum(points, lowest) ** (-shape - 1)
    return shape * lowest / (shape - 1) / 2, math.inf, points, density


def _density(grid: Grid, x: Array, arm: ChosenArm, name: str) -> tuple[float, float, Array, Array]:
    """Mean and standard deviation of a parameter, and the coordinates of its density curve: x (m,) and density (m,)."""
    threshold = arm.parameters["epsilon"] / 2 if arm.name == CENSORED else None
    weights, priors = np.ones(len(x)), BetaFamily().priors
    rough = posterior(grid, log_likelihood(grid, x, weights, threshold))
    values, other, largest = (grid.phi, np.log(grid.lambda_), 1.0) if name == PHI else (grid.beta2, np.log(grid.beta1), math.inf)
    (mean, sd), (middle, spread) = moments(values, rough), moments(other, rough)
    points = np.linspace(max(mean - REACH * sd, 0.0), min(mean + REACH * sd, largest), POINTS + 2)[1:-1]
    if name == PHI:
        lowest = max(middle - REACH * spread, np.log(priors["lambda_min"]))
        fine = product_grid(points, np.linspace(lowest, middle + REACH * spread, OTHER_VALUES), priors)
    else:  # given beta2, beta1 is skewed: the grid has twice the width
        reach = 2 * REACH * spread
        fine = shape_grid(points, np.linspace(middle - reach, middle + reach, 2 * OTHER_VALUES), priors)
    log_mass = (fine.log_prior + log_likelihood(fine, x, weights, threshold)).reshape(POINTS, -1)
    mass = np.exp(log_mass - log_mass.max()).sum(axis=1)
    density = mass / np.trapezoid(mass, points)
    mean = float(np.trapezoid(points * density, points))
    return mean, float(np.sqrt(np.trapezoid((points - mean) ** 2 * density, points))), points, density
