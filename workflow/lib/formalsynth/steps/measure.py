"""Measure: bounds, synthetic data and utility of every synthesizer that shares a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Draws, count, take
from formalsynth.core.bounds import Bounds, record_bounds
from formalsynth.core.family import Predictor
from formalsynth.core.job import MeasureJob, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease, FitCache, Form, Made
from formalsynth.core.rows import COEFFICIENT, SHAPE, SHAPE_COLUMNS, Row, replicate_table, requested_columns
from formalsynth.core.statistics import statistics_of_sets
from formalsynth.core.utility import centres, own_utility, statistics_by_set, utility_columns
from formalsynth.engine.chain import FAILURES, form_of, sharing
from formalsynth.steps.batch import FitBatch, Fitted, MeasureBatch, Member, Sample, context_in
from formalsynth.steps.data import DataBatch

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Measured:
    """Measurements of one replicate."""

    columns: Mapping[str, Row]
    """Columns of each synthesizer's row."""
    members: Mapping[str, Member]
    sample: Sample | None


def measure_batch(
    job: MeasureJob, data: DataBatch, fit: FitBatch, fitted: Mapping[str, Fitted]
) -> tuple[pd.DataFrame, MeasureBatch]:
    """Compute bounds, utility and diagnostics of every synthesizer that shares a fit.

    Args:
        job: the synthesizers and the settings.
        data: the confidential data.
        fit: the fit.
        fitted: the fits that it builds on, by id.

    Returns:
        One row for each replicate and synthesizer, and the record-level arrays that other fits or figures need.
    """
    rows, members, sample = [], [], None
    for k, replicate in enumerate(data.replicate):
        measured = _measure_replicate(job, data, fit, fitted, k) if fit.ok(k) else _Measured({}, {}, None)
        diagnostics = {name: values[k].item() for name, values in fit.diagnostics.items()}
        diagnostics |= {"status": fit.status[k].item(), "reason": fit.reason[k].item()}
        for member in job.members:
            head = {**job.key.columns, "replicate": int(replicate), "synthesizer": member.id}
            head["guarantee"] = MECHANISMS[member.mechanism].kind
            rows.append(head | diagnostics | dict(measured.columns.get(member.id, {})))
        members.append(measured.members)
        sample = measured.sample or sample
    return replicate_table(rows, requested_columns(job)), MeasureBatch.of(members, sample)


def _measure_replicate(job: MeasureJob, data: DataBatch, fit: FitBatch, fitted: Mapping[str, Fitted], k: int) -> _Measured:
    owner, cache, draws = job.members[0], fit.cache_of(k), fit.draws_of(k)
    context = context_in(job, owner, data, k, fitted, cache)
    form = form_of(owner, context)
    is_sample = int(data.replicate[k]) == job.sample
    predictor = form.predictor if isinstance(form, DirectRelease) else context.family
    n_sets = job.synthetic_sets if is_sample else 1
    synthetic = _synthesize(predictor, context, "synthesize", owner, draws, n_sets) * job.unit
    shared: Row = {**utility_columns(context.records.x * job.unit, synthetic[0]), "draws": count(draws)}
    shared |= own_utility(synthetic[0], job.utility)
    if job.centre_sets:
        shared |= centres(_synthesize(predictor, context, "centre", owner, draws, job.centre_sets) * job.unit)
    if job.coefficient:
        shared |= _last_coefficient(draws.get(context.family.parameters[0]))
    if cache.searched is not None and cache.search_steps is not None:
        shared |= {"searched": float(cache.searched), "search_steps": float(cache.search_steps)}
    if cache.fit_p is not None:
        shared |= {"fit_p": float(cache.fit_p)}
    if not isinstance(form, Form):
        columns, members, failed = {owner.id: Row(epsilon=form.epsilon)}, dict[str, Member](), dict[str, Row]()
    else:
        forms, failed = _forms(job, data, k, fitted, form)
        columns, members = _bounds(job, context, forms, draws)
    kept = {id: member for id, member in members.items() if id in job.parents}
    sample = _sample(synthetic, form, members) if is_sample else None
    return _Measured({id: shared | column for id, column in columns.items()} | failed, kept, sample)


