"""Measure: bounds, synthetic data and utility of every synthesizer that shares a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.bounds import Bounds, record_bounds
from formalsynth.families import Array, Draws, Predictor, Records, count, take
from formalsynth.mechanisms import MECHANISMS, Form, Release
from formalsynth.sampler import DIAGNOSTICS
from formalsynth.scenario import Scenario, Synthesizer
from formalsynth.steps.batch import SAMPLE, Arrays, context_of, draws_of, form_of, stack_arrays
from formalsynth.steps.rows import replicate_table
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
    records = contexts[0].records
    released = isinstance(forms[0], Release)
    predictor = forms[0].predictor if released else contexts[0].family
    replicate = int(data["replicate"][k])
    n_sets = scenario.synthetic_sets if replicate == SAMPLE else 1
    generator = contexts[0].address.generator("synthesize", owner.words)
    synthetic = synthesize(predictor, generator, records, draws, n_sets) * scenario.unit
    shared = utility(records["x"] * scenario.unit, synthetic[0]) | {"draws": count(draws)}
    shared |= {name: float(found[name]) for name in ("searched", "search_steps") if name in found}
    if released:
        measured = {owner.id: (shared | {"epsilon": forms[0].epsilon}, {})}
    else:
        bounds = record_bounds(contexts[0].family, records, draws, [form.sensitive for form in forms])
        measured = {
            one.id: (shared | _bound_columns(form, bound), _record_arrays(one.id, form, bound))
            for one, form, bound in zip(members, forms, bounds, strict=True)
        }
    if replicate == SAMPLE:
        sets = np.array([list(statistics(one).values()) for one in synthetic])
        measured[owner.id][1].update({"sample_values": synthetic[0], "sample_sets": sets})
    return measured


def _bound_columns(form: Form, bound: Bounds) -> dict[str, Any]:
    affected = form.affected if bound.beyond is None else bound.beyond
    columns = {"delta": bound.delta, "epsilon": bound.epsilon, "delta_mcse": bound.delta_mcse}
    return columns | ({} if affected is None else {"affected": affected})


def _record_arrays(id: str, form: Form, bound: Bounds) -> dict[str, Array]:
    return {f"by_record:{id}": bound.by_record, f"weights:{id}": form.sensitive.weights}


def synthesize(predictor: Predictor, generator: np.random.Generator, records: Records, draws: Draws, n_sets: int) -> Array:
    """Synthetic data sets, each from one posterior draw; the first does not depend on how many there are.

    Returns:
        (min(n_sets, S), n) values.
    """
    chosen = generator.permutation(count(draws))[:n_sets]
    return predictor.predict(generator, records, take(draws, chosen))
