"""What a user may write: the sections of the config, read and checked.

Errors name the file, the key, what was given and what is allowed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9.]+)*$")]
Positive = Annotated[int, Field(ge=1)]
Sizes = Annotated[list[Positive], Field(min_length=1)]


def _a_number(value: float) -> float:
    if math.isnan(value):
        raise ValueError("not a number")
    return value


Number = Annotated[float, AfterValidator(_a_number)]
"""A number, perhaps infinite: a sensitive range may be open."""
FigureNumber = Annotated[str, BeforeValidator(str, json_schema_input_type=int | str), Field(pattern=r"^[1-9][0-9]*[a-z]?$")]
"""Printed number of a figure, with the letter of its panel where the paper has letters."""


class ConfigError(ValueError):
    """Something in the config cannot be used; the message is for the person who wrote it."""


class Model(BaseModel):
    """A section of the config: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SamplerConfig(Model):
    """Sampling of one fit and the gate it has to pass."""

    warmup: Positive = Field(1000, description="Warm-up iterations.")
    draws: int = Field(1000, ge=100, description="S, kept posterior draws; the bounds are maxima over them.")
    rhat_max: float = Field(1.05, gt=1, description="Largest R-hat that passes the gate.")
    ess_min: float = Field(400, gt=0, description="Least bulk and tail effective sample size that passes the gate.")
    divergences_max: int = Field(0, ge=0, description="Most divergent transitions that pass the gate.")
    attempts: int = Field(3, ge=1, le=5, description="Fits at most for one replicate; each refit is longer.")
    lengthen: int = Field(4, ge=2, description="How many times longer each refit samples; it keeps as many draws.")


class ScaleConfig(Model):
    """How large a run is, against the papers' own sizes."""

    replicates: Positive | None = Field(None, description="Replicates at most; none keeps the papers' numbers.")
    shrink: float = Field(1, ge=1, description="Simulated sample sizes are divided by this.")
    synthetic_sets: Positive | None = Field(None, description="Synthetic data sets of a single sample at most.")
    judged: bool = Field(True, description="Whether the ledger judges claims, or says that there are too few replicates.")


class VerdictConfig(Model):
    """When an estimate agrees with what a paper claims."""

    within: float = Field(0.05, ge=0, lt=1, description="Relative distance to a printed number that counts as the same.")
    errors: float = Field(2, ge=0, description="Monte Carlo standard errors that are allowed on top.")
    mostly: float = Field(0.9, gt=0.5, le=1, description="Share of the units that a claim about most of them needs.")
    confidence: float = Field(0.95, gt=0.5, lt=1, description="Confidence of the interval of a share of units.")
    resamples: int = Field(500, ge=100, description="Bootstrap samples behind a Monte Carlo error.")


class RunConfig(Model):
    """``config/config.yaml``: what to run, how large, from which seed."""

    scale: str = Field("paper", description="Which of the scales to run.")
    papers: list[Identifier] = Field(description="Papers to regenerate; each is config/papers/<key>.yaml.", min_length=1)
    root_seed: int = Field(description="Seed from which every random stream is derived.", ge=0, lt=2**63)
    batch_size: Positive = Field(50, description="Replicates that one job handles; changes no number.")
    data_folder: str = Field("resources", description="Where real data files are looked for first.")
    sampler: SamplerConfig = Field(default_factory=SamplerConfig, description="Sampling and its gate.")
    verdicts: VerdictConfig = Field(default_factory=VerdictConfig, description="When the ledger says that a claim holds.")
    scales: dict[Identifier, ScaleConfig] = Field(description="Named scales.", min_length=1)


class SearchConfig(Model):
    """Search for the value of a parameter at which the synthesizer has a target epsilon, over refits with one Stan seed."""

    parameter: str = Field(description="Parameter that is searched; epsilon has to grow with it.")
    target: Annotated[float, Field(gt=0)] | Literal["parent"] = Field(
        description="Epsilon to reach; parent: that of the first parent."
    )
    low: float = Field(0.0, ge=0, description="Lower end of the search.")
    high: float = Field(1.0, gt=0, description="Upper end; taken when epsilon stays below the target there.")
    lower_by: float | None = Field(
        None, gt=0, description="Go down from high by this until epsilon is at most the target; none bisects to the target."
    )
    tolerance: float = Field(0.01, gt=0, lt=1, description="Relative distance to the target that is near enough.")
    steps: int = Field(12, ge=1, le=50, description="Refits at most.")


