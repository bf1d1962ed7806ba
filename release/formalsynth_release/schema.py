"""Declarations that may be published: those of the columns and rows, and the settings of a release."""

from __future__ import annotations

import datetime
import math
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from formalsynth.core.constraints import Finite
from formalsynth.core.model import Identifier, Model, WholeNumber, each_once
from formalsynth.core.neighbours import SENSITIVITY
from formalsynth.core.text import FORMULA, exact, is_short
from formalsynth_release.rules import Rule

if TYPE_CHECKING:
    import pandas as pd

SCHEMA, RELEASE = "schema.yaml", "release.yaml"  # files in the folder of a study
KIND = " kind"  # suffix that turns a column's name into the name of its kind of value: missing, below 0, 0 or above 0
JOINERS = "\u200c\u200d"  # marks between letters of Persian and of Indian languages, which are written without a space


def _printable(text: str) -> str:
    """Return a name or category unchanged if it contains nothing that could end a line, or that a spreadsheet would compute."""
    if FORMULA.match(text):
        raise ValueError("Input should not start like a spreadsheet formula; see recode, which reads it as another text")
    if not all(character.isprintable() or unicodedata.category(character) == "Zs" or character in JOINERS for character in text):
        raise ValueError("Input should contain no line break and no other control character")
    return text


Text = Annotated[str, AfterValidator(_printable)]
Name = Annotated[str, Field(min_length=1), AfterValidator(_printable)]


def _as_number(given: object) -> object:
    """Return the text of a number."""
    try:
        return f"{float(str(given)):.15g}"
    except ValueError:
        raise ValueError("Input should be a number, such as -7") from None


T = TypeVar("T")
Unique = Annotated[list[T], AfterValidator(each_once)]  # list in which each entry is given once
Categories = Annotated[list[Text], Field(min_length=2), AfterValidator(each_once)]
Code = Annotated[str, BeforeValidator(_as_number)]  # number that stands for a missing value, as text


def _one_line(text: str) -> str:
    """Join a text into one line: in a release a line break could end a heading or a paragraph."""
    if not text.split():
        raise ValueError("Input should have at least 1 character")
    return " ".join(text.split())


Line = Annotated[str, AfterValidator(_one_line), AfterValidator(_printable)]


LARGEST_EPSILON = 10_000.0  # largest epsilon that may be declared: far beyond it, noise would be 0
LARGEST = 1e100  # largest bound that may be declared; ratios and differences of such bounds are finite, too


class Column(Model):
    """Column of the file."""

    type: Literal["number", "whole", "category"]  # numbers, whole numbers, or categories
    description: Line | None = None  # meaning and unit of the values, for the data dictionaries of a release
    lower: Finite | None = None  # declared lower bound, known without the data
    upper: Finite | None = None  # declared upper bound, known without the data
    decimals: int = Field(0, ge=0, le=10)  # decimal places of a number in a release
    categories: Categories | None = None  # declared categories, known without the data
    ordered: bool = False  # categories have an order, as levels of education do
    scale: Literal["linear", "log", "signed_log"] = "linear"
    """Scale on which the bins of a number are equally wide; log needs a lower bound above 0, and signed_log, for amounts of both
    signs, a unit."""
    unit: Annotated[float, Field(ge=1e-9, le=LARGEST)] | None = None  # amount around 0 within which signed_log is linear
    bins: int = Field(10, ge=1, le=1000)  # number of bins of a column of numbers
    own_zero: bool = False  # 0 has a level of its own; it may be below the lower bound
    points: list[Finite] | None = None  # numbers with a level of their own, such as a minimum wage
    edges: list[Finite] | None = None  # numbers at which a bin begins, such as a limit of tax
    leading: int | None = Field(None, ge=1, le=20)  # number of characters of a category that count, from the left
    date: Literal["year", "months", "days"] | None = None  # dates are read as their year, or as months or days since a public day
    since: datetime.date | None = None  # day from which months or days are counted
    format: Text | None = None  # notation of dates in the file, such as %d.%m.%Y; by default %Y-%m-%d
    recode: dict[str, Text] | None = None
    """Texts of the file that are read as others: a code of missing values as a number outside the bounds, for example."""
    labels: dict[Text, Line] | None = None  # meanings of categories
    missing_codes: dict[Code, Line] | None = None
    """Numbers outside the bounds that mark a missing value, each with its meaning; all are kept apart."""
    may_be_missing: bool = False  # values may be missing, in synthetic data too
    weight: Annotated[float, Field(ge=0.01, le=100)] = 1.0  # weight of its margin when the budget is divided among columns
    release: Literal["suppressed", "synthesized"] | None = None
    """Treatment of another column than the outcome: synthesized, or suppressed, which leaves it out."""

    @property
    def ends(self) -> tuple[float, float]:
        """The declared bounds of a column of numbers."""
        assert self.lower is not None and self.upper is not None
        return float(self.lower), float(self.upper)

    @property
    def places(self) -> int:
        """Decimal places in a release."""
        return self.decimals if self.type == "number" else 0

    @property
    def codes(self) -> list[float]:
        """Numbers that mark missing values, in the order of their declaration."""
        return [float(code) for code in self.missing_codes or {}]

    def amounts(self, values: pd.Series) -> pd.Series:
        """Replace codes of missing values by missing values."""
        return values.mask(values.isin(self.codes)) if self.codes else values

    def allows(self, value: float) -> bool:
        """Return True for a number that the column can have: between its bounds, a code, or a 0 with a level of its own."""
        low, high = self.ends
        inside = low <= value <= high and round(value, self.places) == value
        return inside or value in self.codes or (value == 0 and self.own_zero)

    def kind_of(self, name: str) -> list[str]:
        """Name of the kind of a column's values, where there are several: missing, a code, below 0, 0 or above 0."""
        return [name + KIND] if self.own_zero or self.may_be_missing or self.codes else []


