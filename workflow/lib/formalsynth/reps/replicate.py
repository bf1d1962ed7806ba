"""One replicate of the REPS experiment: a data set and a seed, then any epsilon and method on it.

Random numbers come from named streams, so a caller decides what is shared: with the same streams for every method of a
replicate, methods are compared on equal noise and equal draws.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from formalsynth.gaussian import classical_sigma, gaussian_epsilon
from formalsynth.reps.attacks import (
    DECILES,
    Targets,
    advantage_limit,
    advantage_without_release,
    attack_scores,
    attack_table,
    prepare_targets,
    summarise,
)
from formalsynth.reps.bounds import composed_epsilon, instance_epsilon, noise_sigma, protective_weights
from formalsynth.reps.data import SOURCES
from formalsynth.reps.evaluation import scorer_quality, tstr_auroc, tstr_scores
from formalsynth.reps.methods import METHODS, Method
from formalsynth.reps.outside import joining_distance, leaving_distance, swaying_records
from formalsynth.reps.scoring import histogram_cells, histogram_sensitivity, release_marginals, threshold_of
from formalsynth.reps.settings import Settings
from formalsynth.reps.synthesis import Contributions, contributions, fit_naive_bayes, release_sums
from formalsynth.reps.tables import (
    Array,
    Codes,
    Split,
    Standardiser,
    Table,
    declared_standardiser,
    encode,
    split_table,
    training_standardiser,
)
from formalsynth.reps.weighting import choose_strength

Streams = Callable[[str], np.random.Generator]
"""A fresh generator for each stage in STAGES; the same stage always starts at the same place."""
STAGES = ("source", "split", "targets", "score", "threshold", "shuffle", "release", "sample", "bootstrap")


@dataclass(frozen=True)
class Prepared:
    """A data set, split, standardised and encoded for release and for evaluation."""

    name: str
    split: Split
    standardiser: Standardiser
    """Of the release."""
    space: Standardiser
    """Of evaluation models and attacks, always from the training records."""
    records: Contributions = field(repr=False)
    """Of the training records."""
    cells: Codes = field(repr=False)
    """(n_train, features) histogram cells of the training records."""
    sizes: tuple[int, ...]
    validation: np.ndarray = field(repr=False)
    """(n_validation, d) encoded."""
    test: np.ndarray = field(repr=False)
    """(n_test, d) encoded."""
    joining: float
    """:func:`~formalsynth.reps.outside.joining_distance` of the training records."""

    @property
    def n(self) -> int:
        """Number of training records."""
        return len(self.split.train)

    def delta(self, settings: Settings) -> float:
        """The total delta."""
        return settings.delta if settings.delta is not None else 1 / self.n


def load_split(name: str, folder: str | Path, streams: Streams, size: int | None = None, **parameters: Any) -> Split:
    """A data set by name, in its three parts.

    Args:
        name: one of ``SOURCES``.
        folder: where real data files are looked for before FORMALSYNTH_DATA.
        streams: random streams; "source" and "split" are used.
        size: records to keep at most, chosen at random with "source"; none for all.
        **parameters: of the source.

    Raises:
        DataError: a real data file is absent or not the published one.
    """
    generator = streams("source")
    table = SOURCES[name](generator, folder, **parameters)
    if size is not None and len(table) > size:
        table = table.take(generator.permutation(len(table))[:size])
    return split_table(table, streams("split"))


def prepare(name: str, split: Split, settings: Settings) -> Prepared:
    """Standardise and encode a split data set; no randomness."""
    train = split.part("train")
    schema, space = train.schema, training_standardiser(train)

    def standardiser_of(table: Table) -> Standardiser:
        return (
            training_standardiser(table) if settings.standardise == "training" else declared_standardiser(schema, settings.clip)
        )

    def contributions_of(table: Table) -> Contributions:
        z = standardiser_of(table)(table.continuous)
        return contributions(z, table.categories, table.label, schema.levels, clip=settings.clip, norm_share=settings.norm_share)

    standardiser = standardiser_of(train)
    z = standardiser(train.continuous)
    return Prepared(
        name=name,
        split=split,
        standardiser=standardiser,
        space=space,
        records=contributions_of(train),
        cells=histogram_cells(z, train.categories, settings.clip, settings.bins),
        sizes=(settings.bins,) * len(schema.continuous) + schema.levels,
        validation=encode(split.part("validation"), space),
        test=encode(split.part("test"), space),
        joining=joining_distance(train, contributions_of),
    )


def targets_of(prepared: Prepared, settings: Settings, streams: Streams) -> Targets:
    """The attacked records of a data set, which no method and no epsilon changes; "targets" is used."""
    split = prepared.split
    rows = np.concatenate([split.train, split.test])
    train = encode(split.part("train"), prepared.space)
    return prepare_targets(train, prepared.test, rows, settings.neighbours, streams("targets"), settings.queries)


@dataclass(frozen=True)
class Budget:
    """How epsilon and delta are spent. A sigma is 0 for no noise, and NaN for a stage that does not take place."""

    scoring_epsilon: float
    scoring_delta: float
    scoring_sigma: float
    synthesis_epsilon: float
    synthesis_delta: float
    synthesis_sigma: float
    synthesis_sigma_classical: float


def budget_of(prepared: Prepared, method: Method, epsilon: float, settings: Settings) -> Budget:
    """Noise of both stages, by basic composition (Theorem 1, Section 7.4)."""
    nan = float("nan")
    if not method.private:
        return Budget(nan, nan, nan, np.inf, 0.0, 0.0, 0.0)
    delta, share, delta_share = prepared.delta(settings), settings.scoring_share, settings.scoring_delta_share
    spent = (epsilon * share, delta * delta_share) if method.split else (0.0, 0.0)
    left = (epsilon - spent[0], delta - spent[1])
    scoring = (nan, nan, nan)
    if method.scored:
        sensitivity = histogram_sensitivity(len(prepared.sizes))
        scoring = (*spent, noise_sigma(settings.calibration, sensitivity, *spent))
    sensitivity = prepared.records.sensitivity
    sigma = noise_sigma(settings.calibration, sensitivity, *left)
    return Budget(*scoring, *left, sigma, classical_sigma(sensitivity, *left))


@dataclass(frozen=True)
class Release:
    """A synthetic data set and how it came about."""

    synthetic: Table
    """n_train synthetic records in their own units."""
    budget: Budget
    weights: Array = field(repr=False)
    """(n_train,)."""
    scores: Array | None = field(repr=False)
    """(n_train,) released outlier scores of the training records; None without scoring."""
    threshold: float
    strength: float
    """lam; 0 for uniform weights, NaN where the weights do not use it."""
    validation: dict[float, float]
    """Validation AUROC of each candidate lam; empty without a choice."""
    swaying: float
    """Share of the validation records without which lam would be another; NaN without a choice."""


def release(prepared: Prepared, method: str, epsilon: float, settings: Settings, streams: Streams) -> Release:
    """Both stages of a method: scores, weights, noisy statistics and a synthetic data set of n_train records.

    Args:
        prepared: the confidential data.
        method: one of ``METHODS``.
        epsilon: total budget.
        settings: everything else.
        streams: random streams; "score", "threshold", "shuffle", "release" and "sample" are used.
    """
    chosen = METHODS[method]
    budget = budget_of(prepared, chosen, epsilon, settings)
    scores, threshold = np.zeros(prepared.n), float("nan")
    if chosen.scored:
        marginals = release_marginals(
            prepared.cells, prepared.sizes, budget.scoring_sigma, streams("score"),
            floor=settings.count_floor, score=settings.score,
        )  # fmt: skip
        scores = marginals.scores(prepared.cells)
        threshold = threshold_of(scores, marginals, settings.tail, settings.threshold_from, streams("threshold"))
    strength, utility, swaying = 0.0, {}, float("nan")
    if chosen.tuned and settings.weight_map == "hinge":
        strength, utility, swaying = _tune(prepared, epsilon, settings, streams, scores, threshold, budget)
    elif chosen.scored:
        strength = float("nan")
    weights = chosen.weights(scores, threshold, strength, settings, streams("shuffle"))
    synthetic = _synthesize(prepared, weights, budget.synthesis_sigma, settings, streams)
    return Release(synthetic, budget, weights, scores if chosen.scored else None, threshold, strength, utility, swaying)


def _tune(
    prepared: Prepared, epsilon: float, settings: Settings, streams: Streams, scores: Array, threshold: float, budget: Budget
) -> tuple[float, dict[float, float], float]:
    """The lam of REPS, which every method that has one uses (as in the paper's tables), its utilities and who sways it.

    A candidate sees the noise and draws that its release would have, so the chosen one is released as it was validated.
    """

    def validated(weights: Array, sigma: float) -> Array:
        synthetic = _synthesize(prepared, weights, sigma, settings, streams)
        return tstr_scores(encode(synthetic, prepared.space), synthetic.label, prepared.validation)

    def candidate(strength: float) -> Array:
        return METHODS["reps"].weights(scores, threshold, strength, settings, streams("shuffle"))

    if len(settings.strengths) == 1:
        return settings.strengths[0], {}, float("nan")
    real = prepared.split.table.label[prepared.split.validation]
    uniform = validated(np.ones(prepared.n), budget_of(prepared, METHODS["uniform"], epsilon, settings).synthesis_sigma)
    found = {strength: validated(candidate(strength), budget.synthesis_sigma) for strength in settings.strengths}
    utility = {strength: float(roc_auc_score(real, values)) for strength, values in found.items()}
    strength = choose_strength(utility, float(roc_auc_score(real, uniform)), settings.slack)
    return strength, utility, float(swaying_records(found, uniform, real, settings.slack, strength).mean())


def _synthesize(prepared: Prepared, weights: Array, sigma: float, settings: Settings, streams: Streams) -> Table:
    sums = release_sums(prepared.records, weights, sigma, streams("release"))
    model = fit_naive_bayes(
        sums, prepared.records.levels, clip=settings.clip,
        variance_floor=settings.variance_floor, label_floor=settings.label_floor,
    )  # fmt: skip
    z, categories, label = model.sample(streams("sample"), prepared.n)
    return Table(prepared.split.table.schema, prepared.standardiser.inverse(z), categories, label)


def instance_bounds(prepared: Prepared, found: Release, settings: Settings) -> dict[str, Array]:
    """Per-instance epsilons (n_train,) of a release, by name.

    ``eps_synthesis`` is of the synthesis stage at its delta and the record's own influence (Theorem 2), ``eps_weight``
    the same from its weight alone (Corollary 2), ``eps_total`` adds the scoring stage (Corollary 1), ``eps_composed`` is
    the exact composition of both stages at the total delta.
    """
    budget, influence = found.budget, found.weights * prepared.records.influence
    sigma, delta = budget.synthesis_sigma, budget.synthesis_delta
    if sigma == 0:
        return dict.fromkeys(("eps_synthesis", "eps_weight", "eps_total", "eps_composed"), instance_epsilon(influence, 0.0, 0.5))
    synthesis = instance_epsilon(influence, sigma, delta, settings.calibration)
    by_weight = instance_epsilon(found.weights * prepared.records.sensitivity, sigma, delta, settings.calibration)
    stages = [(influence, sigma)]
    total, total_delta = synthesis, delta
    if found.scores is not None:
        stages.append((np.full(prepared.n, histogram_sensitivity(len(prepared.sizes))), budget.scoring_sigma))
        total, total_delta = synthesis + budget.scoring_epsilon, delta + budget.scoring_delta
    composed = composed_epsilon(stages, total_delta)
    return {"eps_synthesis": synthesis, "eps_weight": by_weight, "eps_total": total, "eps_composed": composed}


def protected_bounds(prepared: Prepared, method: str, found: Release, settings: Settings) -> dict[str, float]:
    """Per-instance epsilon of the record with the least weight: as accounted for, and with tau computed without it.

    NaN for a method without scores, and for shuffled weights, which have no record to protect.
    """
    names, chosen = ("protected_epsilon", "protected_epsilon_found"), METHODS[method]
    if found.scores is None or chosen.shuffled:
        return dict.fromkeys(names, float("nan"))
    one = int(np.argmin(found.weights))
    threshold = found.threshold
    if settings.threshold_from == "records":
        threshold = float(np.quantile(np.delete(found.scores, one), settings.tail))
    # Neither map uses randomness.
    without = chosen.weights(found.scores, threshold, found.strength, settings, np.random.default_rng(0))
    moved = [
        found.weights[one] * prepared.records.influence[one],
        leaving_distance(prepared.records, found.weights, one, without),
    ]
    budget = found.budget
    values = instance_epsilon(np.array(moved), budget.synthesis_sigma, budget.synthesis_delta, settings.calibration)
    return dict(zip(names, values.tolist(), strict=True))


def capped_share(prepared: Prepared, found: Release, high_risk: np.ndarray, settings: Settings) -> float:
    """Largest per-instance epsilon of high-risk records (n,) under Proposition 1, relative to a cap at half that of the stage."""
    budget, influence = found.budget, prepared.records.influence
    if budget.synthesis_sigma == 0:
        return float("nan")
    cap, noise = budget.synthesis_epsilon / 2, (budget.synthesis_sigma, budget.synthesis_delta)
    weights = protective_weights(influence, high_risk, cap, *noise, settings.calibration)
    return float(instance_epsilon((weights * influence)[high_risk], *noise, settings.calibration).max() / cap)


@dataclass(frozen=True)
class Measured:
    """What a replicate leaves behind."""

    row: dict[str, Any]
    """One row of ``replicates.csv``."""
    deciles: pd.DataFrame
    """Attacks and per-instance bounds by outlier decile; decile 0 is all records."""
    records: dict[str, np.ndarray]
    """Arrays over the training records (weight, score, outlierness, decile, eps_*) and, as ``query_*``, over the
    attacked ones."""


def measure(prepared: Prepared, targets: Targets, method: str, epsilon: float, settings: Settings, streams: Streams) -> Measured:
    """Release with one method at one epsilon, then measure utility, attacks and per-instance bounds.

    Args:
        prepared: output of :func:`prepare`.
        targets: output of :func:`targets_of`.
        method: one of ``METHODS``.
        epsilon: total budget; without effect for the non-private method.
        settings: everything else.
        streams: random streams; those of :func:`release` and "bootstrap" are used.
    """
    start = time.perf_counter()
    found = release(prepared, method, epsilon, settings, streams)
    synthetic = encode(found.synthetic, prepared.space)
    real = prepared.split.table.label[prepared.split.test]
    attacked = attack_scores(targets, synthetic, settings.neighbours)
    table = attack_table(targets, attacked, settings.resamples, settings.level, streams("bootstrap"))
    bounds = instance_bounds(prepared, found, settings)
    budget = found.budget
    joining = float("nan")
    if METHODS[method].private and not METHODS[method].scored:
        distance = prepared.joining * prepared.records.sensitivity
        joining = gaussian_epsilon(budget.synthesis_sigma, distance, budget.synthesis_delta)
    quality = {"spearman": float("nan"), "recall": float("nan")}
    if found.scores is not None:
        quality = scorer_quality(found.scores, targets.train_outlierness)
    row = {
        "dataset": prepared.name,
        "n": prepared.n,
        "method": method,
        "label": METHODS[method].label,
        "epsilon": epsilon if METHODS[method].private else float("inf"),
        "delta": prepared.delta(settings) if METHODS[method].private else 0.0,
        "guarantee": METHODS[method].guarantee(settings),
        "strength": found.strength,
        "threshold": found.threshold,
        "scoring_sigma": budget.scoring_sigma,
        "synthesis_sigma": budget.synthesis_sigma,
        "synthesis_sigma_classical": budget.synthesis_sigma_classical,
        "weight_mean": float(found.weights.mean()),
        "tstr": tstr_auroc(synthetic, found.synthetic.label, prepared.test, real),
        **quality,
        **summarise(table),
        **{f"{name}_max": float(values.max()) for name, values in bounds.items()},
        "advantage_without_release": advantage_without_release(targets),
        "joining_epsilon": joining,
        "swaying": found.swaying,
        **protected_bounds(prepared, method, found, settings),
        "capped_share": capped_share(prepared, found, targets.train_decile == DECILES, settings),
    }
    row["advantage_limit"] = advantage_limit(row["epsilon"], row["delta"])
    records = {"row": prepared.split.train, "weight": found.weights, "decile": targets.train_decile, **bounds}
    records |= {"outlierness": targets.train_outlierness, "score": _or_nan(found.scores, prepared.n)}
    records |= {f"query_{name}": getattr(targets, name) for name in ("row", "member", "decile", "weight")}
    records |= {f"query_{name}": values for name, values in attacked.items()}
    deciles = table.merge(_by_decile(bounds, found, targets), on="decile", how="left")
    return Measured(row | {"status": "ok", "seconds": time.perf_counter() - start}, deciles, records)


def _or_nan(values: Array | None, n: int) -> Array:
    return np.full(n, np.nan) if values is None else values


def _by_decile(bounds: dict[str, Array], found: Release, targets: Targets) -> pd.DataFrame:
    """Mean and largest per-instance epsilons and mean weights of the training records in each decile."""
    rows = []
    for decile in range(DECILES + 1):
        chosen = targets.train_decile == decile if decile else np.ones(len(targets.train_decile), dtype=bool)
        row = {"decile": decile, "train_records": int(chosen.sum())}
        if chosen.any():
            row["weight_mean"] = float(found.weights[chosen].mean())
            row |= {f"{name}_mean": float(values[chosen].mean()) for name, values in bounds.items()}
            row |= {f"{name}_max": float(values[chosen].max()) for name, values in bounds.items()}
        rows.append(row)
    return pd.DataFrame(rows)
