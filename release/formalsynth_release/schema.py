"""Declarations that may be published: those of the columns and rows, and the settings of a release."""

from __future__ import annotations

import datetime
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from formalsynth.core.constraints import Finite
from formalsynth.core.model import Identifier, Model, WholeNumber, each_once, ordered
from formalsynth.core.neighbours import SENSITIVITY
from formalsynth.core.text import FORMULA, counted, exact, is_short
from formalsynth_release.rules import Rule, wrong_rules

if TYPE_CHECKING:
    import pandas as pd

SCHEMA, RELEASE = "schema.yaml", "release.yaml"
"""Files in the folder of a study."""
KIND = " kind"
"""Suffix that turns a column's name into the name of its kind of value: missing, below 0, 0 or above 0."""
JOINERS = "\u200c\u200d"
"""Marks between letters of Persian and of Indian languages, which are written without a space."""


def _printable(text: str) -> str:
    """Return a name or category unchanged if it contains nothing that could end a line, or that a spreadsheet would compute.

    Raises:
        ValueError: it contains a line break or another control character, or starts like a formula.
    """
    if FORMULA.match(text):
        raise ValueError("Input should not start like a spreadsheet formula; see recode, which reads it as another text")
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


T = TypeVar("T")
Unique = Annotated[list[T], AfterValidator(each_once)]
"""List in which each entry is given once."""
MOST_DIGITS = 4
"""Largest number of digits of codes that may be declared as a range."""
Categories = Annotated[list[Text], BeforeValidator(_spelled_out), Field(min_length=2), AfterValidator(each_once)]
Code = Annotated[str, BeforeValidator(_as_number)]
"""Number that stands for a missing value, as text."""


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

    type: Literal["number", "whole", "category"]
    """Numbers, whole numbers, or categories."""
    description: Line | None = None
    """Meaning and unit of the values, for the data dictionaries of a release."""
    lower: Finite | None = None
    """Declared lower bound, known without the data."""
    upper: Finite | None = None
    """Declared upper bound, known without the data."""
    decimals: int = Field(0, ge=0, le=10)
    """Decimal places of a number in a release."""
    categories: Categories | None = None
    """Declared categories, known without the data."""
    ordered: bool = False
    """Categories have an order, as levels of education do."""
    scale: Literal["linear", "log", "signed_log"] = "linear"
    """Scale on which the bins of a number are equally wide; log needs a lower bound above 0, and signed_log, for amounts of both
    signs, a unit."""
    unit: Annotated[float, Field(ge=1e-9, le=LARGEST)] | None = None
    """Amount around 0 within which signed_log is linear."""
    bins: int = Field(10, ge=1, le=1000)
    """Number of bins of a column of numbers."""
    own_zero: bool = False
    """0 has a level of its own; it may be below the lower bound."""
    points: list[Finite] | None = None
    """Numbers with a level of their own, such as a minimum wage."""
    edges: list[Finite] | None = None
    """Numbers at which a bin begins, such as a limit of tax."""
    leading: int | None = Field(None, ge=1, le=20)
    """Number of characters of a category that count, from the left."""
    date: Literal["year", "months", "days"] | None = None
    """Dates are read as their year, or as months or days since a public day."""
    since: datetime.date | None = None
    """Day from which months or days are counted."""
    format: Text | None = None
    """Notation of dates in the file, such as %d.%m.%Y; by default %Y-%m-%d."""
    recode: dict[str, Text] | None = None
    """Texts of the file that are read as others: a code of missing values as a number outside the bounds, for example."""
    labels: dict[Text, Line] | None = None
    """Meanings of categories."""
    missing_codes: dict[Code, Line] | None = None
    """Numbers outside the bounds that mark a missing value, each with its meaning; all are kept apart."""
    may_be_missing: bool = False
    """Values may be missing, in synthetic data too."""
    weight: Annotated[float, Field(ge=0.01, le=100)] = 1.0
    """Weight of its margin when the budget is divided among columns."""
    release: Literal["suppressed", "synthesized"] | None = None
    """Treatment of another column than the outcome: synthesized, or suppressed, which leaves it out."""

    @model_validator(mode="after")
    def _possible_keys(self) -> Self:
        wanted, used = {"categories"} if self.type == "category" else {"lower", "upper"}, self.release != "suppressed"
        given = {"lower": self.lower, "upper": self.upper, "categories": self.categories}
        key = next((key for key, value in given.items() if (value is not None) != (key in wanted)), "")
        ends, categories = [end for end in (self.lower, self.upper) if end is not None], self.categories or []
        kind = "whole numbers" if self.type == "whole" else f"of at most {counted(self.places, 'decimal place')} (decimals)"
        unknown = [code for code in self.labels or {} if code not in categories]
        longer = [text for text in categories or [""] if self.leading and len(text) > self.leading]
        since = self.date in ("months", "days")
        problems = [
            (key and used, f"a column of type {self.type} requires {' and '.join(sorted(wanted))} only; see {key}"),
            (any(abs(end) > LARGEST for end in ends), f"lower and upper have to be between {-LARGEST:g} and {LARGEST:g}"),
            (used and any(round(end, self.places) != end for end in ends),
             f"lower and upper have to be {kind}, as released values are"),
            (self.decimals and self.type != "number", "decimals are for columns of type number only"),
            (self.ordered and self.type != "category", "ordered is for categories only: numbers have an order"),
            (self.own_zero and (self.upper or 0) <= 0, "own_zero is for numbers with an upper bound above 0"),
            (self.date and self.type != "whole",
             "date is for columns of type whole: a release has the year, or the number of months or days"),
            (since != (self.since is not None) or (self.format and not self.date),
             "since is needed for date: months and date: days, and only there; format is for dates only"),
            (unknown, f"labels has {unknown[:1]}, which is not one of the categories"),
            (longer, f"leading is {self.leading}, but categories has {longer[:1]}: categories are what is left of a value"),
            (self.scale == "log" and (self.lower or 0) < 1 / LARGEST,
             f"scale can be log only for numbers with a lower bound above 0, of at least {1 / LARGEST:g}; with it, own_zero: "
             "true allows 0"),
            ((self.scale == "signed_log") != (self.unit is not None),
             "unit has to be given for scale: signed_log, and only for it"),
            (self.unit is not None and self.unit >= max(map(abs, ends), default=0),
             "unit has to be below the larger of the absolute values of lower and upper; otherwise use scale: linear"),
        ]  # fmt: skip
        for broken, message in problems:
            if broken:
                raise ValueError(message)
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
                raise ValueError(
                    f"missing_codes has {code:g}; allowed: numbers outside the bounds of a column of numbers. For a number "
                    f"between them, declare recode: {{ '{code:g}': '-9' }}, and -9 here; or, without its meaning, "
                    f"recode: {{ '{code:g}': '' }}"
                )
            if round(code, self.places) != code:
                raise ValueError(f"missing_codes has {code:g}; allowed: numbers with the declared decimals")
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

    def allows(self, value: float) -> bool:
        """Return True for a number that the column can have: between its bounds, a code, or a 0 with a level of its own."""
        low, high = self.ends
        inside = low <= value <= high and round(value, self.places) == value
        return inside or value in self.codes or (value == 0 and self.own_zero)

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

    rows: int | None = Field(None, ge=2, le=10**9)
    """Number of rows in the file; left out where it is confidential."""
    source: Identifier
    """Name of the source: all files of the same people have the same one, and share a ledger."""
    other_people: bool = False
    """Whether the people are known to be others than those of any source with similar values."""
    protected: Line
    """Unit that a row describes, such as person; it is what the guarantee protects."""
    rows_each: int = Field(ge=1, le=100)
    """Largest number of rows of each protected unit that are used; the noise is as many times as large."""
    neighbours: Literal["add_remove", "replace"]
    """Neighbour relation: add_remove protects presence and values, replace only the values."""
    outside_bounds: Literal["clip", "refuse"]
    """Treatment of numbers outside the declared bounds."""
    missing: Literal["drop_rows", "refuse"]
    """Treatment of rows with a missing value."""
    zeros: Literal["keep", "drop_rows", "refuse"]
    """Treatment of outcomes of 0."""
    outcome: Name
    """The main column, whose mean and quantiles are reported."""
    pairs: list[tuple[Name, Name]]
    """Pairs of columns whose association noisy tables keep, the most important one first. Fewer are more precise."""
    accept_noise: list[tuple[Name, Name]] = Field(default_factory=list)
    """Declared pairs that a release keeps although its noise can invent an association."""
    margins: Annotated[float, Field(ge=0.01, le=0.99)] = 0.4
    """Share of the budget of noisy tables for the distributions of single columns; the rest is for pairs."""
    columns: dict[Name, Column] = Field(min_length=1)
    """The columns of the file, in its order."""
    rules: list[Rule] = Field(default_factory=list)
    """Values that follow from those of another column, such as a missing income without work."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if wrong := next(self._wrong(), ""):
            raise ValueError(wrong)
        return self

    def _wrong(self) -> Iterator[str]:
        """Yield reasons why the declarations are impossible; the first one may make the others meaningless."""
        outcome = self.outcome
        if outcome not in self.columns:
            yield f"outcome has to be one of the columns: {', '.join(self.columns)}"
        if self.target.release is not None:
            yield f"columns.{outcome}.release cannot be given, since outcome is {outcome}: it is always synthesized"
        if self.protected == outcome:
            yield f"protected has to be the unit that a row describes, such as person, not the outcome {outcome}"
        for name, column in self.columns.items():
            if name.endswith(KIND) and column.release != "suppressed":
                yield (
                    f"columns.{name}: the name of a released column cannot end in {KIND!r}, which marks the kind of a column's "
                    "value: missing, below 0, 0 or above 0. Rename it in the file, too"
                )
            if column.release is None and name != outcome:
                yield f"columns.{name}.release has to be given: only the outcome, {outcome}, is without it"
            if column.may_be_missing and self.missing == "drop_rows":
                yield (
                    f"columns.{name}.may_be_missing needs missing: refuse, which applies to the other columns: rows with a "
                    f"missing {name} stay"
                )
        if wrong := "; it also has ".join(self._wrong_pairs()):
            yield f"pairs has {wrong}"
        if wrong := "; ".join(wrong_rules(self)):
            yield f"rules: {wrong}"

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


class Curator(Model):
    """Publisher."""

    name: Line
    """Name of the office."""
    contact: Line
    """Contact for analysts' questions."""


