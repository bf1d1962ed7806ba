"""Measure: synthetic data, utility and bounds of one synthesizer, for each replicate of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Draws, count, distinct_rows, take
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import Context
from formalsynth.core.rows import BY_AREA, COEFFICIENT, SHAPE, SHAPE_COLUMNS, Row, replicate_table, requested_columns
from formalsynth.core.statistics import statistics_of_sets
from formalsynth.core.streams import Address
from formalsynth.core.utility import UTILITY, centres, own_utility, statistics_by_set, utility_columns
from formalsynth_workflow.jobs.inputs import MeasureJob
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.fits import Fitted
from formalsynth_workflow.steps.tables import draws_table, labelled

if TYPE_CHECKING:
    import pandas as pd

SampleParts = dict[str, "pd.DataFrame"]
"""A synthesizer's parts of the tables of the single sample, by table; tables without such rows are left out."""
NUMBERS = ("delta", "delta_mcse", "epsilon", "affected", "searched", "search_steps", "fit_p")
"""Columns that the fit already contains."""


def measure_batch(job: MeasureJob, data: DataBatch, fits: Sequence[Fitted]) -> tuple[pd.DataFrame, SampleParts]:
    """Compute bounds, utility and diagnostics of a synthesizer.

    Args:
        job: the synthesizer and the settings.
        data: the confidential data.
        fits: its result on each replicate.

    Returns:
        One row for each replicate, and its parts of the tables of the single sample, which are empty if the batch does not
        contain the single sample, or if the fit failed on it.
    """
    rows: list[Row] = []
    sample: SampleParts = {}
    for k, fit in enumerate(fits):
        replicate = int(data.replicate[k])
        row: Row = {**job.key.columns, "replicate": replicate, "synthesizer": job.synthesizer, "guarantee": job.guarantee}
        row |= {"unit": job.unit, "status": fit.status, "reason": fit.reason, **fit.diagnostics}
        if fit.ok:
            context = Context(FAMILIES[job.family], data.records(k), Address.of(job.key, replicate))
            synthetic = _synthesize(job, context, fit, "synthesize", job.synthetic_sets if replicate == job.sample else 1)
            row |= _columns(job, context, fit, synthetic)
            if replicate == job.sample:
                sample = _sample_parts(job.synthesizer, synthetic, statistics_by_set(synthetic), fit)
        rows.append(row)
    return replicate_table(rows, requested_columns(job)), sample


def _sample_parts(id: str, synthetic: Array, statistics: Array, fit: Fitted) -> SampleParts:
    """Make a synthesizer's parts of the tables of the single sample.

    Args:
        id: id of the synthesizer.
        synthetic: (sets, n) synthetic data sets.
        statistics: (sets, statistics) the statistics of each.
        fit: its fit.
    """
    record = np.arange(synthetic.shape[1])
    of_set = dict(zip(UTILITY, statistics.T, strict=True))
    parts = {
        "values": labelled(id, record=record, value=synthetic[0]),
        "sets": labelled(id, set=np.arange(len(synthetic)), **of_set),
    }
    if fit.by_record is not None and fit.weights is not None:
        known = np.zeros(len(record)) if fit.outside_share is None else fit.outside_share
        parts["records"] = labelled(id, record=record, bound=fit.by_record, weight=fit.weights, known=known)
        parts["draws"] = draws_table(id, fit.draws)
    return parts


def _columns(job: MeasureJob, context: Context, fit: Fitted, synthetic: Array) -> Row:
    """Compute the columns of a replicate from its synthetic data sets (sets, n), the first of which is the released one."""
    row: Row = {**utility_columns(context.records.x * job.unit, synthetic[0]), "draws": count(fit.draws)}
    row |= own_utility(synthetic[0], job.utility)
    if job.centre_sets:
        row |= centres(_synthesize(job, context, fit, "centre", job.centre_sets))
    if job.by_area:
        row |= _by_area(context.records.design, context.records.x * job.unit, synthetic[0])
    if job.coefficient:
        row |= _last_coefficient(fit.draws.get(context.family.parameters[0]))
    row |= {name: value for name in NUMBERS if (value := getattr(fit, name)) is not None}
    return row | _shape(fit)


def _by_area(design: Array, x: Array, synthetic: Array) -> Row:
    """Compute the root mean squared difference of area means, relative to the overall mean of the data."""
    _, area = distinct_rows(design)
    difference = np.bincount(area, synthetic - x) / np.bincount(area)
    return dict(zip(BY_AREA, [float(np.sqrt(np.mean(difference**2)) / abs(x.mean()))], strict=True))


def _last_coefficient(values: Array | None) -> Row:
    """Compute the mean of the last coefficient over draws (S, p) and the ends of its 95 % interval; empty without coefficients.

    A single draw, such as a selected candidate, has no interval: its ends are NaN.
    """
    if values is None or values.ndim < 2:
        return {}
    low, high = np.quantile(values[:, -1], [0.025, 0.975]) if len(values) > 1 else (np.nan, np.nan)
    return dict(zip(COEFFICIENT, (float(values[:, -1].mean()), float(low), float(high)), strict=True))


def _shape(fit: Fitted) -> Row:
    """Compute the bounds of the records as shares of the largest; empty without bounds, or if that is 0 or infinite."""
    if fit.by_record is None or fit.delta is None or not 0 < fit.delta < np.inf:
        return {}
    shares = statistics_of_sets(fit.by_record / fit.delta, SHAPE)
    return {column: float(shares[name]) for column, name in zip(SHAPE_COLUMNS, SHAPE, strict=True)}


def _synthesize(job: MeasureJob, context: Context, fit: Fitted, stage: str, n_sets: int) -> Array:
    """Draw synthetic data sets, each from one posterior draw; the first one does not depend on how many are drawn.

    Args:
        job: the synthesizer and the settings.
        context: confidential data and address of the replicate.
        fit: the fit, with S draws.
        stage: stage whose random stream is used; each stage has its own stream.
        n_sets: number of data sets.

    Returns:
        (min(n_sets, S), n) values in the unit of figures and tables.
    """
    generator = context.address.generator(stage, job.words)
    chosen = generator.permutation(count(fit.draws))[:n_sets]
    draws: Draws = take(fit.draws, chosen)
    return fit.predicts_with(context.family).predict(generator, context.records, draws) * job.unit
