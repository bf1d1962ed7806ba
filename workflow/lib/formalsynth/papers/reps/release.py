"""The release of a method at a budget: scores, weights, noisy statistics and a synthetic data set."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from sklearn.metrics import roc_auc_score

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import classical_sigma
from formalsynth.papers.reps.evaluation import tstr_scores
from formalsynth.papers.reps.methods import METHODS, Method
from formalsynth.papers.reps.outside import swaying_records
from formalsynth.papers.reps.per_instance import noise_sigma
from formalsynth.papers.reps.prepare import Prepared
from formalsynth.papers.reps.scoring import histogram_sensitivity, release_marginals, threshold_of
from formalsynth.papers.reps.settings import ExperimentSettings
from formalsynth.papers.reps.stages import Streams
from formalsynth.papers.reps.synthesis import fit_naive_bayes, release_sums
from formalsynth.papers.reps.tables import Table, encode
from formalsynth.papers.reps.weighting import choose_strength


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


def budget_of(prepared: Prepared, method: Method, epsilon: float, settings: ExperimentSettings) -> Budget:
    """Noise of both stages, by basic composition (Theorem 1, Section 7.4)."""
    nan = math.nan
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
class Scoring:
    """Outlier scores of the training records and the threshold above which they are high."""

    scores: Array = field(repr=False)
    """(n_train,)."""
    threshold: float


@dataclass(frozen=True)
class Choice:
    """The lam of REPS and how it was chosen."""

    strength: float
    """lam; 0 for uniform weights, NaN where the weights do not use it."""
    validation: dict[float, float] = field(default_factory=dict)
    """Validation AUROC of each candidate lam; empty without a choice."""
    swaying: float = math.nan
    """Share of the validation records without which lam would be another; NaN without a choice."""


@dataclass(frozen=True)
class SyntheticRelease:
    """A synthetic data set and how it came about."""

    synthetic: Table
    """n_train synthetic records in their own units."""
    budget: Budget
    weights: Array = field(repr=False)
    """(n_train,)."""
    scoring: Scoring | None
    """What scoring released; None without scoring."""
    choice: Choice


def release(prepared: Prepared, method: str, epsilon: float, settings: ExperimentSettings, streams: Streams) -> SyntheticRelease:
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
    scoring, choice = Scoring(np.zeros(prepared.n), math.nan), Choice(0.0)
    if chosen.scored:
        scoring, choice = _score(prepared, budget, settings, streams), Choice(math.nan)
    if chosen.tuned and settings.weight_map == "hinge":
        choice = _tune(prepared, epsilon, settings, streams, scoring, budget)
    weights = chosen.weights(scoring.scores, scoring.threshold, choice.strength, settings, streams("shuffle"))
    synthetic = _synthesize(prepared, weights, budget.synthesis_sigma, settings, streams)
    return SyntheticRelease(synthetic, budget, weights, scoring if chosen.scored else None, choice)


def _score(prepared: Prepared, budget: Budget, settings: ExperimentSettings, streams: Streams) -> Scoring:
    """Stage 1."""
    marginals = release_marginals(
        prepared.cells, prepared.sizes, budget.scoring_sigma, streams("score"),
        floor=settings.count_floor, score=settings.score,
    )  # fmt: skip
    scores = marginals.scores(prepared.cells)
    return Scoring(scores, threshold_of(scores, marginals, settings.tail, settings.threshold_from, streams("threshold")))


def _tune(
    prepared: Prepared, epsilon: float, settings: ExperimentSettings, streams: Streams, scoring: Scoring, budget: Budget
) -> Choice:
    """The lam of REPS, which every method that has one uses (as in the paper's tables).

    A candidate sees the noise and draws that its release would have, so the chosen one is released as it was validated.
    """
    if len(settings.strengths) == 1:
        return Choice(settings.strengths[0])

    def validated(weights: Array, sigma: float) -> Array:
        synthetic = _synthesize(prepared, weights, sigma, settings, streams)
        return tstr_scores(encode(synthetic, prepared.space), synthetic.label, prepared.validation)

    def candidate(strength: float) -> Array:
        return METHODS["reps"].weights(scoring.scores, scoring.threshold, strength, settings, streams("shuffle"))

    real = prepared.split.table.label[prepared.split.validation]
    uniform = validated(np.ones(prepared.n), budget_of(prepared, METHODS["uniform"], epsilon, settings).synthesis_sigma)
    found = {strength: validated(candidate(strength), budget.synthesis_sigma) for strength in settings.strengths}
    utility = {strength: float(roc_auc_score(real, values)) for strength, values in found.items()}
    strength = choose_strength(utility, float(roc_auc_score(real, uniform)), settings.slack)
    return Choice(strength, utility, float(swaying_records(found, uniform, real, settings.slack, strength).mean()))


def _synthesize(prepared: Prepared, weights: Array, sigma: float, settings: ExperimentSettings, streams: Streams) -> Table:
    """Stage 2."""
    sums = release_sums(prepared.records, weights, sigma, streams("release"))
    model = fit_naive_bayes(
        sums, prepared.records.levels, clip=settings.clip,
        variance_floor=settings.variance_floor, label_floor=settings.label_floor,
    )  # fmt: skip
    z, categories, label = model.sample(streams("sample"), prepared.n)
    return Table(prepared.split.table.schema, prepared.standardiser.inverse(z), categories, label)
