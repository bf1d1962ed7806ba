"""Errata: errors in the printed papers, each listed once with all its places."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from formalsynth.core.model import Identifier, Model, each_once, pattern

Finding = Literal["misprint", "refuted"]
"""Kind of an erratum; if a claim of the erratum does not hold, this is its verdict."""
ErratumNumber = Annotated[str, Field(pattern=pattern("number of an erratum"))]


class ErratumPlace(Model):
    """Place of an error in a paper."""

    paper: Identifier = Field(description="Key of the paper.")
    place: str = Field(min_length=1, description="Place in the paper.")


class Erratum(Model):
    """An error in the printed papers, with all its places."""

    id: ErratumNumber = Field(description="Number that claims refer to.")
    kind: Finding = Field(
        description="misprint: other statements or results of the paper contradict it, and its conclusions do not depend on it; "
        "refuted: a derivation or an audit shows that the statement, or a step that it depends on, does not hold."
    )
    title: str = Field(min_length=1, description="The error in one line.")
    places: list[ErratumPlace] = Field(min_length=1, description="Every place where the error is printed.")
    also: Annotated[list[ErratumNumber], AfterValidator(each_once)] = Field(
        default_factory=list, description="Numbers of errata that were merged into this one; claims may still refer to them."
    )
    printed: str = Field("", description="The printed formula or sentence, in our words.")
    derived: str = Field("", description="The derived statement, with its reason.")
    check: str = Field("", description="The numbers that show the error; `python tests/errata` with its id prints them.")
    consequence: str = Field("", description="Consequence for a reader who relies on the printed statement.")
    matters: str = Field("", description="Effect on the paper's conclusions.")

    @property
    def command(self) -> str:
        """Command that prints the numbers of the check; empty without a check."""
        return f"python tests/errata {self.id}" if self.check else ""


class ErrataConfig(Model):
    """Content of ``config/errata.yaml``: errors in the printed papers."""

    errata: list[Erratum] = Field(description="The errata, each error once.")
