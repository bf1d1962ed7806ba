"""Inputs of jobs: typed here and in the job, plain data in between, and limited to what the job depends on.

A change of anything that is not in a job's model cannot rerun the job. ``modules`` are those that define the names it uses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from formalsynth.core.model import JobInput, Settings, ordered

STUDY = "study"
"""Placeholder for the fits of a scenario that a study runs."""
SAMPLE = 0
"""Replicate that figures "over a single sample" show."""


class Job(JobInput):
    """Input of a job."""

    WITHOUT: ClassVar[frozenset[str]] = frozenset({"modules", "data_folder"})


def joined_digest(digests: Iterable[str]) -> str:
    """Sha256 of digests, in their order."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def specification(job: str, inputs: Sequence[str] = ()) -> str:
    """Specification of a file: checksum of the input of its job and of the specifications of the job's input files.

    The job writes it with its files; the plan computes it from config, and readers of the files compare the two.

    Args:
        job: digest of the input of the job; empty for a job that only joins its input files.
        inputs: specifications of its input files, in their order.
    """
    return joined_digest([job, *inputs])


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

    parameter: str = Field(description="Parameter that is searched; epsilon has to grow with it.")
    target: Annotated[float, Field(gt=0, allow_inf_nan=False)] | Literal["parent"] = Field(
        description="Epsilon to reach; parent: that of the first parent."
    )
    low: float = Field(0.0, ge=0, allow_inf_nan=False, description="Lower end of the search.")
    high: float = Field(1.0, gt=0, allow_inf_nan=False, description="Upper end; taken when epsilon stays below the target there.")
    lower_by: float | None = Field(
        None, gt=0, allow_inf_nan=False,
        description="Go down from high by this until epsilon is at most the target; if left out, it is bisected.",
    )  # fmt: skip
    tolerance: float = Field(0.01, gt=0, lt=1, description="Relative distance to the target that is near enough.")
    steps: int = Field(12, ge=1, le=50, description="Refits at most.")

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
    """Chain of synthesizers and all that they build on: parents, and owners of the fits that they share.

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
    """Sampling of one fit and the gate it has to pass."""

    warmup: int = Field(400, ge=1, le=10**9, description="Warm-up iterations.")
    draws: int = Field(1000, ge=100, description="S, kept posterior draws; the bounds are maxima over them.")
    adapt_delta: float = Field(
        0.65, gt=0, lt=1, description="Acceptance that a fit aims at; once one has diverged, its refits aim at 0.95."
    )
    rhat_max: float = Field(1.05, gt=1, allow_inf_nan=False, description="Largest R-hat that passes the gate.")
    ess_min: float = Field(
        400, gt=0, allow_inf_nan=False, description="Least bulk and tail effective sample size that passes the gate."
    )
    divergences_max: int = Field(0, ge=0, description="Most divergent transitions that pass the gate.")
    attempts: int = Field(3, ge=1, le=5, description="Fits at most for one replicate; each refit is longer.")
    lengthen: int = Field(4, ge=2, description="How many times longer each refit samples; it keeps as many draws.")


Kind = Literal["remove", "add", "replace", "same"]
"""Kind of a neighbour; the same data with other seeds is a neighbour too."""


class AuditSearch(JobInput):
    """Effort of the audit in its search for the most costly neighbour of a data set, and its report."""

    deltas: tuple[Annotated[float, Field(ge=0, lt=1)], ...] = Field(
        (1e-3, 1e-5), min_length=1, description="Values of δ at which ε is reported; the first one ranks the neighbours."
    )
    releases: int = Field(
        5, ge=1, le=1000, description="The worst neighbours are reported for so many released draws, too, at the first δ."
    )
    kinds: tuple[Kind, ...] = Field(
        ("same", "remove", "add", "replace"), min_length=1, description="Kinds of neighbours whose loss is reported."
    )
    each: int = Field(3, ge=1, le=10**4, description="Removals for each reason and synthesizer.")
    random: int = Field(5, ge=0, le=10**4, description="Removals at random.")
    refined: int = Field(
        2,
        ge=0,
        le=100,
        description="Worst neighbours of each kind and synthesizer that are computed in full; 0 leaves all but a curve out.",
    )
    streams: int = Field(
        0, ge=0, le=1000, description="Streams over which the random weights of the worst neighbour are mixed; 0 leaves that out."
    )
    attack: int = Field(
        0,
        ge=0,
        le=10**6,
        description="Runs of the attack on the worst addition or removal, whichever costs more; 0 leaves it out.",
    )


class Simulated(JobInput):
    """Simulated records: a registered population and its parameters."""

    population: str
    parameters: Settings

    @property
    def counts(self) -> str:
        """Registered table of published counts that it draws from; empty for none."""
        return str(self.parameters.get("counts") or "")

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it needs."""
        return (self.counts,) if self.counts else ()


