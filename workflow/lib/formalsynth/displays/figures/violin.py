"""Fields of violins."""

from __future__ import annotations

from typing import Literal

from formalsynth.displays.figure import Framed, figure_kind


@figure_kind("violin")
class Violin(Framed):
    """Violins of the values, one for each synthesizer or, with ``panels: synthesizer``, one for each sample size."""

    ALT = "Violin plots"
    FRAMES = ("none", "synthesizer")
    BY_PARAMETER = True
    PRINTS = True

    kind: Literal["violin"] = "violin"
