"""Fields of lines: means over replicates against another column."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from formalsynth.displays.figure import Framed, figure_kind


@figure_kind("line")
class Line(Framed):
    """Means over replicates against ``x`` with two standard errors, a line for each label.

    A label without the parameter across is a level line.
    """

    ALT = "Lines through points"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True
    PRINTS = True

    kind: Literal["line"]
    at: str = Field("", description="Parameter whose values are the points of a line where x is itself a result, or left out.")
    x: str = Field("", validate_default=True, description="Column across; if left out, the parameter that at names.")
    x_log: bool = Field(False, description="Logarithmic axis across.")
    x_label: str = Field("", description="Label of the axis across.")
    from_zero: bool = Field(False, description="Axis of the values from 0, logarithmic from 0.1 on, for values that may be 0.")
    top: float | None = Field(None, gt=0, description="Lines that lie above this are named at the upper edge instead of drawn.")
    dodged: bool = Field(False, description="Points next to each other, without lines; for few values across.")
    against: str = Field(
        "",
        description="Label whose values in the same replicate are subtracted from the others', in frames next to them.",
    )
    reference: str = Field("", description="Column that all synthesizers of a replicate have in common, drawn as one grey line.")
    reference_label: str = Field("", description="Name of the grey line.")

    @field_validator("x")
    @classmethod
    def _has_points(cls, x: str, info: ValidationInfo) -> str:
        if not x and not info.data.get("at"):
            raise ValueError("x is missing, and at names no parameter in its place")
        return x

    @property
    def of_result(self) -> bool:
        """True if x is itself a result, and the points of a line are those of a parameter."""
        return bool(self.at and self.x)

    @property
    def common(self) -> str:
        """Column of the grey line."""
        return self.reference

    @property
    def across(self) -> str:
        """Column that runs across; empty where a parameter does."""
        return self.x
