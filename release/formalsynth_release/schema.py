"""Declarations of a user: ``schema.yaml`` and ``release.yaml`` of a study."""

from __future__ import annotations

import datetime
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from formalsynth.core.constraints import Finite
from formalsynth.core.model import Identifier, Model, WholeNumber, each_once, ordered
from formalsynth.core.neighbours import SENSITIVITY
from formalsynth.core.text import counted, exact, is_short
from formalsynth.settings.messages import ConfigError, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_release.rules import Rule, wrong_rules

if TYPE_CHECKING:
    import pandas as pd

DECLARE = "DECLARE"
"""Mark of a value that the author still has to declare."""
SCHEMA, RELEASE = "schema.yaml", "release.yaml"
"""Files in the folder of a study."""
KIND = " kind"
"""Suffix that turns a column's name into the name of its kind of value: missing, below 0, 0 or above 0."""
GONE = (
    "a release has no other synthesizers and no columns as they are in the file: research on your own file is a scenario of the "
    "workflow, see docs/OWN_STUDY.md"
)
"""Sentence for declarations of earlier versions."""


JOINERS = "\u200c\u200d"
"""Marks between letters of Persian and of Indian languages, which are written without a space."""


def _printable(text: str) -> str:
    """Return a name or category unchanged if it contains nothing that could end a line of a text or of a program.

    Raises:
        ValueError: it contains a line break or another control character.
    """
    if text.isprintable():
        return text
    if not all(character.isprintable() or unicodedata.category(character) == "Zs" or character in JOINERS for character in text):
        raise ValueError("Input should contain no line break and no other control character")
    return text


Text = Annotated[str, AfterValidator(_printable)]
Name = Annotated[str, Field(min_length=1), AfterValidator(_printable)]


def _spelled_out(given: object) -> object:
    """Write out a range of codes: 01..99 or A..Z."""
    first, _, last = given.partition("..") if isinstance(given, str) else ("", "", "")
    if len(first) == len(last) and (first + last).isascii() and (first + last).isdigit() and len(first) <= MOST_DIGITS:
        return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return [chr(letter) for letter in range(ord(first), ord(last) + 1)] if len(first) == len(last) == 1 else given


def _as_number(given: object) -> object:
    """Return the text of a number.

    Raises:
        ValueError: it is not the text of a number.
    """
    try:
        return f"{float(str(given)):.15g}"
    except ValueError:
        raise ValueError("Input should be a number, such as -7") from None


MOST_DIGITS = 4
"""Largest number of digits of codes that may be declared as a range."""
Categories = Annotated[list[Text], BeforeValidator(_spelled_out), Field(min_length=2), AfterValidator(each_once)]
Code = Annotated[str, BeforeValidator(_as_number)]
"""Number that stands for a missing value, as text."""


def _treatment(text: object) -> object:
    """Explain to whoever declared a column ``as_is`` in an earlier version that this is no longer possible.

    Raises:
        ValueError: the column would be released as it is.
    """
    if text == "as_is":
        raise ValueError(f"Input should be 'suppressed' or 'synthesized': {GONE}")
    return text


Treatment = Annotated[Literal["suppressed", "synthesized"], BeforeValidator(_treatment)]


def _one_line(text: str) -> str:
    """Join a text into one line: in a release a line break could end a heading or a paragraph.

    Raises:
        ValueError: it is empty.
    """
    if not text.split():
        raise ValueError("Input should have at least 1 character")
    return " ".join(text.split())


Line = Annotated[str, AfterValidator(_one_line), AfterValidator(_printable)]


LARGEST_EPSILON = 10_000.0
"""Largest epsilon that may be declared: far beyond it, noise would be 0."""
LARGEST = 1e100
"""Largest bound that may be declared; ratios and differences of such bounds are finite, too."""


