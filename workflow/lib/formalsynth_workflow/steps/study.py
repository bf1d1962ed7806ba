"""Study: replicates that one function runs from start to end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from formalsynth.core.data_files import check_unchanged
from formalsynth.core.rows import REPLICATE_COLUMNS
from formalsynth_workflow.jobs.inputs import StudyJob
from formalsynth_workflow.study import STUDIES, ChosenArm, Outcome, Run

if TYPE_CHECKING:
    import pandas as pd


def run_study(job: StudyJob) -> Outcome:
    """Run the replicates of a batch.

    Returns:
        Rows with the columns of ``replicates.csv`` followed by the study's own columns, by replicate and then in the order of the
        arms; and its details.

    Raises:
        DataError: a data file is missing, differs from the planned one, or cannot be read.
    """
    import pandas as pd

    check_unchanged(job.files, job.data_folder)
    study = STUDIES[job.study]
    arms = [ChosenArm(choice.id, choice.arm, choice.parameters) for choice in job.arms]
    settings = study.settings.model_validate(job.settings)
    given = {name: getattr(settings, name) for name in settings.model_fields_set}
    outcome = study.function(Run(job.key, job.replicates, arms, job.data_folder), **given)
    rows, details = (_filled(table, job.key.columns) for table in (outcome.rows, outcome.details))
    guarantees = {arm.id: study.arms[arm.name].guarantee for arm in arms}
    guarantee = pd.Series([guarantees[id] for id in rows["synthesizer"]], dtype=str)
    rows = _filled(rows, {"status": "ok"}).assign(guarantee=rows.get("guarantee", guarantee))
    own = [column for column in rows if column not in REPLICATE_COLUMNS]
    order = {arm.id: k for k, arm in enumerate(arms)}
    rows = rows.assign(_order=rows["synthesizer"].map(order)).sort_values(["replicate", "_order"], kind="stable")
    return Outcome(rows.reindex(columns=[*REPLICATE_COLUMNS, *own]).reset_index(drop=True), details)


def _filled(table: pd.DataFrame, columns: Mapping[str, str | int]) -> pd.DataFrame:
    return table.assign(**{key: value for key, value in columns.items() if key not in table})
