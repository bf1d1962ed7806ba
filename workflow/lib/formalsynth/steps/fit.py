"""Fit: the pseudo posterior of one synthesizer for each replicate of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from formalsynth.design import Scenario
from formalsynth.families import Array
from formalsynth.mechanisms import Context
from formalsynth.sampler import DIAGNOSTICS, Fit, Settings, sample
from formalsynth.steps.batch import Arrays, context_of, form_of, stack_arrays


def fit_batch(
    scenario: Scenario, fit_id: str, root: int, data: Arrays, parents: Mapping[str, Arrays], executable: Path,
    settings: Settings,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Fit one synthesizer to each replicate of a batch.

    Args:
        scenario: the design.
        fit_id: the synthesizer.
        root: root seed.
        data: output of :func:`simulate_batch`.
        parents: fit and measure arrays of the fits that its mechanism needs, by id.
        executable: compiled Stan program of the family.
        settings: sampler settings.

    Returns:
        Draws, diagnostics, fit weights and what the mechanism found. A failed replicate has NaN draws and a reason.
    """
    results = []
    for k in range(len(data["replicate"])):
        context = context_of(scenario, scenario.synthesizers[fit_id], root, data, k, parents, {})
        results.append(_fit_one(scenario, fit_id, context, executable, settings))
    return _stack(results)


def _fit_one(
    scenario: Scenario, fit_id: str, context: Context | str, executable: Path, settings: Settings
) -> tuple[Fit, dict[str, Array]]:
    if isinstance(context, str):
        return Fit("failed", context), {}
    synthesizer, family = scenario.synthesizers[fit_id], context.family
    try:
        form = form_of(synthesizer, context)
        stan_data = family.stan_data(context.records, form.weights, scenario.priors)
    except (ValueError, np.linalg.LinAlgError) as error:
        return Fit("failed", str(error)), {}
    seed = context.address.stan_seed(synthesizer.words)
    fit = sample(executable, stan_data, family.inits(stan_data), family.parameters, seed, settings)
    arrays = {f"draw:{name}": values for name, values in fit.draws.items()}
    arrays |= {f"found:{name}": values for name, values in context.found.items()}
    return fit, {**arrays, "fit_weights": form.weights}


def _stack(results: Sequence[tuple[Fit, dict[str, Array]]]) -> dict[str, np.ndarray]:
    stacked = {name: np.array([getattr(fit, name) for fit, _ in results]) for name in (*DIAGNOSTICS, "status", "reason")}
    return stacked | stack_arrays([arrays for _, arrays in results])
