"""Fit: the pseudo posterior of one synthesizer for each replicate of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from formalsynth.bounds import record_bounds
from formalsynth.families import Array
from formalsynth.mechanisms import Context, Form, Release
from formalsynth.sampler import DIAGNOSTICS, Fit, Settings, sample
from formalsynth.scenario import Scenario
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
    synthesizer = scenario.synthesizers[fit_id]
    seed = context.address.stan_seed(synthesizer.words)

    def run(value: float | None = None) -> tuple[Fit, Form | Release]:
        form = form_of(synthesizer, context, value)
        if isinstance(form, Release):
            return Fit("ok", draws=dict(form.draws), seed=seed, attempts=1), form
        stan_data = context.family.stan_data(context.records, form.weights, scenario.priors, form.sensitive.threshold)
        inits = context.family.inits(stan_data)
        return sample(executable, stan_data, inits, context.family.parameters, seed, settings), form

    try:
        fit, form = _search(run, context, synthesizer.search) if synthesizer.search else run()
    except (ValueError, np.linalg.LinAlgError) as error:
        return Fit("failed", str(error)), {}
    arrays = {f"draw:{name}": values for name, values in fit.draws.items()}
    arrays |= {f"found:{name}": values for name, values in context.found.items()}
    return fit, arrays | ({"fit_weights": form.weights} if isinstance(form, Form) else {})


def _search(run: Callable[[float], tuple[Fit, Form]], context: Context, search: Mapping[str, Any]) -> tuple[Fit, Form]:
    """Refit, always with the same Stan seed, until epsilon is the target: by bisection, or from above in even steps."""
    low, high, value = search["low"], search["high"], search["high"]
    target = 2 * context.parents[0].by_record.max() if search["target"] == "parent" else search["target"]
    for step in range(1, search["steps"] + 1):
        fit, form = run(value)
        context.found |= {"searched": np.array(value), "search_steps": np.array(step)}
        if fit.status != "ok":
            return fit, form
        epsilon = record_bounds(context.family, context.records, fit.draws, [form.sensitive])[0].epsilon
        below = epsilon <= target and (step == 1 or search["lower_by"] is not None)
        near = abs(epsilon - target) <= search["tolerance"] * target and search["lower_by"] is None
        if below or near:
            return fit, form
        if search["lower_by"] is None:
            low, high = (value, high) if epsilon < target else (low, value)
            value = (low + high) / 2
        else:
            value = max(low, value - search["lower_by"])
    fit.status, fit.draws = "failed", {}
    fit.reason = f"epsilon {epsilon:.3f} is not within reach of {target:.3f} after {step} refits"
    return fit, form


def _stack(results: Sequence[tuple[Fit, dict[str, Array]]]) -> dict[str, np.ndarray]:
    stacked = {name: np.array([getattr(fit, name) for fit, _ in results]) for name in (*DIAGNOSTICS, "status", "reason")}
    return stacked | stack_arrays([arrays for _, arrays in results])