class Column(Model):
    """Column of the file."""

    type: Literal["number", "whole", "category"] = Field(description="Numbers, whole numbers, or categories.")
    description: Line | None = Field(None, description="Meaning and unit of the values, for the data dictionaries of a release.")
    lower: Finite | None = Field(None, description="Declared lower bound, known without the data.")
    upper: Finite | None = Field(None, description="Declared upper bound, known without the data.")
    decimals: int = Field(0, ge=0, le=10, description="Decimal places of a number in a release.")
    categories: Categories | None = Field(None, description="Declared categories, known without the data.")
    ordered: bool = Field(False, description="Categories have an order, as levels of education do.")
    scale: Literal["linear", "log", "signed_log"] = Field(
        "linear",
        description="Scale on which the bins of a number are equally wide; log needs a lower bound above 0, and signed_log, for "
        "amounts of both signs, a unit.",
    )
    unit: Annotated[float, Field(ge=1e-9, le=LARGEST)] | None = Field(
        None, description="Amount around 0 within which signed_log is linear."
    )
    bins: int = Field(10, ge=1, le=1000, description="Number of bins of a column of numbers.")
    own_zero: bool = Field(False, description="0 has a level of its own; it may be below the lower bound.")
    points: list[Finite] | None = Field(None, description="Numbers with a level of their own, such as a minimum wage.")
    edges: list[Finite] | None = Field(None, description="Numbers at which a bin begins, such as a limit of tax.")
    leading: int | None = Field(None, ge=1, le=20, description="Number of characters of a category that count, from the left.")
    date: Literal["year", "months", "days"] | None = Field(
        None, description="Dates are read as their year, or as months or days since a public day."
    )
    since: datetime.date | None = Field(None, description="Day from which months or days are counted.")
    format: Text | None = Field(None, description="Notation of dates in the file, such as %d.%m.%Y; by default %Y-%m-%d.")
    labels: dict[Text, Line] | None = Field(None, description="Meanings of categories.")
    missing_codes: dict[Code, Line] | None = Field(
        None, description="Numbers outside the bounds that mark a missing value, each with its meaning; all are kept apart."
    )
    may_be_missing: bool = Field(False, description="Values may be missing, in synthetic data too.")
    weight: Annotated[float, Field(ge=0.01, le=100)] = Field(
        1.0, description="Weight of its margin when the budget is divided among columns."
    )
    release: Treatment | None = Field(
        None, description="Treatment of another column than the outcome: synthesized, or suppressed, which leaves it out."
    )

    @model_validator(mode="after")
    def _bounds_or_categories(self) -> Self:
        given = {"lower": self.lower, "upper": self.upper, "categories": self.categories}
        wanted = {"categories"} if self.type == "category" else {"lower", "upper"}
        for key, value in given.items():
            if (value is not None) != (key in wanted) and self.release != "suppressed":
                raise ValueError(f"a column of type {self.type} requires {' and '.join(sorted(wanted))} only; see {key}")
        bounds = [end for end in (self.lower, self.upper) if end is not None]
        if any(abs(end) > LARGEST for end in bounds):
            raise ValueError(f"lower and upper have to be between {-LARGEST:g} and {LARGEST:g}")
        if self.release != "suppressed" and any(round(end, self.places) != end for end in bounds):
            allowed = (
                "whole numbers" if self.type == "whole" else f"of at most {counted(self.places, 'decimal place')} (decimals)"
            )
            raise ValueError(f"lower and upper have to be {allowed}, as released values are")
        if self.decimals and self.type != "number":
            raise ValueError("decimals are for columns of type number only")
        if self.ordered and self.type != "category":
            raise ValueError("ordered is for categories only: numbers have an order")
        if self.own_zero and (self.upper is None or self.upper <= 0):
            raise ValueError("own_zero is for numbers with an upper bound above 0")
        return ordered(self, "lower", "upper")

    @model_validator(mode="after")
    def _possible_levels(self) -> Self:
        numbers = self.type != "category" and self.lower is not None and self.upper is not None
        for key, values in (("points", self.points), ("edges", self.edges)):
            for value in values or []:
                if not numbers or not self.ends[0] + (key == "edges") * 10.0**-self.places <= value <= self.ends[1]:
                    raise ValueError(f"{key} has {exact(value)}; allowed: numbers between the bounds of a column of numbers")
                if round(value, self.places) != value or (value == 0 and self.own_zero and key == "points"):
                    raise ValueError(f"{key} has {exact(value)}; allowed: other numbers than 0, with the declared decimals")
        for code in self.codes:
            if not numbers or self.ends[0] <= code <= self.ends[1] or (code == 0 and self.own_zero):
                raise ValueError(f"missing_codes has {code:g}; allowed: numbers outside the bounds of a column of numbers")
            if round(code, self.places) != code:
                raise ValueError(f"missing_codes has {code:g}; allowed: numbers with the declared decimals")
        return self

    @model_validator(mode="after")
    def _possible_conversion(self) -> Self:
        if self.date and self.type != "whole":
            raise ValueError("date is for columns of type whole: a release has the year, or the number of months or days")
        if (self.date in ("months", "days")) != (self.since is not None) or (self.format and not self.date):
            raise ValueError("since is needed for date: months and date: days, and only there; format is for dates only")
        if self.labels and (wrong := [code for code in self.labels if code not in (self.categories or [])]):
            raise ValueError(f"labels has {wrong[0]!r}, which is not one of the categories")
        if self.leading and (wrong := [text for text in self.categories or [""] if len(text) > self.leading]):
            raise ValueError(
                f"leading is {self.leading}, but categories has {wrong[0]!r}: categories are what is left of a value"
            )
        return self

    @model_validator(mode="after")
    def _possible_scale(self) -> Self:
        if self.scale == "log" and (self.lower is None or self.lower < 1 / LARGEST):
            raise ValueError(f"scale can be log only for numbers with a lower bound above 0, of at least {1 / LARGEST:g}")
        if (self.scale == "signed_log") != (self.unit is not None):
            raise ValueError("unit has to be given for scale: signed_log, and only for it")
        if self.unit is not None and self.unit >= max(abs(self.lower or 0), abs(self.upper or 0)):
            raise ValueError(
                "unit has to be below the larger of the absolute values of lower and upper; otherwise use scale: linear"
            )
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """The declared bounds of a column of numbers."""
        assert self.lower is not None
        assert self.upper is not None
        return float(self.lower), float(self.upper)

    @property
    def places(self) -> int:
        """Decimal places in a release."""
        return self.decimals if self.type == "number" else 0

    @property
    def codes(self) -> list[float]:
        """Numbers that mark missing values, in the order of their declaration."""
        return [float(code) for code in self.missing_codes or {}]

    def clip(self, numbers: pd.Series) -> pd.Series:
        """Clip numbers to the declared bounds, but neither codes of missing values nor a 0 that has a level of its own."""
        kept = numbers.isin([*self.codes, *([0.0] if self.own_zero else [])])
        return numbers.where(kept, numbers.clip(*self.ends))

    def amounts(self, values: pd.Series) -> pd.Series:
        """Replace codes of missing values by missing values."""
        return values.mask(values.isin(self.codes)) if self.codes else values

    def kind_of(self, name: str) -> list[str]:
        """Name of the kind of a column's values, where there are several: missing, a code, below 0, 0 or above 0."""
        return [name + KIND] if self.own_zero or self.may_be_missing or self.codes else []


