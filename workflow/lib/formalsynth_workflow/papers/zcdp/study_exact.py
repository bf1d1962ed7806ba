"""Exact loss of plug-in synthesis with unknown variance, and the number of records that it allows (zcdp paper, Section 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formalsynth.audit.normal_release import FittedNormal
from formalsynth.core.constraints import Count, OpenProportion, PositiveNumber
from formalsynth.core.gaussian import analytic_sigma
from formalsynth.core.parameters import Parameters
from formalsynth_workflow.papers.zcdp._outcomes import EXACT, n_syn_grid
from formalsynth_workflow.papers.zcdp.accounting import (
    APPROXIMATE,
    Setting,
    compose_approximate,
    epsilon_exact,
    rho_plugin,
    whole_records,
)
from formalsynth_workflow.papers.zcdp.unknown_variance import LOCAL, UNKNOWN_VARIANCE
from formalsynth_workflow.study import Arm, ChosenArm, Outcome, Run, study

if TYPE_CHECKING:
    import pandas as pd

DECLARED = f"{APPROXIMATE} | declared lower bound of the variance"
"""Guarantee for data sets whose variance has a declared lower bound."""


class AddedVariance(Parameters):
    """Variance that is added to s^2."""

    added: PositiveNumber


@study(
    arms={
        "known": Arm(APPROXIMATE, "Plug-in synthesis with known variance."),
        "printed": Arm(LOCAL, "Bounds on mean and variance as printed."),
        "curve": Arm(LOCAL, "Exact curves of mean and variance, composed."),
        "centre": Arm(LOCAL, "Exact joint loss if the other records have mean 0 and the given variance."),
        "centre_several": Arm(LOCAL, "The same for two variables or more, whitened."),
        "floor": Arm(DECLARED, "Exact joint loss if the other records have at least the given variance."),
        "added": Arm(APPROXIMATE, "Exact joint loss for every data set if a variance is added to s^2.", AddedVariance),
    },
    data=lambda settings: EXACT,
)
def exact(
    run: Run,
    *,
    d: PositiveNumber,
    delta: OpenProportion,
    low: Count,
    high: Count,
    points: Count = 9,
    variance: PositiveNumber = 1.0,
    least_epsilon: PositiveNumber = 0.5,
    epsilons: Count = 4,
) -> Outcome:
    """Epsilon against n_syn, and for exact losses the largest n_syn for each of several epsilons, which double.

    Details have a row for each n_syn (``given`` is n_syn), and for each epsilon (``given`` is epsilon).
    """
    import pandas as pd

    setting, grid = Setting(run.n, d, variance), n_syn_grid(low, high, points)
    budgets = least_epsilon * 2.0 ** np.arange(int(epsilons))
    parts = [_curves(arm, setting, delta, grid, budgets) for arm in run.arms]
    rows = pd.DataFrame({"replicate": 0, "synthesizer": [arm.id for arm in run.arms]})
    return Outcome(rows, pd.concat(parts, ignore_index=True))


def _curves(arm: ChosenArm, setting: Setting, delta: float, n_syn: np.ndarray, budgets: np.ndarray) -> pd.DataFrame:
    """Return the rows of one arm: epsilon by n_syn, and n_syn by epsilon."""
    import pandas as pd

    rows = []
    if arm.name in UNKNOWN_VARIANCE:
        form = UNKNOWN_VARIANCE[arm.name]
        for count in n_syn:
            parts = [(bound(setting, count, delta / 2), delta / 2) for bound in (form.mean, form.variance)]
            rows.append(("n_syn", count, compose_approximate(parts)[0]))
    elif arm.name == "known":
        rows += [("n_syn", count, epsilon_exact(float(rho_plugin(setting, count)), delta)) for count in n_syn]
        sigmas = [analytic_sigma(setting.mean_sensitivity, budget, delta) for budget in budgets]
        rows += [("epsilon", whole_records(setting.variance / sigma**2), e) for sigma, e in zip(sigmas, budgets, strict=True)]
    else:
        fitted = _fitted(arm, setting)
        rows += [("n_syn", count, fitted.epsilon(count, delta)) for count in n_syn]
        rows += [("epsilon", fitted.records(budget, delta), budget) for budget in budgets]
    table = pd.DataFrame(rows, columns=["given", "n_syn", "epsilon"])
    return table.assign(delta=delta, replicate=0, synthesizer=arm.id)


def _fitted(arm: ChosenArm, setting: Setting) -> FittedNormal:
    """Return the possible neighbours of an arm."""
    n, d, variance = setting.n, setting.d, setting.variance
    if arm.name == "added":
        return FittedNormal.with_added_variance(n, d, arm.parameters["added"])
    if arm.name == "floor":
        return FittedNormal.with_smallest_variance(n, d, variance)
    return FittedNormal.at_centre(n, d, variance, 2 if arm.name == "centre_several" else 1)
