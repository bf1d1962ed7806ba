"""Base classes of typed sections: of YAML that a user writes, and of plain data passed to a job."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

PATTERNS = {
    "name": (r"^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9.]+)*$", "letters and digits, starting with a letter; after a _ also full stops"),
    "figure": (
        r"^[1-9][0-9]{0,4}[a-z]?$",
        "a number of at most five digits, optionally followed by a lower-case letter for a panel",
    ),
    "colour": (r"^#[0-9A-Fa-f]{6}$", "a colour as #rrggbb"),
    "claim": (r"^[a-z0-9]+(-[a-z0-9]+)*$", "lower-case letters and digits, joined by -"),
    "id of a claim, or none": (r"^([a-z0-9]+(-[a-z0-9]+)*)?$", "the id of a claim: lower-case letters and digits, joined by -"),
    "shows": (r"^((figure|table) [1-9][0-9]*[a-z]?)?$", "as in figure 2 or table 1"),
    "erratum": (r"^(E[1-9][0-9]*)?$", "as in E1"),
    "sha256": ("^[0-9a-f]{64}$", "64 digits from 0 to f"),
    "version": (r"^[0-9][0-9A-Za-z.+-]{0,30}$", "a version as in 1.2.3"),
    "date": (r"^\d{4}-\d\d-\d\d$", "a date as in 2026-11-22"),
    "number of an erratum": (r"^E[1-9][0-9]*$", "E and a number, as in E1"),
}
"""Patterns that text has to match, each with its meaning in words."""
DATA = "Data"
"""Name and label of the confidential data in lists of synthesizers."""
PRIOR = "Prior"
"""Name and label of the prior in lists with posterior draws."""
Section = TypeVar("Section", bound=BaseModel)
Plain = Mapping[str, object]
"""Plain data, as in YAML or JSON: Snakemake stores it for a job and compares it with the next run."""
Settings = dict[str, JsonValue]
"""Settings of a population or study, as given in config; they are checked by the model registered with its function."""


class Model(BaseModel):
    """A typed section: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class JobInput(BaseModel):
    """Immutable input of a job, passed as plain data, which decide whether the job reruns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def plain(self) -> Plain:
        """Return plain data, for passing to a job."""
        return self.model_dump()

    @classmethod
    def of(cls, plain: Plain) -> Self:
        """Inverse of :meth:`plain`."""
        return cls.model_validate(plain)

    def digest(self) -> str:
        """Sha256 of the input as JSON with sorted keys."""
        return hashlib.sha256(json.dumps(self.model_dump(), sort_keys=True).encode()).hexdigest()


def pattern(name: str) -> str:
    """Pattern with a name in :data:`PATTERNS`."""
    return PATTERNS[name][0]


def _not_nan(value: float) -> float:
    if math.isnan(value):
        raise ValueError("Input should be a number")
    return value


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def each_once(values: list[Any]) -> list[Any]:
    """Check that values, which may be sections, are unique."""
    if len({repr(value) for value in values}) < len(values):
        raise ValueError("Input should have each entry once")
    return values


def ordered(section: Section, low: str, high: str) -> Section:
    """Check that one number of a section is below another, if both are given."""
    first, second = getattr(section, low), getattr(section, high)
    if first is not None and second is not None and not first < second:
        raise ValueError(f"{low} has to be below {high}")
    return section


Identifier = Annotated[str, Field(pattern=pattern("name"), max_length=80)]
Number = Annotated[float, Field(allow_inf_nan=True), AfterValidator(_not_nan)]
"""Number, possibly infinite: a sensitive range may be open."""
WholeNumber = Annotated[int, Field(ge=1, le=10**9)]
Names = Annotated[list[str], Field(min_length=1), AfterValidator(each_once)]
Colour = Annotated[str, Field(pattern=pattern("colour"))]
FigureNumber = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=int | str), Field(pattern=pattern("figure"))]
"""Printed number of a figure, with the letter of its panel if the paper uses letters."""
