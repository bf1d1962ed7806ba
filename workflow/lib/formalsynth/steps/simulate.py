"""Simulate: the confidential data of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from formalsynth.datasets import load, load_counts
from formalsynth.families import Records
from formalsynth.populations import POPULATIONS
from formalsynth.scenario import Scenario
from formalsynth.streams import Address


def simulate_batch(scenario: Scenario, root: int, replicates: Sequence[int], data_folder: str) -> dict[str, np.ndarray]:
    """The confidential data of a batch: each array of :data:`Records` with a leading replicate axis."""
    batch = [_records(scenario, root, replicate, data_folder) for replicate in replicates]
    stacked = {key: np.stack([records[key] for records in batch]) for key in batch[0]}
    return {"replicate": np.asarray(replicates), **stacked}


def _records(scenario: Scenario, root: int, replicate: int, data_folder: str) -> Records:
    if scenario.file:
        return load(scenario.file["name"], data_folder, scenario.file["drop_rows"])
    parameters = dict(scenario.population or {})
    population = POPULATIONS[parameters.pop("name")]
    if "counts" in parameters:
        parameters["counts"] = load_counts(parameters["counts"], data_folder)
    return population(Address.of(scenario, root, replicate).generator("data"), scenario.n, **parameters)
