"""What a user may write: the sections of the config, read and checked.

Errors name the file, the key, what was given and what is allowed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

PATTERNS = {
    "name": (r"^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9.]+)*$", "letters and digits, a letter first; after a _ also full stops"),
    "figure": (r"^[1-9][0-9]*[a-z]?$", "a number, with a small letter behind it for a panel"),
    "colour": (r"^#[0-9A-Fa-f]{6}$", "a colour as #rrggbb"),
    "claim": (r"^[a-z0-9]+(-[a-z0-9]+)*$", "small letters and digits, joined by -"),
    "shows": (r"^((figure|table) [1-9][0-9]*[a-z]?)?$", "as in figure 2 or table 1"),
    "erratum": (r"^(E[1-9][0-9]*)?$", "as in E1"),
}
"""Patterns that text has to match, and what they say in words."""


def _pattern(name: str) -> str:
    return PATTERNS[name][0]


Identifier = Annotated[str, Field(pattern=_pattern("name"), max_length=80)]


def _not_nan(value: float) -> float:
    if math.isnan(value):
        raise ValueError("Input should be a number")
    return value


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _each_once(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise ValueError("Input should have each entry once")
    return values


Number = Annotated[float, Field(allow_inf_nan=True), AfterValidator(_not_nan)]
"""A number, perhaps infinite: a sensitive range may be open."""
Positive = Annotated[int, Field(ge=1, le=10**9)]
Size = Annotated[int, Field(ge=2, le=10**9)]
Sizes = Annotated[list[Size], Field(min_length=1), AfterValidator(_each_once)]
Names = Annotated[list[str], Field(min_length=1), AfterValidator(_each_once)]
Colour = Annotated[str, Field(pattern=_pattern("colour"))]
FigureNumber = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=int | str), Field(pattern=_pattern("figure"))]
"""Printed number of a figure, with the letter of its panel where the paper has letters."""


class ConfigError(ValueError):
    """Something in the config cannot be used; the message is for the person who wrote it."""


class Model(BaseModel):
    """A section of the config: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def _ordered(section: Any, low: str, high: str) -> Any:
    """The section, in which one number has to be below the other where both are given."""
    first, second = getattr(section, low), getattr(section, high)
    if first is not None and second is not None and not first < second:
        raise ValueError(f"{low} has to be below {high}")
    return section


class SamplerConfig(Model):
    """Sampling of one fit and the gate it has to pass."""

    warmup: Positive = Field(1000, description="Warm-up iterations.")
    draws: int = Field(1000, ge=100, description="S, kept posterior draws; the bounds are maxima over them.")
    adapt_delta: float = Field(0.65, gt=0, lt=1, description="Acceptance that a first fit aims at; refits aim at 0.95.")
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
    batch_size: Positive = Field(100, description="Replicates that one job handles; changes no number.")
    data_folder: str = Field("resources", min_length=1, description="Where real data files are looked for first.")
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

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        return _ordered(self, "low", "high")


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
    colours: list[Colour] = Field(
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
    priors: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict, description="Prior settings that differ from the family's."
    )
    population: dict[str, Any] | None = Field(None, description="Simulated data: name and parameters.")
    file: FileData | None = Field(None, description="Real data.")
    stand_in: dict[str, Any] | None = Field(None, description="Simulated data that take the place of an absent file.")
    unit: float = Field(1.0, gt=0, description="What a value of 1 is in the unit of figures and tables.")
    n: Size | Sizes | None = Field(None, description="Sample size or sizes of simulated data.")
    n_least: int = Field(2, ge=2, description="Least sample size at any scale.")
    replicates: Positive = Field(1, description="Data sets to simulate.")
    batch_size: Positive | None = Field(None, description="Replicates that one job handles, where that differs from the run's.")
    synthetic_sets: Positive = Field(1, description="Synthetic data sets drawn for the first replicate.")
    synthesizers: list[str] = Field(description="Synthesizers to run.", min_length=1)


