"""Public side of a release: draws synthetic data sets from a crossing's numbers and declarations, with a public seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Draws, Records, count, take
from formalsynth.core.family import Predictor
from formalsynth.core.text import DataError
from formalsynth.custodian.crossing import CROSSING, Part, ReleasedDraws
from formalsynth.custodian.noise import shares
from formalsynth.custodian.records import design_of, finished, from_unit, names_of
from formalsynth.custodian.schema import Column, PublicSchema

OUTCOME, PREDICTORS = "outcome", "predictors"
"""Names of the noisy tables."""
PROBES = 1000
"""Number of synthetic outcomes that :func:`uses_predictors` compares."""


@dataclass(frozen=True)
class Crossed:
    """Numbers in the crossing of a release; with the declarations and a seed, they determine the synthetic sets."""

    rows: int
    """Rows of each set."""
    sets: int
    tables: tuple[Part, ...] = ()
    draws: ReleasedDraws | None = None
    as_is: pd.DataFrame | None = field(default=None, repr=False)
    """Columns that are released as they are, with rows in another order; None for none."""

    def table(self, name: str) -> Part | None:
        """Return the table with this name; None if there is none."""
        return next((part for part in self.tables if part.name == name), None)


@dataclass(frozen=True)
class ScaledBins:
    """Synthetic values from bin probabilities, uniform inside each bin on the declared scale."""

    column: Column

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Draw one synthetic data set (n,) for each row of ``probability`` (S, bins)."""
        n, rows = len(records.x), draws["probability"]
        places = [(generator.choice(len(row), n, p=row) + generator.random(n)) / len(row) for row in rows]
        return from_unit(self.column, np.stack(places))


@dataclass(frozen=True)
class MadeUpOutcomes:
    """Predictor of made-up outcomes between the declared bounds, which replaces a posterior in a rehearsal."""

    column: Column

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Make one data set (n,) for each draw."""
        return generator.uniform(*self.column.ends, (count(draws), len(records)))


@dataclass(frozen=True)
class Outcomes:
    """Distribution of the outcomes: one draw for each set, or one for all sets."""

    predictor: Predictor
    draws: Draws

    def of_set(self, k: int) -> Draws:
        """Return the draw for set ``k``."""
        return take(self.draws, [k % count(self.draws)])


def outcomes_of(schema: PublicSchema, crossed: Crossed, predictor: Predictor | None) -> Outcomes:
    """Return the distribution of the outcomes, from a crossing.

    Bins are equally wide on the declared scale, and noisy counts below the scale of the noise times the log of the number of
    bins count as 0: if they were only clamped at 0, the noise of empty bins would add values, most of them far above the others.

    Args:
        schema: bounds and scale of the outcome.
        crossed: a table of the outcome, or posterior draws.
        predictor: family of the posterior draws; not used for a table.

    Raises:
        DataError: the crossing contains neither.
    """
    if crossed.draws is not None and predictor is not None:
        return Outcomes(predictor, crossed.draws.draws)
    table = crossed.table(OUTCOME)
    if table is None:
        raise DataError(f"{CROSSING}: has neither a table of the outcome nor posterior draws with their family")
    probability = shares(table.numbers, table.scale * math.log(len(table.numbers)))
    return Outcomes(ScaledBins(schema.target), {"probability": probability[None]})


def synthetic_sets(
    schema: PublicSchema, crossed: Crossed, predictor: Predictor | None, generator: np.random.Generator
) -> list[pd.DataFrame]:
    """Draw synthetic data sets, which are the same for the same generator.

    Args:
        schema: public declarations.
        crossed: numbers that crossed.
        predictor: family of the posterior draws.
        generator: source of randomness, independent of the data.
    """
    outcomes, columns, sets = outcomes_of(schema, crossed, predictor), list(schema.released), []
    for k in range(crossed.sets):
        frame = _predictors(schema, crossed, generator)
        values = synthetic_outcomes(schema, outcomes.predictor, outcomes.of_set(k), design_of(schema, frame), generator)
        sets.append(frame.assign(**{schema.outcome: values})[columns])
    return sets


def synthetic_outcomes(
    schema: PublicSchema, predictor: Predictor, draw: Draws, design: Array, generator: np.random.Generator
) -> Array:
    """Draw synthetic outcomes (n,) from one draw, clipped to the declared bounds and rounded as declared, for release."""
    # predictions do not use the outcomes of the file; a program may require values within bounds
    records = Records(np.full(len(design), np.rint(sum(schema.target.ends) / 2)), design)
    return finished(schema, predictor.predict(generator, records, draw)[0])


def uses_predictors(schema: PublicSchema, outcomes: Outcomes) -> bool:
    """Return True if outcomes that are drawn with the same random numbers differ for two values of the predictors."""
    columns, rows = len(names_of(schema)), np.arange(PROBES)
    if columns == 1:
        return False
    designs = np.zeros((2, PROBES, columns))
    designs[:, :, 0] = 1
    designs[1, rows, 1 + rows % (columns - 1)] = 1  # in each row, one predictor at its other end: avoids unlikely combinations
    first, second = (
        synthetic_outcomes(schema, outcomes.predictor, outcomes.of_set(0), design, np.random.default_rng(0)) for design in designs
    )
    return not np.array_equal(first, second)


def _predictors(schema: PublicSchema, crossed: Crossed, generator: np.random.Generator) -> pd.DataFrame:
    """Return the predictors of a set: as they are, or drawn from a noisy table."""
    if crossed.as_is is not None:
        return crossed.as_is
    table = crossed.table(PREDICTORS)
    if table is None:
        return pd.DataFrame(index=range(crossed.rows))
    columns = {name: schema.columns[name] for name in table.columns}
    return _rows(columns, shares(table.numbers), table.shape, crossed.rows, generator)


def _rows(
    columns: Mapping[str, Column], probability: Array, shape: Sequence[int], n: int, generator: np.random.Generator
) -> pd.DataFrame:
    """Draw rows from a table of probabilities; numbers are uniform inside their bin on the declared scale."""
    places = np.unravel_index(generator.choice(len(probability), n, p=probability), tuple(shape))
    drawn: dict[str, Array] = {}
    for (name, column), place in zip(columns.items(), places, strict=True):
        if column.type == "category":
            drawn[name] = np.array(column.categories, dtype=object)[place]
        else:
            drawn[name] = np.round(from_unit(column, (place + generator.random(n)) / column.bins), column.places)
    return pd.DataFrame(drawn)
