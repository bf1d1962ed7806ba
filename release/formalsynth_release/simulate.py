"""Simulated releases of made-up rows, for the command ``plan``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from formalsynth_release.analyses import names
from formalsynth_release.declarations import rows_of
from formalsynth_release.intervals import SETS, Way
from formalsynth_release.layout import Layout
from formalsynth_release.model import Model
from formalsynth_release.records import clipped
from formalsynth_release.tables import knots_for, measured, no_noise

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth_release.schema import ReleaseConfig
    from formalsynth_release.study import Schema

REPLICATES = 40
"""Number of simulated releases."""
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
    released = way.fitted(way.file(population, generator), generator)
    files, releases = way.simulated(released, REPLICATES, generator, "Simulating a release of made-up rows,")
    errors = zip(files.std(axis=0, ddof=1), releases.std(axis=0, ddof=1), strict=True)
    for name, (sampling, error) in zip(names(public, config.analyses), errors, strict=True):
        relative = f"{error / sampling:.1f} times the sampling error" if sampling else "has no sampling error"
        yield f"Simulated {name}: error {error * math.sqrt(way.fraction):.3g}, {relative}."


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
