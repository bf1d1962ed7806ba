"""Noisy tables that a release's declarations require: a crossing with another table or scale is refused."""

from __future__ import annotations

import math

from formalsynth.core.text import DataError
from formalsynth.custodian.crossing import CROSSING, FIT_PART, REHEARSED, ROUNDING, Crossing, Declarations, Part
from formalsynth.custodian.layout import Layout, Reading
from formalsynth.custodian.records import no_rows
from formalsynth.custodian.synthetic_sets import OUTCOME, PREDICTORS
from formalsynth.custodian.tables import knots_for, measured, no_noise, part_with_wrong_scores

KEYS = ("name", "columns", "epsilon", "scale", "largest", "shape", "reason")
"""Fields of a part that follow from the declarations, for noisy tables of all columns; so do the numbers of scores."""


def check_parts(crossing: Crossing, declarations: Declarations) -> None:
    """Compare the parts of a crossing with those that the declarations require.

    Raises:
        DataError: a part is missing, or differs.
    """
    if declarations.family == REHEARSED:
        return
    wrong = _wrong_tables if declarations.tables else _wrong_parts
    if name := wrong(crossing.tables, declarations):
        raise DataError(f"{CROSSING}: tables: {name}: is not what the declarations require")


def _wrong_tables(parts: tuple[Part, ...], declarations: Declarations) -> str:
    """Return the name of a part that is not one of the noisy tables of all columns; empty if there is none."""
    schema = declarations.schema_
    layout, ceiling = Layout(schema), declarations.release.ceiling
    if len(parts) != (number := len(layout.columns) + len(layout.pairs)):
        return f"{len(parts)} parts instead of {number}"
    knots = knots_for(schema, Reading.of(schema, parts).number, ceiling)
    wanted = measured(schema, no_rows(schema), ceiling, no_noise, knots)
    differing = (part.name for part, other in zip(parts, wanted, strict=True) if _required(part) != _required(other))
    return next(differing, "") or part_with_wrong_scores(schema, parts, knots)


def _required(part: Part) -> tuple[object, ...]:
    """Return what the declarations require of one of the noisy tables of all columns."""
    lengths = [{name: len(numbers) for name, numbers in stated.items()} for stated in (part.scores, part.knots)]
    return *(getattr(part, key) for key in KEYS), *lengths


def _wrong_parts(parts: tuple[Part, ...], declarations: Declarations) -> str:
    """Return the name of a part that belongs neither to the outcome nor to the predictors; empty if there is none."""
    schema, wanted = declarations.schema_, dict[str, tuple[tuple[str, ...], float | None]]()
    if schema.synthesized:
        wanted[PREDICTORS] = tuple(schema.synthesized), declarations.release.predictors_epsilon
    if declarations.fitted:
        wanted[FIT_PART] = (*schema.predictors, schema.outcome), declarations.claim
    elif declarations.family is None:
        wanted[OUTCOME] = (schema.outcome,), declarations.claim
    if sorted(part.name for part in parts) != sorted(wanted):
        return ", ".join(part.name for part in parts) or "none"
    for part in parts:
        columns, epsilon = wanted[part.name]
        same_epsilon = math.isclose(part.epsilon, epsilon or 0, rel_tol=ROUNDING - 1)
        if part.columns != columns or part.largest != 1 or part.scores or part.knots or not same_epsilon:
            return part.name
    return ""
