"""Confidential side of a release: computes the numbers that leave it from the rows and a fitted candidate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Integers, count
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.core.private import PublicTables
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.custodian.candidates import HISTOGRAM, Candidate
from formalsynth.custodian.crossing import FIT_PART, ROUNDING, Part, ReleasedDraws, drawn_reason, noise_reason, released_draws
from formalsynth.custodian.records import cells, codes
from formalsynth.custodian.schema import Column, ReleaseConfig, ReleaseDraft, Schema
from formalsynth.custodian.synthetic_sets import OUTCOME, PREDICTORS, Crossed
from formalsynth.custodian.tables import measured, noisy_part

if TYPE_CHECKING:
    import pandas as pd


CELLS = 100_000
"""Largest number of cells of a table of synthesized predictors."""


def crossed(schema: Schema, draft: ReleaseDraft | ReleaseConfig, table: pd.DataFrame, candidate: Candidate) -> Crossed:
    """Draw the noise and choose the posterior draws of a release; afterwards, nothing else from the rows is used.

    Args:
        schema: declarations of the file.
        draft: settings of the release.
        table: the confidential rows.
        candidate: a fitted candidate.

    Raises:
        DataError: a declaration that it needs is missing, the candidate failed, or its noise is not safe.
    """
    check_draft(schema, draft)
    if candidate.reason:
        raise DataError(f"{candidate.synthesizer.id}: could not be fitted: {candidate.reason}; nothing is released")
    generator, rows, as_is = np.random.default_rng(), rows_of(schema, draft, len(table)), None
    tables = [_predictors(schema, draft, table)] if schema.synthesized else []
    if schema.predictors and not schema.synthesized:
        as_is = table[list(schema.predictors)].iloc[generator.permutation(rows)].reset_index(drop=True)
    if candidate.public is not None:
        tables.append(fitted_part(schema, candidate.public))
    if candidate.fitted or not candidate.noisy:
        return Crossed(rows, draft.sets, tuple(tables), _draws(draft, candidate, generator), as_is)
    if candidate.synthesizer.mechanism != HISTOGRAM:
        raise DataError(
            f"{candidate.synthesizer.id}: the noise of {candidate.synthesizer.mechanism} is not safe in floating point; "
            f"nothing is released. Choose {HISTOGRAM}, or a synthesizer with a posterior"
        )
    outcomes = table[schema.outcome].to_numpy(dtype=float)
    bins = int(candidate.synthesizer.parameters.get("bins", 0)) or math.isqrt(rows)
    places = cells(schema.target, outcomes, bins)
    tables.append(_noisy(schema, OUTCOME, [schema.outcome], [places], [bins], candidate.epsilon))
    return Crossed(rows, draft.sets, tuple(tables), None, as_is)


def crossed_tables(schema: Schema, config: ReleaseConfig, table: pd.DataFrame) -> Crossed:
    """Count all columns of a release, with noise; afterwards, nothing else from the rows is used."""
    return Crossed(rows_of(schema, config, len(table)), config.sets, measured(schema, table, config.ceiling))


def _noisy(
    schema: Schema, name: str, columns: Sequence[str], places: Sequence[Integers], shape: Sequence[int], epsilon: float
) -> Part:
    """Count the rows in each cell of a table, and add noise."""
    counts = np.bincount(np.ravel_multi_index(tuple(places), tuple(shape)), minlength=math.prod(shape))
    return noisy_part(schema, name, columns, shape, counts, 1, epsilon)


def fitted_part(schema: Schema, public: PublicTables) -> Part:
    """Return the noisy table of the outcome, cross-classified by the predictor if there is one."""
    (table,) = public.noisy.outcome
    columns, sensitivity = (*schema.predictors, schema.outcome), SENSITIVITY[schema.neighbours]
    epsilon = sensitivity / public.scale
    return Part(
        name=FIT_PART, columns=columns, epsilon=epsilon, scale=public.scale,
        reason=noise_reason(sensitivity, public.scale, epsilon), shape=table.shape if schema.predictors else (table.size,),
        numbers=tuple(int(number) for number in table.ravel()),
    )  # fmt: skip


def _draws(draft: ReleaseDraft | ReleaseConfig, candidate: Candidate, generator: np.random.Generator) -> ReleasedDraws:
    """Choose posterior draws, one for each set.

    Raises:
        ValueError: there are fewer draws than sets.
    """
    number = count(candidate.draws)
    if number < draft.sets:
        raise ValueError(f"{draft.sets} sets need as many posterior draws, but there are only {number}")
    chosen = generator.permutation(number)[: draft.sets]
    epsilon = 0.0 if candidate.fitted else candidate.per_release(draft.sets) if candidate.pure else None
    return ReleasedDraws(
        name="posterior draws", mechanism=candidate.synthesizer.mechanism, epsilon=epsilon, fit_p=candidate.fit_p,
        reason=drawn_reason(draft.sets, candidate.fitted), **released_draws(candidate.draws, chosen.tolist()),
    )  # fmt: skip


def _predictors(schema: Schema, draft: ReleaseDraft | ReleaseConfig, table: pd.DataFrame) -> Part:
    """Count the combinations of the synthesized predictors, with noise."""
    assert draft.predictors_epsilon is not None
    columns = schema.synthesized
    places = [places_of(column, table[name]) for name, column in columns.items()]
    return _noisy(
        schema, PREDICTORS, list(columns), places, [column.width for column in columns.values()], draft.predictors_epsilon
    )


def places_of(column: Column, values: pd.Series) -> Integers:
    """Return the index of each value's category or bin, from 0."""
    if column.type == "category":
        return codes(column, values)
    return cells(column, values.to_numpy(dtype=float), column.bins)


