"""Sections of the config, from run to claim.

A section whose keys depend on a name (a mechanism, a kind of figure, a population) is read as the model registered under that
name; :func:`find_all` fills the registers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, ValidationInfo, create_model, field_validator, model_validator
from pydantic_core import PydanticCustomError

from formalsynth.contract.program import ProgramUse
from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES, program_name
from formalsynth.core.inputs import Ranges, RecordInput
from formalsynth.core.kinds import ByKind, Variants, either
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.model import (
    Colour,
    FigureNumber,
    Identifier,
    Model,
    Names,
    Number,
    Settings,
    WholeNumber,
    each_once,
    ordered,
)
from formalsynth.core.parameters import Parameters, partial
from formalsynth.core.population import POPULATIONS
from formalsynth.core.registry import Registry
from formalsynth.core.statistics import STATISTICS
from formalsynth.core.synthesizer import AuditSearch, SamplerSettings, Search
from formalsynth.core.words import GUARANTEES, METRICS
from formalsynth_workflow import PACKAGE
from formalsynth_workflow.jobs.inputs import Simulated
from formalsynth_workflow.ledger.claims import ClaimConfig
from formalsynth_workflow.ledger.tests.base import TESTS
from formalsynth_workflow.ledger.thresholds import Thresholds
from formalsynth_workflow.show.figure import DEFAULT as DEFAULT_FIGURE
from formalsynth_workflow.show.figure import FIGURES, Figure, Repeat
from formalsynth_workflow.show.table import DEFAULT as DEFAULT_TABLE
from formalsynth_workflow.show.table import TABLES, Table
from formalsynth_workflow.study import STUDIES

SampleSize = Annotated[int, Field(ge=2, le=10**9)]
SampleSizes = Annotated[list[SampleSize], Field(min_length=1), AfterValidator(each_once)]
REGISTERS: tuple[Registry[Any], ...] = (
    FAMILIES, MECHANISMS, POPULATIONS, STUDIES, FILES, FIGURES, TABLES, TESTS, STATISTICS, METRICS, GUARANTEES,
)  # fmt: skip
"""Registers of everything that config may name, with its wording."""
OF_PAPERS = {
    FAMILIES: "family*.py", MECHANISMS: "mechanism*.py", POPULATIONS: "population*.py", FILES: "files*.py",
    METRICS: "words.py", GUARANTEES: "words.py",
}  # fmt: skip
"""Files of a paper that add to registers of the library."""


BATCHES = 10_000
"""Largest number of batches in a scenario: their ids have four digits."""


class ScaleConfig(Model):
    """Size of a run, relative to the papers' own sizes."""

    replicates: WholeNumber | None = Field(None, description="Largest number of replicates; if left out, the papers' numbers.")
    shrink: float = Field(1, ge=1, description="Divisor of the simulated sample sizes.")
    synthetic_sets: WholeNumber | None = Field(None, description="Largest number of synthetic data sets drawn for one sample.")
    audit_points: int | None = Field(None, ge=2, description="Largest number of points in each declared range of an audit.")
    attack_runs: WholeNumber | None = Field(None, description="Largest number of runs of an attack.")
    judged: bool = Field(True, description="If false, the ledger reports too few replicates instead of judging claims.")


