"""Fields of trade-offs: the error rates of an attack on synthetic data."""

from __future__ import annotations

from typing import Literal

from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("trade_off")
class TradeOff(Figure):
    """False negatives against false positives of the attack, drawn over the region that the claim allows."""

    ALT = "Small panels, each with a line of one error rate against the other"
    FRAMES = ("synthesizer",)

    kind: Literal["trade_off"]
    table: Literal["audit"] = "audit"
    value: Literal["error"] = "error"
    panels: Literal["synthesizer"] = "synthesizer"

    @property
    def across(self) -> str:
        """Share of false positives."""
        return "value"