class SynthesizerConfig(Model):
    """One synthesizer, or one for each point of the sweeps in ``over``."""

    mechanism: str = Field(description="Name of a registered mechanism.")
    parents: list[str] = Field(default_factory=list, description="Synthesizers whose results it needs, in order.")
    fit: str | None = Field(None, description="Synthesizer whose fit and synthetic data it shares; none for its own.")
    over: list[Identifier] = Field(default_factory=list, description="Sweeps that it fans out over.")
    id: str | None = Field(None, description="Path name; parameters in braces. Default: the name and the values.")
    label: str | None = Field(None, description="Name in figures and tables; parameters in braces.")
    parameters: dict[str, Number] = Field(default_factory=dict, description="Parameters of the mechanism.")
    search: SearchConfig | None = Field(None, description="Parameter to search for; none takes them as they are.")
    colours: list[str] = Field(
        default_factory=lambda: ["#999999"], min_length=1, description="Colours, in the order of the sweep."
    )


class FileData(Model):
    """Real records."""

    name: str = Field(description="Name of a registered data set.")
    drop_rows: list[Positive] = Field(default_factory=list, description="1-based rows to leave out.")


class ScenarioConfig(Model):
    """Confidential data and the model fitted to them."""

    id: Positive = Field(description="Integer that keys the random streams; never change or reuse it.")
    place: str = Field(description="Where in the paper it is.")
    label: str = Field("", description="Title of its frame in figures with one for each scenario.")
    family: str = Field("", description="Model family; none for a study.")
    study: dict[str, Any] | None = Field(None, description="Function that runs its replicates whole: name and settings.")
    priors: dict[str, float] = Field(default_factory=dict, description="Prior settings that differ from the family's.")
    population: dict[str, Any] | None = Field(None, description="Simulated data: name and parameters.")
    file: FileData | None = Field(None, description="Real data.")
    stand_in: dict[str, Any] | None = Field(None, description="Simulated data that take the place of an absent file.")
    unit: float = Field(1.0, gt=0, description="What a value of 1 is in the unit of figures and tables.")
    n: Positive | Sizes | None = Field(None, description="Sample size or sizes of simulated data.")
    n_least: int = Field(2, ge=2, description="Least sample size at any scale.")
    replicates: Positive = Field(1, description="Data sets to simulate.")
    synthetic_sets: Positive = Field(1, description="Synthetic data sets drawn for the first replicate.")
    synthesizers: list[str] = Field(description="Synthesizers to run.", min_length=1)


class FigureConfig(Model):
    """One figure: a tidy table and what is drawn from it."""

    same_as: FigureNumber | None = Field(None, description="Number of a figure that the paper prints again under this one.")
    kind: Literal["violin", "density", "scatter", "line"] = Field("violin", description="What is drawn.")
    scenario: str | list[str] = Field("", description="Scenario or scenarios that it shows; every sample size.")
    source: Literal["replicates", "records", "sets", "values", "draws", "details"] = Field(
        "replicates", description="Which collected table it reads."
    )
    value: str | list[str] = Field("", description="Column that is drawn, or columns with a frame for each.")
    x: str = Field("", description="Column across, of points and lines.")
    size: Positive | None = Field(None, description="Only this sample size of the scenario, before the scale shrinks it.")
    at: str = Field("", description="Parameter whose values are the points of a line where x is itself a result.")
    rows: dict[str, str | float] = Field(default_factory=dict, description="Only rows of the collected table with these values.")
    exact: bool = Field(False, description="Also the exact densities among the study's details.")
    x_log: bool = Field(False, description="Logarithmic axis across.")
    x_label: str = Field("", description="Label of the axis across, of points and lines.")
    synthesizers: list[str | list[str]] = Field(
        default_factory=list, description="Entries or ids from left to right; a nested list alternates its members."
    )
    where: dict[str, float] = Field(default_factory=dict, description="Only synthesizers with these parameters, or without them.")
    panels: str = Field("none", description="none, synthesizer (n across), scenario, or the parameter whose values are frames.")
    stacked: bool = Field(False, description="Frames below each other instead of side by side.")
    labels: dict[str, str] = Field(default_factory=dict, description="Labels of this figure, by entry or id.")
    line: float | Literal["none", "half_epsilon", "population", "delta"] = Field(
        "none",
        description="Dashed line: a number, the frame's epsilon / 2, the value in the population, or each synthesizer's Δ.",
    )
    y: str = Field("", description="Label of the axis of the values, with its unit.")
    subject: str = Field("", description="What the caption says is drawn.")
    log: bool = Field(False, description="Logarithmic axis of the values.")
    centred: bool = Field(False, description="A second frame with each distribution centred at its mean.")
    note: str = Field("", description="Sentence that ends the caption.")


