"""The tables of one batch: its replicates, and the records of the single sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Draws, count
from formalsynth.core.family import FAMILIES, draws_from_prior
from formalsynth.core.job import SAMPLE, TablesJob
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.rows import CURVE, LOSSES, REPLICATE_COLUMNS, Row, replicate_table, requested_columns
from formalsynth.core.streams import Address
from formalsynth.core.utility import UTILITY, centres, own_utility, statistics, statistics_by_set
from formalsynth.steps.batch import Fitted
from formalsynth.steps.data import DataBatch

if TYPE_CHECKING:
    import pandas as pd

PRIOR_DRAWS = 1000
"""Number of prior draws, which figures show together with posterior draws."""
SampleParts = dict[str, dict[str, "pd.DataFrame"]]
"""Parts of the tables of the single sample, keyed by synthesizer id and table name."""


def replicates_table(job: TablesJob, data: DataBatch, tables: Sequence[pd.DataFrame], audit: pd.DataFrame) -> pd.DataFrame:
    """Combine all rows of a batch, sorted by replicate and then in the order of the design, with the confidential data first.

    Args:
        job: the scenario.
        data: the confidential data.
        tables: the measured rows of each fit.
        audit: the audited neighbours; may have no rows.
    """
    import pandas as pd

    order = {id: k for k, id in enumerate([DATA, *job.fits])}
    table = pd.concat([data_rows(job, data), *tables], ignore_index=True)
    table["audited"] = audited(table, audit)
    table = table.assign(_order=table["synthesizer"].map(order)).sort_values(["replicate", "_order"], kind="stable")
    return table[[*REPLICATE_COLUMNS, *requested_columns(job)]].reset_index(drop=True)


def audited(table: pd.DataFrame, audit: pd.DataFrame) -> pd.Series:
    """Look up the audited epsilon of each row of a table: the largest over the neighbours, for one release at the first delta.

    Args:
        table: rows with replicate and synthesizer.
        audit: the audited neighbours.

    Returns:
        Audited epsilons; NaN for rows that were not audited.
    """
    import pandas as pd

    tried = audit["neighbour"].isin(LOSSES) & (audit["candidate"] != CURVE)
    rows = audit[tried & (audit["releases"] == 1) & (audit["streams"] == 1)]
    keys = ["replicate", "synthesizer"]
    rows = rows[rows["delta"] == rows.groupby(keys)["delta"].transform("first")]
    largest = rows.groupby(keys)["audited"].max().astype(float)
    return largest.reindex(pd.MultiIndex.from_frame(table[keys])).set_axis(table.index)


def sample_parts(job: TablesJob, fit_id: str, data: DataBatch, fitted: Fitted) -> SampleParts:
    """Make the single sample's parts of tables, for the synthesizers that share a fit.

    There are no parts if the batch does not contain the single sample, or if the fit failed on it.

    Args:
        job: the scenario.
        fit_id: id of the fit.
        data: the confidential data.
        fitted: the fit with its measurements.
    """
    fit, measure, at = fitted.fit, fitted.measure, sample_place(data)
    if at is None or not fit.ok(at) or measure.sample is None:
        return {}
    record, parts = np.arange(job.key.n), SampleParts()
    sharing = [id for id, its_fit in job.fits.items() if its_fit == fit_id]
    failed = set(sharing) - set(measure.sample.by_record) if measure.sample.by_record else set()
    for id in (id for id in sharing if id not in failed):
        of_set = dict(zip(UTILITY, measure.sample.sets.T, strict=True))
        parts[id] = {
            "values": _labelled(id, record=record, value=measure.sample.values),
            "sets": _labelled(id, set=np.arange(len(measure.sample.sets)), **of_set),
        }
        if id in measure.sample.by_record:
            known = fit.cache_of(at).outside_share
            known = np.zeros(job.key.n) if known is None else known
            bound, weight = measure.sample.by_record[id], measure.sample.weights
            parts[id]["records"] = _labelled(id, record=record, bound=bound, weight=weight, known=known)
            parts[id]["draws"] = _draws_table(id, fit.draws_of(at))
    return parts


def sample_tables(job: TablesJob, data: DataBatch, parts: SampleParts) -> dict[str, pd.DataFrame]:
    """Record-level tables of the single sample: ``records``, ``values``, ``sets`` and ``draws``.

    A synthesizer whose fit failed on the single sample is missing from them. They have no rows if the sample is in another
    batch.

    Args:
        job: the scenario.
        data: the confidential data.
        parts: output of :func:`sample_parts` for each fit.
    """
    tables: dict[str, list[pd.DataFrame]] = {"records": [], "values": [], "sets": [], "draws": []}
    at = sample_place(data)
    if at is not None:
        bootstrap = dict(zip(UTILITY, bootstrap_sets(job, data).T, strict=True))
        tables["draws"] += _prior_table(job)
        tables["values"].append(_labelled(DATA, record=np.arange(job.key.n), value=data.x[at] * job.unit))
        tables["sets"].append(_labelled(DATA, set=np.arange(job.synthetic_sets), **bootstrap))
    for id in job.fits:
        for name, part in parts.get(id, {}).items():
            tables[name].append(part)
    return {name: _headed(job, tables[name]) for name in tables}


def sample_place(data: DataBatch) -> int | None:
    """Return the position of the single sample in a batch; None if it is in another batch."""
    places = np.flatnonzero(data.replicate == SAMPLE)
    return int(places[0]) if len(places) else None


def _prior_table(job: TablesJob) -> list[pd.DataFrame]:
    """Return draws from the prior, if the family can provide them."""
    family = draws_from_prior(FAMILIES[job.family])
    if family is None:
        return []
    generator = Address.of(job.key, SAMPLE).generator("prior")
    return [_draws_table(PRIOR, family.prior_draws(generator, job.priors, PRIOR_DRAWS))]


def _draws_table(id: str, draws: Draws) -> pd.DataFrame:
    """Return posterior draws, one column for each scalar parameter."""
    columns: dict[str, np.ndarray] = {}
    for name, values in draws.items():
        flat = values.reshape(len(values), -1)
        columns |= {name if flat.shape[1] == 1 else f"{name}_{k + 1}": flat[:, k] for k in range(flat.shape[1])}
    return _labelled(id, draw=np.arange(count(draws)), **columns)


def _labelled(synthesizer: str, **columns: np.ndarray) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(columns)
    table.insert(0, "synthesizer", synthesizer)
    return table


def _headed(job: TablesJob, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join the parts into one table that starts with the columns naming the scenario."""
    import pandas as pd

    table = pd.concat(parts or [pd.DataFrame(columns=["synthesizer"])], ignore_index=True)
    for at, (key, value) in enumerate({**job.key.columns, "replicate": SAMPLE}.items()):
        table.insert(at, key, value)
    return table


