"""Full grid of the weight maps of REPS: python bench/weight_maps.py [seeds] [data set ...]; writes bench/tables/weight_maps.csv.

The short bench/tables/weight_map_signs.csv is made from the same rows. Rows of finished seeds stay in results/weight_maps, so the
grid can be run in parts. Differences from uniform weights with the whole budget are paired by seed.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

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
SHOWN = "record_epsilon_top", "likelihood_top_auc", "tstr", "pairs"
COMPARED, AT = ("hinge", "targeted", "removal", "random"), 4
"""Weight maps and columns of the short table, and the epsilon of its numbers."""


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


PLACE = ["dataset", "learner", "method", "epsilon"]
Changes: TypeAlias = dict[tuple[Any, ...], dict[str, float]]


def changes(rows: pd.DataFrame) -> tuple[Changes, Changes]:
    """Mean differences from uniform weights, paired by seed, and their standard errors, by data set, learner, map and epsilon."""
    values = rows.set_index([*PLACE, "seed"])[list(VALUES)]
    whole = values.xs("whole", level="method")
    grouped = (values - whole.reindex(values.index.droplevel("method")).to_numpy()).groupby(level=PLACE, sort=False)
    return grouped.mean().to_dict("index"), grouped.sem().to_dict("index")


def labels(names: Sequence[str]) -> list[str]:
    """Names of data set, learner and map in documents."""
    return [NAMES.get(name, name) for name in names]


def table(rows: pd.DataFrame) -> list[list[str]]:
    """Means with the differences from uniform weights and their standard errors."""
    difference, errors = changes(rows)
    grouped, lines = rows.groupby(PLACE, sort=False), []
    means, seeds = grouped[[*VALUES, "cpu"]].mean(), grouped.size()
    for place, values in zip(means.index.to_list(), means.to_dict("records"), strict=True):
        *names, epsilon = place
        cells = [f"{values[name]:.3f}" for name in VALUES]
        if names[-1] != "whole":
            paired = [f" ({difference[place][name]:+.3f} ± {errors[place][name]:.3f})" for name in VALUES]
            cells = [cell + change for cell, change in zip(cells, paired, strict=True)]
        identity = "-".join([*names, f"{epsilon:g}"])
        lines.append([identity, *labels(names), f"{epsilon:g}", str(seeds[place]), *cells, f"{values['cpu']:.2f}"])
    return lines


def signs(rows: pd.DataFrame) -> list[list[str]]:
    """Differences at one epsilon, each with the signs of those at all: + or − beyond two errors, else a dot."""
    difference, errors = changes(rows)
    seeds, lines = rows.groupby(PLACE[:-1])["seed"].nunique(), []
    for names in dict.fromkeys(place[:-1] for place in difference if place[2] in COMPARED):
        cells = []
        for name in SHOWN:
            means, error = ([part[(*names, epsilon)][name] for epsilon in EPSILONS] for part in (difference, errors))
            marks = ["·" if abs(d) <= 2 * e else "−" if d < 0 else "+" for d, e in zip(means, error, strict=True)]
            k = EPSILONS.index(AT)
            cells.append(f"{means[k]:+.3f} ± {error[k]:.3f} {''.join(marks)}".replace("-", "−"))
        lines.append(["-".join(names), *labels(names), str(seeds[names]), *cells])
    return lines


def main(seeds: str = "20", *datasets: str) -> None:
    """Run the grid, and write its table."""
    for seed in range(int(seeds)):
        for dataset in datasets or tuple(DATASETS):
            for learner in KINDS:
                rows_of(dataset, learner, seed)
    finished = pd.concat([pd.read_csv(path) for path in sorted(FOLDER.glob("*.csv"))])
    head = ["id", "data", "learner", "weights", "ε", "seeds", *VALUES.values(), "processor seconds"]
    show("weight_maps", head, table(finished))
    show(
        "weight_map_signs",
        ["id", "data", "learner", "weights", "seeds", *(VALUES[name].replace(", ", " in the ") for name in SHOWN)],
        signs(finished),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
