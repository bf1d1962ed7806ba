"""Individual accounting of DP-SGD in REPS: python bench/individual.py; writes bench/tables/individual.csv.

A filter (Feldman and Zrnic 2021) counts the norm of a record's clipped gradient at each step, where the proved epsilon counts the
clipping norm. It can save something only at steps at which a gradient is shorter than that.
"""

import os
from dataclasses import dataclass, field

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from page import show

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import ScenarioKey
from formalsynth.reps.learners.dp_sgd import Layout, WeightedDPSGD, layout_of, weighted_gradient
from formalsynth.reps.stages import Budget
from formalsynth_workflow.papers.reps.prepare import load_split, prepare
from formalsynth_workflow.papers.reps.settings import DatasetName, ExperimentSettings
from formalsynth_workflow.papers.reps.weighted import Experiment

DATA: dict[DatasetName, str] = {"simulated": "Simulated", "breast_cancer": "Breast Cancer", "german": "German Credit"}
EVERY, EPSILON = 20, 4.0
"""Steps between two that are measured, and the budget."""


@dataclass(frozen=True)
class Watched(WeightedDPSGD):
    """DP-SGD that keeps its parameters."""

    path: list[Array] = field(default_factory=list)

    def released(
        self, layout: Layout, theta: Array, codes: Integers, weights: Array, sigma: float, noise: Array, n: int
    ) -> Array:
        """Return the step, as :meth:`WeightedDPSGD.released` does."""
        self.path.append(theta)
        return super().released(layout, theta, codes, weights, sigma, noise, n)


def norms(layout: Layout, theta: Array, codes: Integers, clip: float) -> Array:
    """Norms (n,) of clipped gradients, relative to the clipping norm."""
    weight = np.ones(1)
    return np.array([np.linalg.norm(weighted_gradient(layout, theta, code[None], weight, clip)) for code in codes]) / clip


def main() -> None:
    """Train on each data set, and write the table."""
    rows = []
    for name, label in DATA.items():
        settings = ExperimentSettings(standardise="declared", bins=8)
        streams = Address.of(ScenarioKey(paper="bench", paper_id=5, scenario=name, number=960, n=0, root=1), 0).generator
        prepared = prepare(name, load_split(name, "", streams, 1500), settings)
        learner = Watched()
        experiment = Experiment(prepared, settings, streams, "one_way", learner)
        budget, train = Budget(EPSILON, 1 / prepared.n), experiment.train
        learner.fit(experiment.domain, train, np.ones(len(train)), budget, streams("release"))
        layout, codes = layout_of(experiment.domain), experiment.domain.codes(train)
        lengths = np.stack([norms(layout, theta, codes, learner.clip) for theta in learner.path[::EVERY]])
        cut = (lengths >= 1 - 1e-9).mean()
        rows.append([label, len(train), f"{100 * cut:.1f} %", f"{lengths.min():.3f}", f"{lengths.mean(axis=0).min():.3f}"])
    head = ["data", "records", "gradients that are clipped", "smallest norm / C", "smallest mean of a record"]
    show("individual", head, rows)


if __name__ == "__main__":
    main()
