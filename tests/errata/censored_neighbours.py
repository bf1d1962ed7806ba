"""Exact privacy losses of censored Beta posteriors at a small n, for E5 and E6."""

from __future__ import annotations

from collections.abc import Mapping

from formalsynth.core.synthesizer import ScenarioKey
from formalsynth_workflow.papers.censor_audit.study_neighbours import ARMS, neighbours
from formalsynth_workflow.study import ChosenArm, Run

EPSILON = 1.6
"""Epsilon of the paper's Figure 1."""


def losses(arm: str, n: int) -> Mapping[str, float]:
    """Compute losses between posteriors on a grid, for data from Beta(0.5, 2).

    Args:
        arm: one of :data:`formalsynth_workflow.papers.censor_audit.study_neighbours.ARMS`.
        n: number of records in the larger of two neighbours.

    Returns:
        ``add_remove`` and ``replace_one`` over the complete support; with ``_region``, over the region with 99.9 % of the mass.
    """
    key = ScenarioKey(paper="censor", paper_id=2, scenario="neighbours", number=1, n=n, root=5)
    chosen = ChosenArm(arm, arm, {"epsilon": EPSILON} if ARMS[arm].parameters.model_fields else {})
    rows = neighbours(Run(key, [0], [chosen], ""), shape1=0.5, shape2=2.0).rows
    return {str(name): float(value) for name, value in rows.iloc[0].items() if isinstance(value, float)}
