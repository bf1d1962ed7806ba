"""Sections of the config, from run to claim.

Sections whose keys depend on a name (a mechanism, a kind of figure, a population) are read as the model that the register has
under that name; :func:`find_all` fills the registers.
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
from formalsynth.core.inputs import RecordInput
from formalsynth.core.job import AuditSearch, SamplerSettings, Search, Simulated
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
from formalsynth.core.study import STUDIES
from formalsynth.core.words import GUARANTEES, METRICS
from formalsynth.displays.figure import DEFAULT as DEFAULT_FIGURE
from formalsynth.displays.figure import FIGURES, Figure, Repeat
from formalsynth.displays.table import DEFAULT as DEFAULT_TABLE
from formalsynth.displays.table import TABLES, Table
from formalsynth.ledger.claims import ClaimConfig
from formalsynth.ledger.tests.base import TESTS
from formalsynth.ledger.thresholds import Thresholds

SampleSize = Annotated[int, Field(ge=2, le=10**9)]
SampleSizes = Annotated[list[SampleSize], Field(min_length=1), AfterValidator(each_once)]
REGISTERS: tuple[Registry[Any], ...] = (
    FAMILIES, MECHANISMS, POPULATIONS, STUDIES, FILES, FIGURES, TABLES, TESTS, STATISTICS, METRICS, GUARANTEES,
)  # fmt: skip
"""Everything that config may name, and the words for it."""


BATCHES = 10_000
"""Largest number of batches of a scenario: their ids have four digits."""


class ScaleConfig(Model):
    """Size of a run, relative to the papers' own sizes."""

    replicates: WholeNumber | None = Field(None, description="Replicates at most; if left out, the papers' numbers.")
    shrink: float = Field(1, ge=1, description="Simulated sample sizes are divided by this.")
    synthetic_sets: WholeNumber | None = Field(None, description="Synthetic data sets of a single sample at most.")
    audit_points: int | None = Field(None, ge=2, description="Points of each declared range of an audit at most.")
    attack_runs: WholeNumber | None = Field(None, description="Runs of an attack at most.")
    judged: bool = Field(True, description="If false, the ledger reports too few replicates instead of judging claims.")


class RunConfig(Model):
    """``config/config.yaml``: what to run, how large, from which seed."""

    scale: str = Field("paper", description="Which of the scales to run.")
    study: str | list[str] = Field(
        default_factory=list,
        description="Study files of your own, relative to the working folder; see docs/OWN_MECHANISM.md.",
    )
    papers: Annotated[list[Identifier], AfterValidator(each_once)] = Field(
        default_factory=list,
        validate_default=True,
        description="Papers to regenerate; each is config/papers/<key>.yaml. Needed unless study names a file.",
    )
    root_seed: int = Field(description="Seed from which every random stream is derived.", ge=0, lt=2**63)
    batch_size: WholeNumber = Field(
        100,
        description="Replicates that one job handles; changes no number. From the command line it is for all scenarios.",
    )
    batches_max: int = Field(
        100,
        ge=1,
        le=BATCHES,
        description="Batches of a scenario at most: where there would be more, they are larger. Changes no number. "
        "A batch size on the command line is not enlarged.",
    )
    data_folder: str = Field("resources", min_length=1, description="Where real data files are looked for first.")
    sampler: SamplerSettings = Field(default_factory=SamplerSettings, description="Sampling and its gate.")
    verdicts: Thresholds = Field(default_factory=Thresholds, description="Thresholds of the ledger's verdicts.")
    scales: dict[Identifier, ScaleConfig] = Field(description="Named scales.", min_length=1)
    _overridden: frozenset[str] = PrivateAttr(frozenset())

    def overridden(self, keys: Collection[str]) -> RunConfig:
        """Copy that knows which of its keys the command line gave."""
        copy = self.model_copy()
        copy._overridden = frozenset(keys)
        return copy

    @property
    def overrides_batch_size(self) -> bool:
        """True if the batch size is for all scenarios, also for those with their own."""
        return "batch_size" in self._overridden

    @field_validator("papers")
    @classmethod
    def _something(cls, papers: list[str], info: ValidationInfo) -> list[str]:
        if not papers and info.data.get("study") == []:
            raise ValueError("Input should name at least one paper, unless study names a file of your own")
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
    """A synthesizer or arm of figures and tables, or one for each point of the sweeps in ``over``."""

    over: list[Identifier] = Field(default_factory=list, description="Sweeps that it fans out over.")
    id: str | None = Field(None, description="Path name; parameters in braces. Default: the name and the values.")
    label: str | None = Field(None, description="Name in figures and tables; parameters in braces.")
    parameters: Parameters = Field(default_factory=Parameters, description="Its parameters, apart from those that sweeps give.")
    colours: list[Colour] = Field(
        default_factory=lambda: ["#999999"], min_length=1, description="Colours, in the order of the sweep."
    )

    def given(self) -> dict[str, float]:
        """Return the parameters that the entry itself gives."""
        return {name: float(value) for name, value in self.parameters.model_dump(exclude_unset=True).items()}