class RunConfig(Model):
    """``config/config.yaml``: what to run, at which scale, from which seed."""

    scale: str = Field("paper", description="Scale to run, one of scales.")
    study: str | list[str] = Field(
        default_factory=list,
        description="Your own study files, relative to the working folder; see docs/tutorials/own_mechanism.md.",
    )
    papers: Annotated[list[Identifier], AfterValidator(each_once)] = Field(
        default_factory=list,
        validate_default=True,
        description="Papers to regenerate; each is config/papers/<key>.yaml. Required unless study names a file.",
    )
    root_seed: int = Field(description="Seed from which every random stream is derived.", ge=0, lt=2**63)
    batch_size: WholeNumber = Field(
        100,
        description="Replicates per batch; does not affect results. If given on the command line, it applies to all scenarios.",
    )
    batches_max: int = Field(
        20,
        ge=1,
        le=BATCHES,
        description="Largest number of batches in a scenario: batches are enlarged if there would be more. Does not affect the "
        "results. A batch size given on the command line is not enlarged.",
    )
    data_folder: str = Field("resources", min_length=1, description="Folder of your own data files, searched first.")
    sampler: SamplerSettings = Field(default_factory=SamplerSettings, description="Settings of the sampler and of its gate.")
    verdicts: Thresholds = Field(default_factory=Thresholds, description="Thresholds of the ledger's verdicts.")
    scales: dict[Identifier, ScaleConfig] = Field(description="Named scales.", min_length=1)
    _overridden: frozenset[str] = PrivateAttr(frozenset())

    def overridden(self, keys: Collection[str]) -> RunConfig:
        """Return a copy that records which of its keys were given on the command line."""
        copy = self.model_copy()
        copy._overridden = frozenset(keys)
        return copy

    @property
    def overrides_batch_size(self) -> bool:
        """True if the batch size applies to all scenarios, even to those with their own."""
        return "batch_size" in self._overridden

    @field_validator("papers")
    @classmethod
    def _something(cls, papers: list[str], info: ValidationInfo) -> list[str]:
        if not papers and info.data.get("study") == []:
            raise ValueError("Input should name at least one paper, or study should name a file of your own")
        return papers

    @property
    def studies(self) -> list[str]:
        """The study files."""
        return [self.study] if isinstance(self.study, str) else self.study

    @property
    def size(self) -> ScaleConfig:
        """The scale of this run."""
        return self.scales[self.scale]


class Entry(Model):
    """A synthesizer or arm in figures and tables, or one for each point of the sweeps in ``over``."""

    over: list[Identifier] = Field(
        default_factory=list, description="Sweeps to expand over: one synthesizer or arm for each combination of their points."
    )
    id: str | None = Field(None, description="Name in paths; may contain parameters in braces. Default: the name and the values.")
    label: str | None = Field(None, description="Name in figures and tables; may contain parameters in braces.")
    parameters: Parameters = Field(default_factory=Parameters, description="Its parameters, except those that its sweeps set.")
    colours: list[Colour] = Field(
        default_factory=lambda: ["#999999"], min_length=1, description="Colours, in the order of the sweep."
    )

    def given(self) -> dict[str, float]:
        """Return the parameters that the entry itself sets."""
        return {name: float(value) for name, value in self.parameters.model_dump(exclude_unset=True).items()}


class SynthesizerEntry(Entry):
    """A mechanism with its parameters."""

    mechanism: str = Field(description="Name of a registered mechanism.")
    parents: list[str] = Field(default_factory=list, description="Synthesizers whose results it uses, in order.")
    fit: str | None = Field(None, description="Synthesizer whose fit and synthetic data it shares; if left out, it has its own.")
    search: Search | None = Field(None, description="Parameter to search for; if left out, all parameters are used as given.")


class ArmEntry(Entry):
    """An arm of a study."""

    study: str = Field(description="Name of a registered study.")
    arm: str = Field(description="Name of one of the study's arms.")


class Choice(Model):
    """Name of a registered entry, and its parameters."""

    name: str = Field(description="Its registered name.")

    def simulated(self) -> Simulated:
        """Return the choice of a population as the input of a job."""
        return Simulated(population=self.name, parameters=self.as_given())

    def as_given(self) -> Settings:
        """Return its parameters as given."""
        return self.model_dump(mode="json", exclude={"name"}, exclude_unset=True)


class FileChoice(Model):
    """Real records."""

    name: str = Field(description="Name of a registered data file.")
    drop_rows: list[WholeNumber] = Field(default_factory=list, description="1-based rows to leave out.")


