"""Audit: privacy losses between the data sets of a batch and their neighbours, with exact posteriors if available."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.audit.audit import audit
from formalsynth.audit.neighbours import added, additions, moves
from formalsynth.audit.replay import Replay
from formalsynth.audit.sampled import LARGEST_SEED, SampledPosteriors
from formalsynth.core.arrays import RANGE, joined
from formalsynth.core.family import FAMILIES
from formalsynth.core.rows import CURVE, Row, audit_table
from formalsynth.core.streams import Address
from formalsynth_workflow.jobs.inputs import AuditJob
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.parts import CMDSTAN, SAMPLERS

if TYPE_CHECKING:
    import pandas as pd


def audit_batch(job: AuditJob, data: DataBatch, executable: Path | None) -> pd.DataFrame:
    """Audit the first data sets of a batch.

    Args:
        job: the synthesizers to audit, and the settings.
        data: the confidential data of the batch.
        executable: compiled Stan program of the family; None if it has exact posteriors.

    Returns:
        One row for each data set, synthesizer, refined neighbour, delta and number of releases. If a data set cannot be audited,
        each synthesizer has one row with the reason and no numbers.
    """
    rows: list[Row] = []
    for k in np.flatnonzero(np.isin(data.replicate, job.replicates)):
        head: Row = {**job.key.columns, "replicate": int(data.replicate[k])}
        rows += [head | row for row in _audit_data_set(job, data, int(k), executable)]
    return audit_table(rows)


def _audit_data_set(job: AuditJob, data: DataBatch, k: int, executable: Path | None) -> list[Row]:
    """Audit one data set."""
    records, family = data.records(k), FAMILIES[job.family]
    address = Address.of(job.key, int(data.replicate[k]))
    seed = int(address.sequence("audit").generate_state(1)[0])
    try:
        predictors = [np.array(values) for values in job.predictors]
        inputs = {name: np.array(values) for name, values in job.inputs.items()}
        inputs |= {name: np.array([end]) for name, end in zip(RANGE, (-np.inf, np.inf), strict=True) if name in records.inputs}
        universe = joined(records, additions(records, np.array(job.outcomes), predictors, inputs, job.at_most))
        universe = joined(universe, moves(records, job.search.moves)) if job.search.moves else universe
        sampled = None
        if job.sampler is not None and executable is not None:
            sampler = SAMPLERS[CMDSTAN](family, executable, job.sampler)
            sampled = SampledPosteriors(family, universe, job.priors, sampler, 1 + seed % LARGEST_SEED)
        replay = Replay(family, job.priors, universe, job.synthesizers, address, job.draws, sampled)
        rows = [row.row() for row in audit(replay, len(records), job.audited, job.search, seed)]
        return rows + (_curve(job, replay, len(records)) if job.curve else [])
    except (ValueError, np.linalg.LinAlgError) as error:
        return [{"synthesizer": id, "reason": str(error)} for id in job.audited]


def _curve(job: AuditJob, replay: Replay, n: int) -> list[Row]:
    """Compute the loss for each outcome to add, once with recomputed weights and once with the weights of D.

    Predictors and further columns are at the middle of their ranges. In both cases, the new record has its weight on D'.
    """
    delta, rows = job.search.deltas[0], list[Row]()
    middle = [values[len(values) // 2] for values in job.predictors]
    design = replay.universe.design
    varies = np.ptp(design[:n], axis=0) > 0
    chosen = (design[:, varies] == middle).all(axis=1)
    for name, values in job.inputs.items():
        chosen &= replay.universe.inputs[name] == values[len(values) // 2]
    base = replay.outcomes_on(np.arange(n), only=job.audited, failed={})
    for neighbour in added(n, len(replay.universe) - n * len(job.search.moves)):
        if not chosen[neighbour.added]:
            continue
        there = replay.outcomes_on(neighbour.index, only=list(base), failed={})
        for id in (id for id in job.audited if id in there and id in base):
            weights = base[id].weights.copy()
            weights[neighbour.added] = there[id].weights[neighbour.added]
            held = replay.fixed(base[id], weights, base[id].sensitive.threshold)
            row: Row = {"synthesizer": id, "neighbour": neighbour.kind, "candidate": CURVE, "delta": delta, "releases": 1}
            row |= {"value": neighbour.value(replay.universe), "streams": 1, "worst": False}
            row |= {"audited": replay.losses([base[id]], [there[id]]).epsilon(delta)}
            rows.append(row | {"held": replay.losses([base[id]], [held]).epsilon(delta)})
    return rows