def _short(number: float) -> float:
    """Refuse a number that the texts of a release would round.

    Raises:
        ValueError: it has too many digits.
    """
    if not is_short(number):
        raise ValueError("at most 6 significant digits are allowed, since the texts of a release state this number")
    return number


class PublicSchema(Model):
    """Declarations that may be published: the protected persons, and the content of the columns."""

    rows: int | None = Field(None, ge=2, le=10**9, description="Number of rows in the file; left out where it is confidential.")
    source: Identifier = Field(
        description="Name of the source: all files of the same people have the same one, and share a ledger."
    )
    other_people: bool = Field(
        False, description="Whether the people are known to be others than those of any source with similar values."
    )
    protected: Line = Field(description="Unit that a row describes, such as person; it is what the guarantee protects.")
    rows_each: int = Field(
        ge=1,
        le=100,
        description="Largest number of rows of each protected unit that are used; the noise is as many times as large.",
    )
    neighbours: Literal["add_remove", "replace"] = Field(
        description="Neighbour relation: add_remove protects presence and values, replace only the values."
    )
    outside_bounds: Literal["clip", "refuse"] = Field(description="Treatment of numbers outside the declared bounds.")
    missing: Literal["drop_rows", "refuse"] = Field(description="Treatment of rows with a missing value.")
    zeros: Literal["keep", "drop_rows", "refuse"] = Field(description="Treatment of outcomes of 0.")
    outcome: Name = Field(description="The main column, whose mean and quantiles are reported.")
    pairs: list[tuple[Name, Name]] = Field(
        description="Pairs of columns whose association noisy tables keep, the most important one first. Fewer are more precise."
    )
    accept_noise: list[tuple[Name, Name]] = Field(
        default_factory=list, description="Declared pairs that a release keeps although its noise can invent an association."
    )
    margins: Annotated[float, Field(ge=0.01, le=0.99)] = Field(
        0.4, description="Share of the budget of noisy tables for the distributions of single columns; the rest is for pairs."
    )
    columns: dict[Name, Column] = Field(min_length=1, description="The columns of the file, in its order.")
    rules: list[Rule] = Field(
        default_factory=list,
        description="Values that follow from those of another column, such as a missing income without work.",
    )

    @model_validator(mode="after")
    def _possible_outcome(self) -> Self:
        if self.outcome not in self.columns:
            raise ValueError(f"outcome has to be one of the columns: {', '.join(self.columns)}")
        if self.target.release is not None:
            name = self.outcome
            raise ValueError(f"columns.{name}.release cannot be given, since outcome is {name}: it is always synthesized")
        if self.protected == self.outcome:
            raise ValueError(f"protected has to be the unit that a row describes, such as person, not the outcome {self.outcome}")
        return self

    @model_validator(mode="after")
    def _treatments(self) -> Self:
        for name in self.released:
            if name.endswith(KIND):
                raise ValueError(
                    f"columns.{name}: the name of a released column cannot end in {KIND!r}, which marks the kind of a column's "
                    "value: missing, below 0, 0 or above 0. Rename it in the file, too"
                )
        for name, column in self.columns.items():
            if column.release is None and name != self.outcome:
                raise ValueError(f"columns.{name}.release has to be given: only the outcome, {self.outcome}, is without it")
            if column.may_be_missing and self.missing == "drop_rows":
                raise ValueError(
                    f"columns.{name}.may_be_missing needs missing: refuse, which applies to the other columns: rows with a "
                    f"missing {name} stay"
                )
        return self

    @model_validator(mode="after")
    def _declared_pairs(self) -> Self:
        if wrong := list(self._wrong_pairs()):
            raise ValueError(f"pairs has {'; it also has '.join(wrong)}")
        return self

    @model_validator(mode="after")
    def _possible_rules(self) -> Self:
        if wrong := list(wrong_rules(self)):
            raise ValueError(f"rules: {'; '.join(wrong)}")
        return self

    def _wrong_pairs(self) -> Iterator[str]:
        pairs = self.pairs
        counts = Counter(frozenset(pair) for pair in pairs)
        if twice := [" and ".join(sorted(pair)) for pair, number in counts.items() if number > 1]:
            yield f"a pair twice: {'; '.join(twice)}"
        if own := [f"{a} and {b}" for a, b in pairs if a.removesuffix(KIND) == b.removesuffix(KIND)]:
            yield f"a column with itself: {'; '.join(own)}; its margin keeps its distribution"
        known = [name for column, of_column in self.released.items() for name in [column, *of_column.kind_of(column)]]
        unknown = {name: None for pair in pairs for name in pair if name not in known}
        if unknown:
            yield f"{', '.join(map(repr, unknown))}; allowed: {', '.join(known)}"
        if other := [f"{a} and {b}" for a, b in self.accept_noise if frozenset((a, b)) not in counts]:
            yield f"no {'; no '.join(other)}, which accept_noise names"

    @property
    def dropped(self) -> str:
        """Declared reasons for leaving out rows; empty if there are none."""
        causes = {"a missing value in a released column": self.missing, "an outcome of 0": self.zeros}
        return " or ".join(cause for cause, treatment in causes.items() if treatment == "drop_rows")

    @property
    def hides_rows(self) -> bool:
        """True if the number of rows that can be used is confidential.

        It is confidential if presence is protected, if rows with a missing value or an outcome of 0 are left out, or if a person
        may be in several rows: replacing values or a person can add or remove such a row.
        """
        return self.neighbours == "add_remove" or bool(self.dropped) or self.rows_each > 1

    @property
    def change(self) -> float:
        """Largest L1 distance between the counts of a column of two neighbours."""
        return SENSITIVITY[self.neighbours] * self.rows_each

    @property
    def target(self) -> Column:
        """The column of the outcome."""
        return self.columns[self.outcome]

    @property
    def predictors(self) -> dict[str, Column]:
        """Columns of a release other than the outcome."""
        return {name: column for name, column in self.columns.items() if column.release not in (None, "suppressed")}

    @property
    def released(self) -> dict[str, Column]:
        """The columns of a release, in the order of the file."""
        return {name: column for name, column in self.columns.items() if column.release != "suppressed"}


