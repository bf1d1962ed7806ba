"""How steady verdicts are: how often they stay when the replicates are drawn anew from those of the run.

A verdict whose numbers are near a border of its test turns in some runs from other root seeds, however right the software is.
Drawing the replicates of each scenario with replacement, the same ones in all its tables, and judging again shows which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Integers
from formalsynth.ledger.claims import Claim
from formalsynth.ledger.judge import ledger
from formalsynth.ledger.thresholds import Thresholds
from formalsynth.ledger.verdicts import REPRODUCED

Tables = Mapping[tuple[str, str], pd.DataFrame]
"""Collected tables by scenario id and kind."""
STEADY = 0.95
"""Share of the drawings in which a steady verdict stays, at least."""
DRAWINGS = 20
"""How often the replicates are drawn."""


def drawn_verdicts(
    claims: Sequence[Claim], tables: Tables, thresholds: Thresholds, root: int, drawings: int = DRAWINGS, times: int = 1
) -> pd.DataFrame:
    """The verdicts of some claims, a row for each by id: of the run in column 0, then of each drawing of its replicates.

    Args:
        claims: the claims.
        tables: what they speak of.
        thresholds: when an estimate agrees.
        root: root seed.
        drawings: how often the replicates are drawn.
        times: how many times as many as the run has are drawn.
    """
    generators = [np.random.default_rng([root, k]) for k in range(drawings)]
    judged = [tables, *(drawn(tables, each, times) for each in generators)]
    found = [ledger(claims, each, thresholds, root, True).set_index("id")["verdict"] for each in judged]
    return pd.DataFrame(dict(enumerate(found)))


def drawn(tables: Tables, generator: np.random.Generator, times: int = 1) -> dict[tuple[str, str], pd.DataFrame]:
    """The tables with replicates drawn from them with replacement, ``times`` as many as there are, and numbered from 0.

    Tables of a scenario have the same replicates. One that has only some of them, as those of single samples do, stays as it is.
    """
    of_scenario: dict[str, Integers] = {}
    for (scenario, _), table in tables.items():
        found = np.unique(table["replicate"]) if "replicate" in table else np.empty(0, dtype=np.int64)
        of_scenario[scenario] = max(of_scenario.get(scenario, found), found, key=len)
    chosen = {scenario: generator.choice(found, times * len(found)) for scenario, found in of_scenario.items() if len(found)}
    return {
        (scenario, kind): _with(table, chosen[scenario])
        if "replicate" in table and np.array_equal(np.unique(table["replicate"]), of_scenario[scenario])
        else table
        for (scenario, kind), table in tables.items()
    }


def _with(table: pd.DataFrame, replicates: Integers) -> pd.DataFrame:
    """The rows of these replicates, each as often as it is named."""
    places = table.groupby("replicate").indices
    parts = [places[replicate] for replicate in replicates]
    rows = table.iloc[np.concatenate(parts)]
    return rows.assign(replicate=np.repeat(np.arange(len(parts)), [len(part) for part in parts])).reset_index(drop=True)


def steadiness(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How often each verdict stays.

    Args:
        verdicts: as from :func:`drawn_verdicts`.

    Returns:
        Columns id, verdict, stays (a share of the drawings), otherwise (the verdict that is most frequent among the others) and
        reproduced: a letter for each drawing, y where the claim is reproduced in it and n where it is not.
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
    """Which share of the verdicts any two drawings have in common, least first: what runs from two root seeds can be expected to.

    Args:
        verdicts: as from :func:`drawn_verdicts`.
    """
    drawings = verdicts.drop(columns=0).to_numpy()
    first, second = np.triu_indices(drawings.shape[1], 1)
    return np.sort((drawings[:, first] == drawings[:, second]).mean(axis=0))
