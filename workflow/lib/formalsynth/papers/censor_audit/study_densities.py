"""Effect of censoring on a posterior, computed exactly (censor paper, Section 3 and Figure 1)."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.mechanism import ASYMPTOTIC
from formalsynth.core.study import Arm, ChosenArm, Outcome, Run, study
from formalsynth.families.beta import BetaFamily
from formalsynth.papers.censor_audit.audit import Budget, Grid, beta_grid, log_likelihood, moments, posterior, product_grid

PRIOR, POSTERIOR, CENSORED = "prior", "posterior", "censored"
POINTS, ACROSS = 201, 240
"""Number of points of a curve, and number of values of lambda at each point."""
REACH = 6.0
"""Half-width of the curve in standard deviations of the posterior."""


ARMS = {
    PRIOR: Arm("none: prior", "The prior, which does not depend on the data."),
    POSTERIOR: Arm(ASYMPTOTIC, "The posterior without weights."),
    CENSORED: Arm("DP (add/remove) | exact draws", "The posterior with clipped log-likelihoods.", Budget),
}


@study(arms=ARMS, data=lambda settings: "simulated data")
def densities(run: Run, *, shape1: PositiveNumber, shape2: PositiveNumber) -> Outcome:
    """Exact densities of phi, the mean of a Beta distribution, for a sample from ``Beta(shape1, shape2)``.

    Columns: ``phi_mean`` and ``phi_sd``. The details contain the points ``x`` and ``density`` of a curve.
    """
    import pandas as pd

    grid = beta_grid(shape1 / (shape1 + shape2), shape1 + shape2, run.n, BetaFamily().priors)
    rows, curves = [], []
    for replicate in run.replicates:
        x = run.address(replicate).generator("data").beta(shape1, shape2, run.n)
        for arm in run.arms:
            mean, sd, across, density = _density(grid, x, arm)
            rows.append({"replicate": replicate, "synthesizer": arm.id, "phi_mean": mean, "phi_sd": sd})
            curves.append(pd.DataFrame({"replicate": replicate, "synthesizer": arm.id, "x": across, "density": density}))
    return Outcome(pd.DataFrame(rows), pd.concat(curves, ignore_index=True))


def _density(grid: Grid, x: Array, arm: ChosenArm) -> tuple[float, float, Array, Array]:
    """Mean and standard deviation of phi, and the coordinates of its density curve: x (m,) and density (m,)."""
    if arm.name == PRIOR:
        across = np.linspace(0, 1, POINTS)
        return 0.5, float(np.sqrt(1 / 12)), across, np.ones(POINTS)
    threshold = arm.parameters["epsilon"] / 2 if arm.name == CENSORED else None
    weights, priors = np.ones(len(x)), BetaFamily().priors
    rough = posterior(grid, log_likelihood(grid, x, weights, threshold))
    (mean, sd), (middle, spread) = moments(grid.phi, rough), moments(np.log(grid.lambda_), rough)
    across = np.linspace(max(mean - REACH * sd, 0.0), min(mean + REACH * sd, 1.0), POINTS + 2)[1:-1]
    lowest = max(middle - REACH * spread, np.log(priors["lambda_min"]))
    fine = product_grid(across, np.linspace(lowest, middle + REACH * spread, ACROSS), priors)
    log_mass = (fine.log_prior + log_likelihood(fine, x, weights, threshold)).reshape(POINTS, ACROSS)
    mass = np.exp(log_mass - log_mass.max()).sum(axis=1)
    density = mass / np.trapezoid(mass, across)
    mean = float(np.trapezoid(across * density, across))
    return mean, float(np.sqrt(np.trapezoid((across - mean) ** 2 * density, across))), across, density
