"""Methods of the comparison: REPS, its ablations and its baselines (REPS paper, Section 7.3).

One function makes the releases of all methods; each method defines its budget and its weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.influence import Noise
from formalsynth.reps.stages import Risk
from formalsynth.reps.weight_maps.by_score import cap_weights, hinge_weights, removal_weights
from formalsynth_workflow.papers.reps.settings import ExperimentSettings


@dataclass(frozen=True)
class Method:
    """Method of the paper's tables."""

    meaning: str
    """Description in one sentence."""
    private: bool = True
    """True if noise is added."""
    split: bool = True
    """True if synthesis uses only its share of the budget."""
    scored: bool = True
    """True if scores are released and used."""
    tuned: bool = False
    """True if the weights decrease with the score, at the rate lam, which is chosen by validation."""
    shuffled: bool = False
    """True if the weights are permuted at random."""
    noise: Noise = "per_block"

    def weights(
        self, scores: Array, threshold: float, strength: float, settings: ExperimentSettings, generator: np.random.Generator
    ) -> Array:
        """Weights (n,) from scores (n,): 1 without scores; 0 above the threshold unless they decrease with the score."""
        if not self.scored:
            return np.ones_like(scores)
        risk = Risk(scores, threshold, strength=strength)
        if not self.tuned:
            return removal_weights(risk)
        weights = cap_weights(risk) if settings.weight_map == "cap" else hinge_weights(risk)
        return generator.permutation(weights) if self.shuffled else weights

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
    "non_private": Method("The synthesizer without noise, all records with weight 1.", private=False, split=False, scored=False),
    "uniform": Method("The private synthesizer with the whole budget, all records with weight 1.", split=False, scored=False),
    "uniform_split": Method(
        "The private synthesizer with the share of the budget after scoring, although nothing is scored.", scored=False
    ),
    "reps": Method("Risk-equalised synthesis: a higher released score gives a smaller weight.", tuned=True),
    "random_downweighting": Method("The weights of REPS, permuted at random.", tuned=True, shuffled=True),
    "hard_removal": Method("Records whose released score is above the threshold are left out."),
}
"""Methods by the name of their arm in config."""
METHODS |= {
    f"{_name}_joint": replace(
        _method, meaning=f"As {_name}, with the smallest noise for all histograms and for all statistics together.", noise="joint"
    )
    for _name, _method in METHODS.items()
    if _method.private
}
