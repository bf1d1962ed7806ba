"""Study: replicates that one function runs whole."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from formalsynth.mechanisms import MECHANISMS
from formalsynth.scenario import Scenario
from formalsynth.steps.rows import REPLICATE_COLUMNS
from formalsynth.studies import STUDIES
from formalsynth.studies.registry import Run


def run_study(scenario: Scenario, root: int, replicates: Sequence[int], data_folder: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run the replicates of a batch.

    Returns:
        Rows in the columns of ``replicates.csv`` with the study's own behind them, and its details.
    """
    settings = dict(scenario.study or {})
    outcome = STUDIES[settings.pop("name")].function(Run(scenario, root, replicates, data_folder), **settings)
    head = {"paper": scenario.paper, "scenario": scenario.id, "n": scenario.n}
    rows, details = (_filled(table, head) for table in (outcome.rows, outcome.details))
    guarantee = [MECHANISMS[scenario.synthesizers[id].mechanism].guarantee for id in rows["synthesizer"]]
    rows = _filled(rows, {"status": "ok"}).assign(guarantee=rows.get("guarantee", pd.Series(guarantee, dtype=str)))
    own = [column for column in rows if column not in REPLICATE_COLUMNS]
    return rows.reindex(columns=[*REPLICATE_COLUMNS, *own]), details


def _filled(table: pd.DataFrame, columns: dict[str, object]) -> pd.DataFrame:
    return table.assign(**{key: value for key, value in columns.items() if key not in table})
