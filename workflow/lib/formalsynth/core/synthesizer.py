"""A synthesizer, and the settings of its search, its fits and its audit, as config gives them and as jobs receive them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from formalsynth.core.model import JobInput, ordered


class ScenarioKey(JobInput):
    """Scenario and sample size: the key of its random streams and the first columns of its rows."""

    paper: str
    paper_id: int
    """Integer id of the paper's random streams."""
    scenario: str
    """Id of the scenario at this sample size, as in paths."""
    number: int
    """Integer id of the scenario's random streams."""
    n: int
    root: int
    """Root seed of the run."""

    @property
    def columns(self) -> dict[str, str | int]:
        """First columns of its rows."""
        return {"paper": self.paper, "scenario": self.scenario, "n": self.n}


class Search(JobInput):
    """Search for the value of a parameter at which the synthesizer has a target epsilon, over refits with one Stan seed."""

    parameter: str = Field(description="Parameter to search for; epsilon has to increase with it.")
    target: Annotated[float, Field(gt=0, allow_inf_nan=False)] | Literal["parent"] = Field(
        description="Epsilon to reach; parent means the first parent's epsilon."
    )
    low: float = Field(0.0, ge=0, allow_inf_nan=False, description="Lower end of the search.")
    high: float = Field(
        1.0, gt=0, allow_inf_nan=False, description="Upper end of the search; used if epsilon is below the target even there."
    )
    lower_by: float | None = Field(
        None, gt=0, allow_inf_nan=False,
        description="Step by which to go down from high until epsilon is at most the target; if left out, the range is bisected.",
    )  # fmt: skip
    tolerance: float = Field(0.01, gt=0, lt=1, description="Relative distance from the target at which the search stops.")
    steps: int = Field(12, ge=1, le=50, description="Largest number of refits.")

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        return ordered(self, "low", "high")


class Synthesizer(JobInput):
    """One synthesizer with all its parameters."""

    id: str
    mechanism: str
    parameters: dict[str, float]
    parents: tuple[str, ...]
    fit: str
    """Id of the synthesizer whose fit it uses: its own id unless it shares one."""
    search: Search | None = None
    words: tuple[int, ...]
    """Integer words of its random streams."""


def with_parents(ids: Iterable[str], synthesizers: Mapping[str, Synthesizer]) -> list[Synthesizer]:
    """Return synthesizers and all that they build on: parents, and owners of the fits that they share.

    Args:
        ids: the synthesizers.
        synthesizers: all synthesizers by id.
    """
    chain: dict[str, Synthesizer] = {}

    def visit(id: str) -> None:
        if id not in chain:
            synthesizer = synthesizers[id]
            for needed in (*synthesizer.parents, *({synthesizer.fit} - {id})):
                visit(needed)
            chain[id] = synthesizer

    for id in ids:
        visit(id)
    return list(chain.values())


class SamplerSettings(JobInput):
    """Sampling of one fit, and the gate that it has to pass."""

    warmup: int = Field(400, ge=1, le=10**9, description="Warm-up iterations.")
    draws: int = Field(1000, ge=100, description="Number of posterior draws to keep, S; the bounds are maxima over them.")
    adapt_delta: float = Field(
        0.65, gt=0, lt=1, description="Target acceptance rate of a fit; once a fit has diverged, its refits use 0.95."
    )
    rhat_max: float = Field(1.05, gt=1, allow_inf_nan=False, description="Largest R-hat that passes the gate.")
    ess_min: float = Field(
        400, gt=0, allow_inf_nan=False, description="Smallest bulk and tail effective sample size that passes the gate."
    )
    divergences_max: int = Field(0, ge=0, description="Largest number of divergent transitions that passes the gate.")
    attempts: int = Field(3, ge=1, le=5, description="Largest number of fits for one replicate; each refit is longer.")
    lengthen: int = Field(
        4, ge=2, description="Factor by which each refit samples longer; the number of draws kept stays the same."
    )


Kind = Literal["remove", "add", "replace", "move", "same"]
"""Kind of a neighbour; a record that moves stays in its sensitive range, and the same data with other seeds count, too."""


class AuditSearch(JobInput):
    """Size of an audit's search for the neighbour with the largest loss, and contents of its report."""

    deltas: tuple[Annotated[float, Field(ge=0, lt=1)], ...] = Field(
        (1e-3, 1e-5), min_length=1, description="Values of δ at which ε is reported; the first is used to rank the neighbours."
    )
    releases: int = Field(
        5, ge=1, le=1000, description="Number of released draws for which the worst neighbours are reported too, at the first δ."
    )
    kinds: tuple[Kind, ...] = Field(
        ("same", "remove", "add", "replace"), min_length=1, description="Kinds of neighbours whose loss is reported."
    )
    moves: tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...] = Field(
        (),
        description="Multiples of its outcome to which a record moves, for the kind move; if the scenario declares ranges, a "
        "record stops at the end of its own.",
    )
    each: int = Field(3, ge=1, le=10**4, description="Number of records to remove for each reason and synthesizer.")
    random: int = Field(5, ge=0, le=10**4, description="Number of records to remove at random.")
    refined: int = Field(
        2,
        ge=0,
        le=100,
        description="Number of worst neighbours of each kind and synthesizer to compute in full; 0 leaves out all but a curve.",
    )
    streams: int = Field(
        0,
        ge=0,
        le=1000,
        description="Number of streams over which the worst neighbour's random weights are mixed; 0 leaves this out.",
    )
    attack: int = Field(
        0,
        ge=0,
        le=10**6,
        description="Number of runs of the attack on the worst addition or removal, by the larger loss; 0 leaves it out.",
    )
