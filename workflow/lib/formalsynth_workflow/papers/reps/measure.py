"""Utility and privacy of a release: TSTR, attacks and per-instance bounds."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import gaussian_epsilon
from formalsynth.reps.influence import Mask, composed_epsilon, instance_epsilon, protective_weights
from formalsynth.reps.learners.naive_bayes import weighted_sums
from formalsynth.reps.scorers.one_way import histogram_sensitivity
from formalsynth_workflow.papers.reps.attacks import (
    DECILES,
    Targets,
    advantage_limit,
    advantages_without_release,
    attack_scores,
    attack_table,
    summarise,
)
from formalsynth_workflow.papers.reps.evaluation import auroc, scorer_quality
from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.papers.reps.outside import leaving_distances
from formalsynth_workflow.papers.reps.prepare import Prepared
from formalsynth_workflow.papers.reps.release import Budget, Replicate, SyntheticRelease, release
from formalsynth_workflow.papers.reps.settings import ExperimentSettings

Row = dict[str, float | str]
"""Columns of one row of ``replicates.csv``."""
INSTANCE = ("eps_synthesis", "eps_weight", "eps_total", "eps_composed")
PROTECTED = ("protected_epsilon", "protected_epsilon_found")


def instance_bounds(prepared: Prepared, released: SyntheticRelease) -> dict[str, Array]:
    """Per-instance epsilons (n_train,) of a release whose weights are held fixed; infinite without noise.

    Returns:
        ``eps_synthesis``: epsilon of the synthesis stage at its delta, from the record's own influence (Theorem 2).
        ``eps_weight``: epsilon of the synthesis stage from the record's weight only (Corollary 2).
        ``eps_total``: epsilon including the scoring stage (Corollary 1).
        ``eps_composed``: epsilon of the exact composition of both stages at the total delta.
    """
    budget, records = released.budget, prepared.records
    if budget.synthesis_sigma == 0:
        return dict.fromkeys(INSTANCE, instance_epsilon(records.influence, 0.0, 0.5))
    both = np.concatenate([released.weights[:, None] * norms for norms in (records.norms, np.ones_like(records.norms))])
    synthesis, by_weight = np.split(_accounted(both, budget), 2)
    total, total_delta = synthesis, budget.synthesis_delta
    if released.scoring is not None:
        total, total_delta = synthesis + budget.scoring_epsilon, total_delta + budget.scoring_delta
    exact = _exact_epsilon(released.weights * records.influence, prepared, budget, total_delta)
    return dict(zip(INSTANCE, (synthesis, by_weight, total, exact), strict=True))


def _accounted(norms: Array, budget: Budget) -> Array:
    """Epsilons (rows,) of the synthesis stage in its accounting, from the influences on its blocks (rows, blocks)."""
    accounting = budget.accounting
    delta = accounting.delta(budget.synthesis_delta, norms.shape[1])
    return instance_epsilon(accounting.influence(norms), budget.synthesis_sigma, delta, accounting.calibration)


def _exact_epsilon(influence: Array, prepared: Prepared, budget: Budget, delta: float) -> Array:
    """Smallest epsilons (records,) of both stages at ``delta``, from the influences on the synthesis stage (records,)."""
    stages = [(influence, budget.synthesis_sigma)]
    if not math.isnan(budget.scoring_sigma):
        stages.append((np.full(len(influence), histogram_sensitivity(len(prepared.sizes))), budget.scoring_sigma))
    return composed_epsilon(stages, delta)


def protected_bounds(
    prepared: Prepared, method: str, released: SyntheticRelease, settings: ExperimentSettings
) -> dict[str, float]:
    """Per-instance epsilon of the record with the smallest weight.

    Returns:
        ``protected_epsilon``, in the paper's accounting, and ``protected_epsilon_found``, if tau is recomputed without the
        record. They are NaN for a method without scores, and for shuffled weights, which do not protect particular records.
    """
    chosen = METHODS[method]
    if released.scoring is None or chosen.shuffled:
        return dict.fromkeys(PROTECTED, math.nan)
    scores, threshold = released.scoring.scores, released.scoring.threshold
    least = int(np.argmin(released.weights))
    if settings.threshold_from == "records":
        threshold = float(np.quantile(np.delete(scores, least), settings.tail))
    # Neither weight map uses randomness.
    without = chosen.weights(scores, threshold, released.choice.strength, settings, np.random.default_rng(0))
    moved = [
        released.weights[least] * prepared.records.norms[least],
        leaving_distances(prepared.records, released.weights, least, without),
    ]
    return dict(zip(PROTECTED, _accounted(np.array(moved), released.budget).tolist(), strict=True))


def capped_share(prepared: Prepared, released: SyntheticRelease, high_risk: Mask) -> float:
    """Largest per-instance epsilon of high-risk records under Proposition 1, relative to a cap at half the stage's epsilon.

    Args:
        prepared: the confidential data.
        released: the release, whose noise is unchanged.
        high_risk: (n_train,) True for the records to cap.

    Returns:
        NaN without noise.
    """
    budget, norms = released.budget, prepared.records.norms
    if budget.synthesis_sigma == 0:
        return math.nan
    accounting, cap = budget.accounting, budget.synthesis_epsilon / 2
    delta = accounting.delta(budget.synthesis_delta, norms.shape[1])
    weights = protective_weights(
        accounting.influence(norms), high_risk, cap, budget.synthesis_sigma, delta, accounting.calibration
    )
    return float(_accounted((weights[:, None] * norms)[high_risk], budget).max() / cap)


def weighting_bias(prepared: Prepared, weights: Array) -> Row:
    """Bias of the released averages that weights below 1 cause, without noise.

    The columns are the distance between the weighted and the unweighted averages, its bound from the weights only (Proposition 2,
    for the clipped statistics), and the distance relative to the norm of the unweighted averages.
    """
    records, n = prepared.records, prepared.n
    lost, total = (float(np.linalg.norm(weighted_sums(records, w) / records.bounds)) for w in (1 - weights, np.ones(n)))
    bound = records.sensitivity * float((1 - weights).mean())
    return {"weighting_bias": lost / n, "weighting_bias_bound": bound, "weighting_bias_share": lost / total}


@dataclass(frozen=True)
class Measured:
    """Results of a method in a replicate."""

    row: Row
    """One row of ``replicates.csv``."""
    deciles: pd.DataFrame
    """Attacks and per-instance bounds by outlier decile; decile 0 is all records."""


def measure(replicate: Replicate, method: str, epsilon: float) -> Measured:
    """Release with one method at one epsilon, then measure utility, attacks and per-instance bounds.

    Args:
        replicate: the confidential data with settings, random streams and cached results.
        method: one of ``METHODS``.
        epsilon: total budget; ignored by the non-private method.
    """
    start = time.perf_counter()
    prepared, settings, targets = replicate.prepared, replicate.settings, replicate.targets
    released = release(replicate, method, epsilon)
    attacked = attack_scores(targets, released.synthetic.encoded, settings.neighbours)
    table = attack_table(targets, replicate.bootstrap, attacked, settings.level)
    bounds = instance_bounds(prepared, released)
    real = prepared.split.table.label[prepared.split.test]
    row = _release_columns(prepared, method, epsilon, released, settings)
    row["tstr"] = auroc(real, replicate.classifier(released.synthetic).scores(prepared.test))
    row |= _quality(released, targets) | summarise(table)
    row |= {f"{name}_max": float(values.max()) for name, values in bounds.items()}
    row |= _unaccounted_columns(prepared, targets, method, released, settings)
    row |= weighting_bias(prepared, released.weights)
    row["advantage_limit"] = advantage_limit(*_spent(prepared, method, epsilon, settings))
    deciles = table.merge(_by_decile(bounds, released, targets), on="decile", how="left")
    return Measured(row | {"status": "ok", "seconds": time.perf_counter() - start}, deciles)


def _release_columns(
    prepared: Prepared, method: str, epsilon: float, released: SyntheticRelease, settings: ExperimentSettings
) -> Row:
    """Columns that describe the release: guarantee, noise and weights."""
    spent_epsilon, spent_delta = _spent(prepared, method, epsilon, settings)
    budget = released.budget
    return {
        "dataset": prepared.name,
        "n": prepared.n,
        "method": method,
        "epsilon": spent_epsilon,
        "delta": spent_delta,
        "guarantee": METHODS[method].guarantee(settings),
        "strength": released.choice.strength,
        "threshold": math.nan if released.scoring is None else released.scoring.threshold,
        "scoring_sigma": budget.scoring_sigma,
        "synthesis_sigma": budget.synthesis_sigma,
        "noise": METHODS[method].noise if METHODS[method].private else "none",
        "exact_epsilon": _exact_cost(prepared, budget, spent_delta),
        "weight_mean": float(released.weights.mean()),
    }


def _exact_cost(prepared: Prepared, budget: Budget, delta: float) -> float:
    """Smallest epsilon of a release at its total delta, for the largest influence; infinite without noise."""
    if budget.synthesis_sigma == 0:
        return math.inf
    return float(_exact_epsilon(np.array([prepared.records.sensitivity]), prepared, budget, delta)[0])


def _spent(prepared: Prepared, method: str, epsilon: float, settings: ExperimentSettings) -> tuple[float, float]:
    """Total epsilon and delta of a method."""
    return (epsilon, prepared.delta(settings)) if METHODS[method].private else (math.inf, 0.0)


def _quality(released: SyntheticRelease, targets: Targets) -> dict[str, float]:
    """Quality of the released scores; NaN without scores."""
    if released.scoring is None:
        return {"spearman": math.nan, "recall": math.nan}
    return scorer_quality(released.scoring.scores, targets.train_outlierness)


def _unaccounted_columns(
    prepared: Prepared, targets: Targets, method: str, released: SyntheticRelease, settings: ExperimentSettings
) -> Row:
    """Columns for effects outside the accounting: the printed reference, added and removed records, and the choice of lam."""
    return {
        "advantage_without_release": abs(advantages_without_release(targets)[DECILES]),
        "joining_epsilon": _joining_epsilon(prepared, method, released),
        "swaying": released.choice.swaying,
        **protected_bounds(prepared, method, released, settings),
        "capped_share": capped_share(prepared, released, targets.train_decile == DECILES),
    }


def _joining_epsilon(prepared: Prepared, method: str, released: SyntheticRelease) -> float:
    """Epsilon of uniform weights when an added record changes the standardisation; NaN for other methods."""
    if not METHODS[method].private or METHODS[method].scored:
        return math.nan
    distance = prepared.joining * prepared.records.sensitivity
    return gaussian_epsilon(released.budget.synthesis_sigma, distance, released.budget.synthesis_delta)


def _by_decile(bounds: Mapping[str, Array], released: SyntheticRelease, targets: Targets) -> pd.DataFrame:
    """Columns by decile that do not depend on the attack: per-instance epsilons, weights, and the advantage without a release."""
    rows, without_release = [], advantages_without_release(targets)
    for decile in range(DECILES + 1):
        chosen = targets.train_decile == decile if decile else np.ones(len(targets.train_decile), dtype=bool)
        row: Row = {"decile": decile, "train_records": int(chosen.sum())}
        if decile:
            row["advantage_without_release"] = without_release[decile]
        if chosen.any():
            row["weight_mean"] = float(released.weights[chosen].mean())
            row |= {f"{name}_mean": float(values[chosen].mean()) for name, values in bounds.items()}
            row |= {f"{name}_max": float(values[chosen].max()) for name, values in bounds.items()}
        rows.append(row)
    return pd.DataFrame(rows)
