"""Fields of lines: means over replicates against another column."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from formalsynth.displays.figure import Framed, figure_kind


@figure_kind("line")
class Line(Framed):
    """Means over replicates against ``x``, with two standard errors and one line for each label.

    A label without the parameter on the x axis is drawn as a horizontal line.
    """

    ALT = "Lines through points"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True
    PRINTS = True

    kind: Literal["line"]
    at: str = Field("", description="Parameter whose values are the points of a line, if x is itself a result or is left out.")
    x: str = Field("", validate_default=True, description="Column on the x axis; if left out, the parameter that at names.")
    x_log: bool = Field(False, description="True for a logarithmic x axis.")
    x_label: str = Field("", description="Label of the x axis.")
    from_zero: bool = Field(False, description="Value axis from 0, logarithmic above 0.1, for values that may be 0.")
    top: float | None = Field(None, gt=0, description="Lines entirely above this are named at the upper edge instead of drawn.")
    dodged: bool = Field(False, description="Points next to each other, without lines; for few x values.")
    against: str = Field(
        "",
        description="Label whose values in the same replicate are subtracted from those of the others, in additional frames.",
    )
    reference: str = Field("", description="Column whose value all synthesizers of a replicate share, drawn as one grey line.")
    reference_label: str = Field("", description="Name of the grey line.")

    @field_validator("x")
    @classmethod
    def _has_points(cls, x: str, info: ValidationInfo) -> str:
        if not x and not info.data.get("at"):
            raise ValueError("x is missing, and at does not name a parameter to use instead")
        return x

    @property
    def of_result(self) -> bool:
        """True if x is itself a result and a parameter defines the points of a line."""
        return bool(self.at and self.x)

    @property
    def common(self) -> str:
        """Column of the grey line."""
        return self.reference

    @property
    def across(self) -> str:
        """Column on the x axis; empty if a parameter is there."""
        return self.x
