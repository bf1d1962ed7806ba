"""Comparison of weight maps under one scorer and one learner, in which nothing outside the budget depends on the records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.reps.accounting import rounded_up
from formalsynth.reps.attacks import class_densities
from formalsynth.reps.domain import CLASSES, Domain, MixedRecords
from formalsynth.reps.learners import dp_sgd, graphical, naive_bayes  # noqa: F401 (registered)
from formalsynth.reps.least_bias import gini
from formalsynth.reps.pair_tables import pair_counts, pairs_of
from formalsynth.reps.scorers import clusters, grid_distance, one_way, pairwise, public  # noqa: F401
from formalsynth.reps.selection import select_strength
from formalsynth.reps.stages import LEARNERS, SCORERS, WEIGHT_MAPS, Budget, Learned, Learner, Risk, Scored, score
from formalsynth.reps.weight_maps import by_influence, by_score  # noqa: F401
from formalsynth_workflow.papers.reps.attacks import (
    DECILES,
    Comparison,
    Targets,
    attack_scores,
    attack_table,
    bootstrap_comparisons,
    summarise,
)
from formalsynth_workflow.papers.reps.evaluation import Classifier, auroc, scorer_quality
from formalsynth_workflow.papers.reps.prepare import Prepared, load_split, prepare, targets_of
from formalsynth_workflow.papers.reps.settings import DatasetName, ExperimentSettings
from formalsynth_workflow.papers.reps.stages import Streams
from formalsynth_workflow.papers.reps.tables import Encoded, Table, encode
from formalsynth_workflow.study import Run

LEVELS = (0.0, 0.1, 0.25, 0.35, 0.5, 0.7, 0.85, 1.0)
"""Declared levels to which weighted influences are rounded up before their epsilon is stated (chosen)."""
THRESHOLD_DRAWS = 20_000
"""Number of records drawn from the noisy tables for the threshold."""
LEFT = 0.95
"""Share of the total weight that a selected lam leaves (chosen)."""
UTILITY_BINS = 4
"""Number of bins of a number in the comparison of pairs."""


@dataclass(frozen=True)
class Arm:
    """Arm with its parameters."""

    weights: str
    """Name of a weight map."""
    epsilon: float
    split: bool = True
    """True if stage 2 has only its share of the budget."""
    share: float = 0.2
    """Share of epsilon and delta that scoring spends."""
    strength: float = 4.0
    cap: float = 0.5
    selected: bool = False
    """True if lam is selected from the candidates, with half of the share for scores."""

    @property
    def scored(self) -> bool:
        """True if scores are released."""
        return self.weights not in ("uniform", "naive")


@dataclass(frozen=True)
class Stage2:
    """Output of an arm before evaluation."""

    learned: Learned
    synthetic: MixedRecords
    weights: Array = field(repr=False)
    influence: Array = field(repr=False)
    """(n,) weighted influence of each record."""
    scored: Scored | None
    before: float
    """Gaussian cost mu of all releases before the learner."""
    strength: float


@dataclass(frozen=True, eq=False)
class Experiment:
    """Data set of a replicate with all that its arms share."""

    prepared: Prepared
    settings: ExperimentSettings
    streams: Streams
    scorer: str
    learner: Learner

    @cached_property
    def domain(self) -> Domain:
        """Declared columns."""
        schema = self.prepared.split.table.schema
        return Domain(self.prepared.n, len(schema.continuous), schema.levels, self.settings.clip, self.settings.bins)

    @cached_property
    def train(self) -> MixedRecords:
        """Confidential records."""
        return self.records(self.prepared.split.part("train"))

    @cached_property
    def targets(self) -> Targets:
        """Attacked records."""
        return targets_of(self.prepared, self.settings, self.streams)

    @cached_property
    def attacked(self) -> MixedRecords:
        """Attacked records on the declared columns."""
        return self.records(self.prepared.split.table.take(self.targets.row))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Bootstrap samples of the attacked records."""
        return bootstrap_comparisons(self.targets, self.settings.resamples, self.streams("bootstrap"))

    @cached_property
    def reference(self) -> Array:
        """Log density (m,) of the attacked records under the same learner on the validation records, without noise."""
        validation = self.records(self.prepared.split.part("validation"))
        return class_densities(self.learner, self.domain, validation, self.attacked, self.streams("release"))

    @cached_property
    def influence(self) -> Array:
        """Influence (n,) of each record with weight 1."""
        return self.learner.influence(self.domain, self.train)

    def records(self, table: Table) -> MixedRecords:
        """Return records on the declared columns."""
        z = np.clip(self.prepared.standardiser(table.continuous), -self.settings.clip, self.settings.clip)
        return MixedRecords(z, table.categories, table.label)

    def scores(self, budget: Budget, scorer: str = "", composition: Any = "joint") -> Scored:
        """Release the tables of a scorer; the auxiliary public data are the validation records."""
        name = scorer or self.scorer
        given = {"records": self.records(self.prepared.split.part("validation"))} if name == "public" else {}
        return score(SCORERS[name](**given), self.domain, self.train, budget, self.streams("score"), composition)

    def run(self, arm: Arm) -> Stage2:
        """Run both stages of an arm."""
        delta, n = self.prepared.delta(self.settings), self.prepared.n
        rest = Budget(arm.epsilon * (1 - arm.share), delta * (1 - arm.share)) if arm.split else Budget(arm.epsilon, delta)
        risk, scored, before = Risk(np.zeros(n), 0.0, self.influence, arm.strength, arm.cap), None, 0.0
        if arm.scored:
            parts = 2 if arm.selected else 1
            part = Budget(arm.epsilon * arm.share / parts, delta * arm.share / parts)
            scored = self.scores(part)
            before = scored.cost.mu
            drawn = scored.tables.draw_scores(self.streams("threshold"), THRESHOLD_DRAWS)
            redrawn = scored.tables.draw_scores(self.streams("shuffle"), n)
            tau = float(np.quantile(drawn, self.settings.tail))
            risk = replace(risk, scores=scored.tables.score(self.train), threshold=tau, redrawn=redrawn)
        function = WEIGHT_MAPS[arm.weights].function
        if arm.selected:
            candidates, stream = self.settings.strengths, self.streams("select")
            strength, cost = select_strength(function, risk, candidates, LEFT, n, part, stream)
            risk, before = replace(risk, strength=strength), math.hypot(before, cost.mu)
        weights = function(risk)
        learned = self.learner.fit(self.domain, self.train, weights, rest, self.streams("release"))
        synthetic = learned.model.sample(self.streams("sample"), n)
        return Stage2(learned, synthetic, weights, weights * self.influence, scored, before, risk.strength)

    def measure(self, arm: Arm) -> tuple[dict[str, float | str], pd.DataFrame]:
        """Run an arm and measure privacy and utility: columns of a row, and details by outlier decile."""
        output, targets, split = self.run(arm), self.targets, self.prepared.split
        drawn = output.synthetic
        table = Table(split.table.schema, self.prepared.standardiser.inverse(drawn.z), drawn.categories, drawn.label)
        synthetic = encode(table, self.prepared.space)
        ratio = output.learned.model.log_density(self.attacked) - self.reference
        guesses = attack_scores(targets, synthetic, self.settings.neighbours) | {"likelihood": ratio}
        attacks = attack_table(targets, self.comparisons, guesses, self.settings.level)
        epsilons = record_epsilons(output, self.prepared.delta(self.settings))
        row: dict[str, float | str] = {
            "dataset": self.prepared.name, "method": arm.weights if arm.split else "whole", "epsilon": arm.epsilon,
            "dp_delta": self.prepared.delta(self.settings), "strength": output.strength, "share": arm.share,
            "weight_mean": float(output.weights.mean()), "record_epsilon_gini": gini(epsilons),
            "record_epsilon_max": float(epsilons.max()),
            "fixed_epsilon": output.learned.cost.epsilon(self.prepared.delta(self.settings), 1.0, output.before),
        }  # fmt: skip
        for name, decile in (("top", DECILES), ("middle", DECILES // 2)):
            row[f"record_epsilon_{name}"] = float(epsilons[targets.train_decile == decile].mean())
        row |= self._utility(drawn, synthetic) | summarise(attacks)
        if output.scored is not None:
            row |= scorer_quality(output.scored.tables.score(self.train), targets.train_outlierness)
        means = pd.DataFrame({"decile": targets.train_decile, "record_epsilon": epsilons, "weight_mean": output.weights})
        deciles = attacks[attacks["decile"] > 0].merge(means.groupby("decile", as_index=False).mean(), on="decile")
        return row, deciles.assign(epsilon=arm.epsilon)

    def _utility(self, drawn: MixedRecords, synthetic: Encoded) -> dict[str, float]:
        """TSTR and pairs, overall, for the most outlying tenth and for the rarer class."""
        split, targets, prepared = self.prepared.split, self.targets, self.prepared
        classifier = Classifier.trained(synthetic, drawn.label)
        top = ~targets.member & (targets.decile == DECILES)
        labels, real = split.table.label[targets.row[top]], self.records(split.part("test"))
        rarer = int(real.label.mean() < 0.5)
        return {
            "tstr": auroc(split.table.label[split.test], classifier.scores(prepared.test)),
            "tstr_top": auroc(labels, classifier.scores(targets.features[top])) if len(set(labels)) == CLASSES else math.nan,
            "pairs": self._pairs(drawn, real),
            "pairs_rarer": self._pairs(*(part.take(np.flatnonzero(part.label == rarer)) for part in (drawn, real))),
        }

    def _pairs(self, drawn: MixedRecords, real: MixedRecords) -> float:
        """Mean total variation distance of the tables of all pairs of columns; 1 if there are no synthetic records."""
        if not len(drawn):
            return 1.0
        domain = replace(self.domain, bins=UTILITY_BINS)
        sizes = (*domain.sizes, CLASSES)
        ours, theirs = (pair_counts(domain.codes(part), sizes, np.full(len(part), 1 / len(part))) for part in (drawn, real))
        return float(np.abs(ours - theirs).sum() / 2 / len(pairs_of(len(sizes))))


def record_epsilons(output: Stage2, delta: float) -> Array:
    """Epsilon (n,) stated with the release for each record, whatever the other records are.

    Both stages are composed. With scores, influences are rounded up to the declared levels and each level has a share of delta.
    """
    share = delta if output.scored is None else delta / len(LEVELS)
    levels = rounded_up(np.minimum(output.influence, 1.0), LEVELS)
    stated = {level: output.learned.cost.epsilon(share, level, output.before) for level in np.unique(levels).tolist()}
    return np.array([stated[level] for level in levels.tolist()])


def scorer_row(experiment: Experiment, scorer: str, composition: str, epsilon: float) -> Mapping[str, float]:
    """Quality of a scorer at a budget, and the exact epsilon of its release."""
    delta = experiment.prepared.delta(experiment.settings)
    scored = experiment.scores(Budget(epsilon, delta), scorer, composition)
    quality = scorer_quality(scored.tables.score(experiment.train), experiment.targets.train_outlierness)
    return quality | {"exact_epsilon": scored.cost.epsilon(delta), "dp_delta": delta}


def experiments(
    run: Run, dataset: DatasetName, settings: ExperimentSettings | None, scorer: str, learner: str, given: Mapping[str, Any]
) -> Iterator[tuple[int, Experiment]]:
    """Yield the experiment of each replicate, with numbers on the scale of their declared bounds.

    Args:
        run: input of the study.
        dataset: name of the data set.
        settings: settings of the experiment.
        scorer: name of the scorer.
        learner: name of the learner.
        given: settings of the learner.
    """
    chosen = (settings or ExperimentSettings()).model_copy(update={"standardise": "declared"})
    for number in run.replicates:
        streams = run.address(number).generator
        prepared = prepare(dataset, load_split(dataset, run.data_folder, streams, run.n), chosen)
        yield number, Experiment(prepared, chosen, streams, scorer, LEARNERS[learner](**given))