class OwnStan(Model):
    """The user's own Stan program, used instead of a family."""

    stan: str = Field(
        min_length=1, description="Path of the program, relative to the study file; docs/howto/own_model.md has its contract."
    )
    data: dict[str, float] = Field(default_factory=dict, description="Fixed numbers that the program declares in its data block.")
    inputs: dict[Identifier, RecordInput] = Field(
        default_factory=dict, description="Further columns of the records that the program declares as arrays of length n."
    )
    lower: Number = Field(-math.inf, description="Smallest value that an outcome may have; declared, not taken from the data.")
    upper: Number | Identifier = Field(
        math.inf, description="Largest value that an outcome may have, or the name of the further column that it never exceeds."
    )

    @field_validator("upper")
    @classmethod
    def _a_column(cls, upper: float | str, info: ValidationInfo) -> float | str:
        known = info.data.get("inputs")  # missing if inputs itself was refused
        if isinstance(upper, str) and known is not None and upper not in known:
            raise ValueError(f"Input should be a number, or the name of one of the inputs: {', '.join(known) or 'none'}")
        return upper

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if not isinstance(self.upper, str):
            return ordered(self, "lower", "upper")
        if self.lower > self.inputs[self.upper].low:
            raise ValueError(f"lower has to be at most the smallest value of {self.upper}")
        return self

    def use(self, predictors: int) -> ProgramUse:
        """Return the use of the program on records whose design has this many predictors."""
        at_most = self.upper if isinstance(self.upper, str) else ""
        upper = self.inputs[at_most].high if at_most else float(self.upper)
        return ProgramUse(
            data=self.data, lower=self.lower, upper=upper, predictors=predictors, inputs=self.inputs, at_most=at_most
        )


@functools.cache
def find_all() -> None:
    """Import everything that the library and the papers register, once."""
    for register in REGISTERS:
        register.find(*((PACKAGE, f"papers/*/{files}") for files in [OF_PAPERS.get(register)] if files))


@dataclass(frozen=True)
class Chosen(Variants):
    """Section whose ``name`` names an entry of a register, with the parameters of that entry."""

    key: ClassVar[str] = "name"
    entries: Registry[Any]
    parameters: str
    """Attribute of an entry that holds the model of its parameters."""

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Return the model for choosing each entry."""
        return {name: _choice(name, getattr(entry, self.parameters)) for name, entry in self.entries.items()}

    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Return the name that is given."""
        return given.get("name")


@functools.cache
def _choice(name: str, parameters: type[Parameters]) -> type[BaseModel]:
    named: dict[str, Any] = {"name": (Literal[name], Field(description=Choice.model_fields["name"].description))}
    return create_model(f"Choice of {name}", __base__=(parameters, Choice), **named)


ChosenPopulation = Annotated[Choice, Chosen(POPULATIONS, "parameters")]
ChosenStudy = Annotated[Choice, Chosen(STUDIES, "settings")]


class DeclaredRange(Model):
    """Range of possible values, declared without looking at the data."""

    low: float = Field(description="Smallest value.")
    high: float = Field(description="Largest value.")
    points: int = Field(5, ge=2, le=1000, description="Number of values to try, including both ends.")
    log: bool = Field(False, description="Whether the values are evenly spaced on a log scale.")
    logit: bool = Field(
        False, description="Whether the values are evenly spaced in log odds, for proportions: most are then near 0 and 1."
    )
    whole: bool = Field(False, description="Whether the values are rounded to whole numbers, for counts.")

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if self.log and self.low <= 0:
            raise ValueError("low has to be above 0 if log is true")
        if self.logit and (self.log or not 0 < self.low < self.high < 1):
            raise ValueError("with logit: true, low and high have to be between 0 and 1, and log has to be false")
        return ordered(self, "low", "high")

    def values(self, most: int | None = None) -> list[float]:
        """Return the values of the grid, at most ``most``."""
        points = min(self.points, most or self.points)
        if self.logit:
            low, high = (math.log(end / (1 - end)) for end in (self.low, self.high))
            values = (1 / (1 + np.exp(-np.linspace(low, high, points)))).clip(self.low, self.high)
        else:
            values = (np.geomspace if self.log else np.linspace)(self.low, self.high, points)
        return [float(value) for value in np.unique(np.rint(values) if self.whole else values)]