class TableConfig(Model):
    """One table, with the printed values beside ours."""

    kind: Literal["sample", "interval", "spread", "results", "means", "rate"] = Field(
        "sample",
        description="sample: medians of statistics over the synthetic data sets of the single sample; interval: their 95 % "
        "intervals; spread: how a column is distributed over replicates; means: columns averaged over replicates; results: "
        "columns of the first replicate; rate: slope of log(max - min) of a column on log n.",
    )
    scenario: str = Field(description="Scenario whose results it shows.")
    value: str = Field("", description="Column whose spread is shown.")
    statistics: list[str] = Field(description="Rows.")
    synthesizers: list[str | list[str]] = Field(description="Columns.")
    where: dict[str, float] = Field(default_factory=dict, description="Only synthesizers with these parameters, or without them.")
    subject: str = Field(description="What the caption says.")
    printed: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="Printed values by synthesizer id and statistic."
    )
    note: str = Field("", description="Sentence that ends the caption.")

    @property
    def source(self) -> str:
        """Which collected table it reads."""
        return "sets" if self.kind in ("sample", "interval") else "replicates"


class PaperConfig(Model):
    """``config/papers/<key>.yaml``."""

    id: Positive = Field(description="Integer that keys the random streams; never change or reuse it.")
    title: str = Field(description="Title of the paper.")
    authors: str = Field(description="Authors and year.")
    sweeps: dict[Identifier, list[dict[str, Number] | Number]] = Field(default_factory=dict, description="Fan-outs.")
    synthesizers: dict[Identifier, SynthesizerConfig] = Field(description="Mechanisms at work.")
    scenarios: dict[Identifier, ScenarioConfig] = Field(description="Data and models.")
    figures: dict[FigureNumber, FigureConfig] = Field(default_factory=dict, description="Figures by printed number.")
    tables: dict[Positive, TableConfig] = Field(default_factory=dict, description="Tables by printed number.")
    telling: list[FigureNumber] = Field(default_factory=list, description="Figures that say the most, for a page of results.")


class EstimateConfig(Model):
    """What a claim speaks of: a statistic of cells of a tidy table."""

    scenario: str | list[str] = Field(description="Scenario or scenarios; every sample size unless size says which.")
    size: Positive | None = Field(None, description="Only this sample size, before the scale shrinks it.")
    table: Literal["replicates", "records", "sets", "values", "draws", "details"] = Field(
        "replicates", description="Which collected table."
    )
    value: list[str] = Field(min_length=1, description="Column; several are the cells where over is value.")
    over: str = Field(
        "synthesizer", description="What cells differ in: synthesizer, n, scenario, value for the columns, or another column."
    )
    of: list[str | float] = Field(default_factory=list, description="The cells from left to right; none takes every n or column.")
    where: dict[str, float] = Field(default_factory=dict, description="Only synthesizers with these parameters, or without them.")
    rows: dict[str, str | float] = Field(default_factory=dict, description="Only rows with these values.")
    by: str = Field("replicate", description="Column whose values are the units: replicate, record, set, draw or another one.")
    distance: float | Literal["Data", "population"] | None = Field(
        None, description="Take the distance to a number, to the confidential data, or to the value in the population."
    )
    of_largest: bool = Field(False, description="Take each value as a share of the cell's largest.")
    above: float | None = Field(None, description="Take whether a value is above this; its mean is a share.")
    statistic: str = Field("median", description="Statistic of a cell over its units.")


