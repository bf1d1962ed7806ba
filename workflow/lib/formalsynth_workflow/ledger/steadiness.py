"""Steadiness of verdicts: the share of bootstrap samples of the replicates in which a verdict stays the same.

A borderline verdict can change with another root seed even if the software is correct. To find such verdicts, the replicates of
each scenario are resampled with replacement, the same ones for all its tables, and the claims are judged again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Integers
from formalsynth_workflow.ledger.claims import Claim
from formalsynth_workflow.ledger.judge import ledger
from formalsynth_workflow.ledger.thresholds import Thresholds
from formalsynth_workflow.ledger.verdicts import REPRODUCED

Tables = Mapping[tuple[str, str], pd.DataFrame]
"""Collected tables by scenario id and kind."""
STEADY = 0.95
"""Minimum share of the drawings in which a verdict must stay the same to be steady."""
DRAWINGS = 20
"""Number of bootstrap drawings of the replicates."""


def drawn_verdicts(
    claims: Sequence[Claim], tables: Tables, thresholds: Thresholds, root: int, drawings: int = DRAWINGS, times: int = 1
) -> pd.DataFrame:
    """Judge claims on the run and on drawings of its replicates; return verdicts by id, with those of the run in column 0.

    Args:
        claims: the claims.
        tables: the collected tables of the claims.
        thresholds: limits for agreement.
        root: root seed.
        drawings: number of drawings of the replicates.
        times: size of a drawing, as a multiple of the number of replicates in the run.
    """
    generators = [np.random.default_rng([root, k]) for k in range(drawings)]
    samples = [tables, *(drawn(tables, generator, times) for generator in generators)]
    verdicts = [ledger(claims, sample, thresholds, root, True).set_index("id")["verdict"] for sample in samples]
    return pd.DataFrame(dict(enumerate(verdicts)))


def drawn(tables: Tables, generator: np.random.Generator, times: int = 1) -> dict[tuple[str, str], pd.DataFrame]:
    """Draw replicates with replacement, ``times`` as many as in the run, and number them from 0.

    All tables of a scenario get the same replicates. A table that contains only some of the replicates, such as one of single
    samples, stays unchanged.
    """
    of_scenario: dict[str, Integers] = {}
    for (scenario, _), table in tables.items():
        numbers = np.unique(table["replicate"]) if "replicate" in table else np.empty(0, dtype=np.int64)
        of_scenario[scenario] = max(of_scenario.get(scenario, numbers), numbers, key=len)
    chosen = {
        scenario: generator.choice(numbers, times * len(numbers)) for scenario, numbers in of_scenario.items() if len(numbers)
    }
    return {
        (scenario, kind): _with(table, chosen[scenario])
        if "replicate" in table and np.array_equal(np.unique(table["replicate"]), of_scenario[scenario])
        else table
        for (scenario, kind), table in tables.items()
    }


def _with(table: pd.DataFrame, replicates: Integers) -> pd.DataFrame:
    """Select the rows of these replicates, which may occur more than once."""
    places = table.groupby("replicate").indices
    parts = [places[replicate] for replicate in replicates]
    rows = table.iloc[np.concatenate(parts)]
    return rows.assign(replicate=np.repeat(np.arange(len(parts)), [len(part) for part in parts])).reset_index(drop=True)


def steadiness(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the steadiness of each verdict.

    Args:
        verdicts: output of :func:`drawn_verdicts`.

    Returns:
        Columns id, verdict, stays (share of the drawings), otherwise (the most frequent other verdict) and reproduced (a letter
        for each drawing: y if the claim is reproduced in it, n if not).
    """
    of_run, drawings = verdicts[0], verdicts.drop(columns=0)
    others = [row[row != verdict].mode() for (_, row), verdict in zip(drawings.iterrows(), of_run, strict=True)]
    return pd.DataFrame({
        "id": verdicts.index,
        "verdict": of_run.to_numpy(),
        "stays": drawings.eq(of_run, axis=0).mean(axis=1).to_numpy(),
        "otherwise": ["" if other.empty else other.iloc[0] for other in others],
        "reproduced": ["".join("y" if verdict == REPRODUCED else "n" for verdict in row) for row in drawings.to_numpy()],
    })  # fmt: skip


def agreement(verdicts: pd.DataFrame) -> Array:
    """Share of equal verdicts in each pair of drawings, sorted: an estimate of the agreement of runs with different root seeds.

    Args:
        verdicts: output of :func:`drawn_verdicts`.
    """
    drawings = verdicts.drop(columns=0).to_numpy()
    first, second = np.triu_indices(drawings.shape[1], 1)
    return np.sort((drawings[:, first] == drawings[:, second]).mean(axis=0))