def _between(code: str, column: Column) -> bool:
    """Return True for a number between the bounds of a column of numbers."""
    try:
        number = float(code)
    except ValueError:
        return False
    return column.lower is not None and column.upper is not None and column.lower <= number <= column.upper


class Schema(PublicSchema):
    """Declarations of a file: its format, and what may be published."""

    file: str = Field(min_length=1, description="Path of the file, relative to the folder of the schema.")
    encoding: str = Field("utf-8", description="Encoding of the file.")
    delimiter: str = Field(",", min_length=1, max_length=1, description="Character between two values of a row.")
    decimal: Literal[".", ","] = Field(".", description="Decimal separator of numbers.")
    missing_values: list[str] | dict[Name, list[str]] = Field(
        default_factory=lambda: [""], description="Texts that mark a missing value: of all columns, or a list for each of some."
    )
    thousands: Literal[",", ".", " ", "'", "none"] | None = Field(
        None, description="Mark between thousands of numbers, or none; without it, check asks where a mark could be either."
    )
    person: Name | None = Field(None, description="Suppressed column that names the protected unit of a row.")
    rows: int = Field(ge=2, le=10**9, description="Number of rows, without the header; public where neighbours is replace.")

    @model_validator(mode="after")
    def _present_values(self) -> Self:
        if isinstance(self.missing_values, dict) and (
            unknown := [name for name in self.missing_values if name not in self.columns]
        ):
            raise ValueError(f"missing_values has {', '.join(unknown)}; allowed: {', '.join(self.columns)}")
        for name, column in self.columns.items():
            for category in {"", *self.missing_in(name)} & set(column.categories or []):
                raise ValueError(f"columns.{name}.categories has {category!r}, which is a missing value: see missing_values")
            for code in self.missing_values if isinstance(self.missing_values, list) else []:
                if _between(code, column):
                    raise ValueError(
                        f"missing_values has {code!r} for all columns, and it is between the bounds of columns.{name}: declare a "
                        "list for each column that has such codes, as in missing_values: { age: ['', '99'] }"
                    )
        return self

    @model_validator(mode="after")
    def _persons(self) -> Self:
        if self.person and (self.person not in self.columns or self.columns[self.person].release != "suppressed"):
            raise ValueError("person has to be a suppressed column, which names the protected unit of a row")
        if self.rows_each > 1 and not self.person:
            raise ValueError("rows_each above 1 needs person: the suppressed column that names the protected unit of a row")
        if self.thousands == self.decimal:
            raise ValueError("thousands and decimal have to be different marks")
        return self

    def missing_in(self, name: str) -> list[str]:
        """Texts that mark a missing value of a column."""
        return self.missing_values if isinstance(self.missing_values, list) else self.missing_values.get(name, [""])

    @property
    def public(self) -> PublicSchema:
        """The part that may be published, without suppressed columns, the file, and the number of rows if it is confidential."""
        kept = {name: getattr(self, name) for name in PublicSchema.model_fields}
        rows = self.rows if self.neighbours == "replace" and self.rows_each == 1 else None
        return PublicSchema.model_construct(**kept | {"rows": rows, "columns": self.released})


