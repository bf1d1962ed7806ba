"""Inputs of jobs: typed in the plan and in the job, passed as plain data, and limited to what the job depends on.

Changing anything that is not in a job's model cannot rerun the job. ``modules`` lists the modules that define the names it uses.
"""

from __future__ import annotations

from pydantic import Field

from formalsynth.core.inputs import Ranges
from formalsynth.core.model import JobInput, Settings
from formalsynth.core.synthesizer import AuditSearch, SamplerSettings, ScenarioKey, Synthesizer

SAMPLE = 0
"""Replicate that figures "over a single sample" show."""


class Job(JobInput):
    """Input of a job."""

    modules: tuple[str, ...]
    """Modules that define the names in it."""


class Simulated(JobInput):
    """Simulated records: a registered population and its parameters."""

    population: str
    parameters: Settings

    @property
    def counts(self) -> str:
        """Registered table of published counts that it draws from; empty if there is none."""
        return str(self.parameters.get("counts") or "")

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it needs."""
        return (self.counts,) if self.counts else ()


class FromFile(JobInput):
    """Real records: a registered data file, without the dropped rows."""

    file: str
    drop_rows: tuple[int, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it needs."""
        return (self.file,)


class SimulateJob(Job):
    """Simulate one batch of confidential data."""

    key: ScenarioKey
    data: Simulated | FromFile
    data_folder: str
    files: dict[str, str]
    """The sha256 of each real data file that it may read, by registered name; empty for a missing file."""
    unit: float = 1.0
    """Unit of the outcome in the fits, by which the data are divided."""
    replicates: tuple[int, ...]
    ranges: Ranges | None = None
    """Declared sensitive range of each record."""


class FitJob(Job):
    """Fit one synthesizer to one batch."""

    key: ScenarioKey
    family: str
    priors: dict[str, float]
    synthesizer: Synthesizer
    sampler: SamplerSettings
    exact: bool = False
    """True if its draws are from the exact pseudo posterior instead of Stan."""


class RowsJob(Job):
    """Make rows of ``replicates.csv``, with the statistics and further columns that the scenario requests."""

    synthetic_sets: int
    """Number of synthetic data sets of the single sample."""
    centre_sets: int
    """Number of synthetic data sets per replicate over which statistics are averaged; 0 leaves these columns out."""
    unit: float
    """Unit of the outcome in the fits: synthetic values times it are in the unit of the data, as in figures and tables."""
    utility: tuple[str, ...] = ()
    """Names of further utility statistics."""
    coefficient: bool = False
    """True if there are columns for the last coefficient of a regression."""
    by_area: bool = False
    """True if there is a column for the error of the means of records with equal predictors."""


class MeasureJob(RowsJob):
    """Measure one synthesizer on one batch."""

    key: ScenarioKey
    family: str
    priors: dict[str, float]
    synthesizer: str
    """Id of the synthesizer."""
    words: tuple[int, ...]
    """Integer words of the random streams of its synthetic data: those of the synthesizer whose fit it uses."""
    guarantee: str
    """Kind of its privacy guarantee."""
    sample: int = SAMPLE
    """Replicate used as the single sample."""


class ArmChoice(JobInput):
    """An arm of a study, as config requests it."""

    id: str
    arm: str
    parameters: dict[str, float]


class StudyJob(Job):
    """Run one batch of a study."""

    key: ScenarioKey
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
    family: str
    priors: dict[str, float]
    synthesizers: tuple[Synthesizer, ...]
    """Audited synthesizers and those that they build on, parents first."""
    audited: tuple[str, ...]
    """Ids of the audited synthesizers."""
    outcomes: tuple[float, ...]
    """Outcomes of the records to add to a data set."""
    predictors: tuple[tuple[float, ...], ...]
    """Values of each predictor that varies, for the records to add."""
    inputs: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    """Values of each further column, for the records to add."""
    at_most: str = ""
    """Further column that no outcome may exceed; empty if there is none."""
    search: AuditSearch
    curve: bool
    """True if there is also a row for each outcome to add, with predictors at the middle of their ranges."""
    draws: int
    """Number of draws, S, over which risks and bounds are maxima."""
    sampler: SamplerSettings | None
    """Settings for sampled posteriors; None if posteriors are exact."""
    replicates: tuple[int, ...]
    """Replicates of the batch whose data sets are audited."""


class CollectJob(RowsJob):
    """Combine the tables of one scenario."""

    key: ScenarioKey
    family: str
    priors: dict[str, float]
    synthesizers: tuple[str, ...]
    """Every synthesizer, in the order of the design."""


class ScenarioColumns(JobInput):
    """Columns of a scenario in the table of all results that are not in its replicates."""

    family: str
    """Family; empty for a study."""
    mechanisms: dict[str, str]
    """Mechanism of each synthesizer, or name of each arm."""
    parameters: dict[str, dict[str, float]]
    """Parameters of each synthesizer or arm."""
