"""The command ``plan``: a verdict from the declarations alone, and on request simulated releases of made-up rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.progress import in_turn
from formalsynth_release.analyses import names
from formalsynth_release.declarations import checked_declarations, rows_of
from formalsynth_release.intervals import SETS, Way, pooled, values
from formalsynth_release.layout import Layout
from formalsynth_release.model import Model
from formalsynth_release.records import made_up
from formalsynth_release.schema import Declared, ReleaseConfig, Schema, read_release
from formalsynth_release.tables import knots_for, measured, no_noise
from formalsynth_release.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

REPLICATES = 40
"""Number of simulated releases."""
LARGE = 2
"""Factor by which more rows than the file has are drawn to compute the value in the population."""
COMMON = 0.3
"""Correlation of the columns of made-up rows."""
NO_NOISE = 1e9
"""Epsilon at which the model of the made-up rows is fitted, practically without noise."""
LEFT_OUT = (
    "Rows with {causes} will be left out, but all of these rows are counted here: with half of them, noise distorts shares and "
    "correlations twice as much."
)
"""Sentence on rows that a release leaves out, of which nobody knows the number without the file."""


def plan(declared: Declared, simulate: bool = False) -> list[str]:
    """Compute errors to expect from a release; the file is not opened.

    Returns:
        Lines to print.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: an analysis is not possible.
    """
    config, schema = read_release(declared.folder), declared.schema
    checked_declarations(declared, config)
    return [
        f"Errors to expect at epsilon {config.ceiling:g}, for {schema.rows} rows; no file was opened.",
        *([LEFT_OUT.format(causes=schema.dropped)] if schema.dropped else []),
        *(_simulated(schema, config) if simulate else []),
        *Verdict(schema, config.ceiling).lines(config.analyses),
        f"Next: formalsynth release {declared.folder}, if the verdict suits; it refuses pairs that are weak and not accepted.",
    ]


def _simulated(schema: Schema, config: ReleaseConfig) -> Iterator[str]:
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