class Regression(Model):
    """A linear regression."""

    predictors: Unique[Name] = Field(min_length=1)
    """Predictors of the outcome."""
    log: bool = False
    """Whether the response is the logarithm of the outcome."""

    def label(self, outcome: str) -> str:
        """Name of the analysis."""
        return f"{'log ' * self.log}{outcome} on {', '.join(self.predictors)}"


class Share(Model):
    """Share of all rows that have a certain value."""

    column: Name
    """The column."""
    value: float | Text | None = None
    """Rows with this value or category."""
    above: Finite | None = None
    """Rows with a number above this one."""
    below: Finite | None = None
    """Rows with a number below this one."""
    missing: bool = False
    """Rows whose value is missing."""

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

    means: Unique[Name] = Field(default_factory=list)
    """Columns of numbers whose means are compared."""
    shares: Unique[Share] = Field(default_factory=list)
    """Shares of rows that are compared."""
    quantiles: Unique[Annotated[float, Field(gt=0, lt=1)]] = Field(default_factory=lambda: [0.15, 0.5, 0.9])
    """Levels of quantiles of the outcome."""
    regressions: Unique[Regression] = Field(default_factory=list)
    """Linear regressions that are compared."""
    replicates: int = Field(100, ge=20, le=10_000)
    """Number of simulated releases for the intervals: with 100, the standard error of an error is 7 % of it."""


class ReleaseConfig(Model):
    """``release.yaml``: content and budget of a release."""

    sets: int = Field(ge=1, le=100)
    """Number of synthetic data sets, m."""
    rows: WholeNumber | None = Field(None, ge=2, le=10_000_000)
    """Rows in each set, chosen without the file; required where neighbours is add_remove or rows are dropped."""
    ceiling: Annotated[float, AfterValidator(_short)] = Field(ge=1e-4, le=LARGEST_EPSILON)
    """Largest epsilon that this release may claim; the release states it."""
    budget: Annotated[float, AfterValidator(_short)] = Field(gt=0, allow_inf_nan=False)
    """Epsilon that all releases from the file may claim together."""
    title: Line
    """Name of the published data."""
    intended_use: Line
    """Intended use of the data."""
    licence: Line
    """Licence under which they are published."""
    curator: Curator
    """Publisher."""
    analyses: Analyses = Field(default_factory=Analyses)
    """Analyses that get an interval, or a reason for none."""

    @model_validator(mode="after")
    def _within_budget(self) -> Self:
        if self.ceiling > self.budget:
            raise ValueError("ceiling has to be at most budget")
        return self
