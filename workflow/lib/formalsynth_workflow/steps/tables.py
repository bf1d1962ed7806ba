"""Tables of a scenario: its replicates, and the records of the single sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Draws, count
from formalsynth.core.family import FAMILIES, draws_from_prior
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.rows import CURVE, LOSSES, REPLICATE_COLUMNS, Row, replicate_table, requested_columns
from formalsynth.core.streams import Address
from formalsynth.core.utility import UTILITY, centres, own_utility, statistics, statistics_by_set
from formalsynth_workflow.jobs.inputs import SAMPLE, CollectJob
from formalsynth_workflow.steps.data import DataBatch

if TYPE_CHECKING:
    import pandas as pd

PRIOR_DRAWS = 1000
"""Number of prior draws, which figures show together with posterior draws."""
SAMPLE_TABLES = ("records", "values", "sets", "draws")
"""Tables of the single sample."""


def replicates_table(
    job: CollectJob, batches: Iterable[DataBatch], rows: Sequence[pd.DataFrame], audit: pd.DataFrame
) -> pd.DataFrame:
    """Combine all rows of a scenario, sorted by replicate and then in the order of the design, with the confidential data first.

    Args:
        job: the scenario.
        batches: the confidential data.
        rows: the measured rows of each synthesizer and batch.
        audit: the audited neighbours; may have no rows.
    """
    import pandas as pd

    order = {id: k for k, id in enumerate([DATA, *job.synthesizers])}
    table = pd.concat([*(data_rows(job, data) for data in batches), *rows], ignore_index=True)
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


def sample_tables(job: CollectJob, data: DataBatch, parts: Mapping[str, Sequence[pd.DataFrame]]) -> dict[str, pd.DataFrame]:
    """Combine the tables of the single sample; a synthesizer whose fit failed on the single sample is missing from them.

    Args:
        job: the scenario.
        data: the batch that contains the single sample.
        parts: the parts of each synthesizer, by table.
    """
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in SAMPLE_TABLES}
    place = sample_place(data)
    bootstrap = dict(zip(UTILITY, bootstrap_sets(job, data).T, strict=True))
    tables["draws"] += _prior_table(job)
    tables["values"].append(labelled(DATA, record=np.arange(job.key.n), value=data.x[place] * job.unit))
    tables["sets"].append(labelled(DATA, set=np.arange(job.synthetic_sets), **bootstrap))
    return {name: _headed(job, [*tables[name], *(part for part in parts[name] if len(part))]) for name in tables}


def sample_place(data: DataBatch) -> int:
    """Return the position of the single sample in its batch."""
    return int(np.flatnonzero(data.replicate == SAMPLE)[0])


def _prior_table(job: CollectJob) -> list[pd.DataFrame]:
    """Return draws from the prior, if the family can provide them."""
    family = draws_from_prior(FAMILIES[job.family])
    if family is None:
        return []
    generator = Address.of(job.key, SAMPLE).generator("prior")
    return [draws_table(PRIOR, family.prior_draws(generator, job.priors, PRIOR_DRAWS))]


def draws_table(id: str, draws: Draws) -> pd.DataFrame:
    """Return posterior draws, one column for each scalar parameter."""
    columns: dict[str, np.ndarray] = {}
    for name, values in draws.items():
        flat = values.reshape(len(values), -1)
        columns |= {name if flat.shape[1] == 1 else f"{name}_{k + 1}": flat[:, k] for k in range(flat.shape[1])}
    return labelled(id, draw=np.arange(count(draws)), **columns)


def labelled(synthesizer: str, **columns: np.ndarray) -> pd.DataFrame:
    """Return columns as a table that starts with the id of the synthesizer."""
    import pandas as pd

    table = pd.DataFrame(columns)
    table.insert(0, "synthesizer", synthesizer)
    return table


def _headed(job: CollectJob, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join the parts into one table that starts with the columns naming the scenario."""
    import pandas as pd

    table = pd.concat(parts or [pd.DataFrame(columns=["synthesizer"])], ignore_index=True)
    for at, (key, value) in enumerate({**job.key.columns, "replicate": SAMPLE}.items()):
        table.insert(at, key, value)
    return table


def data_rows(job: CollectJob, data: DataBatch) -> pd.DataFrame:
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


def bootstrap_sets(job: CollectJob, data: DataBatch) -> Array:
    """Compute statistics (synthetic_sets, statistics) of bootstrap samples of the single sample's confidential data.

    Figures compare them with the distribution of a statistic over synthetic data sets; the papers do not define their data sets.
    """
    generator = Address.of(job.key, SAMPLE).generator("bootstrap")
    x = data.x[sample_place(data)] * job.unit
    chosen = generator.integers(len(x), size=(job.synthetic_sets, len(x)))
    return statistics_by_set(x[chosen])
