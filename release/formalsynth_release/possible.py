"""Reasons why the declarations of a user are impossible, from the declarations alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from formalsynth.core.text import counted, exact
from formalsynth_release.rules import MISSING, Range, Rule, Value, fulfils, listed
from formalsynth_release.schema import KIND, LARGEST, Column, PublicSchema


def wrong_column(column: Column) -> Iterator[str]:
    """Yield reasons why the keys of a column are impossible; the first one may make the others meaningless."""
    wanted, used = {"categories"} if column.type == "category" else {"lower", "upper"}, column.release != "suppressed"
    given = {"lower": column.lower, "upper": column.upper, "categories": column.categories}
    key = next((key for key, value in given.items() if (value is not None) != (key in wanted)), "")
    ends, categories = [end for end in (column.lower, column.upper) if end is not None], column.categories or []
    kind = "whole numbers" if column.type == "whole" else f"of at most {counted(column.places, 'decimal place')} (decimals)"
    unknown = [code for code in column.labels or {} if code not in categories]
    longer = [text for text in categories or [""] if column.leading and len(text) > column.leading]
    since = column.date in ("months", "days")
    problems = {
        f"a column of type {column.type} requires {' and '.join(sorted(wanted))} only; see {key}": key and used,
        f"lower and upper have to be between {-LARGEST:g} and {LARGEST:g}": any(abs(end) > LARGEST for end in ends),
        f"lower and upper have to be {kind}, as released values are": used and any(round(e, column.places) != e for e in ends),
        "decimals are for columns of type number only": column.decimals and column.type != "number",
        "ordered is for categories only: numbers have an order": column.ordered and column.type != "category",
        "own_zero is for numbers with an upper bound above 0": column.own_zero and (column.upper or 0) <= 0,
        "date is for columns of type whole: a release has the year, or the number of months or days":
            column.date and column.type != "whole",
        "since is needed for date: months and date: days, and only there; format is for dates only":
            since != (column.since is not None) or (column.format and not column.date),
        f"labels has {unknown[:1]}, which is not one of the categories": unknown,
        f"leading is {column.leading}, but categories has {longer[:1]}: categories are what is left of a value": longer,
        f"scale: log needs a lower bound above 0, of at least {1 / LARGEST:g}; with it, own_zero: true allows 0":
            column.scale == "log" and (column.lower or 0) < 1 / LARGEST,
        "unit has to be given for scale: signed_log, and only for it":
            (column.scale == "signed_log") != (column.unit is not None),
        "unit has to be below the larger of the absolute values of lower and upper; otherwise use scale: linear":
            column.unit is not None and column.unit >= max(map(abs, ends), default=0),
        "lower has to be below upper": len(ends) == 2 and not ends[0] < ends[1],
    }  # fmt: skip
    yield from (problem for problem, broken in problems.items() if broken)
    yield from _wrong_levels(column)


def _wrong_levels(column: Column) -> Iterator[str]:
    bounded = column.type != "category" and None not in (column.lower, column.upper)
    low, high = column.ends if bounded else (np.inf, -np.inf)
    for key, values, least in (("points", column.points, low), ("edges", column.edges, low + 10.0**-column.places)):
        for value in values or []:
            if not least <= value <= high:
                yield f"{key} has {exact(value)}; allowed: numbers between the bounds of a column of numbers"
            if round(value, column.places) != value or (value == 0 and column.own_zero and key == "points"):
                yield f"{key} has {exact(value)}; allowed: other numbers than 0, with the declared decimals"
    for code in column.codes:
        if low > high or low <= code <= high or (code == 0 and column.own_zero):
            recode = f"recode: {{ '{code:g}': '-9' }}, and -9 here; or, without its meaning, recode: {{ '{code:g}': '' }}"
            outside = "numbers outside the bounds of a column of numbers. For a number between them, declare"
            yield f"missing_codes has {code:g}; allowed: {outside} {recode}"
        if round(code, column.places) != code:
            yield f"missing_codes has {code:g}; allowed: numbers with the declared decimals"


def wrong_schema(schema: PublicSchema) -> Iterator[str]:
    """Yield reasons why the declarations of a schema are impossible; the first one may make the others meaningless."""
    if schema.outcome not in schema.columns:
        yield f"outcome has to be one of the columns: {', '.join(schema.columns)}"
    if schema.target.release is not None:
        yield f"columns.{schema.outcome}.release cannot be given, since outcome is {schema.outcome}: it is always synthesized"
    if schema.protected == schema.outcome:
        yield f"protected has to be the unit that a row describes, such as person, not the outcome {schema.outcome}"
    for name, column in schema.columns.items():
        if name.endswith(KIND) and column.release != "suppressed":
            marks = "which marks the kind of a value: missing, below 0, 0 or above 0. Rename it in the file, too"
            yield f"columns.{name}: the name of a released column cannot end in {KIND!r}, {marks}"
        if column.release is None and name != schema.outcome:
            yield f"columns.{name}.release has to be given: only the outcome, {schema.outcome}, is without it"
        if column.may_be_missing and schema.missing == "drop_rows":
            yield f"columns.{name}.may_be_missing needs missing: refuse, for other columns: rows with a missing {name} stay"
    if wrong := "; it also has ".join(_wrong_pairs(schema)):
        yield f"pairs has {wrong}"
    if wrong := "; ".join(_wrong_rules(schema)):
        yield f"rules: {wrong}"


def _wrong_pairs(schema: PublicSchema) -> Iterator[str]:
    counts = Counter(frozenset(pair) for pair in schema.pairs)
    if twice := [" and ".join(sorted(pair)) for pair, number in counts.items() if number > 1]:
        yield f"a pair twice: {'; '.join(twice)}"
    if own := [f"{a} and {b}" for a, b in schema.pairs if a.removesuffix(KIND) == b.removesuffix(KIND)]:
        yield f"a column with itself: {'; '.join(own)}; its margin keeps its distribution"
    known = [name for column, of_column in schema.released.items() for name in [column, *of_column.kind_of(column)]]
    unknown = {name: None for pair in schema.pairs for name in pair if name not in known}
    if unknown:
        yield f"{', '.join(map(repr, unknown))}; allowed: {', '.join(known)}"
    if other := [f"{a} and {b}" for a, b in schema.accept_noise if frozenset((a, b)) not in counts]:
        yield f"no {'; no '.join(other)}, which accept_noise names"


def _wrong_rules(schema: PublicSchema) -> Iterator[str]:
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
        named = [(name, value) for name, of in sides if not isinstance(of, Range) for value in listed(of)]
        for name, value in dict.fromkeys([*named, (rule.columns[1], rule.replacement(schema.columns))]):
            if allowed := _allowed(schema.columns[name], value):
                yield f"{rule.sentence}: {value!r} is no value of {name}; allowed: {allowed}"
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
    return bool(fulfils(second.conditions[1], schema.columns[second.columns[1]], values).all())


def _allowed(column: Column, value: Value) -> str:
    """Describe the values that a rule may name, and codes of missing values by their number; empty for one of them."""
    named, numbers = [*(column.categories or []), *([MISSING] if column.may_be_missing else [])], list[str]()
    if column.type != "category":
        low, high = map(exact, column.ends)
        single = map(exact, [*([0.0] if column.own_zero else []), *column.codes])
        numbers = [f"numbers from {low} to {high}, with the declared decimals", *single]
    known = value in named if isinstance(value, str) or not numbers else column.allows(value)
    return "" if known else ", ".join([*numbers, *named])
