"""Collect: combine the tables of all batches and synthesizers into those of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.rows import AUDIT, audit_table
from formalsynth.runtime.files import read_table
from formalsynth_workflow.jobs.inputs import CollectJob
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.tables import SAMPLE_TABLES, replicates_table, sample_tables

if TYPE_CHECKING:
    import pandas as pd


def collect_scenario(
    job: CollectJob, data: Sequence[Path], replicates: Sequence[Path], audit: Sequence[Path], sample: Mapping[str, Sequence[Path]]
) -> dict[str, pd.DataFrame]:
    """Combine the tables of a scenario with fits.

    Args:
        job: the scenario.
        data: the confidential data of each batch, in order; the first contains the single sample.
        replicates: the rows of each synthesizer and batch.
        audit: the audited neighbours of each audited batch, in order.
        sample: for each table of the single sample, the part of each synthesizer, in the order of the design.

    Returns:
        The tables by name: ``replicates``, ``audit`` and those of the single sample.
    """
    audits = joined(audit) if audit else audit_table([])
    # One batch at a time: together, the data of all replicates can exceed the memory.
    rows = replicates_table(job, map(DataBatch.read, data), [read_table(path) for path in replicates], audits)
    parts = {name: [read_table(path) for path in sample[name]] for name in SAMPLE_TABLES}
    return {"replicates": rows, AUDIT: audits} | sample_tables(job, DataBatch.read(data[0]), parts)


def joined(paths: Sequence[Path]) -> pd.DataFrame:
    """Join tables with the same columns, in order; tables without rows would change the types of the columns."""
    import pandas as pd

    tables = [read_table(path) for path in paths]
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)