class FigureConfig(Model):
    """One figure: a tidy table and what is drawn from it."""

    same_as: FigureNumber | None = Field(None, description="Number of a figure that the paper prints again under this one.")
    kind: Literal["violin", "density", "scatter", "line"] = Field("violin", description="What is drawn.")
    scenario: str | Names = Field("", description="Scenario or scenarios that it shows; every sample size.")
    source: Literal["replicates", "records", "sets", "values", "draws", "details"] = Field(
        "replicates", description="Which collected table it reads."
    )
    value: str | Names = Field("", description="Column that is drawn, or columns with a frame for each.")
    x: str = Field("", description="Column across, of points and lines.")
    size: Positive | None = Field(None, description="Only this sample size of the scenario, before the scale shrinks it.")
    at: str = Field("", description="Parameter whose values are the points of a line where x is itself a result.")
    rows: dict[str, str | bool | float] = Field(
        default_factory=dict, description="Only rows of the collected table with these values."
    )
    exact: bool = Field(False, description="Also the exact densities among the study's details.")
    x_log: bool = Field(False, description="Logarithmic axis across.")
    x_label: str = Field("", description="Label of the axis across, of points and lines.")
    synthesizers: list[str | list[str]] = Field(
        default_factory=list, description="Entries or ids from left to right; a nested list alternates its members."
    )
    where: dict[str, Number] = Field(
        default_factory=dict, description="Only synthesizers with these parameters, or without them."
    )
    panels: str = Field("none", description="none, synthesizer (n across), scenario, or the parameter whose values are frames.")
    stacked: bool = Field(False, description="Frames below each other instead of side by side.")
    labels: dict[str, str] = Field(default_factory=dict, description="Labels of this figure, by entry or id.")
    line: float | Literal["none", "half_epsilon", "population", "delta"] = Field(
        "none",
        description="Dashed line: a number, the frame's epsilon / 2, the value in the population, or each synthesizer's Δ.",
    )
    y: str = Field("", description="Label of the axis of the values, with its unit.")
    subject: str = Field("", description="What the caption says is drawn.")
    place: str = Field("", description="Where in the paper it is, if not where its scenario is.")
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
    where: dict[str, Number] = Field(
        default_factory=dict, description="Only synthesizers with these parameters, or without them."
    )
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
    sweeps: dict[Identifier, Annotated[list[dict[str, Number] | Number], Field(min_length=1)]] = Field(
        default_factory=dict, description="Fan-outs."
    )
    synthesizers: dict[Identifier, SynthesizerConfig] = Field(min_length=1, description="Mechanisms at work.")
    scenarios: dict[Identifier, ScenarioConfig] = Field(min_length=1, description="Data and models.")
    figures: dict[FigureNumber, FigureConfig] = Field(default_factory=dict, description="Figures by printed number.")
    tables: dict[Positive, TableConfig] = Field(default_factory=dict, description="Tables by printed number.")
    telling: list[FigureNumber] = Field(default_factory=list, description="Figures that say the most, for a page of results.")


class EstimateConfig(Model):
    """What a claim speaks of: a statistic of cells of a tidy table."""

    scenario: str | Names = Field(description="Scenario or scenarios; every sample size unless size says which.")
    size: Positive | None = Field(None, description="Only this sample size, before the scale shrinks it.")
    table: Literal["replicates", "records", "sets", "values", "draws", "details"] = Field(
        "replicates", description="Which collected table."
    )
    value: Names = Field(description="Column; several are the cells where over is value.")
    over: str = Field(
        "synthesizer", description="What cells differ in: synthesizer, n, scenario, value for the columns, or another column."
    )
    of: Annotated[list[str | float], AfterValidator(_each_once)] = Field(
        default_factory=list, description="The cells from left to right; none takes every n or column."
    )
    where: dict[str, Number] = Field(
        default_factory=dict, description="Only synthesizers with these parameters, or without them."
    )
    rows: dict[str, str | bool | float] = Field(default_factory=dict, description="Only rows with these values.")
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
        "equal: all are the first; trend: the slope of the log statistic on the log of the cells is between low and high, or "
        "at least half of the nearer one for direction only."
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
    margin: float = Field(0.0, ge=0, description="order: the least step, in the units of the cells.")
    tolerance: float | None = Field(
        None, ge=0, lt=1, description="value and equal: relative distance; none takes verdicts.within, or nothing for equal."
    )

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        return _ordered(self, "low", "high")


class ClaimConfig(Model):
    """One sentence of a paper that a run supports or contradicts."""

    id: str = Field(pattern=_pattern("claim"), description="Name, unique over all papers.")
    place: str = Field(description="Where the paper says it.")
    shows: str = Field("", pattern=_pattern("shows"), description="Figure or table that it belongs to.")
    claim: str = Field(description="What it says, in our words, in one line.")
    printed: str = Field("", description="What is printed, where it is a number or a formula.")
    erratum: str = Field("", pattern=_pattern("erratum"), description="Number of the erratum that it is part of.")
    estimate: EstimateConfig = Field(description="The numbers that it speaks of.")
    test: TestConfig = Field(description="What has to hold of them.")
    note: str = Field("", description="What a reader has to know of the verdict.")


class ClaimsConfig(Model):
    """``config/claims/<key>.yaml``."""

    claims: list[ClaimConfig] = Field(description="The paper's claims, in its order.")


class _Loader(yaml.SafeLoader):
    """YAML whose mappings have each key once, and in which 1e-5 is a number, as it is everywhere else."""

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        names = [key.value for key in keys]
        for place, key in enumerate(keys):
            if key.value in names[:place]:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
        return node


