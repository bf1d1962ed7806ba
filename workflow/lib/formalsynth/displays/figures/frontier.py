"""Fields of frontiers: utility against epsilon."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.core.rows import AUDIT, AUDITED
from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("frontier")
class Frontier(Figure):
    """Utility against the epsilon of adding or removing one record: medians over data sets.

    A mechanism with a guarantee for every data set is drawn at the guaranteed epsilon, any other mechanism at its audited
    epsilon, with a thin line to the claimed one.
    """

    ALT = "Points of utility against epsilon"
    FRAMES = ("none", "scenario")

    kind: Literal["frontier"]
    value: Literal["ecdf_max", "ecdf_avg"] = Field(description="Distance between the synthetic and the confidential data.")

    @property
    def across(self) -> str:
        """Audited epsilon."""
        return AUDITED

    def tables(self) -> list[str]:
        """Names of the table of replicates and of the audit, which contains the kinds of neighbours."""
        return [self.table, AUDIT]
