"""Shadow attack on REPS: python bench/shadows.py [--seeds 5] [--shadows 16]. It writes bench/tables/shadows.csv.

The attacker knows the pool of members and non-members, and the mechanism with its budget. Each shadow release runs both stages on
a random part of the pool. The other attacks see the same synthetic records: the density of the generator's class, fitted to them
and to validation records, and distances.
"""

import argparse
import math
import os
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from page import show

from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import ScenarioKey
from formalsynth.reps.attacks import class_densities, shadow_ratios
from formalsynth.reps.domain import MixedRecords
from formalsynth.reps.stages import LEARNERS, SCORERS, WEIGHT_MAPS, Budget, Risk, score
from formalsynth_workflow.papers.reps.attacks import attack_scores, weighted_auc
from formalsynth_workflow.papers.reps.prepare import load_split, prepare
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.tables import Table, encode
from formalsynth_workflow.papers.reps.weighted import THRESHOLD_DRAWS, Experiment

SHARE, STRENGTH = 0.2, 4.0
"""Share of the budget for scores, and rate lam of the weights."""
NAMES = {"simulated": "Simulated", "german": "German Credit", "naive_bayes": "naive Bayes", "dp_sgd": "DP-SGD"}


def released(
    experiment: Experiment, weights: str, budget: Budget, records: MixedRecords, source: np.random.Generator
) -> MixedRecords:
    """Run both stages on any records: uniform weights have the whole budget."""
    domain, learner = experiment.domain, experiment.learner
    given, rest = np.ones(len(records)), budget
    if weights != "uniform":
        scored = score(SCORERS["one_way"](), domain, records, Budget(SHARE * budget.epsilon, SHARE * budget.delta), source)
        tau = float(np.quantile(scored.tables.draw_scores(source, THRESHOLD_DRAWS), 0.9))
        given = WEIGHT_MAPS[weights].function(Risk(scored.tables.score(records), tau, strength=STRENGTH))
        rest = Budget((1 - SHARE) * budget.epsilon, (1 - SHARE) * budget.delta)
    return learner.fit(domain, records, given, rest, source).model.sample(source, len(records))


def aucs(dataset: str, learner: str, weights: str, epsilon: float, seed: int, shadows: int, n: int = 1500) -> dict[str, float]:
    """AUC of each attack on the last decile, and of shadows on all records; simulated data have n records."""
    settings = ExperimentSettings(standardise="declared", bins=8)
    key = ScenarioKey(paper="bench", paper_id=5, scenario=dataset, number=950, n=0, root=1)
    streams = Address.of(key, seed).generator
    prepared = prepare(dataset, load_split(dataset, "", streams, n), settings)
    experiment = Experiment(prepared, settings, streams, "one_way", LEARNERS[learner]())
    targets, generator, pool = experiment.targets, streams("release"), experiment.attacked
    release = partial(released, experiment, weights, Budget(epsilon, 1 / prepared.n))
    density = partial(class_densities, experiment.learner, experiment.domain, targets=pool, generator=generator)
    drawn = release(experiment.train, generator)
    table = Table(prepared.split.table.schema, prepared.standardiser.inverse(drawn.z), drawn.categories, drawn.label)
    validation = experiment.records(prepared.split.part("validation"))
    scores = {
        "domias": attack_scores(targets, encode(table, prepared.space), settings.neighbours)["domias"],
        "likelihood": density(synthetic=drawn) - density(synthetic=validation),
        "shadows": shadow_ratios(
            release, lambda records: density(synthetic=records), drawn, pool, prepared.n, shadows, generator
        ),
    }
    top, everyone = targets.decile == 10, np.ones(len(pool), dtype=bool)
    columns = [(name, top) for name in scores] + [("shadows", everyone)]
    return {
        f"{name} {'last decile' if chosen is top else 'all'}": float(
            weighted_auc(scores[name][chosen], targets.member[chosen], targets.weight[chosen, None])[0]
        )
        for name, chosen in columns
    }


def main() -> None:
    """Run all cells, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shadows", type=int, default=16)
    given, rows = parser.parse_args(), []
    for dataset in ("simulated", "german"):
        for learner in ("naive_bayes", "dp_sgd"):
            for weights, epsilon in (("uniform", math.inf), ("uniform", 4.0), ("hinge", 4.0)):
                measured = pd.DataFrame(
                    [aucs(dataset, learner, weights, epsilon, seed, given.shadows) for seed in range(given.seeds)]
                )
                errors = measured.std() / math.sqrt(given.seeds)
                cells = [f"{mean:.2f} ± {error:.2f}" for mean, error in zip(measured.mean(), errors, strict=True)]
                noise = "none" if math.isinf(epsilon) else f"{epsilon:g}"
                rows.append([NAMES[dataset], NAMES[learner], weights, noise, *cells])
    show("shadows", ["data", "learner", "weights", "ε", *measured.columns], rows)


if __name__ == "__main__":
    main()