class FromFile(JobInput):
    """Real records: a registered data file, without the rows that are left out."""

    file: str
    drop_rows: tuple[int, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it needs."""
        return (self.file,)


class SimulateJob(Job):
    """Simulate one batch of confidential data."""

    key: ScenarioKey
    modules: tuple[str, ...]
    data: Simulated | FromFile
    data_folder: str
    files: dict[str, str]
    """The sha256 of each real data file that it may read, by registered name; empty for one that is absent."""
    replicates: tuple[int, ...]


class FitJob(Job):
    """Fit one synthesizer to one batch."""

    key: ScenarioKey
    modules: tuple[str, ...]
    family: str
    priors: dict[str, float]
    synthesizer: Synthesizer
    fits: dict[str, str]
    """The fit that each parent uses."""
    sampler: SamplerSettings
    exact: bool = False
    """True if its draws are from the exact pseudo posterior and not from Stan."""


class RowsJob(Job):
    """Make rows of ``replicates.csv``, with the statistics and the further columns that the scenario requests."""

    synthetic_sets: int
    """Number of synthetic data sets of the single sample."""
    centre_sets: int
    """Number of synthetic data sets of every replicate over which statistics are averaged; 0 for no such columns."""
    unit: float
    """Value of 1 in the unit of figures and tables."""
    utility: tuple[str, ...] = ()
    """Names of further utility statistics."""
    coefficient: bool = False
    """True if there are columns for the last coefficient of a regression."""


class MeasureJob(RowsJob):
    """Measure the synthesizers that share one fit, on one batch."""

    key: ScenarioKey
    modules: tuple[str, ...]
    family: str
    members: tuple[Synthesizer, ...]
    """The synthesizers that share the fit, its owner first."""
    parents: tuple[str, ...]
    """Members that others build on; their record-level arrays are written, replicate by replicate."""
    fits: dict[str, str]
    """The fit that each of their parents uses."""
    sample: int = SAMPLE
    """Replicate that is the single sample."""


class ArmChoice(JobInput):
    """An arm of a study as config asks for it."""

    id: str
    arm: str
    parameters: dict[str, float]


class StudyJob(Job):
    """Run one batch of a study."""

    key: ScenarioKey
    modules: tuple[str, ...]
    study: str
    settings: Settings
    arms: tuple[ArmChoice, ...]
    data_folder: str
    files: dict[str, str]
    """The sha256 of each real data file that it reads, by registered name."""
    replicates: tuple[int, ...]


class AuditJob(Job):
    """Audit the synthesizers of one batch on the neighbours of its data sets."""

    key: ScenarioKey
    modules: tuple[str, ...]
    family: str
    priors: dict[str, float]
    synthesizers: tuple[Synthesizer, ...]
    """Audited synthesizers and those that they build on, parents first."""
    audited: tuple[str, ...]
    """Ids of the audited synthesizers."""
    outcomes: tuple[float, ...]
    """Outcomes of the records to add to a data set."""
    predictors: tuple[tuple[float, ...], ...]
    """Values of each predictor that varies, of the records to add."""
    inputs: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    """Values of each further column, of the records to add."""
    at_most: str = ""
    """The further column that no outcome may exceed; empty for none."""
    search: AuditSearch
    curve: bool
    """True if there is also a row for each record to add with its predictors in the middle."""
    draws: int
    """Number of draws, S, over which risks and bounds are maxima."""
    sampler: SamplerSettings | None
    """Settings for sampled posteriors; None where posteriors are exact."""
    replicates: tuple[int, ...]
    """Replicates of the batch whose data sets are audited."""


class TablesJob(RowsJob):
    """Put the tables of one batch together."""

    key: ScenarioKey
    modules: tuple[str, ...]
    family: str
    priors: dict[str, float]
    fits: dict[str, str]
    """Every synthesizer, in the order of the design, with the fit that it uses."""


class BatchJob(Job):
    """Simulate, fit and measure one batch, and put its tables together."""

    simulate: SimulateJob
    fits: tuple[FitJob, ...]
    """Fits in an order in which each follows all fits that its members build on."""
    measures: tuple[MeasureJob, ...]
    """Measurements of the fits, in the same order."""
    tables: TablesJob
    audit: AuditJob | None = None
    """Audit; None where no data set of the batch is audited."""

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that define the names in its parts."""
        return tuple(dict.fromkeys(module for part in self.parts for module in part.modules))

    def digest(self) -> str:
        """Sha256 of the inputs of its parts."""
        return joined_digest(part.digest() for part in self.parts)

    @property
    def parts(self) -> list[SimulateJob | FitJob | MeasureJob | TablesJob | AuditJob]:
        """Inputs of its parts."""
        return [self.simulate, *self.fits, *self.measures, self.tables, *([self.audit] if self.audit else [])]


class ScenarioColumns(JobInput):
    """Columns of a scenario in the table that are not in its replicates."""

    family: str
    """Family; empty for a study."""
    mechanisms: dict[str, str]
    """Mechanism of each synthesizer, or name of each arm."""
    parameters: dict[str, dict[str, float]]
    """Parameters of each synthesizer or arm."""
