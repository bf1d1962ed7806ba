"""Further columns of the records, which a user's own Stan program reads as data."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from formalsynth.core.arrays import Array
from formalsynth.core.model import JobInput, ordered


class RecordInput(JobInput):
    """Further column of the records: its type and its range, declared and not taken from the data."""

    type: Literal["number", "whole"] = Field("number", description="Type of its values; whole for whole numbers.")
    low: float = Field(allow_inf_nan=False, description="Smallest value; declared, not taken from the data.")
    high: float = Field(allow_inf_nan=False, description="Largest value.")

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if self.type == "whole" and not (self.low.is_integer() and self.high.is_integer()):
            raise ValueError("low and high have to be whole numbers if type is whole")
        return ordered(self, "low", "high")

    def holds(self, values: Array) -> NDArray[np.bool_]:
        """Return a mask of the values (n,) that have the type and are within the bounds."""
        inside = (values >= self.low) & (values <= self.high)
        return np.asarray(inside & (values == np.floor(values)) if self.type == "whole" else inside)

    def between(self, shares: Array) -> Array:
        """Return values (n,) at these shares of the way from the smallest to the largest value."""
        values = self.low + (self.high - self.low) * shares
        return np.rint(values) if self.type == "whole" else values
