"""Weight maps of REPS compared under one scorer and one learner, with an epsilon for each record (Sections 5, 6.6 and 7.3)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.core.constraints import NonNegative, OpenProportion, PositiveNumber
from formalsynth.core.model import Model
from formalsynth.core.parameters import Parameters
from formalsynth_workflow.papers.reps.files import NEEDED
from formalsynth_workflow.papers.reps.settings import DatasetName, ExperimentSettings, ScorerName
from formalsynth_workflow.study import Arm, Outcome, Run, study

GUARANTEE = "(eps, delta)-DP (add/remove)"


class WeightedBudget(Parameters):
    """Parameters of an arm."""

    epsilon: PositiveNumber
    strength: NonNegative = 4.0
    share: OpenProportion = 0.2
    cap: OpenProportion = 0.5


class LearnerSettings(Model):
    """Learner of stage 2 with its settings; the others keep their defaults."""

    name: Literal["naive_bayes", "graphical", "dp_sgd"]
    norm_share: OpenProportion | None = Field(None, description="Naive Bayes: bound on norms, relative to the largest possible.")
    rate: OpenProportion | None = Field(None, description="DP-SGD: probability that a record is in a batch.")
    steps: int | None = Field(None, ge=1, description="DP-SGD: number of steps.")


MEANINGS = {
    "whole": "All records have weight 1, and the learner has the whole budget.",
    "uniform": "All records have weight 1, and the share for scores is not spent.",
    "cap": "Weights min(1, tau / s).",
    "hinge": "Weights exp(-lam max(0, s - tau)).",
    "selected": "Weights exp(-lam max(0, s - tau)) with lam selected privately, paid from the share for scores.",
    "equalize": "Weights min(1, c / r) with the influence r of the record.",
    "targeted": "Weights min(1, c / r) for scores above tau, otherwise 1 (Proposition 1).",
    "naive": "All records have weight c (Remark 2).",
    "random": "Weights of hinge-exp for scores drawn from the noisy tables.",
    "removal": "Weight 0 for scores above tau, otherwise 1.",
}


@study(
    arms={name: Arm(GUARANTEE, meaning, WeightedBudget) for name, meaning in MEANINGS.items()},
    requires=lambda settings: NEEDED.get(str(settings.get("dataset")), ()),
    data=lambda settings: "simulated data" if settings.get("dataset") == "simulated" else "",
)
def weighting(
    run: Run,
    *,
    dataset: DatasetName,
    learner: LearnerSettings,
    scorer: ScorerName = "one_way",
    settings: ExperimentSettings | None = None,
) -> Outcome:
    """Return utility, attacks and the epsilon of each record for each weight map, with details by outlier decile.

    Bounds are declared, tau is a quantile under the noisy tables, and lam is fixed: nothing is computed outside the budget.
    """
    # Imported here so the plan can be read without pandas and scikit-learn.
    import pandas as pd

    from formalsynth_workflow.papers.reps.weighted import Arm, experiments

    rows, details = [], []
    given = learner.model_dump(exclude={"name"}, exclude_none=True)
    for number, experiment in experiments(run, dataset, settings, scorer, learner.name, given):
        for arm in run.arms:
            name = {"whole": "uniform", "selected": "hinge"}.get(arm.name, arm.name)
            made = Arm(name, split=arm.name != "whole", selected=arm.name == "selected", **arm.parameters)
            row, deciles = experiment.measure(made)
            rows.append({"replicate": number, "synthesizer": arm.id, **row})
            details.append(deciles.assign(replicate=number, synthesizer=arm.id))
    return Outcome(pd.DataFrame(rows), pd.concat(details, ignore_index=True))
