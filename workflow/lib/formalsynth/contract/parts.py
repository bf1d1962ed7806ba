"""Contracts of a family and of mechanisms that a run uses with it, tried on a few records before the first fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from formalsynth.contract.exact_test import BRACKETS
from formalsynth.contract.family import check_family, made_up, trial
from formalsynth.contract.mechanism import check_mechanism
from formalsynth.core.arrays import RANGE, Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Mechanism
from formalsynth.core.registry import is_own

WIDEST = 12
"""Largest number of columns of a made-up design."""
FEW = 2
"""Largest number of points, stages and so on of a mechanism that selects: all its selections are tried."""


def broken_parts(
    family: str,
    records: Records,
    executable: Path,
    priors: Mapping[str, float],
    uses: Sequence[tuple[str, Mapping[str, float]]],
) -> list[str]:
    """List the faults of a family and of mechanisms, each as a sentence.

    Args:
        family: name of the family.
        records: records of the run. Only a user's own family is tried on some of them; for another, records are made up.
        executable: compiled Stan program of the family.
        priors: its prior settings.
        uses: names of mechanisms, each with its parameters.
    """
    entry, own = FAMILIES[family], is_own(FAMILIES.module(family))
    other = None if own else made_up(entry, min(records.design.shape[1], WIDEST))
    if other is not None and set(RANGE) <= set(records.inputs):
        other = BRACKETS.added_to(other)
    tried = trial(entry, records if other is None else other, executable, priors)
    faults = [tried] if isinstance(tried, str) else check_family(tried)
    if isinstance(tried, str) or faults:  # mechanisms would fail for the same reason
        return [f"family {family}: {fault}" for fault in faults]
    return [
        f"mechanism {name}: {fault}"
        for name, parameters in uses
        for fault in check_mechanism(MECHANISMS[name], _few(MECHANISMS[name], parameters), entry, tried.records, tried.draws)
    ]


def _few(mechanism: Mechanism, parameters: Mapping[str, float]) -> Mapping[str, float]:
    """Return the parameters, with few points, stages and so on if the mechanism selects."""
    if not mechanism.selects:
        return parameters
    fields = mechanism.parameters.model_json_schema()["properties"]
    given = mechanism.parameters(**parameters).model_dump()
    return {name: min(value, FEW) if fields[name].get("multipleOf") == 1 else value for name, value in given.items()}