def with_predictors(schema: Schema, draft: ReleaseDraft | ReleaseConfig, epsilon: float) -> float:
    """Add the epsilon of the noisy table of predictors to that of the outcomes."""
    return epsilon + (draft.predictors_epsilon or 0 if schema.synthesized else 0)


def check_claim(schema: Schema, config: ReleaseConfig, candidate: Candidate) -> None:
    """Check that a fitted candidate claims no more than the declared ceiling.

    Raises:
        DataError: it claims more.
    """
    if not with_predictors(schema, config, candidate.per_release(config.sets)) <= config.ceiling * ROUNDING:
        raise DataError(
            f"{candidate.synthesizer.id}: claims more than the declared ceiling of {config.ceiling:g} for "
            f"{counted(config.sets, 'set')}; nothing is released. Choose another candidate or fewer sets"
        )


def check_draft(schema: Schema, draft: ReleaseDraft | ReleaseConfig) -> None:
    """Check, without the file, that everything needed to draw the sets is declared.

    Raises:
        DataError: something is missing, or the predictors cannot be drawn.
    """
    check_rows_declared(schema, draft)
    if not schema.synthesized:
        return
    if len(schema.synthesized) < len(schema.predictors):
        raise DataError(
            "schema.yaml: columns: some predictors are as_is and some synthesized; allowed: all of one kind, since drawn values "
            "cannot be matched to rows of the file. Suppress the predictors of one kind"
        )
    if draft.predictors_epsilon is None:
        raise DataError("release.yaml: predictors_epsilon: is missing; it is the budget of the noisy table of the predictors")
    if (cells_of_table := math.prod(column.width for column in schema.synthesized.values())) > CELLS:
        raise DataError(
            f"schema.yaml: columns: the table of synthesized columns has {cells_of_table} cells; allowed: up to {CELLS}"
        )


def check_rows_declared(schema: Schema, draft: ReleaseDraft | ReleaseConfig) -> None:
    """Check that the number of synthetic rows is declared where that of the file is confidential, and only there.

    Raises:
        DataError: it is missing, or another one than that of the file is declared.
    """
    if not schema.hides_rows and draft.rows not in (None, schema.rows):
        raise DataError(
            f"release.yaml: rows: given {draft.rows}; allowed: {schema.rows}, or leave it out: the number of rows of this file "
            "is public, so each synthetic set has as many"
        )
    if schema.hides_rows and draft.rows is None:
        raise DataError(
            "release.yaml: rows: is missing; where neighbours is add_remove, or rows with a missing value or an outcome of 0 are "
            "dropped, the number of used rows is confidential: give the number of rows for each synthetic set"
        )


def rows_of(schema: Schema, draft: ReleaseDraft | ReleaseConfig, used: int) -> int:
    """Return the number of rows of each set: that of the used rows, or the declared number if that is confidential."""
    return int(draft.rows or 0) if schema.hides_rows else used
