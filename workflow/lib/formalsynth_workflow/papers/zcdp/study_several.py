"""Several variables with a known covariance matrix: number of records for a box and for a ball (zcdp paper, Section 5)."""

from __future__ import annotations

import itertools
import math

import numpy as np

from formalsynth.audit.normal_release import ball_sensitivity, box_sensitivity, records_of_rho
from formalsynth.core.constraints import Count, CountOfTwo, PositiveNumber, Proportion
from formalsynth.core.parameters import Parameters
from formalsynth_workflow.papers.zcdp._outcomes import EXACT
from formalsynth_workflow.papers.zcdp.accounting import ZCDP, whole_records
from formalsynth_workflow.study import Arm, Outcome, Run, study


class Correlated(Parameters):
    """Correlation of each pair of variables."""

    correlation: Proportion


SHAPES = {"box": "clamped to a box", "ball": "clamped to a Mahalanobis ball"}
SYNTHESES = {"plugin": "plug-in synthesis", "bayes": "Bayesian synthesis, one draw of the mean for each data set"}


@study(
    arms={
        f"{shape}_{synthesis}": Arm(ZCDP, f"Records {SHAPES[shape]}, {SYNTHESES[synthesis]}.", Correlated)
        for shape, synthesis in itertools.product(SHAPES, SYNTHESES)
    },
    data=lambda settings: EXACT,
)
def several(run: Run, *, d: PositiveNumber, rho: PositiveNumber, variables: CountOfTwo = 2, m: Count = 1) -> Outcome:
    """Largest n_syn at ``rho`` for variables with variance 1, within ``d`` standard deviations of 0.

    Further columns are the sensitivity of the mean in Mahalanobis norm and the rho that Bayesian synthesis never exceeds.
    """
    import pandas as pd

    rows = []
    for arm in run.arms:
        shape, _, synthesis = arm.name.partition("_")
        p, r = int(variables), arm.parameters["correlation"]
        covariance = (1 - r) * np.eye(p) + r
        step = box_sensitivity(covariance, np.full(p, float(d)), run.n) if shape == "box" else ball_sensitivity(d, run.n)
        records = records_of_rho(step, rho, int(m), run.n if synthesis == "bayes" else math.inf)
        n_syn = whole_records(records) if math.isfinite(records) else math.inf
        ceiling = m * run.n * step**2 / 2 if synthesis == "bayes" else math.inf
        rows.append(
            {"replicate": 0, "synthesizer": arm.id, "n_syn": n_syn, "sensitivity": step, "ceiling": ceiling, **arm.parameters}
        )
    return Outcome(pd.DataFrame(rows))