class TestConfig(Model):
    """What has to hold of the cells for a claim to be reproduced."""

    kind: Literal["value", "within", "order", "equal", "trend"] = Field(
        description="value: the cells are the printed numbers; within: between low and high; order: they rise or fall; "
        "equal: all are the first; trend: the slope of the log statistic on the log of the cells is between low and high."
    )
    printed: list[float] = Field(default_factory=list, description="value: a number for each cell.")
    low: float | None = Field(None, description="within and trend: lower limit.")
    high: float | None = Field(None, description="within and trend: upper limit.")
    share: Annotated[float, Field(gt=0, le=1)] | Literal["mostly"] | None = Field(
        None,
        description="within: share of the units that must be inside, none looks at the statistic; order: share of the units "
        "that must be in order, none wants more than half beyond chance. mostly is verdicts.mostly.",
    )
    direction: Literal["rising", "falling"] = Field("rising", description="order: from left to right.")
    pairs: Literal["adjacent", "first"] = Field("adjacent", description="order: each cell and the next, or the first and each.")
    tolerance: float | None = Field(
        None, ge=0, lt=1, description="value and equal: relative distance; none takes verdicts.within, or nothing for equal."
    )


class ClaimConfig(Model):
    """One sentence of a paper that a run supports or contradicts."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="Name, unique over all papers.")
    place: str = Field(description="Where the paper says it.")
    shows: str = Field("", pattern=r"^((figure|table) [1-9][0-9]*[a-z]?)?$", description="Figure or table that it belongs to.")
    claim: str = Field(description="What it says, in our words, in one line.")
    printed: str = Field("", description="What is printed, where it is a number or a formula.")
    erratum: str = Field("", pattern=r"^(E[1-9][0-9]*)?$", description="Number of the erratum that it is part of.")
    estimate: EstimateConfig = Field(description="The numbers that it speaks of.")
    test: TestConfig = Field(description="What has to hold of them.")
    note: str = Field("", description="What a reader has to know of the verdict.")


class ClaimsConfig(Model):
    """``config/claims/<key>.yaml``."""

    claims: list[ClaimConfig] = Field(description="The paper's claims, in its order.")


def load_yaml(path: Path) -> Any:
    """Read a YAML file.

    Raises:
        ConfigError: it cannot be read or parsed.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error


def validated(model: type[Model], values: Any, file: Path) -> Any:
    """Values as a model.

    Raises:
        ConfigError: a line for each thing that is wrong.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = []
        for one in error.errors():
            key = ".".join(str(part) for part in one["loc"]) or "(whole file)"
            given = "" if one["type"] == "missing" else f": given {short(one['input'])}"
            allowed = _allowed_keys(model, one["loc"][:-1]) if one["type"] == "extra_forbidden" else ""
            lines.append(f"{file}: {key}{given}; {one['msg']}{allowed}")
        raise ConfigError("\n".join(lines)) from error


def _allowed_keys(model: Any, location: Sequence[Any]) -> str:
    """The keys of the section at ``location``, found by walking the models' annotations."""
    for part in location:
        if isinstance(model, type) and issubclass(model, BaseModel) and part in model.model_fields:
            found = re.findall(r"config\.(\w+)", str(model.model_fields[part].annotation))
            model = globals()[found[-1]] if found else None
    return f"; allowed keys: {', '.join(model.model_fields)}" if model else ""


def short(value: Any) -> str:
    """A value as it was given, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def message(file: Path, key: str, given: Any, allowed: Iterable[Any]) -> str:
    """The sentence about a name that is none of the allowed ones."""
    return f"{file}: {key}: given {short(given)}; allowed: {', '.join(str(one) for one in allowed)}"


def check_unique(pairs: Iterable[tuple[int, str]]) -> None:
    """Check that no two names have the same integer id.

    Raises:
        ConfigError: two have.
    """
    seen: dict[int, str] = {}
    for number, name in pairs:
        if number in seen:
            raise ConfigError(f"{name}: id: given {number}; it is already the id of {seen[number]}, ids are never shared")
        seen[number] = name