class AuditConfig(AuditSearch):
    """An audit: the privacy loss of a record over neighbours of each data set, with everything recomputed on each neighbour."""

    outcome: DeclaredRange = Field(description="Possible values of an outcome; records to add take theirs from its grid.")
    predictors: list[DeclaredRange] = Field(
        default_factory=list, description="Possible values of each predictor that varies, in the order of the design."
    )
    inputs: dict[Identifier, DeclaredRange] = Field(
        default_factory=dict, description="Possible values of each further column of the records that your own Stan program uses."
    )
    synthesizers: Names | None = Field(None, description="Synthesizers to audit; by default, all of the scenario's.")
    replicates: WholeNumber | None = Field(
        None, description="Number of data sets to audit, starting with the first; by default, all."
    )
    largest: SampleSize | None = Field(
        None, description="Largest sample size to audit, before the scale shrinks it; by default, all are audited."
    )
    curve: bool = Field(
        False,
        description="Whether the loss is also reported for every outcome to add, with predictors and further columns at the "
        "middle of their ranges, once with recomputed weights and once with weights held fixed.",
    )


class ScenarioConfig(Model):
    """Confidential data and their analysis."""

    id: WholeNumber | None = Field(
        None,
        description="Integer that keys the random streams; never change or reuse it. If left out, it is derived from the name.",
    )
    place: str = Field("", description="Its place in the paper; if left out, its name.")
    label: str = Field("", description="Title of its frame in figures that have a frame for each scenario.")
    synthesizers: list[str] = Field(description="Synthesizers to run.", min_length=1)
    batch_size: WholeNumber | None = Field(None, description="Replicates per batch; if left out, the run's batch_size.")


class FittedScenario(ScenarioConfig):
    """Confidential data and the model fitted to them."""

    family: str | OwnStan = Field(description="Model family: a registered name, or your own Stan program.")
    priors: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict, description="Prior settings that differ from the family's."
    )
    unit: float = Field(
        1.0,
        gt=0,
        description="Declared unit of the outcome, such as 1000 for thousands; never computed from the data. Fits see the "
        "outcome divided by it, and bounds and clipping of a continuous outcome depend on it. Bins, references and audits are in "
        "this unit; ranges, figures and tables in that of the data.",
    )
    ranges: Ranges | None = Field(None, description="Sensitive range of each record, known to the public.")
    synthetic_sets: WholeNumber = Field(1, description="Number of synthetic data sets drawn for the first replicate.")
    centre_sets: int = Field(
        0,
        ge=0,
        description="Number of synthetic data sets per replicate over which statistics are averaged; 0 leaves these columns out.",
    )
    utility: Annotated[list[str], AfterValidator(each_once)] = Field(
        default_factory=list,
        description="Further utility statistics: sd, q99, and names that your own code file registers.",
    )
    coefficient: bool = Field(
        False,
        description="Whether replicates.csv contains the last coefficient of a regression and the ends of its 95 % interval.",
    )
    by_area: bool = Field(
        False,
        description="Whether replicates.csv contains the error of the means of areas, which are records with equal predictors.",
    )
    n_least: int = Field(2, ge=2, description="Smallest sample size at any scale.")
    exact: bool = Field(
        False,
        description="Whether to draw from the exact pseudo posterior instead of with Stan; for families whose posterior an audit "
        "computes exactly.",
    )
    audit: AuditConfig | None = Field(None, description="Audit of the privacy loss of a record; if left out, there is no audit.")

    @property
    def model(self) -> str:
        """Name of the family."""
        return self.family if isinstance(self.family, str) else program_name(Path(self.family.stan))


