"""Collect: batches into one table for each scenario, and the record-level tables of its single sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Draws, count
from formalsynth.core.family import FAMILIES, draws_from_prior
from formalsynth.core.job import SAMPLE, CollectJob
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.rows import REPLICATE_COLUMNS, replicate_table
from formalsynth.core.streams import Address
from formalsynth.core.utility import UTILITY, statistics
from formalsynth.steps.batch import Fitted
from formalsynth.steps.data import DataBatch

PRIOR_DRAWS = 1000
"""Draws from the prior that stand beside posterior draws."""


def collect_replicates(job: CollectJob, data: Sequence[DataBatch], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All rows of a scenario, by replicate and then in the order of the design, the confidential data first.

    Args:
        job: the scenario.
        data: the confidential data of each batch; none of a study.
        tables: the measured rows of each batch and fit.
    """
    own = [column for table in tables for column in table if column not in REPLICATE_COLUMNS]
    order = {id: k for k, id in enumerate([DATA, *job.fits])}
    table = pd.concat([*(data_rows(job, batch) for batch in data), *tables], ignore_index=True)
    table = table.assign(_order=table["synthesizer"].map(order)).sort_values(["replicate", "_order"], kind="stable")
    return table[[*REPLICATE_COLUMNS, *dict.fromkeys(own)]].reset_index(drop=True)


def collect_sample(job: CollectJob, data: DataBatch, fitted: Mapping[str, Fitted]) -> dict[str, pd.DataFrame]:
    """Record-level tables of the single sample: ``records``, ``values``, ``sets`` and ``draws``.

    A synthesizer whose fit failed on the single sample is absent from them.

    Args:
        job: the scenario.
        data: the confidential data of the batch that holds the single sample.
        fitted: every fit of that batch, by id.
    """
    record = np.arange(job.key.n)
    bootstrap = dict(zip(UTILITY, bootstrap_sets(job, data).T, strict=True))
    records, draws = [], _prior_table(job)
    values = [_labelled(DATA, record=record, value=data.x[SAMPLE] * job.unit)]
    sets = [_labelled(DATA, set=np.arange(job.synthetic_sets), **bootstrap)]
    for id, fit_id in job.fits.items():
        fit, measure = fitted[fit_id].fit, fitted[fit_id].measure
        if not fit.ok(SAMPLE) or measure.sample is None:
            continue
        values.append(_labelled(id, record=record, value=measure.sample.values))
        of_set = dict(zip(UTILITY, measure.sample.sets.T, strict=True))
        sets.append(_labelled(id, set=np.arange(len(measure.sample.sets)), **of_set))
        if id in measure.members and fit.weights is not None:
            known = fit.found_of(SAMPLE).known
            known = np.zeros(job.key.n) if known is None else known
            bound, weight = measure.members[id].by_record[SAMPLE], fit.weights[SAMPLE]
            records.append(_labelled(id, record=record, bound=bound, weight=weight, known=known))
            draws.append(_draws_table(id, fit.draws_of(SAMPLE)))
    tables = {"records": records, "values": values, "sets": sets, "draws": draws}
    return {name: _headed(job, parts) for name, parts in tables.items()}


def _prior_table(job: CollectJob) -> list[pd.DataFrame]:
    """Draws from the prior where the family can give them."""
    family = draws_from_prior(FAMILIES[job.family])
    if family is None:
        return []
    generator = Address.of(job.key, SAMPLE).generator("prior")
    return [_draws_table(PRIOR, family.prior_draws(generator, job.priors, PRIOR_DRAWS))]


def _draws_table(id: str, draws: Draws) -> pd.DataFrame:
    """Posterior draws, one column for each scalar parameter."""
    columns: dict[str, np.ndarray] = {}
    for name, values in draws.items():
        flat = values.reshape(len(values), -1)
        columns |= {name if flat.shape[1] == 1 else f"{name}_{k + 1}": flat[:, k] for k in range(flat.shape[1])}
    return _labelled(id, draw=np.arange(count(draws)), **columns)


def _labelled(synthesizer: str, **columns: np.ndarray) -> pd.DataFrame:
    table = pd.DataFrame(columns)
    table.insert(0, "synthesizer", synthesizer)
    return table


def _headed(job: CollectJob, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The parts as one table, with the columns that name the scenario in front."""
    table = pd.concat(parts or [pd.DataFrame(columns=["synthesizer"])], ignore_index=True)
    head = {"paper": job.key.paper, "scenario": job.key.scenario, "n": job.key.n, "replicate": SAMPLE}
    return pd.concat([pd.DataFrame({key: [value] * len(table) for key, value in head.items()}), table], axis=1)


def data_rows(job: CollectJob, data: DataBatch) -> pd.DataFrame:
    """The confidential data's own rows: their statistics, for the figures that show them beside synthetic data."""
    rows = []
    for k, replicate in enumerate(data.replicate):
        row = {"paper": job.key.paper, "scenario": job.key.scenario, "n": job.key.n, "replicate": int(replicate)}
        row |= {"synthesizer": DATA, "status": "ok", "guarantee": "none: confidential"}
        address = Address.of(job.key, int(replicate))
        row |= {"seed": int(address.sequence("data").generate_state(1)[0])}
        rows.append(row | statistics(data.x[k] * job.unit))
    return replicate_table(rows)


def bootstrap_sets(job: CollectJob, data: DataBatch) -> Array:
    """Statistics (synthetic_sets, statistics) of bootstrap samples of the single sample's confidential data.

    They stand beside the distribution of a statistic over synthetic data sets; the papers do not say what they drew there.
    """
    generator = Address.of(job.key, SAMPLE).generator("bootstrap")
    x = data.x[int(np.flatnonzero(data.replicate == SAMPLE)[0])] * job.unit
    chosen = generator.integers(len(x), size=(job.synthetic_sets, len(x)))
    return np.array([list(statistics(x[index]).values()) for index in chosen])