_EXPONENT = re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$")
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789"))


def load_yaml(path: Path) -> dict[Any, Any]:
    """Read a YAML file of keys and values.

    Raises:
        ConfigError: it cannot be read or parsed, or holds something else.
    """
    try:
        with open(path, encoding="utf-8") as file:
            values = yaml.load(file, Loader=_Loader)
    # a number or date that Python cannot hold, or brackets without end, are no YAMLError
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: (whole file): given {short(values)}; allowed: keys and values")
    return values


def validated(model: type[BaseModel], values: Any, file: Path, where: str = "") -> Any:
    """Values as a model.

    Args:
        model: what they have to be.
        values: contents of the file, or of a part of it.
        file: where they were given.
        where: path of keys to that part.

    Raises:
        ConfigError: a line for each thing that is wrong.
    """
    try:
        found = model.model_validate(values)
        wrong = [(path, f": given {given}", "Input should be a number", False) for path, given in _truth_values(values, found)]
    except ValidationError as error:
        wrong = [_problem(model, values, one) for one in error.errors(include_url=False)]
    if wrong:
        raise ConfigError("\n".join(_lines(wrong, file, where)))
    return found


def _lines(wrong: Sequence[tuple[tuple[str, ...], str, str, bool]], file: Path, where: str) -> Iterator[str]:
    found: dict[tuple[str, ...], dict[str, list[str]]] = {}
    paths = {path for path, *_ in wrong}
    for path, given, allowed, one_of_kinds in wrong:
        # where a value may be a number or a list, what is wrong in the list says all
        if not (one_of_kinds and any(path != other and path == other[: len(path)] for other in paths)):
            found.setdefault(path, {}).setdefault(given, []).append(allowed)
    for path, problems in found.items():
        key = ".".join([where, *path] if where else path) or "(whole file)"
        for given, allowed in problems.items():
            yield f"{file}: {key}{given}; {', or '.join(dict.fromkeys(allowed))}"


def _truth_values(given: Any, found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Where true or false were taken for a number."""
    if isinstance(given, bool) and isinstance(found, int | float) and not isinstance(found, bool):
        yield path, given
    elif isinstance(given, dict):
        for key, value in given.items():
            inner = found.get(key) if isinstance(found, dict) else getattr(found, str(key), None)
            yield from _truth_values(value, inner, (*path, str(key)))
    elif isinstance(given, list) and isinstance(found, list):
        for place, (value, inner) in enumerate(zip(given, found, strict=True)):
            yield from _truth_values(value, inner, (*path, str(place)))


def _problem(model: type[BaseModel], values: Any, error: Mapping[str, Any]) -> tuple[tuple[str, ...], str, str, bool]:
    """Path of keys to what is wrong, what was given there, what is allowed, and whether other kinds of value are, too."""
    path, here = [], values
    for place, part in enumerate(error["loc"]):
        known = part in here if isinstance(here, dict) else isinstance(here, list) and part in range(len(here))
        if known:
            here = here[part]
        # other parts name the kind of value that was tried, or a key that is not there
        if known or (error["type"] == "missing" and place == len(error["loc"]) - 1):
            path.append(str(part))
    given = "" if error["type"] == "missing" else f": given {short(error['input'])}"
    allowed = _allowed_keys(model, error["loc"][:-1]) if error["type"] == "extra_forbidden" else ""
    says = error["msg"].removeprefix("Value error, ")
    if error["type"] == "string_pattern_mismatch":
        says = f"Input should be {dict(PATTERNS.values())[error['ctx']['pattern']]}"
    kinds = len(path) < len(error["loc"]) and error["loc"][-1] != "[key]"
    return tuple(path), given, says + allowed, kinds


def _allowed_keys(model: Any, location: Sequence[Any]) -> str:
    """The keys of the section at ``location``, found by walking the models' annotations."""
    for part in location:
        if part in model.model_fields:
            model = next(_models(model.model_fields[part].annotation))
    return f"; allowed keys: {', '.join(model.model_fields)}"


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def short(value: Any) -> str:
    """A value as it was given, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= 80 else text[:77] + "..."


def message(file: Path, key: str, given: Any, allowed: Iterable[Any]) -> str:
    """The sentence about a name that is none of the allowed ones."""
    return f"{file}: {key}: given {short(given)}; allowed: {', '.join(str(one) for one in allowed)}"


def check_unique(pairs: Iterable[tuple[int | str, str]]) -> None:
    """Check that no two sections have the same id; each is given as its id and where that stands.

    Raises:
        ConfigError: two have.
    """
    seen: dict[int | str, str] = {}
    for id, path in pairs:
        if id in seen:
            raise ConfigError(f"{path}: given {id!r}; it is already given at {seen[id]}, ids are never shared")
        seen[id] = path