class SimulatedScenario(FittedScenario):
    """Simulated confidential data and the model fitted to them."""

    population: ChosenPopulation = Field(description="Simulated data: name and parameters.")
    n: SampleSize | SampleSizes = Field(description="Sample size or sizes.")
    replicates: WholeNumber = Field(1, description="Data sets to simulate.")
    DRAWN: ClassVar[str] = "population"
    """Key of its simulated data."""

    @property
    def drawn(self) -> Simulated:
        """Its simulated data."""
        return self.population.simulated()

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it reads if they exist."""
        return self.drawn.files


class FileScenario(FittedScenario):
    """Real confidential data, one data set, and the model fitted to them."""

    file: FileChoice = Field(description="Real data.")
    stand_in: ChosenPopulation | None = Field(None, description="Simulated data that replace a missing file.")
    n: SampleSize | None = Field(None, description="Sample size of the stand-in.")
    replicates: Literal[1] = Field(1, description="A file is one data set.")
    DRAWN: ClassVar[str] = "stand_in"
    """Key of its simulated data."""

    @property
    def drawn(self) -> Simulated | None:
        """Simulated data that replace a missing file; None if there are none."""
        return self.stand_in.simulated() if self.stand_in else None

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it reads if they exist."""
        return (self.file.name, *(self.drawn.files if self.drawn else ()))


