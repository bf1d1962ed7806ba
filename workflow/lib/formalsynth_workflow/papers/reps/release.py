"""Release of a method at a budget: scores, weights, noisy statistics and a synthetic data set."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.influence import ACCOUNTINGS, Accounting, Noise, noise_sigma
from formalsynth.reps.learners.naive_bayes import fit_naive_bayes, release_sums
from formalsynth.reps.scorers.one_way import Marginals, histogram_sensitivity, release_marginals
from formalsynth_workflow.papers.reps.attacks import Comparison, Targets, bootstrap_comparisons
from formalsynth_workflow.papers.reps.evaluation import Classifier, auroc
from formalsynth_workflow.papers.reps.methods import METHODS, Method
from formalsynth_workflow.papers.reps.outside import choose_strength, swaying_records
from formalsynth_workflow.papers.reps.prepare import Prepared, targets_of
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.stages import Streams
from formalsynth_workflow.papers.reps.tables import Encoded, Table, encode

THRESHOLD_DRAWS = 100_000
"""Number of records drawn from the released frequencies for the quantile of their scores."""


@dataclass(frozen=True)
class Budget:
    """Split of epsilon and delta. A sigma is 0 if there is no noise, and NaN for a stage that the method does not have."""

    accounting: Accounting
    scoring_epsilon: float
    scoring_delta: float
    scoring_sigma: float
    synthesis_epsilon: float
    synthesis_delta: float
    synthesis_sigma: float


def budget_of(prepared: Prepared, method: Method, epsilon: float, settings: ExperimentSettings) -> Budget:
    """Compute the noise of both stages by basic composition (Theorem 1, Section 7.4)."""
    nan, accounting = math.nan, ACCOUNTINGS[method.noise]
    if not method.private:
        return Budget(accounting, nan, nan, nan, np.inf, 0.0, 0.0)
    delta, share, delta_share = prepared.delta(settings), settings.scoring_share, settings.scoring_delta_share
    spent = (epsilon * share, delta * delta_share) if method.split else (0.0, 0.0)
    synthesis = (epsilon - spent[0], delta - spent[1])
    scoring = (nan, nan, nan)
    if method.scored:
        sensitivity = histogram_sensitivity(len(prepared.sizes))
        scoring = (*spent, noise_sigma(accounting.calibration, sensitivity, *spent))
    return Budget(accounting, *scoring, *synthesis, accounting.sigma(len(prepared.records.starts), *synthesis))


@dataclass(frozen=True)
class Scoring:
    """Outlier scores of the training records, and the threshold for high scores."""

    scores: Array = field(repr=False)
    """(n_train,)."""
    threshold: float


@dataclass(frozen=True)
class Choice:
    """Choice of lam for REPS."""

    strength: float
    """The chosen lam; 0 for uniform weights, NaN if the weights do not use it."""
    validation: dict[float, float] = field(default_factory=dict)
    """Validation AUROC of each candidate lam; empty without a choice."""
    swaying: float = math.nan
    """Share of the validation records whose removal would change lam; NaN without a choice."""


@dataclass(frozen=True)
class Synthetic:
    """Synthetic records of a replicate."""

    table: Table
    """n_train records in their own units."""
    encoded: Encoded = field(repr=False)
    """(n_train, d) in the space of evaluation models and attacks."""
    made_with: tuple[bytes, float] = field(repr=False)
    """Weights and noise level, which determine the records."""


@dataclass(frozen=True)
class SyntheticRelease:
    """Synthetic data set with its budget, weights, scores and choice of lam."""

    synthetic: Synthetic
    budget: Budget
    weights: Array = field(repr=False)
    """(n_train,)."""
    scoring: Scoring | None
    """Released scores; None without scoring."""
    choice: Choice


@dataclass(frozen=True, eq=False)
class Replicate:
    """Prepared data set with its random streams, and a cache of results that several methods share.

    A stream always starts at the same state, so results do not depend on the order of methods.
    """

    prepared: Prepared
    settings: ExperimentSettings
    streams: Streams
    _scorings: dict[tuple[Noise, float], Scoring] = field(default_factory=dict, init=False, repr=False)
    _choices: dict[tuple[Noise, float], Choice] = field(default_factory=dict, init=False, repr=False)
    _classifiers: dict[tuple[bytes, float], Classifier] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def targets(self) -> Targets:
        """Attacked records, chosen with the stream "targets"."""
        return targets_of(self.prepared, self.settings, self.streams)

    @cached_property
    def bootstrap(self) -> tuple[Comparison, ...]:
        """Bootstrap samples of the attacked records, common to all attacks, drawn with the stream "bootstrap"."""
        return bootstrap_comparisons(self.targets, self.settings.resamples, self.streams("bootstrap"))

    def budget(self, method: Method, epsilon: float) -> Budget:
        """Budget of a method at a total epsilon."""
        return budget_of(self.prepared, method, epsilon, self.settings)

    def scoring(self, noise: Noise, epsilon: float) -> Scoring:
        """Stage 1 at a total budget, common to all methods with scores; uses the streams "score" and "threshold"."""
        if (noise, epsilon) not in self._scorings:
            self._scorings[noise, epsilon] = _score(self, noise, epsilon)
        return self._scorings[noise, epsilon]

    def choice(self, noise: Noise, epsilon: float) -> Choice:
        """Choice of lam for REPS; all methods with a lam use the same one, as in the paper's tables."""
        if (noise, epsilon) not in self._choices:
            self._choices[noise, epsilon] = _choose(self, noise, epsilon)
        return self._choices[noise, epsilon]

    def weights(self, method: Method, scoring: Scoring, strength: float) -> Array:
        """Weights of a method (n_train,); uses the stream "shuffle"."""
        return method.weights(scoring.scores, scoring.threshold, strength, self.settings, self.streams("shuffle"))

    def synthesize(self, weights: Array, sigma: float) -> Synthetic:
        """Run stage 2, with the streams "release" and "sample"."""
        prepared, settings = self.prepared, self.settings
        sums = release_sums(prepared.records, weights, sigma, self.streams("release"))
        model = fit_naive_bayes(sums, prepared.records.levels, clip=settings.clip)
        drawn = model.sample(self.streams("sample"), prepared.n)
        table = Table(prepared.split.table.schema, prepared.standardiser.inverse(drawn.z), drawn.categories, drawn.label)
        return Synthetic(table, encode(table, prepared.space), (weights.tobytes(), sigma))

    def classifier(self, synthetic: Synthetic) -> Classifier:
        """Classifier trained on synthetic records."""
        if synthetic.made_with not in self._classifiers:
            self._classifiers[synthetic.made_with] = Classifier.trained(synthetic.encoded, synthetic.table.label)
        return self._classifiers[synthetic.made_with]


