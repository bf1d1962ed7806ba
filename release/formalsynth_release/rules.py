"""Structural zeros and missing values: what a value of one column makes impossible in another one, declared and public."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from formalsynth.core.constraints import Finite
from formalsynth.core.model import Model
from formalsynth.core.text import DataError, exact

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth_release.levels import Levels
    from formalsynth_release.schema import Column, PublicSchema

MISSING = "missing"  # word for a missing value in a rule
Value = Annotated[float, Field(strict=True, allow_inf_nan=False)] | str
Mask = NDArray[np.bool_]


class Range(Model):
    """Numbers below or above a limit."""

    below: Finite | None = None  # numbers below this one
    above: Finite | None = None  # numbers above this one

    @model_validator(mode="after")
    def _single(self) -> Self:
        if (self.below is None) == (self.above is None):
            raise ValueError("a range needs either below or above")
        return self


class Rule(Model):
    """Values of a column that follow from a value of another one, in each row alone."""

    if_: dict[str, Value | list[Value] | Range] = Field(alias="if", min_length=1, max_length=1)  # column and its values
    then: dict[str, Value | list[Value] | Range] = Field(min_length=1, max_length=1)
    """Column and the values that are possible; a row with another value gets the first, or the nearest of a range."""

    @property
    def columns(self) -> tuple[str, str]:
        """The column with the condition, and the one whose values it determines."""
        return next(iter(self.if_)), next(iter(self.then))

    @property
    def conditions(self) -> tuple[Condition, Condition]:
        """The condition, and the possible values."""
        return next(iter(self.if_.values())), next(iter(self.then.values()))

    def replacement(self, columns: Mapping[str, Column]) -> Value:
        """Return the possible value that replaces others."""
        condition, step = self.conditions[1], 10.0 ** -columns[self.columns[1]].places
        if not isinstance(condition, Range):
            return listed(condition)[0]
        nearest = condition.below - step if condition.below is not None else (condition.above or 0.0) + step
        return round(nearest, columns[self.columns[1]].places)

    @property
    def sentence(self) -> str:
        """The rule in words."""
        (cause, effect), (condition, possible) = self.columns, self.conditions
        return f"{effect} is {_words(possible)} if {cause} is {_words(condition)}"

    def broken(self, columns: Mapping[str, Column], table: pd.DataFrame) -> pd.Series:
        """Mask the rows in which the condition holds, and the value is impossible."""
        (cause, effect), (condition, possible) = self.columns, self.conditions
        holds = fulfils(condition, columns[cause], table[cause])
        return holds & ~_possible(possible, columns[effect], table[effect])


Condition = Value | list[Value] | Range


def _words(condition: Condition) -> str:
    if isinstance(condition, Range):
        return f"below {exact(condition.below)}" if condition.below is not None else f"above {exact(condition.above or 0.0)}"
    return " or ".join(value if isinstance(value, str) else exact(value) for value in listed(condition))


def listed(condition: Value | list[Value]) -> list[Value]:
    """Return the values of a condition without a range."""
    return condition if isinstance(condition, list) else [condition]


def fulfils(condition: Condition, column: Column, values: pd.Series) -> pd.Series:
    """Mask the values (n,) that fulfil a condition."""
    if isinstance(condition, Range):
        amounts = column.amounts(values)
        return amounts < condition.below if condition.below is not None else amounts > condition.above
    wanted = listed(condition)
    return values.isin(wanted) | (values.isna() if MISSING in wanted else False)


def _possible(condition: Condition, column: Column, values: pd.Series) -> pd.Series:
    """Mask the values that a rule allows; one that is missing, or a code, breaks no range."""
    holds = fulfils(condition, column, values)
    return holds | column.amounts(values).isna() if isinstance(condition, Range) else holds


def applied(schema: PublicSchema, table: pd.DataFrame) -> pd.DataFrame:
    """Replace impossible values by the first possible one, row by row: no row depends on another one."""
    for rule in schema.rules:
        name, first = rule.columns[1], rule.replacement(schema.columns)
        changed = table[name].mask(rule.broken(schema.columns, table), np.nan if first == MISSING else first)
        table = table.assign(**{name: changed})
    return table


def impossible(schema: PublicSchema, columns: Mapping[str, Levels]) -> Iterator[tuple[str, Mask, str, Mask]]:
    """Yield two columns of each rule, each with a mask (levels,): no row has a masked level of both."""
    for rule in schema.rules:
        (cause, effect), (condition, values) = rule.columns, rule.conditions
        holds = _levels_where(rule, cause, condition, columns[cause], fulfils)
        possible = _levels_where(rule, effect, values, columns[effect], _possible)
        yield cause, holds, effect, ~possible


def _levels_where(
    rule: Rule, name: str, condition: Condition, levels: Levels, holds: Callable[[Condition, Column, pd.Series], pd.Series]
) -> Mask:
    """Mask the levels (levels,) whose values fulfil a condition."""
    import pandas as pd

    first, last = (holds(condition, levels.column, levels.examples(share)).to_numpy() for share in (0.0, 1.0))
    values = [] if isinstance(condition, Range) else [value for value in listed(condition) if not isinstance(value, str)]
    if (first != last).any() or not first[levels.of(pd.Series(values, dtype=float))].all():
        raise DataError(f"schema.yaml: rules: {rule.sentence}: is inside a bin of {name}: declare it in edges or points")
    return first
