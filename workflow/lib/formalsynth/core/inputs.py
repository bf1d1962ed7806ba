"""Further columns of the records, which a Stan program of a user's own takes as data."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from formalsynth.core.arrays import Array
from formalsynth.core.model import JobInput, ordered


class RecordInput(JobInput):
    """Further column of the records: its type and its values, declared and not read off the data."""

    type: Literal["number", "whole"] = Field("number", description="Kind of its values; whole for whole numbers.")
    low: float = Field(allow_inf_nan=False, description="Least value, declared and not read off the data.")
    high: float = Field(allow_inf_nan=False, description="Largest value.")

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if self.type == "whole" and not (self.low.is_integer() and self.high.is_integer()):
            raise ValueError("low and high have to be whole numbers where type is whole")
        return ordered(self, "low", "high")

    def holds(self, values: Array) -> NDArray[np.bool_]:
        """Check which values (n,) are of the type and within the bounds."""
        inside = (values >= self.low) & (values <= self.high)
        return np.asarray(inside & (values == np.floor(values)) if self.type == "whole" else inside)

    def between(self, shares: Array) -> Array:
        """Values (n,) at these shares of the way from the least to the largest one."""
        values = self.low + (self.high - self.low) * shares
        return np.rint(values) if self.type == "whole" else values
