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

MISSING = "missing"
"""Word for a missing value in a rule."""
Value = Annotated[float, Field(strict=True, allow_inf_nan=False)] | str
Mask = NDArray[np.bool_]


class Range(Model):
    """Numbers below or above a limit."""

    below: Finite | None = None
    """Numbers below this one."""
    above: Finite | None = None
    """Numbers above this one."""

    @model_validator(mode="after")
    def _single(self) -> Self:
        if (self.below is None) == (self.above is None):
            raise ValueError("a range needs either below or above")
        return self


class Rule(Model):
    """Values of a column that follow from a value of another one, in each row alone."""

    if_: dict[str, Value | list[Value] | Range] = Field(alias="if", min_length=1, max_length=1)
    """Column and its values."""
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
            return _listed(condition)[0]
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
        holds = _holds(condition, columns[cause], table[cause])
        return holds & ~_possible(possible, columns[effect], table[effect])


Condition = Value | list[Value] | Range


def _words(condition: Condition) -> str:
    if isinstance(condition, Range):
        return f"below {exact(condition.below)}" if condition.below is not None else f"above {exact(condition.above or 0.0)}"
    return " or ".join(value if isinstance(value, str) else exact(value) for value in _listed(condition))


def _listed(condition: Value | list[Value]) -> list[Value]:
    return condition if isinstance(condition, list) else [condition]


def _holds(condition: Condition, column: Column, values: pd.Series) -> pd.Series:
    if isinstance(condition, Range):
        amounts = column.amounts(values)
        return amounts < condition.below if condition.below is not None else amounts > condition.above
    wanted = _listed(condition)
    return values.isin(wanted) | (values.isna() if MISSING in wanted else False)


def _possible(condition: Condition, column: Column, values: pd.Series) -> pd.Series:
    """Mask the values that a rule allows; one that is missing, or a code, breaks no range."""
    holds = _holds(condition, column, values)
    return holds | column.amounts(values).isna() if isinstance(condition, Range) else holds


def applied(schema: PublicSchema, table: pd.DataFrame) -> pd.DataFrame:
    """Replace impossible values by the first possible one, row by row: no row depends on another one."""
    for rule in schema.rules:
        name, first = rule.columns[1], rule.replacement(schema.columns)
        changed = table[name].mask(rule.broken(schema.columns, table), np.nan if first == MISSING else first)
        table = table.assign(**{name: changed})
    return table


def broken(schema: PublicSchema, table: pd.DataFrame) -> Iterator[tuple[str, int]]:
    """Yield the rules that rows break, with their number."""
    for rule in schema.rules:
        if number := int(rule.broken(schema.columns, table).sum()):
            yield rule.sentence, number


def impossible(schema: PublicSchema, columns: Mapping[str, Levels]) -> Iterator[tuple[str, Mask, str, Mask]]:
    """Yield two columns of each rule, each with a mask (levels,): no row has a masked level of both.

    Raises:
        DataError: a limit is inside a bin, or a value has no level of its own.
    """
    for rule in schema.rules:
        (cause, effect), (condition, values) = rule.columns, rule.conditions
        holds = _levels_where(rule, cause, condition, columns[cause], _holds)
        possible = _levels_where(rule, effect, values, columns[effect], _possible)
        yield cause, holds, effect, ~possible


def _levels_where(
    rule: Rule, name: str, condition: Condition, levels: Levels, holds: Callable[[Condition, Column, pd.Series], pd.Series]
) -> Mask:
    """Mask the levels (levels,) whose values fulfil a condition."""
    import pandas as pd

    first, last = (holds(condition, levels.column, levels.examples(share)).to_numpy() for share in (0.0, 1.0))
    values = (
        []
        if isinstance(condition, Range) or levels.column.type == "category"
        else [v for v in _listed(condition) if v != MISSING]
    )
    if (first != last).any() or not first[levels.of(pd.Series(values, dtype=float))].all():
        raise DataError(f"schema.yaml: rules: {rule.sentence}: is inside a bin of {name}: declare it in edges or points")
    return first


def wrong_rules(schema: PublicSchema) -> Iterator[str]:
    """Yield reasons why the rules of a schema are impossible: unknown columns or values, or rules that undo others."""
    changed = dict[str, list[Rule]]()
    for rule in schema.rules:
        unknown = [name for name in rule.columns if name not in schema.released]
        if unknown or len(set(rule.columns)) < 2:
            yield f"{rule.sentence}: needs two different released columns; allowed: {', '.join(schema.released)}"
            continue
        sides = list(zip(rule.columns, rule.conditions, strict=True))
        if ranged := [name for name, of in sides if isinstance(of, Range) and schema.columns[name].type == "category"]:
            yield f"{rule.sentence}: {ranged[0]} has categories, and no numbers"
            continue
        named = [(name, value) for name, of in sides if not isinstance(of, Range) for value in _listed(of)]
        yield from (
            f"{rule.sentence}: {value!r} is no value of {name}; allowed: {', '.join(_allowed(schema.columns[name]))}"
            for name, value in dict.fromkeys([*named, (rule.columns[1], rule.replacement(schema.columns))])
            if not _is_value(schema, name, value)
        )
        for other in changed.get(rule.columns[1], []):
            if not (_agree(schema, rule, other) and _agree(schema, other, rule)):
                yield f"{rule.sentence}: contradicts the rule that {other.sentence}"
        changed.setdefault(rule.columns[1], []).append(rule)
    causes = [rule.columns[0] for rule in schema.rules]
    for place, rule in enumerate(schema.rules):
        if rule.columns[1] in causes[: place + 1]:
            yield f"{rule.sentence}: changes a column that a rule before it uses; put it first"


def _agree(schema: PublicSchema, first: Rule, second: Rule) -> bool:
    """Return True if the value that one rule sets is possible by another rule for the same column."""
    import pandas as pd

    value = first.replacement(schema.columns)
    values = pd.Series([np.nan if value == MISSING else value])
    return bool(_holds(second.conditions[1], schema.columns[second.columns[1]], values).all())


def _allowed(column: Column) -> Iterator[str]:
    """Describe the values that a rule may name: codes of missing values by their number."""
    if column.type == "category":
        yield from column.categories or []
    else:
        yield f"numbers from {exact(column.ends[0])} to {exact(column.ends[1])}, with the declared decimals"
        yield from map(exact, [*([0.0] if column.own_zero else []), *column.codes])
    yield from [MISSING] if column.may_be_missing else []


def _is_value(schema: PublicSchema, name: str, value: Value) -> bool:
    column = schema.columns[name]
    if value == MISSING and column.may_be_missing:
        return True
    if column.type == "category" or isinstance(value, str):
        return value in (column.categories or [])
    return column.allows(value)
