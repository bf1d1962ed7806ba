"""Synthetic data sets of a release: drawn once, from randomness that is not kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.custodian.candidates import HISTOGRAM, Candidate
from formalsynth.custodian.noise import noisy_counts, shares
from formalsynth.custodian.outcomes import released_histogram, synthetic_outcomes, uses_predictors
from formalsynth.custodian.records import cells, design_of, from_unit
from formalsynth.custodian.schema import Column, Declared, ReleaseConfig, ReleaseDraft, Schema

ROUNDING = 1 + 1e-9
"""Factor by which a sum of claims may exceed the ceiling."""
CELLS = 100_000
"""Largest number of cells of a table of synthesized predictors."""


@dataclass(frozen=True)
class SyntheticSets:
    """Synthetic data sets with their claim."""

    sets: tuple[pd.DataFrame, ...]
    epsilon: float
    """Claim for all sets; confidential unless the guarantee is pure."""
    uses_predictors: bool
    """True if outcomes were drawn given the predictors."""


def draw_sets(declared: Declared, config: ReleaseConfig, table: pd.DataFrame, candidate: Candidate) -> SyntheticSets:
    """Synthetic data sets of a fitted candidate.

    Args:
        declared: declarations of the file.
        config: settings of the release.
        table: the confidential rows.
        candidate: the chosen candidate.

    Raises:
        DataError: it failed, its noise is not safe, or it claims more than the declared ceiling.
    """
    schema = declared.schema
    if candidate.reason:
        raise DataError(f"{candidate.synthesizer.id}: could not be fitted: {candidate.reason}; nothing is released")
    epsilon = with_predictors(schema, config, candidate.per_release(config.sets))
    if epsilon > config.ceiling * ROUNDING:
        raise DataError(
            f"{candidate.synthesizer.id}: claims more than the declared ceiling of {config.ceiling:g} for "
            f"{counted(config.sets, 'set')}; nothing is released. Choose another candidate or fewer sets"
        )
    return SyntheticSets(tuple(synthetic_sets(schema, config, table, candidate)), epsilon, uses_predictors(schema, candidate))


def synthetic_sets(
    schema: Schema, draft: ReleaseDraft | ReleaseConfig, table: pd.DataFrame, candidate: Candidate
) -> list[pd.DataFrame]:
    """Synthetic data sets of a fitted candidate, with the predictors, the noise and the number of rows of a release.

    Raises:
        DataError: something that it needs is not declared, or its noise is not safe.
    """
    check_draft(schema, draft)
    generator, rows = np.random.default_rng(), rows_of(schema, draft, table)
    order = generator.permutation(rows)
    predictors = [frame.iloc[order].reset_index(drop=True) for frame in _predictors(schema, draft, table, rows, generator)]
    if candidate.direct:
        if candidate.synthesizer.mechanism != HISTOGRAM:
            raise DataError(
                f"{candidate.synthesizer.id}: the noise of {candidate.synthesizer.mechanism} is not safe in floating point; "
                f"nothing is released. Choose {HISTOGRAM}, or a synthesizer with a posterior"
            )
        candidate = released_histogram(schema, table[schema.outcome].to_numpy(dtype=float), rows, candidate)
    outcomes = synthetic_outcomes(schema, candidate, [design_of(schema, frame) for frame in predictors], generator)
    columns = list(schema.released)
    return [frame.assign(**{schema.outcome: outcome})[columns] for frame, outcome in zip(predictors, outcomes, strict=True)]


def with_predictors(schema: Schema, draft: ReleaseDraft | ReleaseConfig, epsilon: float) -> float:
    """Epsilon of the outcomes and of the noisy table of predictors together."""
    return epsilon + (draft.predictors_epsilon or 0 if schema.synthesized else 0)


def check_draft(schema: Schema, draft: ReleaseDraft | ReleaseConfig) -> None:
    """Check, without the file, that everything is declared from which sets are drawn.

    Raises:
        DataError: something is missing, or the predictors cannot be drawn.
    """
    if schema.neighbours == "add_remove" and draft.rows is None:
        raise DataError(
            "release.yaml: rows: is missing; where neighbours is add_remove the number of rows of the file is confidential: "
            "give the number of rows that each synthetic set is to have"
        )
    if not schema.synthesized:
        return
    if len(schema.synthesized) < len(schema.predictors):
        raise DataError(
            "schema.yaml: columns: some predictors are as_is and some synthesized; allowed: all of one kind, since what is drawn "
            "cannot belong to the rows of a file. Suppress one of the kinds"
        )
    if draft.predictors_epsilon is None:
        raise DataError("release.yaml: predictors_epsilon: is missing; it is the budget of the noisy table of the predictors")
    if (cells_of_table := math.prod(map(_width, schema.synthesized.values()))) > CELLS:
        raise DataError(f"schema.yaml: columns: the synthesized ones have {cells_of_table} cells; allowed: up to {CELLS}")


def rows_of(schema: Schema, draft: ReleaseDraft | ReleaseConfig, table: pd.DataFrame) -> int:
    """Rows of each set: where being in the file is protected, a declared number in place of the file's."""
    return len(table) if schema.neighbours == "replace" else int(draft.rows or 0)


def _predictors(
    schema: Schema, draft: ReleaseDraft | ReleaseConfig, table: pd.DataFrame, rows: int, generator: np.random.Generator
) -> list[pd.DataFrame]:
    """Return the predictors of each set: as they are, or drawn from one noisy table."""
    if not schema.synthesized:
        as_they_are = table[list(schema.predictors)]
        return [as_they_are if len(as_they_are.columns) else pd.DataFrame(index=range(rows))] * draft.sets
    assert draft.predictors_epsilon is not None
    places = [_cells(column, table[name]) for name, column in schema.synthesized.items()]
    shape = [_width(column) for column in schema.synthesized.values()]
    counts = np.bincount(np.ravel_multi_index(tuple(places), shape), minlength=math.prod(shape))
    probability = shares(noisy_counts([int(count) for count in counts], draft.predictors_epsilon, SENSITIVITY[schema.neighbours]))
    return [_rows(schema.synthesized, probability, shape, rows, generator) for _ in range(draft.sets)]


def _width(column: Column) -> int:
    return len(column.categories or []) if column.type == "category" else column.bins


def _cells(column: Column, values: pd.Series) -> Integers:
    if column.type == "category":
        return pd.Categorical(values, categories=column.categories).codes.astype(int)
    return cells(column, values.to_numpy(dtype=float), column.bins)


def _rows(
    columns: Mapping[str, Column], probability: Array, shape: list[int], n: int, generator: np.random.Generator
) -> pd.DataFrame:
    """Rows drawn from a table of probabilities; numbers are uniform inside their bin on the declared scale."""
    places = np.unravel_index(generator.choice(len(probability), n, p=probability), shape)
    drawn: dict[str, Array] = {}
    for (name, column), place in zip(columns.items(), places, strict=True):
        if column.type == "category":
            drawn[name] = np.array(column.categories, dtype=object)[place]
        else:
            drawn[name] = np.round(from_unit(column, (place + generator.random(n)) / column.bins), column.places)
    return pd.DataFrame(drawn)
