"""Noisy tables that a release's declarations require: a crossing with another table or scale is refused."""

from __future__ import annotations

from formalsynth.core.text import DataError
from formalsynth_release.crossing import CROSSING, Crossing, Declarations, Part
from formalsynth_release.layout import Layout, Reading
from formalsynth_release.records import no_rows
from formalsynth_release.tables import kept_pairs, knots_for, measured, no_noise, part_with_wrong_scores

KEYS = ("name", "columns", "epsilon", "scale", "largest", "shape", "reason")
"""Fields of a part that follow from the declarations; so do the numbers of scores."""


def check_parts(crossing: Crossing, declarations: Declarations) -> None:
    """Compare the parts of a crossing with those that the declarations require.

    Raises:
        DataError: a part is missing, or differs.
    """
    if name := _wrong(crossing.tables, declarations):
        raise DataError(f"{CROSSING}: tables: {name}: is not what the declarations require")


def _wrong(parts: tuple[Part, ...], declarations: Declarations) -> str:
    """Return the name of a part that the declarations do not require; empty if there is none."""
    schema = declarations.schema_
    layout, ceiling = Layout(schema), declarations.release.ceiling
    margins = [part for part, width in zip(parts, layout.widths.values(), strict=False) if part.shape == (width,)]
    if len(margins) < len(layout.columns):
        return f"{len(parts)} parts"
    reading = Reading(layout, margins)
    kept = kept_pairs(layout, reading, ceiling)
    if len(parts) != (number := len(margins) + len(kept)):
        return f"{len(parts)} parts instead of {number}"
    knots = knots_for(layout.of_pairs(kept), reading.number, layout.epsilon_of_pair(ceiling, len(kept))) if kept else 0
    wanted = measured(schema, no_rows(schema), ceiling, no_noise, knots, kept)
    differing = (part.name for part, other in zip(parts, wanted, strict=True) if _required(part) != _required(other))
    return next(differing, "") or part_with_wrong_scores(schema, parts, knots)


def _required(part: Part) -> tuple[object, ...]:
    """Return what the declarations require of a part."""
    lengths = [{name: len(numbers) for name, numbers in stated.items()} for stated in (part.scores, part.knots)]
    return *(getattr(part, key) for key in KEYS), *lengths