class Curator(Model):
    """Publisher."""

    name: Line = Field(description="Name of the office.")
    contact: Line = Field(description="Contact for analysts' questions.")


class Regression(Model):
    """A linear regression."""

    predictors: Annotated[list[Name], AfterValidator(each_once)] = Field(min_length=1, description="Predictors of the outcome.")
    log: bool = Field(False, description="Whether the response is the logarithm of the outcome.")

    def label(self, outcome: str) -> str:
        """Name of the analysis."""
        return f"{'log ' * self.log}{outcome} on {', '.join(self.predictors)}"


class Share(Model):
    """Share of all rows that have a certain value."""

    column: Name = Field(description="The column.")
    value: float | Text | None = Field(None, description="Rows with this value or category.")
    above: Finite | None = Field(None, description="Rows with a number above this one.")
    below: Finite | None = Field(None, description="Rows with a number below this one.")
    missing: bool = Field(False, description="Rows whose value is missing.")

    @model_validator(mode="after")
    def _single(self) -> Self:
        if sum(given is not None for given in (self.value, self.above, self.below)) + self.missing != 1:
            raise ValueError("a share needs exactly one of value, above, below and missing: true")
        return self

    @property
    def name(self) -> str:
        """Name of the analysis."""
        return f"share of {self.column} {self._which}"

    @property
    def number(self) -> bool:
        """True if it compares numbers."""
        return self.above is not None or self.below is not None

    def edges(self, column: Column) -> list[float]:
        """Numbers that separate the values that it counts from those below and above; none for categories and missing values."""
        if column.type == "category" or self.missing:
            return []
        step = 10.0**-column.places
        if self.below is not None:
            return [self.below]
        if self.above is not None:
            return [(math.floor(self.above / step + 1e-9) + 1) * step]
        assert isinstance(self.value, float)
        return [self.value, self.value + step]

    @property
    def _which(self) -> str:
        if self.missing:
            return "missing"
        if self.above is not None:
            return f"above {exact(self.above)}"
        if self.below is not None:
            return f"below {exact(self.below)}"
        return f"equal to {exact(self.value)}" if isinstance(self.value, float) else f"equal to {self.value}"