class SynthesizerEntry(Entry):
    """A mechanism at work."""

    mechanism: str = Field(description="Name of a registered mechanism.")
    parents: list[str] = Field(default_factory=list, description="Synthesizers whose results it needs, in order.")
    fit: str | None = Field(None, description="Synthesizer whose fit and synthetic data it shares; if left out, it has its own.")
    search: Search | None = Field(None, description="Parameter to search for; if left out, they are taken as they are.")


class ArmEntry(Entry):
    """An arm of a study."""

    study: str = Field(description="Name of a registered study.")
    arm: str = Field(description="Which of the study's arms it is.")


class Choice(Model):
    """Name of a registered entry, with its parameters."""

    name: str = Field(description="Its registered name.")

    def simulated(self) -> Simulated:
        """Return the choice of a population as the input of a job."""
        return Simulated(population=self.name, parameters=self.as_given())

    def as_given(self) -> Settings:
        """Its parameters as they were given."""
        return self.model_dump(exclude={"name"}, exclude_unset=True)


class FileChoice(Model):
    """Real records."""

    name: str = Field(description="Name of a registered data file.")
    drop_rows: list[WholeNumber] = Field(default_factory=list, description="1-based rows to leave out.")


class OwnStan(Model):
    """A Stan program of the user's own in place of a family."""

    stan: str = Field(min_length=1, description="The program, relative to the study file; docs/OWN_STAN.md lists what it needs.")
    data: dict[str, float] = Field(default_factory=dict, description="Fixed numbers that the program declares as data.")
    inputs: dict[Identifier, RecordInput] = Field(
        default_factory=dict, description="Further columns of the records that the program declares as arrays of length n."
    )
    lower: Number = Field(-math.inf, description="Least value that an outcome may have, declared and not read off the data.")
    upper: Number | Identifier = Field(
        math.inf, description="Largest value that an outcome may have, or the name of the further column that it never exceeds."
    )

    @field_validator("upper")
    @classmethod
    def _a_column(cls, upper: float | str, info: ValidationInfo) -> float | str:
        known = info.data.get("inputs")  # absent where it is refused itself
        if isinstance(upper, str) and known is not None and upper not in known:
            raise ValueError(f"Input should be a number, or one of inputs: {', '.join(known) or 'none'}")
        return upper

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if not isinstance(self.upper, str):
            return ordered(self, "lower", "upper")
        if self.lower > self.inputs[self.upper].low:
            raise ValueError(f"lower has to be at most the least value of {self.upper}")
        return self

    def use(self, predictors: int) -> ProgramUse:
        """Use of the program on records with so many columns of the design."""
        at_most = self.upper if isinstance(self.upper, str) else ""
        upper = self.inputs[at_most].high if at_most else float(self.upper)
        return ProgramUse(
            data=self.data, lower=self.lower, upper=upper, predictors=predictors, inputs=self.inputs, at_most=at_most
        )


@functools.cache
def find_all() -> None:
    """Import everything that the package registers, once."""
    for register in REGISTERS:
        register.find()


