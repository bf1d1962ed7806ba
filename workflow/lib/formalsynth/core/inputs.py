"""Further columns of the records, which a user's own Stan program reads as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from formalsynth.core.arrays import RANGE, Array, Records
from formalsynth.core.model import JobInput, ordered


class Ranges(JobInput):
    """Sensitive range of each record, known to the public: declared brackets, or two further columns of the records."""

    edges: tuple[float, ...] = Field(
        (), description="Increasing edges of brackets, possibly infinite; a value equal to an edge is in the bracket above it."
    )
    low: str = Field("", description="Further column of the records with the lower end of each record's range.")
    high: str = Field("", description="Further column of the records with the upper end.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.edges) == bool(self.low or self.high) or bool(self.low) != bool(self.high):
            raise ValueError("give edges, or low and high")
        if self.edges and not (len(self.edges) > 1 and (np.diff(self.edges) > 0).all()):
            raise ValueError("edges have to be at least two increasing numbers")
        return self

    def added_to(self, records: Records) -> Records:
        """Return the records with their ranges as further columns; a value outside all brackets has the nearest one.

        Raises:
            ValueError: the records lack a column, or a range has no width.
        """
        if self.edges:
            edges = np.array(self.edges)
            at = np.clip(np.searchsorted(edges, records.x, side="right") - 1, 0, len(edges) - 2)
            ends = edges[at], edges[at + 1]
        else:
            if absent := [name for name in (self.low, self.high) if name not in records.inputs]:
                raise ValueError(
                    f"ranges: the records have no column {absent[0]}; allowed: {', '.join(records.inputs) or 'none'}"
                )
            ends = records.inputs[self.low], records.inputs[self.high]
        if not (ends[0] < ends[1]).all():
            raise ValueError(
                f"ranges: the lower end has to be below the upper end, but not in {(ends[0] >= ends[1]).sum()} records"
            )
        return replace(records, inputs={**records.inputs, **dict(zip(RANGE, ends, strict=True))})


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
