"""Risk-equalised synthesis and its baselines under attack (REPS paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.parameters import Parameters
from formalsynth_workflow.papers.reps.files import NEEDED
from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.papers.reps.settings import DatasetName, ExperimentSettings
from formalsynth_workflow.study import Arm, NoParameters, Outcome, Run, study

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth_workflow.papers.reps.measure import Measured


class Budgeted(Parameters):
    """Parameters of a private method."""

    epsilon: PositiveNumber


ARMS = {
    name: Arm(method.guarantee(ExperimentSettings()), method.meaning, Budgeted if method.private else NoParameters)
    for name, method in METHODS.items()
}


@study(
    arms=ARMS,
    requires=lambda settings: NEEDED.get(str(settings.get("dataset")), ()),
    data=lambda settings: "simulated data" if settings.get("dataset") == "simulated" else "",
)
def protection(run: Run, *, dataset: DatasetName, settings: ExperimentSettings | None = None) -> Outcome:
    """Return the utility, attacks and per-instance bounds of each method, with details by outlier decile.

    A replicate has one seed, one split, and the same streams for all methods and epsilons, which are therefore compared with
    equal noise and equal draws.
    """
    # Imported here so the plan can be read without pandas and scikit-learn.
    import pandas as pd

    from formalsynth_workflow.papers.reps.measure import measure
    from formalsynth_workflow.papers.reps.prepare import load_split, prepare
    from formalsynth_workflow.papers.reps.release import Replicate

    chosen, rows, details = settings or ExperimentSettings(), [], []
    for number in run.replicates:
        streams = run.address(number).generator
        prepared = prepare(dataset, load_split(dataset, run.data_folder, streams, run.n), chosen)
        replicate = Replicate(prepared, chosen, streams)
        for arm in run.arms:
            measured = measure(replicate, arm.name, arm.parameters.get("epsilon", float("inf")))
            row, deciles = _labelled(measured, number, arm.id)
            rows.append(row)
            details.append(deciles)
    return Outcome(pd.DataFrame(rows), pd.concat(details, ignore_index=True))


def _labelled(measured: Measured, replicate: int, synthesizer: str) -> tuple[dict[str, object], pd.DataFrame]:
    """Row and deciles of one method, with replicate and synthesizer."""
    # In replicates.csv, the column delta is the Lipschitz bound.
    row = {("dp_delta" if name == "delta" else name): value for name, value in measured.row.items()}
    # The results over all records are in the row.
    deciles = measured.deciles[measured.deciles["decile"] > 0]
    return (
        {"replicate": replicate, "synthesizer": synthesizer, **row},
        deciles.assign(replicate=replicate, synthesizer=synthesizer, epsilon=measured.row["epsilon"]),
    )
