"""Simulated releases: of made-up rows for the command ``plan``, and of files of a population."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.progress import in_turn
from formalsynth_release.analyses import names
from formalsynth_release.declarations import rows_of
from formalsynth_release.intervals import SETS, Way, student, values
from formalsynth_release.layout import Layout
from formalsynth_release.model import Model
from formalsynth_release.records import clipped
from formalsynth_release.tables import knots_for, measured, no_noise

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.core.arrays import Array
    from formalsynth_release.schema import ReleaseConfig
    from formalsynth_release.study import Schema

REPLICATES = 40
"""Number of simulated releases."""
LARGE = 2
"""Factor by which more rows than the file has are drawn to compute the value in the population."""
COMMON = 0.3
"""Correlation of the columns of made-up rows."""
NO_NOISE = 1e9
"""Epsilon at which the model of the made-up rows is fitted, practically without noise."""
MADE_UP_ZEROS, MADE_UP_MISSING = 0.1, 0.05
"""Shares of 0 and of missing values in made-up columns for which these are declared."""


def simulations(schema: Schema, config: ReleaseConfig) -> Iterator[str]:
    """Simulate releases of made-up rows; yield the errors of the declared analyses."""
    generator, public = np.random.default_rng(), schema.public
    accepted = public.model_copy(update={"accept_noise": public.pairs})
    population = Model.of(
        accepted, measured(accepted, _related(schema, made_up(schema, generator), generator), NO_NOISE, no_noise)
    )
    layout, drawn = Layout(public), rows_of(schema, config, schema.rows) * min(config.sets, SETS)
    of_pair = layout.epsilon_of_pair(config.ceiling, max(len(layout.pairs), 1))
    knots = knots_for(layout, schema.rows, of_pair) if layout.pairs else 0
    way = Way(public, config.analyses, config.ceiling, schema.rows, drawn, knots)
    files = (way.file(population, generator) for _ in in_turn(range(REPLICATES), "Simulating a release of made-up rows,"))
    result = pooled(way, files, generator)
    truth = values(public, config.analyses, population.rows(LARGE * schema.rows, generator))
    covered = (np.abs(result.released - result.bias - truth) <= result.quantile * result.error).mean(axis=0)
    for k, name in enumerate(names(public, config.analyses)):
        sampling, error = result.own[:, k].std(ddof=1), result.error[k]
        relative = (
            f"{error / sampling:.1f} times the sampling error" if sampling else f"error {error:.3g}, without a sampling error"
        )
        yield f"Simulated {name}: {relative}; coverage {covered[k]:.2f}."


def made_up(schema: Schema, generator: np.random.Generator) -> pd.DataFrame:
    """Make up the declared number of rows from the schema: nothing in them comes from the file."""
    import pandas as pd

    n = schema.rows
    columns = {}
    for name, column in schema.released.items():
        if column.type == "category":
            columns[name] = generator.choice(np.array(column.categories, dtype=object), n)
        else:
            low, high = column.ends
            share = generator.beta(2, 6, n) if name == schema.outcome else generator.random(n)
            columns[name] = np.round(low + (high - low) * share, column.places)
            rare = [*([(0.0, MADE_UP_ZEROS)] if column.own_zero else []), *((code, MADE_UP_MISSING) for code in column.codes)]
            for value, part in [*rare, *([(np.nan, MADE_UP_MISSING)] if column.may_be_missing else [])]:
                columns[name] = np.where(generator.random(n) < part, value, columns[name])
    return clipped(schema, pd.DataFrame(columns))


@dataclass(frozen=True)
class Pooled:
    """Releases of several files of one population, with one replicate of the interval for each.

    Pooling these replicates over the files replaces many replicates for each file (Giacomini, Politis and White 2013, Econometric
    Theory 29, 567-589).
    """

    own: Array
    """(files, analyses) estimates of the files themselves."""
    released: Array
    """(files, analyses) estimates of their releases."""
    bias: Array
    error: Array
    """(analyses,) bias and standard error of a release, for all files."""
    models: Sequence[Model]

    @property
    def quantile(self) -> float:
        """Quantile of Student's t for a 95 % interval."""
        return student(len(self.own))


def pooled(way: Way, files: Iterable[pd.DataFrame], generator: np.random.Generator) -> Pooled:
    """Release files, and simulate one replicate of each release."""
    own, released, models, errors, biases = [], [], [], [], []
    for rows in files:
        own.append(values(way.schema, way.analyses, rows))
        model = way.fitted(rows, generator)
        released.append(way.released(model, generator))
        again = way.file(model, generator)
        estimate = way.released(way.fitted(again, generator, model), generator)
        errors.append(estimate - released[-1])
        biases.append(estimate - values(way.schema, way.analyses, again))
        models.append(model)
    scale = math.sqrt(way.fraction)
    bias, error = np.mean(biases, axis=0) * way.fraction, np.std(errors, axis=0, ddof=1) * scale
    return Pooled(np.array(own), np.array(released), bias, error, models)


def _related(schema: Schema, rows: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """Reorder the values of each column like a normal variable; these variables have a part in common, so columns correlate."""
    import pandas as pd

    common, columns = generator.standard_normal(len(rows)), {}
    for name, column in schema.released.items():
        places = {category: place for place, category in enumerate(column.categories or [])}
        ordered = rows[name].iloc[(rows[name].map(places) if places else rows[name]).argsort()]
        normal = np.sqrt(COMMON) * common + np.sqrt(1 - COMMON) * generator.standard_normal(len(rows))
        columns[name] = ordered.to_numpy()[np.argsort(np.argsort(normal))]
    return pd.DataFrame(columns)
