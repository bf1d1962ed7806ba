"""Claims: statements of a paper about numbers that a run computes.

A claim names cells of a tidy table (synthesizers, sample sizes, columns, ...), a statistic of each cell over its units
(replicates, records, synthetic data sets, ...) and a test. A few kinds of tests suffice for all claims, and each verdict accounts
for the Monte Carlo error of its estimates.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from formalsynth.core.kinds import either
from formalsynth.core.model import JobInput, Model, Names, Number, WholeNumber, each_once, pattern
from formalsynth.core.statistics import STATISTICS
from formalsynth_workflow.ledger.errata import Finding
from formalsynth_workflow.ledger.tests.base import AnyTest


def _known_statistic(name: str) -> str:
    if name not in STATISTICS:
        raise ValueError(f"Input should be {either(list(STATISTICS))}")
    return name


def _list_statistics(schema: dict[str, Any]) -> None:
    schema["enum"] = list(STATISTICS)


class Estimate(Model):
    """Estimate of a claim: a statistic of each cell of a tidy table."""

    scenario: str | Names = Field(description="Scenario or scenarios; every sample size is used unless size is given.")
    size: WholeNumber | None = Field(None, description="Use only this sample size, given before the scale reduces it.")
    table: Literal["replicates", "records", "sets", "values", "draws", "details", "audit"] = Field(
        "replicates", description="Collected table that the estimate reads."
    )
    value: Names = Field(description="Column with the values; if over is value, several columns, which are the cells.")
    over: str = Field(
        "synthesizer",
        description="Column that defines the cells, such as synthesizer, n or scenario; value if the columns are the cells.",
    )
    of: Annotated[list[str | float], AfterValidator(each_once)] = Field(
        default_factory=list, description="The cells from left to right; if left out, every n or every column."
    )
    names: dict[str, str] = Field(default_factory=dict, description="Names of cells by id, if different from their labels.")
    where: dict[str, Number] = Field(
        default_factory=dict, description="Use only synthesizers with these parameter values, and those without these parameters."
    )
    rows: dict[str, str | bool | float] = Field(default_factory=dict, description="Use only rows with these values.")
    by: str = Field("replicate", description="Column whose values are the units: replicate, record, set, draw or another column.")
    distance: float | Literal["Data", "population"] | None = Field(
        None, description="Use the distance to a number, to the confidential data, or to the population value."
    )
    of_largest: bool = Field(False, description="Use each value as a share of the cell's largest value.")
    above: float | None = Field(None, description="Use 1 for values above this number, 0 for others; their mean is a share.")
    differences: bool = Field(
        False, description="Compare differences of cells: first minus second, third minus fourth, and so on."
    )
    statistic: Annotated[str, AfterValidator(_known_statistic)] = Field(
        "median", description="Statistic of a cell over its units.", json_schema_extra=_list_statistics
    )

    @field_validator("of_largest", "above")
    @classmethod
    def _alone(cls, given: bool | float | None, info: ValidationInfo) -> bool | float | None:
        """Refuse more than one of ``distance``, ``of_largest`` and ``above``."""
        others = [name for name in ("distance", "of_largest") if name != info.field_name and _is_given(info.data.get(name))]
        if _is_given(given) and others:
            raise ValueError(f"Input should not be given together with {others[0]}")
        return given


def _is_given(value: object) -> bool:
    return value is not None and value is not False


Kind = Literal["test", "recovered", "drawn records", "by construction", "implied", "ours", "settings lost", "own study"]
"""Kind of a claim: what its verdict means for the paper; only claims of kind ``test`` count in the headline."""
KINDS: dict[str, str] = {
    "test": "a statement of the paper that the run can support or contradict",
    "recovered": "settings that the paper does not print were chosen to match these numbers, or others of the same rows; "
    "agreement proves nothing",
    "drawn records": "the paper's records are not public; records drawn from one published margin replace them",
    "by construction": "the claim follows from the definition of the compared numbers; it checks the software",
    "implied": "the claim follows from another claim and adds no evidence",
    "another reading": "the claim under another reading of what its paper leaves open; the first reading counts",
    "ours": "the claim, or its tested form, is ours and not the paper's",
    "settings lost": "the paper does not give the settings that its numbers depend on, or they are missing from its text",
    "own study": "the claim belongs to a user's own study, not to a paper",
}
"""Every kind of claim, with its meaning."""


IMPLIED, ANOTHER = "implied by ", "another reading of "
"""Texts before the id of another claim in the kind of a row."""


def kind_name(text: str) -> str:
    """Kind of claim in a row of a ledger; rows of older ledgers, which have no kinds, are of kind ``test``."""
    names = {IMPLIED: "implied", ANOTHER: "another reading"}
    return next((name for before, name in names.items() if text.startswith(before)), text or "test")


class ClaimConfig(Model):
    """Statement of a paper that a run supports or contradicts."""

    id: str = Field(pattern=pattern("claim"), description="Name, unique over all papers.")
    place: str = Field(description="Place in the paper.")
    shows: str = Field("", pattern=pattern("shows"), description="Figure or table that the claim belongs to.")
    claim: str = Field(description="The claim in our words, in one line.")
    printed: str = Field("", description="The number or formula as printed, if there is one.")
    kind: Kind = Field("test", description="Meaning of the verdict for the paper; only kind test counts in the headline.")
    implied_by: str = Field(
        "",
        pattern=pattern("id of a claim, or none"),
        validate_default=True,
        description="Claim of the same paper that implies this one; required for kind implied, not allowed for others.",
    )
    reading: str = Field(
        "", description="Only reading of the paper under which it is judged; if left out, every reading that changes its cells."
    )
    erratum: str = Field("", pattern=pattern("erratum"), description="Number of the erratum that the claim is part of.")
    estimate: Estimate = Field(description="The numbers that the claim is about.")
    test: AnyTest = Field(description="The condition on these numbers.")
    note: str = Field("", description="Information that a reader needs to understand the verdict.")

    @field_validator("implied_by")
    @classmethod
    def _where_implied(cls, given: str, info: ValidationInfo) -> str:
        """Require ``implied_by`` for the kind ``implied``, and refuse it for other kinds."""
        kind = info.data.get("kind")
        if kind == "implied" and not given:
            raise PydanticCustomError(
                "missing", "Field required because kind is implied: the id of the claim that implies this one"
            )
        if kind not in (None, "implied") and given:
            raise ValueError(f"Input should not be given, because kind is {kind}")
        return given


class ClaimScenario(JobInput):
    """Scenario that a claim uses, at one sample size."""

    id: str
    name: str
    stand_in: bool
    """True if simulated records replace absent real data."""


class Claim(JobInput):
    """Claim with all references in config resolved.

    The kind of its test must be registered before :meth:`of` can rebuild the claim from plain data.
    """

    id: str
    paper: str
    place: str
    shows: str
    """Figure or table that the claim belongs to, such as ``figure 2`` or ``table 1``; empty for none."""
    claim: str
    printed: str
    kind: Kind
    implied_by: str
    """Id of the claim that implies this one; empty unless the kind is ``implied``."""
    reading_of: str = ""
    """Id of the claim under the first reading of the paper, if this is the same claim under another one."""
    erratum: str
    """Number of its erratum, after errata were merged; empty for none."""
    finding: Finding | Literal[""]
    """Kind of its erratum; empty for none."""
    note: str
    estimate: Estimate
    """Estimate with an explicit list of cells."""
    test: AnyTest
    scenarios: tuple[ClaimScenario, ...]
    """Scenarios of the claim; empty if their data are absent."""
    truth: float | None
    """Population value, if the estimate is a distance to it."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels of cells, keyed by id."""