def _last_coefficient(values: Array | None) -> Row:
    """Compute the mean of the last coefficient over draws (S, p) and the ends of its 95 % interval; empty without coefficients.

    A single draw, such as a selected candidate, has no interval: its ends are NaN.
    """
    if values is None or values.ndim < 2:
        return {}
    low, high = np.quantile(values[:, -1], [0.025, 0.975]) if len(values) > 1 else (np.nan, np.nan)
    return dict(zip(COEFFICIENT, (float(values[:, -1].mean()), float(low), float(high)), strict=True))


def _forms(
    job: MeasureJob, data: DataBatch, k: int, fitted: Mapping[str, Fitted], form: Form
) -> tuple[dict[str, Form], dict[str, Row]]:
    """Return the forms of the synthesizers that share a fit, and the columns of those that failed.

    Args:
        job: the synthesizers, the owner of the fit first.
        data: the confidential data.
        k: position of the replicate.
        fitted: the fits of their parents, by id.
        form: form of the owner.
    """
    owner, *others = job.members
    forms, failed = {owner.id: form}, dict[str, Row]()
    for member in others:
        try:
            other = form_of(member, context_in(job, member, data, k, fitted, FitCache()))
            forms[member.id] = sharing(owner.id, form, other)
        except FAILURES as error:
            failed[member.id] = {"status": "failed", "reason": str(error)}
    return forms, failed


def _sample(synthetic: Array, form: Made, members: Mapping[str, Member]) -> Sample:
    """Select the arrays for figures of the single sample."""
    weights = form.weights if isinstance(form, Form) else np.empty(0)
    return Sample(synthetic[0], statistics_by_set(synthetic), weights, {id: member.by_record for id, member in members.items()})


def _bounds(
    job: MeasureJob, context: Context, forms: Mapping[str, Form], draws: Draws
) -> tuple[dict[str, Row], dict[str, Member]]:
    """Compute the columns of the bounds, and the record-level arrays, by synthesizer.

    The epsilon of a strict mechanism is its claim, not twice the bound on these data, which may be smaller.
    """
    sensitive = [form.sensitive for form in forms.values()]
    bounds = dict(zip(forms, record_bounds(context.family, context.records, draws, sensitive), strict=True))
    columns: dict[str, Row] = {}
    members: dict[str, Member] = {}
    for member in job.members:
        if member.id in forms:
            form, bound = forms[member.id], bounds[member.id]
            claim = MECHANISMS[member.mechanism].claim(member.parameters)
            columns[member.id] = _bound_columns(form, bound, bound.epsilon if claim is None else claim)
            members[member.id] = Member(bound.by_record, form.sensitive.weights)
    return columns, members


def _bound_columns(form: Form, bound: Bounds, epsilon: float) -> Row:
    affected = form.affected if bound.beyond is None else bound.beyond
    columns: Row = {"delta": bound.delta, "epsilon": epsilon, "delta_mcse": bound.delta_mcse, **_shape(bound)}
    return columns if affected is None else columns | {"affected": affected}


def _shape(bound: Bounds) -> Row:
    """Compute the bounds of the records as shares of the largest; empty if that is 0 or infinite."""
    if not 0 < bound.delta < np.inf:
        return {}
    shares = statistics_of_sets(bound.by_record / bound.delta, SHAPE)
    return {column: float(shares[name]) for column, name in zip(SHAPE_COLUMNS, SHAPE, strict=True)}


def _synthesize(predictor: Predictor, context: Context, stage: str, owner: Synthesizer, draws: Draws, n_sets: int) -> Array:
    """Draw synthetic data sets, each from one posterior draw; the first one does not depend on how many are drawn.

    Args:
        predictor: converter of draws to values.
        context: confidential data and address of the replicate.
        stage: stage whose random stream is used; each stage has its own stream.
        owner: synthesizer of the fit.
        draws: posterior draws, S.
        n_sets: number of data sets.

    Returns:
        (min(n_sets, S), n) values.
    """
    generator = context.address.generator(stage, owner.words)
    chosen = generator.permutation(count(draws))[:n_sets]
    return predictor.predict(generator, context.records, take(draws, chosen))
