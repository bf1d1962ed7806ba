"""Privacy cost of each route to synthetic normal data with known variance (zcdp paper, Sections 4.1 and 4.2)."""

from __future__ import annotations

from formalsynth.core.constraints import Count, OpenProportion, PositiveNumber
from formalsynth_workflow.papers.zcdp._outcomes import EXACT, curve_outcome, ids_by_arm, n_syn_grid
from formalsynth_workflow.papers.zcdp.accounting import APPROXIMATE, ROUTES, Setting, route_table
from formalsynth_workflow.study import Arm, Outcome, Run, study


@study(arms={id: Arm(APPROXIMATE, route.label) for id, route in ROUTES.items()}, data=lambda settings: EXACT)
def accounting(
    run: Run,
    *,
    d: PositiveNumber,
    delta: OpenProportion,
    low: Count,
    high: Count,
    points: Count = 25,
    variance: PositiveNumber = 1.0,
    m: Count = 1,
) -> Outcome:
    """Rho and epsilon of each route against n_syn, without randomness and in one replicate."""
    setting = Setting(run.n, d, variance, int(m))
    table = route_table(setting, n_syn_grid(low, high, points), delta, ids_by_arm(run))
    return curve_outcome(run, table, "route")
