"""Scorers of REPS compared: how well their scores follow outlierness, by budget (REPS paper, Section 5.1 and Appendix B.2)."""

from __future__ import annotations

from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.parameters import Parameters
from formalsynth_workflow.papers.reps.files import NEEDED
from formalsynth_workflow.papers.reps.settings import DatasetName, ExperimentSettings
from formalsynth_workflow.study import Arm, Outcome, Run, study


class ScoringBudget(Parameters):
    """Parameters of a scorer."""

    epsilon: PositiveNumber


SCORING = {
    "one_way": ("one_way", "joint", "One-way histograms, released together."),
    "one_way_each": ("one_way", "per_part", "One-way histograms, each with its share of the budget."),
    "one_way_renyi": ("one_way", "renyi", "One-way histograms with Rényi composition."),
    "pairwise": ("pairwise", "joint", "Histograms of all pairs of features."),
    "clusters": ("clusters", "joint", "Private k-means."),
    "grid_distance": ("grid_distance", "joint", "Nearest-neighbour distances on noisy grids."),
    "public": ("public", "joint", "One-way histograms of public records, at no cost."),
}
"""Scorer, composition of its noise and meaning, by arm."""


@study(
    arms={name: Arm("(eps, delta)-DP (add/remove)", meaning, ScoringBudget) for name, (*_, meaning) in SCORING.items()},
    requires=lambda settings: NEEDED.get(str(settings.get("dataset")), ()),
    data=lambda settings: "simulated data" if settings.get("dataset") == "simulated" else "",
)
def scorers(run: Run, *, dataset: DatasetName, settings: ExperimentSettings | None = None) -> Outcome:
    """Return the correlation of each scorer's scores with outlierness, and their recall of the most outlying tenth."""
    import pandas as pd

    from formalsynth_workflow.papers.reps.weighted import experiments, scorer_row

    rows = []
    for number, experiment in experiments(run, dataset, settings, "one_way", "naive_bayes", {}):
        for arm in run.arms:
            scorer, composition, _ = SCORING[arm.name]
            row = scorer_row(experiment, scorer, composition, arm.parameters["epsilon"])
            rows.append({"replicate": number, "synthesizer": arm.id, "method": arm.name, **arm.parameters, **row})
    return Outcome(pd.DataFrame(rows))