def data_rows(job: TablesJob, data: DataBatch) -> pd.DataFrame:
    """Make the rows of the confidential data: their statistics, for figures that compare them with synthetic data."""
    rows = []
    for k, replicate in enumerate(data.replicate):
        row: Row = {**job.key.columns, "replicate": int(replicate), "synthesizer": DATA, "status": "ok"}
        row["guarantee"] = "none: confidential"
        address = Address.of(job.key, int(replicate))
        row |= {"seed": int(address.sequence("data").generate_state(1)[0])}
        x = data.x[k] * job.unit
        row |= statistics(x) | own_utility(x, job.utility)
        if job.centre_sets:
            row |= centres(x[None])
        rows.append(row)
    return replicate_table(rows, requested_columns(job))


def bootstrap_sets(job: TablesJob, data: DataBatch) -> Array:
    """Compute statistics (synthetic_sets, statistics) of bootstrap samples of the single sample's confidential data.

    Figures compare them with the distribution of a statistic over synthetic data sets; the papers do not define their data sets.
    """
    generator = Address.of(job.key, SAMPLE).generator("bootstrap")
    x = data.x[sample_place(data)] * job.unit
    chosen = generator.integers(len(x), size=(job.synthetic_sets, len(x)))
    return statistics_by_set(x[chosen])