class Analyses(Model):
    """Analyses for which a release gives intervals."""

    means: Annotated[list[Name], AfterValidator(each_once)] = Field(
        default_factory=list, description="Columns of numbers whose means are compared."
    )
    shares: Annotated[list[Share], AfterValidator(each_once)] = Field(
        default_factory=list, description="Shares of rows that are compared."
    )
    quantiles: Annotated[list[Annotated[float, Field(gt=0, lt=1)]], AfterValidator(each_once)] = Field(
        default_factory=lambda: [0.15, 0.5, 0.9], description="Levels of quantiles of the outcome."
    )
    regressions: Annotated[list[Regression], AfterValidator(each_once)] = Field(
        default_factory=list, description="Linear regressions that are compared."
    )
    replicates: int = Field(200, ge=20, le=10_000, description="Number of simulated releases for the intervals.")


class ReleaseConfig(Model):
    """``release.yaml``: content and budget of a release."""

    sets: int = Field(ge=1, le=100, description="Number of synthetic data sets, m.")
    rows: WholeNumber | None = Field(
        None,
        ge=2,
        le=10_000_000,
        description="Rows in each set, chosen without the file; required where neighbours is add_remove or rows are dropped.",
    )
    ceiling: Annotated[float, AfterValidator(_short)] = Field(
        ge=1e-4, le=LARGEST_EPSILON, description="Largest epsilon that this release may claim; the release states it."
    )
    budget: Annotated[float, AfterValidator(_short)] = Field(
        gt=0, allow_inf_nan=False, description="Epsilon that all releases from the file may claim together."
    )
    title: Line = Field(description="Name of the published data.")
    intended_use: Line = Field(description="Intended use of the data.")
    licence: Line = Field(description="Licence under which they are published.")
    curator: Curator = Field(description="Publisher.")
    analyses: Analyses = Field(default_factory=Analyses, description="Analyses that get an interval, or a reason for none.")

    @model_validator(mode="after")
    def _within_budget(self) -> Self:
        if self.ceiling > self.budget:
            raise ValueError("ceiling has to be at most budget")
        return self


