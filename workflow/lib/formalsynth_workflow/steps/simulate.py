"""Simulate: the confidential data of a batch."""

from __future__ import annotations

from formalsynth.core.arrays import Records
from formalsynth.core.data_files import check_unchanged, load, load_counts
from formalsynth.core.population import POPULATIONS
from formalsynth.core.streams import Address
from formalsynth_workflow.jobs.inputs import FromFile, Simulated, SimulateJob
from formalsynth_workflow.steps.data import DataBatch


def simulate_batch(job: SimulateJob) -> DataBatch:
    """Draw or read the confidential data of every replicate of a batch, in the unit of the fits.

    Raises:
        DataError: a data file is missing, differs from the planned one, or cannot be read.
    """
    check_unchanged(job.files, job.data_folder)
    batch = [_records(job, replicate) for replicate in job.replicates]
    ranged = [job.ranges.added_to(records) for records in batch] if job.ranges else batch
    return DataBatch.of(job.replicates, [records.in_unit(job.unit) for records in ranged])


def _records(job: SimulateJob, replicate: int) -> Records:
    if isinstance(job.data, FromFile):
        return load(job.data.file, job.data_folder, job.data.drop_rows)
    generator = Address.of(job.key, replicate).generator("data")
    return POPULATIONS[job.data.population].draw(generator, job.key.n, drawn_with(job.data, job.data_folder))


def drawn_with(data: Simulated, folder: str) -> dict[str, object]:
    """Replace the name of a table of published counts, if a population has one as a parameter, with the contents of the table.

    Raises:
        DataError: the table is missing or is not the published one.
    """
    return {**data.parameters, **({"counts": load_counts(data.counts, folder)} if data.counts else {})}
