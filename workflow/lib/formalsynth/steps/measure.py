"""Measure: bounds, synthetic data and utility of every synthesizer that shares a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.bounds import Bounds, record_bounds
from formalsynth.design import Scenario, Synthesizer
from formalsynth.families import FAMILIES, Array, Draws, Records, take
from formalsynth.mechanisms import MECHANISMS
from formalsynth.sampler import DIAGNOSTICS
from formalsynth.steps.batch import SAMPLE, Arrays, context_of, draws_of, form_of, replicate_table, stack_arrays
from formalsynth.streams import Address
from formalsynth.utility import statistics, utility


def measure_batch(
    scenario: Scenario, fit_id: str, root: int, data: Arrays, fit: Arrays, parents: Mapping[str, Arrays]
) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Bounds, utility and diagnostics of every synthesizer that shares a fit.

    Returns:
        One row for each replicate and synthesizer, and the record-level arrays that children and figures need.
    """
    members = scenario.members(fit_id)
    rows, records = [], []
    for k, replicate in enumerate(data["replicate"]):
        diagnostics = {name: fit[name][k].item() for name in (*DIAGNOSTICS, "status", "reason")}
        if diagnostics["status"] == "ok":
            measured = _measure_one(scenario, members, root, data, fit, parents, k)
        else:
            measured = {member.id: ({}, {}) for member in members}
        for member in members:
            row = {"paper": scenario.paper, "scenario": scenario.id, "n": scenario.n, "replicate": int(replicate)}
            row |= {"synthesizer": member.id, "guarantee": MECHANISMS[member.mechanism].guarantee}
            rows.append(row | diagnostics | measured[member.id][0])
        records.append({key: value for _, arrays in measured.values() for key, value in arrays.items()})
    return replicate_table(rows), stack_arrays(records)


def _measure_one(
    scenario: Scenario, members: Sequence[Synthesizer], root: int, data: Arrays, fit: Arrays,
    parents: Mapping[str, Arrays], k: int,
) -> dict[str, tuple[dict[str, Any], dict[str, Array]]]:  # fmt: skip
    owner = members[0]
    found = {key.removeprefix("found:"): fit[key][k] for key in fit if key.startswith("found:")}
    contexts = [context_of(scenario, one, root, data, k, parents, found if one is owner else {}) for one in members]
    forms = [form_of(one, context) for one, context in zip(members, contexts, strict=True)]
    draws = draws_of(fit, k)
    family, records = contexts[0].family, contexts[0].records
    bounds = record_bounds(family, records, draws, [form.sensitive for form in forms])
    replicate = int(data["replicate"][k])
    n_sets = scenario.synthetic_sets if replicate == SAMPLE else 1
    synthetic = synthesize(scenario, owner, contexts[0].address, records, draws, n_sets)
    useful = utility(records["x"], synthetic[0])
    n_draws = len(next(iter(draws.values())))
    measured = {}
    for one, form, bound in zip(members, forms, bounds, strict=True):
        row = useful | _bound_columns(bound) | {"draws": n_draws}
        arrays = {f"by_record:{one.id}": bound.by_record, f"weights:{one.id}": form.sensitive.weights}
        measured[one.id] = (row, arrays)
    if replicate == SAMPLE:
        sets = np.array([list(statistics(one).values()) for one in synthetic])
        measured[owner.id][1].update({"sample_values": synthetic[0], "sample_sets": sets})
    return measured


def _bound_columns(bound: Bounds) -> dict[str, Any]:
    columns = {"delta": bound.delta, "epsilon": bound.epsilon, "delta_mcse": bound.delta_mcse}
    return columns | ({} if bound.beyond is None else {"beyond": bound.beyond})


def synthesize(
    scenario: Scenario, synthesizer: Synthesizer, address: Address, records: Records, draws: Draws, n_sets: int
) -> Array:
    """Synthetic data sets (n_sets, n), each from one posterior draw; the first does not depend on ``n_sets``."""
    generator = address.generator("synthesize", synthesizer.words)
    chosen = generator.permutation(len(next(iter(draws.values()))))[:n_sets]
    return FAMILIES[scenario.family].predict(generator, records, take(draws, chosen))