def release(replicate: Replicate, method: str, epsilon: float) -> SyntheticRelease:
    """Run both stages of a method: scores, weights, noisy statistics and a synthetic data set of n_train records.

    Args:
        replicate: the confidential data with settings, random streams and cached results.
        method: one of ``METHODS``.
        epsilon: total budget.
    """
    chosen = METHODS[method]
    budget = replicate.budget(chosen, epsilon)
    scoring, choice = Scoring(np.zeros(replicate.prepared.n), math.nan), Choice(0.0)
    if chosen.scored:
        scoring, choice = replicate.scoring(chosen.noise, epsilon), Choice(math.nan)
    if chosen.tuned and replicate.settings.weight_map == "hinge":
        choice = replicate.choice(chosen.noise, epsilon)
    weights = replicate.weights(chosen, scoring, choice.strength)
    synthetic = replicate.synthesize(weights, budget.synthesis_sigma)
    return SyntheticRelease(synthetic, budget, weights, scoring if chosen.scored else None, choice)


def threshold_of(
    scores: Array,
    marginals: Marginals,
    quantile: float,
    taken_from: Literal["records", "marginals"],
    generator: np.random.Generator,
) -> float:
    """Threshold tau of high scores.

    With ``records``, it is the quantile of their scores, as in the paper: a function of the confidential records outside the
    budget. With ``marginals``, it is the quantile under the released frequencies, which is post-processing.
    """
    if taken_from == "marginals":
        scores = marginals.draw_scores(generator, THRESHOLD_DRAWS)
    return float(np.quantile(scores, quantile))


def _score(replicate: Replicate, noise: Noise, epsilon: float) -> Scoring:
    prepared, settings, streams = replicate.prepared, replicate.settings, replicate.streams
    budget = replicate.budget(replace(METHODS["reps"], noise=noise), epsilon)
    marginals = release_marginals(prepared.cells, prepared.sizes, budget.scoring_sigma, streams("score"))
    scores = marginals.scores(prepared.cells)
    return Scoring(scores, threshold_of(scores, marginals, settings.tail, settings.threshold_from, streams("threshold")))


def _choose(replicate: Replicate, noise: Noise, epsilon: float) -> Choice:
    """Choose lam by validation; each candidate uses the noise and draws of its release, so the released data are validated."""
    prepared, settings = replicate.prepared, replicate.settings
    if len(settings.strengths) == 1:
        return Choice(settings.strengths[0])

    def validated(name: str, strength: float) -> Array:
        method = replace(METHODS[name], noise=noise)
        weights = replicate.weights(method, scoring, strength)
        synthetic = replicate.synthesize(weights, replicate.budget(method, epsilon).synthesis_sigma)
        return replicate.classifier(synthetic).scores(prepared.validation)

    scoring, real = replicate.scoring(noise, epsilon), prepared.split.table.label[prepared.split.validation]
    uniform = validated("uniform", 0.0)
    validation = {strength: validated("reps", strength) for strength in settings.strengths}
    utility = {strength: auroc(real, values) for strength, values in validation.items()}
    strength = choose_strength(utility, auroc(real, uniform), settings.slack)
    return Choice(strength, utility, float(swaying_records(validation, uniform, real, settings.slack, strength).mean()))
