"""Fields of utility against a guaranteed epsilon."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("guaranteed")
class Guaranteed(Figure):
    """Utility against the epsilon guaranteed for every data set when a record is added or removed.

    Synthesizers whose labels are the same up to the comma form one line, with the name at a mark. Those without such a
    guarantee are in a strip on the right.
    """

    ALT = "Lines of utility against the guaranteed epsilon"
    FRAMES = ("none", "scenario")

    kind: Literal["guaranteed"]
    value: Literal["ecdf_max", "ecdf_avg"] = Field(description="Distance between the synthetic and the confidential data.")
