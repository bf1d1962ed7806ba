"""Plan of a release from noisy tables: simulates the whole procedure on made-up rows for several epsilons, without the file."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.core.progress import in_turn
from formalsynth.inference.intervals import NORMAL_95
from formalsynth.runtime.private import write_private
from formalsynth_release.analyses import names
from formalsynth_release.declarations import rows_of
from formalsynth_release.intervals import SETS, Way, lost_relation, values
from formalsynth_release.model import Model, level_error, pair_errors
from formalsynth_release.records import made_up
from formalsynth_release.report import MADE_UP, document, html_table
from formalsynth_release.schema import PublicSchema, ReleaseConfig, Schema
from formalsynth_release.tables import knots_for, measured, no_noise

FACTORS = 0.25, 0.5, 1.0, 2.0, 4.0
"""Epsilons to simulate, relative to the ceiling."""
REPLICATES = 40
"""Number of simulated releases for each epsilon."""
LARGE = 2
"""Factor by which more rows than the file has are drawn to compute the value in a fitted model."""
COMMON = 0.3
"""Correlation of the columns of made-up rows."""
NO_NOISE = 1e9
"""Epsilon at which the model of the made-up rows is fitted, practically without noise."""
LOST = 0.5
"""Standard error at and above which the noise hides a correlation."""
SHAPE = "the shape of its relation"
"""Property of a pair that a release of a large file preserves."""
CORRELATION = "one correlation, or sums for each category of a column with three or more categories without an order"
"""Property of a pair that a release of a small file preserves."""


@dataclass(frozen=True)
class Predicted:
    """Errors (analyses,) to expect from releases with the same epsilon."""

    epsilon: float
    sampling: Array
    """Standard errors of the file itself."""
    error: Array
    """Standard errors of releases."""
    bias: Array
    coverage: Array
    """Share of releases whose interval contains the value of the population."""
    width: Array
    """Width of the 95 % interval."""


def predicted(way: Way, population: Model, generator: np.random.Generator) -> Predicted:
    """Simulate releases of files from a population, with one replicate of the interval for each release.

    Pooling these replicates over the releases replaces many replicates for each release (Giacomini, Politis and White 2013,
    Econometric Theory 29, 567-589).
    """
    truth = _value(way, population, generator)
    files, errors, replicates = [], [], []
    for _ in in_turn(range(REPLICATES), f"Epsilon {way.epsilon:g}: simulating a release of made-up rows,"):
        file, model = way.file(population, generator)
        _, again = way.file(model, generator, replicate=True)
        files.append(file)
        errors.append(way.released(model, generator) - truth)
        replicates.append(way.released(again, generator) - _value(way, model, generator))
    bias, spread = np.mean(replicates, axis=0), np.std(replicates, axis=0, ddof=1)
    covered = np.abs(np.array(errors) - bias) <= NORMAL_95 * spread
    scale = np.sqrt(way.fraction)
    return Predicted(
        way.epsilon, np.std(files, axis=0, ddof=1) * scale, np.std(errors, axis=0, ddof=1) * scale,
        np.mean(errors, axis=0) * way.fraction, covered.mean(axis=0), 2 * NORMAL_95 * spread * scale,
    )  # fmt: skip


def _value(way: Way, model: Model, generator: np.random.Generator) -> Array:
    """Compute the estimates (analyses,) in the population that a model describes."""
    return values(way.schema, way.analyses, model.rows(round(LARGE * way.drawn * way.fraction), generator))


def guessed(schema: Schema, generator: np.random.Generator) -> Model:
    """Fit the model to made-up rows in which all columns are related."""
    rows = _related(schema, made_up(schema, generator), generator)
    return Model.of(schema, measured(schema, rows, NO_NOISE, no_noise))


def _related(schema: PublicSchema, rows: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """Reorder the values of each column like a normal variable; these variables have a part in common, so columns correlate."""
    common, columns = generator.standard_normal(len(rows)), {}
    for name, column in schema.released.items():
        places = {category: place for place, category in enumerate(column.categories or [])}
        values = rows[name]
        ordered = values.iloc[(values.map(places) if places else values).argsort()]
        normal = np.sqrt(COMMON) * common + np.sqrt(1 - COMMON) * generator.standard_normal(len(rows))
        columns[name] = ordered.to_numpy()[np.argsort(np.argsort(normal))]
    return pd.DataFrame(columns)


LEFT_OUT = (
    "Rows with {causes} will be left out, but all of these rows are counted here: with half of them, noise distorts shares and "
    "correlations twice as much."
)
"""Sentence on rows that a release leaves out, of which nobody knows the number without the file."""


def plan_tables(schema: Schema, config: ReleaseConfig, to: Path) -> list[str]:
    """Simulate releases with several epsilons, and write a page.

    Returns:
        Lines to print.
    """
    generator, public = np.random.default_rng(), schema.public
    population, drawn = guessed(schema, generator), rows_of(schema, config, schema.rows) * min(config.sets, SETS)
    way, results = Way(public, config.analyses, config.ceiling, schema.rows, drawn, 0), []
    lost = {name: reason for name in names(public, config.analyses) if (reason := lost_relation(public, config.analyses, name))}
    for factor in FACTORS:
        epsilon = factor * config.ceiling
        knots = knots_for(public, schema.rows, epsilon)
        results.append(predicted(replace(way, epsilon=epsilon, knots=knots), population, generator))
    parts = measured(public, made_up(schema, generator), config.ceiling)
    share, correlations = level_error(parts) / schema.rows, pair_errors(public, parts, schema.rows)
    fewer = [LEFT_OUT.format(causes=schema.dropped)] if schema.dropped else []
    write_private(to, _page(way, lost, results, correlations, fewer))
    at_ceiling = results[FACTORS.index(1.0)]
    lines = [
        (name, relative_error(at_ceiling.error[k], at_ceiling.sampling[k]), at_ceiling.coverage[k])
        for k, name in enumerate(names(public, config.analyses))
        if name not in lost
    ]
    return [
        f"Errors to expect at epsilon {config.ceiling:g}, for {schema.rows} made-up rows; no file was opened.",
        *fewer,
        *(f"{name}: {error}; coverage {coverage:.2f}." for name, error, coverage in lines),
        *(f"{name}: lost, because {reason}." for name, reason in lost.items()),
        f"Each pair keeps {SHAPE if knots_for(public, way.rows, way.epsilon) else CORRELATION}.",
        f"The share of a bin or category, from the noise alone: {share:.4f} (standard deviation, the largest of the columns).",
        *(
            f"The correlation of {pair}: {correlation_error(error)}."
            for pair, error in sorted(correlations.items(), key=lambda item: -item[1])
        ),
    ]


def relative_error(error: float, sampling: float) -> str:
    """Describe an error relative to that of the file, which is 0 for a quantile where many rows have the same value."""
    return f"{error / sampling:.1f} times the sampling error" if sampling else f"error {error:.3g}, without a sampling error"


def correlation_error(error: float) -> str:
    """Describe the standard error of a correlation; a large one is of no use for planning, since correlations are at most 1."""
    return f"{error:.3f}" if error < LOST else f"lost in the noise, whose standard deviation is {LOST:g} or more"


def _page(
    way: Way, lost: Mapping[str, str], results: Sequence[Predicted], correlations: Mapping[str, float], fewer: Sequence[str]
) -> str:
    analyses = [(k, name) for k, name in enumerate(names(way.schema, way.analyses)) if name not in lost]
    rows = [
        (name, result.epsilon, *(float(column[k]) for column in columns))
        for k, name in analyses
        for result in results
        for columns in [(result.sampling, result.error, result.bias, result.width, result.coverage)]
    ]
    head = ["analysis", "epsilon", "sampling error", "error of a release", "bias", "width of interval", "coverage"]
    words = (
        f"<p>{REPLICATES} releases for each epsilon, of files of {way.rows} rows that are made up from schema.yaml: numbers "
        f"have a fixed distribution between their bounds, and all columns have a correlation of {COMMON:g}. Your file has other "
        "errors; this shows how they grow as epsilon decreases. The error of a release is a standard deviation: it includes "
        "that of sampling, but no bias. Coverage is the share of 95 % intervals that contain the value of the population, with a "
        "standard error of 0.03, or up to 0.08 where it is far below 0.95. The other numbers have one of about a tenth of their "
        f"size, so small differences between epsilons can be chance.{''.join(f' <strong>{line}</strong>' for line in fewer)}</p>"
    )
    pairs = [(pair, correlation_error(error)) for pair, error in sorted(correlations.items(), key=lambda item: -item[1])]
    undeclared = [f"<p>{escape(name)}: lost, because {escape(reason)}.</p>" for name, reason in lost.items()]
    return document("What to expect", MADE_UP, [
        "<h1>What to expect of noisy tables</h1>", words, *undeclared, _picture(analyses, results), html_table(head, rows),
        f"<h2>Pairs</h2><p>Standard error of the correlation from the noise alone, at epsilon {way.epsilon:g}.</p>",
        html_table(["pair", "standard error"], pairs),
    ])  # fmt: skip


def _picture(analyses: Sequence[tuple[int, str]], results: Sequence[Predicted]) -> str:
    """Draw the error of each analysis against epsilon, in sampling errors."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    epsilons, marks = [result.epsilon for result in results], "osv^Dx+P*<>"
    for k, name in analyses:
        if not all(result.sampling[k] for result in results):
            continue
        errors = [np.hypot(result.error[k], result.bias[k]) / result.sampling[k] for result in results]
        axes.plot(epsilons, errors, marker=marks[k % len(marks)], label=name)
    axes.axhline(1, color="black", linestyle="--", label="sampling error of the file")
    axes.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="error of a release, in sampling errors")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons], minor=False)
    axes.minorticks_off()
    figure.legend(loc="outside right upper", fontsize="small")
    file = io.BytesIO()
    figure.savefig(file, dpi=110, metadata={"Software": None})
    text = "Error of each analysis that has a sampling error against epsilon, in these errors; the numbers are in the table."
    return f'<img alt="{escape(text)}" src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'