def _short(number: float) -> float:
    """Refuse a number that the texts of a release would round."""
    if not is_short(number):
        raise ValueError("at most 6 significant digits are allowed, since the texts of a release state this number")
    return number


class PublicSchema(Model):
    """Declarations that may be published: the protected persons, and the content of the columns."""

    rows: int | None = Field(None, ge=2, le=10**9)  # number of rows in the file; left out where it is confidential
    source: Identifier  # name of the source: all files of the same people have the same one, and share a ledger
    other_people: bool = False  # whether the people are known to be others than those of any source with similar values
    protected: Line  # unit that a row describes, such as person; it is what the guarantee protects
    rows_each: int = Field(ge=1, le=100)
    """Largest number of rows of each protected unit that are used; the noise is as many times as large."""
    neighbours: Literal["add_remove", "replace"]
    """Neighbour relation: add_remove protects presence and values, replace only the values."""
    outside_bounds: Literal["clip", "refuse"]  # treatment of numbers outside the declared bounds
    missing: Literal["drop_rows", "refuse"]  # treatment of rows with a missing value
    zeros: Literal["keep", "drop_rows", "refuse"]  # treatment of outcomes of 0
    outcome: Name  # the main column, whose mean and quantiles are reported
    pairs: list[tuple[Name, Name]]
    """Pairs of columns whose association noisy tables keep, the most important one first. Fewer are more precise."""
    accept_noise: list[tuple[Name, Name]] = Field(default_factory=list)
    """Declared pairs that a release keeps although its noise can invent an association."""
    margins: Annotated[float, Field(ge=0.01, le=0.99)] = 0.4
    """Share of the budget of noisy tables for the distributions of single columns; the rest is for pairs."""
    columns: Mapping[Name, Column] = Field(min_length=1)  # the columns of the file, in its order
    rules: list[Rule] = Field(default_factory=list)
    """Values that follow from those of another column, such as a missing income without work."""

    @property
    def dropped(self) -> str:
        """Declared reasons for leaving out rows; empty if there are none."""
        causes = {"a missing value in a released column": self.missing, "an outcome of 0": self.zeros}
        return " or ".join(cause for cause, treatment in causes.items() if treatment == "drop_rows")

    @property
    def hides_rows(self) -> bool:
        """True if the number of rows that can be used is confidential: replacing values or a person can add or remove one."""
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
    def released(self) -> dict[str, Column]:
        """The columns of a release, in the order of the file."""
        return {name: column for name, column in self.columns.items() if column.release != "suppressed"}


class Curator(Model):
    """Publisher."""

    name: Line  # name of the office
    contact: Line  # contact for analysts' questions


class Regression(Model):
    """A linear regression."""

    predictors: Unique[Name] = Field(min_length=1)  # predictors of the outcome
    log: bool = False  # whether the response is the logarithm of the outcome

    def label(self, outcome: str) -> str:
        """Name of the analysis."""
        return f"{'log ' * self.log}{outcome} on {', '.join(self.predictors)}"


class Share(Model):
    """Share of all rows that have a certain value."""

    column: Name  # the column
    value: float | Text | None = None  # rows with this value or category
    above: Finite | None = None  # rows with a number above this one
    below: Finite | None = None  # rows with a number below this one
    missing: bool = False  # rows whose value is missing

    @model_validator(mode="after")
    def _single(self) -> Self:
        if sum(given is not None for given in (self.value, self.above, self.below)) + self.missing != 1:
            raise ValueError("a share needs exactly one of value, above, below and missing: true")
        return self

    @property
    def name(self) -> str:
        """Name of the analysis."""
        given = {"above": self.above, "below": self.below, "equal to": self.value}
        which = [f"{how} {exact(at) if isinstance(at, float) else at}" for how, at in given.items() if at is not None]
        return f"share of {self.column} {'missing' if self.missing else which[0]}"

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


class Analyses(Model):
    """Analyses for which a release gives intervals."""

    means: Unique[Name] = Field(default_factory=list)  # columns of numbers whose means are compared
    shares: Unique[Share] = Field(default_factory=list)  # shares of rows that are compared
    quantiles: Unique[Annotated[float, Field(gt=0, lt=1)]] = Field(default_factory=lambda: [0.15, 0.5, 0.9])
    """Levels of quantiles of the outcome."""
    regressions: Unique[Regression] = Field(default_factory=list)  # linear regressions that are compared
    replicates: int = Field(100, ge=20, le=10_000)
    """Number of simulated releases for the intervals: with 100, the standard error of an error is 7 % of it."""


class ReleaseConfig(Model):
    """``release.yaml``: content and budget of a release."""

    sets: int = Field(ge=1, le=100)  # number of synthetic data sets, m
    rows: WholeNumber | None = Field(None, ge=2, le=10_000_000)
    """Rows in each set, chosen without the file; required with neighbours: add_remove, rows_each above 1 or dropped rows."""
    ceiling: Annotated[float, AfterValidator(_short)] = Field(ge=1e-4, le=LARGEST_EPSILON)
    """Largest epsilon that this release may claim; the release states it."""
    budget: Annotated[float, AfterValidator(_short)] = Field(gt=0, allow_inf_nan=False)
    """Epsilon that all releases from the file may claim together."""
    title: Line  # name of the published data
    intended_use: Line  # intended use of the data
    licence: Line  # licence under which they are published
    curator: Curator  # publisher
    analyses: Analyses = Field(default_factory=Analyses)  # analyses that get an interval, or a reason for none

    @model_validator(mode="after")
    def _within_budget(self) -> Self:
        if self.ceiling > self.budget:
            raise ValueError("ceiling has to be at most budget")
        return self