class StudyScenario(ScenarioConfig):
    """Replicates that a study runs from start to end."""

    study: ChosenStudy = Field(description="Function that runs its replicates from start to end: name and settings.")
    n: SampleSize | SampleSizes = Field(description="Sample size or sizes.")
    n_least: int = Field(2, ge=2, description="Smallest sample size at any scale.")
    replicates: WholeNumber = Field(1, description="Replicates to run.")

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it needs."""
        return STUDIES[self.study.name].requires(self.study.as_given())


class _ScenarioVariants(Variants):
    """Variants of a scenario by the source of their data."""

    key = "population"

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Variants by the key that only they have."""
        return {"population": SimulatedScenario, "file": FileScenario, "study": StudyScenario}

    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Return the key that is given."""
        return next((key for key in self.variants() if key in given), None)

    def read(self, given: object) -> BaseModel:
        """Read a scenario as the model of the source of its data.

        Raises:
            ValidationError: it does not have exactly one source of data, or does not fit its model.
        """
        given_keys = [key for key in self.variants() if isinstance(given, Mapping) and key in given]
        if isinstance(given, Mapping) and len(given_keys) != 1:
            words = {"given": f", not {' and '.join(given_keys)}" if given_keys else ""}
            problem = PydanticCustomError("one_of", "Input should have one of population, file and study{given}", words)
            raise self.refused(problem, (), given)
        return super().read(given)


class _EntryVariants(Variants):
    """Variants of an entry by its mechanism, or by its study and arm."""

    key = "mechanism"

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Return one variant for each mechanism, and one for the arms of a study that share the same parameters."""
        entries = {name: _entry(SynthesizerEntry, entry.parameters, mechanism=(name,)) for name, entry in MECHANISMS.items()}
        for study in STUDIES.values():
            for name, arm in study.arms.items():
                alike = tuple(other for other, entry in study.arms.items() if entry.parameters is arm.parameters)
                entries[f"{study.name}: {name}"] = _entry(ArmEntry, arm.parameters, study=(study.name,), arm=alike)
        return entries

    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Return the mechanism, or the study with its arm."""
        return f"{given['study']}: {given.get('arm')}" if "study" in given else given.get("mechanism")

    def expected(self) -> str:
        """Return the names of the mechanisms; an arm is named by study and arm."""
        return f"{either(list(MECHANISMS))}; arms of studies have study and arm instead"

    def read(self, given: object) -> BaseModel:
        """Read an entry as the model of its mechanism, or of its arm.

        Raises:
            ValidationError: it names neither, or does not fit the model of the one that it names.
        """
        if isinstance(given, Mapping) and "study" in given:
            study, arm = given["study"], given.get("arm")
            if not isinstance(study, str) or study not in STUDIES:
                raise self.refused("literal_error", ("study",), study, expected=either(list(STUDIES)))
            if "arm" not in given:
                raise self.refused("missing", ("arm",), given)
            if not isinstance(arm, str) or arm not in STUDIES[study].arms:
                raise self.refused("literal_error", ("arm",), arm, expected=either(list(STUDIES[study].arms)))
        return super().read(given)


@functools.cache
def _entry(base: type[Entry], parameters: type[Parameters], **names: tuple[str, ...]) -> type[BaseModel]:
    """Make the model of entries in which some keys are fixed to given values, with the parameters that these imply."""
    given = partial(parameters)
    described = base.model_fields["parameters"].description
    fields: dict[str, Any] = {
        key: (Literal[values], Field(description=base.model_fields[key].description)) for key, values in names.items()
    }
    fields["parameters"] = (given, Field(default_factory=given, description=described))
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)


class _FigureVariants(ByKind):
    """Variants of a figure: its kinds, and a repeat of another figure."""

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Return the model of each kind, and that of a repeat."""
        return {**super().variants(), "same_as": Repeat}

    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Return the kind, or ``same_as`` for a repeat."""
        return "same_as" if "same_as" in given else super().name_of(given)

    def expected(self) -> str:
        """Return the names of the kinds."""
        return either(list(super().variants()))


AnyEntry = Annotated[SynthesizerEntry | ArmEntry, _EntryVariants()]
AnyScenario = Annotated[SimulatedScenario | FileScenario | StudyScenario, _ScenarioVariants()]
AnyFigure = Annotated[Figure | Repeat, _FigureVariants(FIGURES, DEFAULT_FIGURE)]
AnyTable = Annotated[Table, ByKind(TABLES, DEFAULT_TABLE)]


class ReadingConfig(Model):
    """Reading of what a paper leaves open."""

    description: str = Field(min_length=1, description="What it assumes, for captions and the ledger.")
    replaces: dict[Identifier, Identifier] = Field(
        default_factory=dict,
        description="Entry of synthesizers that takes the place of each entry of the first reading, which itself replaces none.",
    )


class PaperConfig(Model):
    """``config/papers/<key>.yaml``."""

    id: WholeNumber | None = Field(
        None,
        description="Integer that keys the random streams; never change or reuse it. If left out, it is derived from the key.",
    )
    title: str = Field(description="Title of the paper.")
    authors: str = Field(description="Authors and year.")
    source: str = Field("", description="Address of the paper, by its DOI or arXiv identifier, and words about what is there.")
    sweeps: dict[Identifier, Annotated[list[dict[str, Number] | Number], Field(min_length=1)]] = Field(
        default_factory=dict, description="Values to expand synthesizers over, by the name of the sweep."
    )
    synthesizers: dict[Identifier, AnyEntry] = Field(
        min_length=1, description="Mechanisms or arms to run, with their parameters."
    )
    readings: dict[Identifier, ReadingConfig] = Field(
        default_factory=dict,
        description="Readings of what the paper leaves open. The printed figures show the first one. Every claim about a "
        "replaced synthesizer is judged under each.",
    )
    scenarios: dict[Identifier, AnyScenario] = Field(min_length=1, description="Data and models.")
    figures: dict[FigureNumber, AnyFigure] = Field(default_factory=dict, description="Figures by printed number.")
    tables: dict[WholeNumber, AnyTable] = Field(default_factory=dict, description="Tables by printed number.")
    telling: list[FigureNumber] = Field(default_factory=list, description="Most informative figures, for a page of results.")


class ClaimsConfig(Model):
    """``config/claims/<key>.yaml``."""

    question: str = Field(
        "", description="Question that the paper answers, shown in README and on the first screen of the report."
    )
    answer: list[str] = Field(default_factory=list, max_length=3, description="Ids of the claims that answer it, in this order.")
    seen: dict[FigureNumber, list[str]] = Field(
        default_factory=dict,
        description="Ids of the claims at the start of the caption of a figure that has no claims of its own, by figure.",
    )
    questions: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Further questions that readers may have, for the report's search; each with the claims, figures or tables "
        "that answer it.",
    )
    claims: list[ClaimConfig] = Field(description="The paper's claims, in the paper's order.")
