"""The synthetic data sets of a release: drawn once, from randomness that is not kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.words import counted
from formalsynth.custody.candidates import HISTOGRAM, SENSITIVITY, Candidate
from formalsynth.custody.records import design_of
from formalsynth.custody.schema import Column, Declared, ReleaseConfig, Schema
from formalsynth.custody.synthesizing import synthetic_outcomes
from formalsynth.data.files import DataError
from formalsynth.release.noise import noisy_counts, shares

CELLS = 100_000
"""Of a table of synthesized predictors, at most."""


@dataclass(frozen=True)
class Drawn:
    """What goes out."""

    sets: tuple[pd.DataFrame, ...]
    epsilon: float
    """Claimed for all of it; confidential unless the guarantee is pure."""


def draw_sets(declared: Declared, config: ReleaseConfig, table: pd.DataFrame, candidate: Candidate) -> Drawn:
    """Synthetic data sets of a fitted candidate.

    Args:
        declared: what is declared of the file.
        config: what is released.
        table: the confidential rows.
        candidate: the chosen one.

    Raises:
        DataError: it failed, its noise is not safe, or it claims more than the declared ceiling.
    """
    schema = declared.schema
    if candidate.reason:
        raise DataError(f"{candidate.synthesizer.id}: could not be fitted: {candidate.reason}; nothing is released")
    generator = np.random.default_rng()
    rows = _rows_of(declared, config, table)
    order = generator.permutation(rows)
    predictors = [frame.iloc[order].reset_index(drop=True) for frame in _predictors(schema, config, table, rows, generator)]
    epsilon = candidate.per_release(config.sets) + (config.predictors_epsilon or 0 if schema.synthesized else 0)
    if epsilon > config.ceiling:
        raise DataError(
            f"{candidate.synthesizer.id}: claims more than the declared ceiling of {config.ceiling:g} for "
            f"{counted(config.sets, 'set')}; nothing is released. Choose another candidate or fewer sets"
        )
    if candidate.pure:
        candidate = _with_safe_noise(schema, table, rows, candidate)
    outcomes = synthetic_outcomes(schema, candidate, [design_of(schema, frame) for frame in predictors], generator)
    columns = list(schema.released)
    sets = [frame.assign(**{schema.outcome: outcome})[columns] for frame, outcome in zip(predictors, outcomes, strict=True)]
    return Drawn(tuple(sets), epsilon)


def _rows_of(declared: Declared, config: ReleaseConfig, table: pd.DataFrame) -> int:
    """Rows of each set: where being in the file is protected, a declared number in place of the file's."""
    if declared.schema.neighbours == "replace":
        return len(table)
    if config.rows is None:
        raise DataError(
            "release.yaml: rows: is missing; where neighbours is add_remove the number of rows of the file is confidential: "
            "give the number of rows that each synthetic set is to have"
        )
    return int(config.rows)


def _with_safe_noise(schema: Schema, table: pd.DataFrame, rows: int, candidate: Candidate) -> Candidate:
    """The histogram with noise that is drawn anew: its mechanism's own, for studies, is made of floating point numbers."""
    synthesizer = candidate.synthesizer
    if synthesizer.mechanism != HISTOGRAM:
        raise DataError(
            f"{synthesizer.id}: the noise of {synthesizer.mechanism} is not safe in floating point; nothing is released. "
            f"Choose {HISTOGRAM}, or a synthesizer with a posterior"
        )
    low, high = schema.target.ends
    bins = int(synthesizer.parameters.get("bins", 0)) or math.isqrt(rows)
    counts, _ = np.histogram(table[schema.outcome].to_numpy(dtype=float), bins=bins, range=(low, high))
    noisy = noisy_counts([int(count) for count in counts], candidate.epsilon, SENSITIVITY[schema.neighbours])
    return replace(candidate, draws={"probability": shares(noisy)[None]})


def _predictors(
    schema: Schema, config: ReleaseConfig, table: pd.DataFrame, rows: int, generator: np.random.Generator
) -> list[pd.DataFrame]:
    """The predictors of each set: as they are, or those that are synthesized drawn from one noisy table."""
    as_they_are = table[[name for name in schema.predictors if name not in schema.synthesized]]
    if not schema.synthesized:
        return [as_they_are if len(as_they_are.columns) else pd.DataFrame(index=range(rows))] * config.sets
    if len(as_they_are.columns):
        raise DataError(
            "schema.yaml: columns: some predictors are as_is and some synthesized; allowed: all of one kind, since what is drawn "
            "cannot belong to the rows of a file. Suppress one of the kinds"
        )
    if config.predictors_epsilon is None:
        raise DataError("release.yaml: predictors_epsilon: is missing; it is the budget of the noisy table of the predictors")
    places = [_cells(column, table[name]) for name, column in schema.synthesized.items()]
    shape = [_width(column) for column in schema.synthesized.values()]
    if math.prod(shape) > CELLS:
        raise DataError(f"schema.yaml: columns: the synthesized ones have {math.prod(shape)} cells; allowed: up to {CELLS}")
    counts = np.bincount(np.ravel_multi_index(tuple(places), shape), minlength=math.prod(shape))
    probability = shares(
        noisy_counts([int(count) for count in counts], config.predictors_epsilon, SENSITIVITY[schema.neighbours])
    )
    return [_rows(schema.synthesized, probability, shape, rows, generator) for _ in range(config.sets)]


def _width(column: Column) -> int:
    return len(column.categories or []) if column.type == "category" else column.bins


def _cells(column: Column, values: pd.Series) -> Integers:
    if column.type == "category":
        return pd.Categorical(values, categories=column.categories).codes.astype(int)
    low, high = column.ends
    return np.minimum((values.to_numpy(dtype=float) - low) / (high - low) * column.bins, column.bins - 1).astype(int)


def _rows(
    columns: Mapping[str, Column], probability: Array, shape: list[int], n: int, generator: np.random.Generator
) -> pd.DataFrame:
    """Rows drawn from a table of probabilities; a number is spread evenly over its bin."""
    places = np.unravel_index(generator.choice(len(probability), n, p=probability), shape)
    drawn: dict[str, Array] = {}
    for (name, column), place in zip(columns.items(), places, strict=True):
        if column.type == "category":
            drawn[name] = np.array(column.categories, dtype=object)[place]
        else:
            low, high = column.ends
            drawn[name] = np.round(low + (place + generator.random(n)) * (high - low) / column.bins, column.places)
    return pd.DataFrame(drawn)
