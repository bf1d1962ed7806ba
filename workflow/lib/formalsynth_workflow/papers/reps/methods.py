"""Methods of the comparison: REPS, its ablations and its baselines (REPS paper, Section 7.3).

One function makes the releases of all methods; each method defines its budget and its weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth_workflow.papers.reps.settings import ExperimentSettings, Noise
from formalsynth_workflow.papers.reps.weighting import cap_weights, hinge_weights, removal_weights

WeightMap = Callable[[Array, float, float, ExperimentSettings, np.random.Generator], Array]
"""Function from scores (n,), threshold, strength, settings and a generator to weights (n,)."""


def uniform_weights(
    scores: Array, threshold: float, strength: float, settings: ExperimentSettings, generator: np.random.Generator
) -> Array:
    """All weights 1."""
    return np.ones_like(scores)


def risk_weights(
    scores: Array, threshold: float, strength: float, settings: ExperimentSettings, generator: np.random.Generator
) -> Array:
    """Weights that decrease with the score, by the weight map in the settings."""
    if settings.weight_map == "cap":
        return cap_weights(scores, threshold)
    return hinge_weights(scores, threshold, strength)


def shuffled_weights(
    scores: Array, threshold: float, strength: float, settings: ExperimentSettings, generator: np.random.Generator
) -> Array:
    """Return the weights of REPS, permuted at random."""
    return generator.permutation(risk_weights(scores, threshold, strength, settings, generator))


def kept_weights(
    scores: Array, threshold: float, strength: float, settings: ExperimentSettings, generator: np.random.Generator
) -> Array:
    """Weights 0 above the threshold and 1 below."""
    return removal_weights(scores, threshold)


@dataclass(frozen=True)
class Method:
    """Method of the paper's tables."""

    meaning: str
    """Description in one sentence."""
    weights: WeightMap
    private: bool = True
    """True if noise is added."""
    split: bool = True
    """True if synthesis uses only its share of the budget."""
    scored: bool = True
    """True if scores are released and used."""
    tuned: bool = False
    """True if the weights depend on lam, which is chosen by validation."""
    shuffled: bool = False
    noise: Noise = "per_block"

    def exclusions(self, settings: ExperimentSettings) -> tuple[str, ...]:
        """Quantities that the method computes from the records without spending budget on them."""
        conditions = {
            "standardisation": settings.standardise == "training",
            "tau": self.scored and settings.threshold_from == "records",
            "lam": self.tuned and settings.weight_map == "hinge" and len(settings.strengths) > 1,
            # On a neighbour, a different set of weights is permuted, so the weights of other records may change.
            "shuffled weights": self.shuffled,
        }
        return tuple(name for name, used in conditions.items() if used)

    def guarantee(self, settings: ExperimentSettings) -> str:
        """Kind of the guarantee of the method, with its exclusions."""
        if not self.private:
            return "none"
        outside = self.exclusions(settings)
        return "(eps, delta)-DP (add/remove)" + (f" | fixed {', '.join(outside)}" if outside else "")


METHODS: dict[str, Method] = {
    "non_private": Method(
        "The synthesizer without noise, all records with weight 1.", uniform_weights, private=False, split=False, scored=False
    ),
    "uniform": Method(
        "The private synthesizer with the whole budget, all records with weight 1.", uniform_weights, split=False, scored=False
    ),
    "uniform_split": Method(
        "The private synthesizer with the share of the budget after scoring, although nothing is scored.",
        uniform_weights,
        scored=False,
    ),
    "reps": Method("Risk-equalised synthesis: a higher released score gives a smaller weight.", risk_weights, tuned=True),
    "random_downweighting": Method("The weights of REPS, permuted at random.", shuffled_weights, tuned=True, shuffled=True),
    "hard_removal": Method("Records whose released score is above the threshold are left out.", kept_weights),
}
"""Methods by the name of their arm in config."""
METHODS |= {
    f"{_name}_joint": replace(
        _method, meaning=f"As {_name}, with the smallest noise for all histograms and for all statistics together.", noise="joint"
    )
    for _name, _method in METHODS.items()
    if _method.private
}