@dataclass(frozen=True)
class Chosen(Variants):
    """Section whose ``name`` names an entry of a register, with the parameters of the entry."""

    entries: Registry[Any]
    parameters: str
    """Attribute of an entry that holds the model of its parameters."""

    @property
    def key(self) -> str:
        """The key that names the entry."""
        return "name"

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Return the model of a choice of each entry."""
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
    """Possible values, declared without looking at the data."""

    low: float = Field(description="Least value.")
    high: float = Field(description="Largest value.")
    points: int = Field(5, ge=2, le=1000, description="Values that are tried, both ends among them.")
    log: bool = Field(False, description="Whether they are evenly spaced as logarithms.")
    logit: bool = Field(False, description="Whether they are evenly spaced as log odds, for shares: most of them near 0 and 1.")
    whole: bool = Field(False, description="Whether they are rounded to whole numbers, for counts.")

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if self.log and self.low <= 0:
            raise ValueError("low has to be above 0 where log is true")
        if self.logit and (self.log or not 0 < self.low < self.high < 1):
            raise ValueError("low and high have to be between 0 and 1, and log false, where logit is true")
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
    """An audit: what a record costs on the neighbours of each data set, all computed again on every one of them."""

    outcome: DeclaredRange = Field(description="What an outcome can be; records to add have values from its grid.")
    predictors: list[DeclaredRange] = Field(
        default_factory=list, description="The same for each predictor that varies, in the order of the design."
    )
    inputs: dict[Identifier, DeclaredRange] = Field(
        default_factory=dict, description="The same for each further column of the records that a Stan program of your own takes."
    )
    synthesizers: Names | None = Field(None, description="Synthesizers that are audited; by default all of the scenario.")
    replicates: WholeNumber | None = Field(None, description="How many data sets are audited, the first ones; by default all.")
    largest: SampleSize | None = Field(
        None, description="Largest sample size that is audited, before the scale shrinks it; none audits all."
    )
    curve: bool = Field(
        False,
        description="Whether the loss is also reported for every outcome to add, with predictors and further columns in the "
        "middle of their ranges, the weights computed again and held.",
    )


class ScenarioConfig(Model):
    """Confidential data and what is done with them."""

    id: WholeNumber | None = Field(
        None, description="Integer that keys the random streams; never change or reuse it. Left out, it is made from the name."
    )
    place: str = Field("", description="Where in the paper it is; left out, its name.")
    label: str = Field("", description="Title of its frame in figures with one for each scenario.")
    synthesizers: list[str] = Field(description="Synthesizers to run.", min_length=1)
    batch_size: WholeNumber | None = Field(
        None, description="Replicates that one job handles, where that differs from the run's."
    )


class FittedScenario(ScenarioConfig):
    """Confidential data and the model fitted to them."""

    family: str | OwnStan = Field(description="Model family: a name, or a Stan program of your own.")
    priors: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict, description="Prior settings that differ from the family's."
    )
    unit: float = Field(1.0, gt=0, description="What a value of 1 is in the unit of figures and tables.")
    synthetic_sets: WholeNumber = Field(1, description="Synthetic data sets drawn for the first replicate.")
    centre_sets: int = Field(
        0, ge=0, description="Synthetic data sets of every replicate whose statistics are averaged; 0 for no such columns."
    )
    utility: Annotated[list[str], AfterValidator(each_once)] = Field(
        default_factory=list,
        description="Further utility statistics: sd, q99, and the names that a code file of yours registers.",
    )
    coefficient: bool = Field(
        False,
        description="Whether replicates.csv has the last coefficient of a regression, with the ends of its 95 % interval.",
    )
    n_least: int = Field(2, ge=2, description="Least sample size at any scale.")
    exact: bool = Field(
        False, description="Whether draws are of the exact pseudo posterior in place of Stan's, for families that an audit knows."
    )
    audit: AuditConfig | None = Field(None, description="Audit of what a record costs; none leaves it out.")

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
    stand_in: ChosenPopulation | None = Field(None, description="Simulated data that take the place of an absent file.")
    n: SampleSize | None = Field(None, description="Sample size of the stand-in.")
    replicates: Literal[1] = Field(1, description="A file is one data set.")
    DRAWN: ClassVar[str] = "stand_in"
    """Key of its simulated data."""

    @property
    def drawn(self) -> Simulated | None:
        """Simulated data that take the place of an absent file; None for none."""
        return self.stand_in.simulated() if self.stand_in else None

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it reads if they exist."""
        return (self.file.name, *(self.drawn.files if self.drawn else ()))


class StudyScenario(ScenarioConfig):
    """Replicates that a study runs whole."""

    study: ChosenStudy = Field(description="Function that runs its replicates whole: name and settings.")
    n: SampleSize | SampleSizes = Field(description="Sample size or sizes.")
    n_least: int = Field(2, ge=2, description="Least sample size at any scale.")
    replicates: WholeNumber = Field(1, description="Replicates to run.")

    @property
    def files(self) -> tuple[str, ...]:
        """Registered data files that it needs."""
        return STUDIES[self.study.name].requires(self.study.as_given())


