"""Settings of the REPS experiments, as one model that is checked before a run.

The printed text lost most of its formulas. A field whose description ends in "(chosen)" has a default that we chose; the other
defaults are printed in the paper.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from formalsynth.core.constraints import NonNegative, OpenProportion, PositiveNumber
from formalsynth.core.model import Model

DatasetName = Literal["simulated", "breast_cancer", "adult", "german"]
"""Names of the paper's data sets in config (Section 7.2)."""

ScorerName = Literal["one_way", "pairwise", "clusters", "grid_distance", "public"]
"""Names of the registered scorers."""


class ExperimentSettings(Model):
    """Settings of scoring, weighting, synthesis and attacks in one replicate."""

    delta: OpenProportion | None = Field(None, description="Total delta; if left out, 1 / (number of training records) (chosen).")
    scoring_share: OpenProportion = Field(0.2, description="Share of epsilon that scoring spends (chosen).")
    scoring_delta_share: OpenProportion = Field(0.5, description="Share of delta that scoring spends (chosen).")

    standardise: Literal["training", "declared"] = Field(
        "training", description="Centre and scale from the training records, outside the budget, or from declared bounds."
    )
    clip: PositiveNumber = Field(4.0, description="Standardised values are clipped to plus or minus this (chosen).")

    bins: int = Field(16, ge=2, description="Histogram bins of a continuous feature.")

    weight_map: Literal["hinge", "cap"] = Field("hinge", description="Map from scores to weights.")
    tail: OpenProportion = Field(0.9, description="Quantile of the scores that is the threshold tau.")
    threshold_from: Literal["records", "marginals"] = Field(
        "records", description="Quantile over the records, outside the budget, or under the released marginals."
    )
    strengths: tuple[Annotated[float, Field(ge=0)], ...] = Field((0.5, 1.0, 2.0, 4.0), min_length=1, description="Candidate lam.")
    slack: NonNegative = Field(
        0.02, description="Largest difference by which the validation AUROC of a candidate may be below uniform."
    )

    neighbours: int = Field(5, ge=1, description="k of mean nearest-neighbour distances (chosen).")
    queries: int | None = Field(
        None, ge=2, description="Largest number of attack queries for each decile and membership; if left out, all."
    )
    resamples: int = Field(500, ge=100, description="Bootstrap resamples of an interval.")
    level: OpenProportion = Field(0.95, description="Confidence level of bootstrap intervals.")
