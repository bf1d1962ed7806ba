"""Full grid of the weight maps of REPS: python bench/weight_maps.py [seeds] [data set ...]; writes bench/tables/weight_maps.csv.

Rows of finished seeds stay in results/weight_maps, so the grid can be run in parts. Differences from uniform weights with the
whole budget are paired by seed.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from page import show

from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import ScenarioKey
from formalsynth.reps.stages import LEARNERS
from formalsynth_workflow.papers.reps.datasets import DATASETS
from formalsynth_workflow.papers.reps.prepare import load_split, prepare
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.weighted import Arm, Experiment

FOLDER = Path("results/weight_maps")
EPSILONS = 0.5, 1, 2, 4, 8
MAPS = "uniform", "cap", "hinge", "equalize", "targeted", "random", "removal"
KINDS = {"naive_bayes": 16, "graphical": 8, "dp_sgd": 8}
"""Number of bins of a number, by learner."""
NAMES = {
    "simulated": "Simulated", "breast_cancer": "Breast Cancer", "adult": "Adult", "german": "German Credit",
    "naive_bayes": "naive Bayes", "graphical": "tree", "dp_sgd": "DP-SGD",
    "whole": "uniform", "uniform": "uniform, share for scores unused", "hinge": "hinge-exp",
}  # fmt: skip
VALUES = {
    "record_epsilon_top": "ε of a record, last decile", "record_epsilon_middle": "ε of a record, fifth decile",
    "record_epsilon_gini": "Gini coefficient of ε", "likelihood_top_auc": "attack AUC, last decile", "tstr": "TSTR",
    "tstr_top": "TSTR, last decile", "pairs": "pairs",
}  # fmt: skip


def rows_of(dataset: str, learner: str, seed: int) -> None:
    """Run all arms on one data set with one seed, unless their rows are there."""
    path = FOLDER / f"{dataset}-{learner}-{seed}.csv"
    if not path.exists():
        queries = 500 if dataset == "adult" else None
        settings = ExperimentSettings(standardise="declared", bins=KINDS[learner], queries=queries, resamples=100)
        key = ScenarioKey(paper="bench", paper_id=5, scenario=dataset, number=900 + list(DATASETS).index(dataset), n=0, root=1)
        streams = Address.of(key, seed).generator
        prepared = prepare(dataset, load_split(dataset, "", streams, 5000 if dataset == "simulated" else None), settings)
        made = LEARNERS[learner](**({"rate": 0.02} if (dataset, learner) == ("adult", "dp_sgd") else {}))
        experiment, rows = Experiment(prepared, settings, streams, "one_way", made), []
        for epsilon in EPSILONS:
            for arm in (Arm("uniform", epsilon, split=False), *(Arm(name, epsilon) for name in MAPS)):
                start = time.process_time()
                row, _ = experiment.measure(arm)
                rows.append(row | {"learner": learner, "seed": seed, "cpu": time.process_time() - start})
        FOLDER.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(path, index=False)


def table(rows: pd.DataFrame) -> list[list[str]]:
    """Means with the differences from uniform weights and their standard errors, by data set, learner, map and epsilon."""
    place = ["dataset", "learner", "epsilon", "seed"]
    whole = rows[rows["method"] == "whole"].set_index(place)[list(VALUES)]
    lines = []
    for (dataset, learner, method, epsilon), part in rows.groupby(["dataset", "learner", "method", "epsilon"], sort=False):
        values = part.set_index(place)[list(VALUES)]
        difference, seeds = values - whole.loc[values.index], len(part)
        cells = []
        for name in VALUES:
            error = difference[name].std() / np.sqrt(seeds)
            change = "" if method == "whole" else f" ({difference[name].mean():+.3f} ± {error:.3f})"
            cells.append(f"{values[name].mean():.3f}{change}")
        identity = f"{dataset}-{learner}-{method}-{epsilon:g}"
        labels = [NAMES.get(name, name) for name in (dataset, learner, method)]
        lines.append([identity, *labels, f"{epsilon:g}", str(seeds), *cells, f"{part['cpu'].mean():.2f}"])
    return lines


def main(seeds: str = "20", *datasets: str) -> None:
    """Run the grid, and write its table."""
    for seed in range(int(seeds)):
        for dataset in datasets or tuple(DATASETS):
            for learner in KINDS:
                if learner != "graphical" or dataset == "simulated":
                    rows_of(dataset, learner, seed)
    finished = pd.concat([pd.read_csv(path) for path in sorted(FOLDER.glob("*.csv"))])
    head = ["id", "data", "learner", "weights", "ε", "seeds", *VALUES.values(), "processor seconds"]
    show("weight_maps", head, table(finished))


if __name__ == "__main__":
    main(*sys.argv[1:])