class _ScenarioVariants(Variants):
    """A scenario by where its data come from."""

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
            ValidationError: it has not one source of data, or is not what it has to be.
        """
        given_keys = [key for key in self.variants() if isinstance(given, Mapping) and key in given]
        if isinstance(given, Mapping) and len(given_keys) != 1:
            words = {"given": f", not {' and '.join(given_keys)}" if given_keys else ""}
            problem = PydanticCustomError("one_of", "Input should have one of population, file and study{given}", words)
            raise self.refused(problem, (), given)
        return super().read(given)


class _EntryVariants(Variants):
    """An entry by its mechanism, or by its study and arm."""

    key = "mechanism"

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """One for each mechanism, and one for the arms of a study with the same parameters."""
        entries = {name: _synthesizer_entry(name, entry.parameters) for name, entry in MECHANISMS.items()}
        for study in STUDIES.values():
            for name, arm in study.arms.items():
                alike = tuple(other for other, entry in study.arms.items() if entry.parameters is arm.parameters)
                entries[f"{study.name}: {name}"] = _arm_entry(study.name, alike, arm.parameters)
        return entries

    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Return the mechanism, or the study with its arm."""
        return f"{given['study']}: {given.get('arm')}" if "study" in given else given.get("mechanism")

    def expected(self) -> str:
        """Return the mechanisms; an arm is named by study and arm."""
        return f"{either(list(MECHANISMS))}; arms of studies have study and arm instead"

    def read(self, given: object) -> BaseModel:
        """Read an entry as the model of its mechanism, or of its arm.

        Raises:
            ValidationError: it names neither, or is not what that has to be.
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
def _synthesizer_entry(name: str, parameters: type[Parameters]) -> type[BaseModel]:
    return _entry(SynthesizerEntry, parameters, mechanism=(name,))


@functools.cache
def _arm_entry(study: str, names: tuple[str, ...], parameters: type[Parameters]) -> type[BaseModel]:
    return _entry(ArmEntry, parameters, study=(study,), arm=names)


def _entry(base: type[Entry], parameters: type[Parameters], **names: tuple[str, ...]) -> type[BaseModel]:
    """Make the model of entries in which some keys have certain values, with the parameters that they imply."""
    given = partial(parameters)
    described = base.model_fields["parameters"].description
    fields: dict[str, Any] = {
        key: (Literal[values], Field(description=base.model_fields[key].description)) for key, values in names.items()
    }
    fields["parameters"] = (given, Field(default_factory=given, description=described))
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)


class _FigureVariants(ByKind):
    """A figure by its kind, or one that repeats another."""

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Return the kinds, and a repeat."""
        return {**super().variants(), "same_as": Repeat}

    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Return the kind, or ``same_as`` for a repeat."""
        return "same_as" if "same_as" in given else super().name_of(given)

    def expected(self) -> str:
        """Return the kinds."""
        return either(list(super().variants()))


AnyEntry = Annotated[SynthesizerEntry | ArmEntry, _EntryVariants()]
AnyScenario = Annotated[SimulatedScenario | FileScenario | StudyScenario, _ScenarioVariants()]
AnyFigure = Annotated[Figure | Repeat, _FigureVariants(FIGURES, DEFAULT_FIGURE)]
AnyTable = Annotated[Table, ByKind(TABLES, DEFAULT_TABLE)]


class PaperConfig(Model):
    """``config/papers/<key>.yaml``."""

    id: WholeNumber | None = Field(
        None, description="Integer that keys the random streams; never change or reuse it. Left out, it is made from the key."
    )
    title: str = Field(description="Title of the paper.")
    authors: str = Field(description="Authors and year.")
    sweeps: dict[Identifier, Annotated[list[dict[str, Number] | Number], Field(min_length=1)]] = Field(
        default_factory=dict, description="Fan-outs."
    )
    synthesizers: dict[Identifier, AnyEntry] = Field(min_length=1, description="Mechanisms or arms at work.")
    scenarios: dict[Identifier, AnyScenario] = Field(min_length=1, description="Data and models.")
    figures: dict[FigureNumber, AnyFigure] = Field(default_factory=dict, description="Figures by printed number.")
    tables: dict[WholeNumber, AnyTable] = Field(default_factory=dict, description="Tables by printed number.")
    telling: list[FigureNumber] = Field(default_factory=list, description="Figures that say the most, for a page of results.")


class ClaimsConfig(Model):
    """``config/claims/<key>.yaml``."""

    question: str = Field("", description="Question that the paper answers, for README and the first screen of the report.")
    answer: list[str] = Field(default_factory=list, max_length=3, description="Claims that answer it, by id, in this order.")
    seen: dict[FigureNumber, list[str]] = Field(
        default_factory=dict, description="Claims that begin the caption of a figure without claims of its own, by id."
    )
    questions: dict[str, list[str]] = Field(
        default_factory=dict,
        description="More questions of readers, for the search of the report; each with the claims, figures or tables "
        "that answer it.",
    )
    claims: list[ClaimConfig] = Field(description="The paper's claims, in its order.")
