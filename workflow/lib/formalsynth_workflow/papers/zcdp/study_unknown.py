"""Privacy cost of plug-in synthesis with unknown variance (zcdp paper, Section 4.3)."""

from __future__ import annotations

from formalsynth.core.constraints import Count, OpenProportion, PositiveNumber
from formalsynth_workflow.papers.zcdp._outcomes import EXACT, curve_outcome, ids_by_arm, n_syn_grid
from formalsynth_workflow.papers.zcdp.accounting import Setting, largest_steps
from formalsynth_workflow.papers.zcdp.unknown_variance import LOCAL, UNKNOWN_VARIANCE, unknown_variance_table
from formalsynth_workflow.study import Arm, Outcome, Run, study


@study(arms={id: Arm(LOCAL, form.label) for id, form in UNKNOWN_VARIANCE.items()}, data=lambda settings: EXACT)
def unknown(
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
    """Epsilon of plug-in synthesis with unknown variance against n_syn, as printed and as derived.

    Further columns contain the printed sensitivities and the largest steps that a search finds.
    """
    setting = Setting(run.n, d, variance, int(m))
    table = unknown_variance_table(setting, n_syn_grid(low, high, points), delta, ids_by_arm(run))
    mean_step, variance_step = largest_steps(setting)
    table = table.assign(
        mean_step=mean_step, mean_sensitivity=setting.mean_sensitivity,
        variance_step=variance_step, variance_sensitivity=setting.variance_sensitivity,
    )  # fmt: skip
    return curve_outcome(run, table, "form")