@dataclass(frozen=True)
class ReleaseDraft:
    """Parts of ``release.yaml`` that a check of the file uses before all is filled in."""

    ceiling: float | None
    analyses: Analyses


@dataclass(frozen=True)
class Declared:
    """Declarations of a file, with their folder."""

    name: Identifier
    """Name of the study and of its folder."""
    folder: Path
    schema: Schema

    @property
    def csv(self) -> Path:
        """The confidential file."""
        return self.folder / self.schema.file


def read_declared(folder: Path) -> Declared:
    """Read the schema of a study.

    Raises:
        ConfigError: a line for each key that is missing, not filled in yet or not allowed, also for those of ``release.yaml``.
    """
    try:
        values = declarations(folder / SCHEMA)
        return Declared(folder.resolve().name, folder, validated(Schema, values, folder / SCHEMA))
    except ConfigError as error:
        raise ConfigError("\n".join([str(error), *_wrong_in_release(folder)])) from error


def _wrong_in_release(folder: Path) -> list[str]:
    """List the mistakes in the settings of a release, which are shown together with those of the schema."""
    try:
        if (folder / RELEASE).exists() and not any(undeclared(load_yaml(folder / RELEASE))):
            read_release(folder)
    except ConfigError as error:
        return [str(error)]
    return []


def read_release(folder: Path) -> ReleaseConfig:
    """Read the settings of a release.

    Raises:
        ConfigError: a line for each key that is missing, not filled in yet or not allowed.
    """
    return validated(ReleaseConfig, declarations(folder / RELEASE), folder / RELEASE)


def read_draft(folder: Path) -> ReleaseDraft:
    """Read the parts of ``release.yaml`` for a check of the file.

    Raises:
        ConfigError: the analyses are not valid.
    """
    tree = load_yaml(folder / RELEASE)
    ceiling, analyses = tree.get("ceiling"), tree.get("analyses")
    return ReleaseDraft(
        float(ceiling) if isinstance(ceiling, int | float) else None,
        validated(Analyses, {} if analyses in (None, DECLARE) else analyses, folder / RELEASE, "analyses"),
    )


def budget_of(folder: Path) -> float | None:
    """Read the declared budget of a study; None where there is none yet.

    Raises:
        ConfigError: the settings of a release cannot be read.
    """
    budget = load_yaml(folder / RELEASE).get("budget")
    return float(budget) if isinstance(budget, int | float) else None


def declarations(path: Path) -> dict[object, object]:
    """Read a file in which every key must be filled in; unfilled keys of suppressed columns are ignored.

    Raises:
        ConfigError: the file cannot be read, or keys are not filled in yet, with a line for each.
    """
    values = _without_suppressed(dict(load_yaml(path)))
    open_questions = [f"{path}: {key}: is not filled in yet; replace {DECLARE} with the true value" for key in undeclared(values)]
    if open_questions:
        raise ConfigError("\n".join(open_questions))
    return values


def _without_suppressed(values: dict[object, object]) -> dict[object, object]:
    columns = values.get("columns")
    if not isinstance(columns, dict):
        return values
    kept = {
        name: {key: value for key, value in column.items() if value != DECLARE}
        if isinstance(column, dict) and column.get("release") == "suppressed"
        else column
        for name, column in columns.items()
    }
    return {**values, "columns": kept}


def undeclared(values: object, path: str = "") -> Iterator[str]:
    """Yield the paths of keys that still have to be declared."""
    if values == DECLARE:
        yield path
    elif isinstance(values, Mapping):
        for key, value in values.items():
            yield from undeclared(value, f"{path}.{key}" if path else str(key))
    elif isinstance(values, list):
        for place, value in enumerate(values):
            yield from undeclared(value, f"{path}.{place}")
