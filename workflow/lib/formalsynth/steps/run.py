"""Run: simulate, fit, measure and, if requested, audit one batch, and combine its tables.

Results of the parts are stored in files. A later run reuses a file if it was made from the same settings, the same input and the
same source code of the modules that the part uses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.family import FAMILIES, program
from formalsynth.core.job import AuditJob, BatchJob, FitJob, MeasureJob, SimulateJob, specification
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.rows import AUDIT, audit_table
from formalsynth.core.tables import fits_itself
from formalsynth.engine.chain import children_of
from formalsynth.runtime.files import checksum, holds, read_table, unbroken, write_table
from formalsynth.runtime.sources import code_digest, sources
from formalsynth.stan.generate import generate
from formalsynth.steps.batch import FitBatch, Fitted, MeasureBatch
from formalsynth.steps.data import DataBatch
from formalsynth.steps.fit import fit_batch
from formalsynth.steps.measure import measure_batch
from formalsynth.steps.parts import PARTS
from formalsynth.steps.simulate import simulate_batch
from formalsynth.steps.tables import SampleParts, replicates_table, sample_parts, sample_tables

if TYPE_CHECKING:
    import pandas as pd


def run_batch(job: BatchJob, folder: Path, executable: Path, public: Sequence[Path] = ()) -> dict[str, pd.DataFrame]:
    """Simulate, fit and measure a batch.

    Args:
        job: the parts of the batch.
        folder: folder in which results of the parts are stored.
        executable: compiled Stan program of the family.
        public: compiled Stan programs that fit families to private statistics.

    Returns:
        The tables of the batch by name: ``replicates``; ``audit``, without rows if none was requested; and those of the single
        sample, which have no rows if the single sample is in another batch.

    Raises:
        OSError: the program is damaged, or the disk is full.
    """
    batch = _Batch(folder, unbroken(executable), {path.name: unbroken(path) for path in public})
    if own := program(FAMILIES[job.tables.family]):
        own.bind(functools.partial(generate, executable), job.tables.priors)
    data = batch.data(job.simulate)
    rows: dict[str, pd.DataFrame] = {}
    sample: SampleParts = {}
    fitted: dict[str, Fitted] = {}
    chain = [member for measure_job in job.measures for member in measure_job.members]
    for k, (fit_job, measure_job) in enumerate(zip(job.fits, job.measures, strict=True)):
        id = fit_job.synthesizer.id
        fit = batch.fit(fit_job, data, fitted)
        rows[id], measure = batch.measure(measure_job, data, fit, fitted)
        fitted[id] = Fitted(fit, measure, children_of(id, chain))
        sample |= sample_parts(job.tables, id, data, fitted[id])
        # Only fits that a later fit builds on stay in memory.
        later: list[FitJob | MeasureJob] = [*job.fits[k + 1 :], *job.measures[k + 1 :]]
        needed = {parent for later_job in later for parent in later_job.fits.values()}
        fitted = {parent: result for parent, result in fitted.items() if parent in needed}
    audit = batch.audit(job.audit, data) if job.audit else audit_table([])
    tables = {"replicates": replicates_table(job.tables, data, list(rows.values()), audit), AUDIT: audit}
    return tables | sample_tables(job.tables, data, sample)


@dataclass(frozen=True)
class _Batch:
    """Stored results of a batch, one file or more for each part."""

    folder: Path
    executable: Path
    public: Mapping[str, Path]
    """Compiled programs that fit families to private statistics, by name."""

    def data(self, job: SimulateJob) -> DataBatch:
        path, origin = self.folder / "data.npz", _origin(job, "simulate")
        self._keep([path], origin, lambda: simulate_batch(job).write(path, origin))
        return DataBatch.read(path)

    def fit(self, job: FitJob, data: DataBatch, fitted: Mapping[str, Fitted]) -> FitBatch:
        path = self.folder / f"{job.synthesizer.id}.fit.npz"
        itself = fits_itself(FAMILIES[job.family], job.synthesizer.parameters)
        name = "" if itself else MECHANISMS[job.synthesizer.mechanism].program
        executable = self.public[name] if name else self.executable
        origin = _origin(job, "fit", data.digest, checksum(executable), *_digests(job, fitted))
        self._keep([path], origin, lambda: fit_batch(job, data, fitted, executable).write(path, origin))
        return FitBatch.read(path)

    def measure(
        self, job: MeasureJob, data: DataBatch, fit: FitBatch, fitted: Mapping[str, Fitted]
    ) -> tuple[pd.DataFrame, MeasureBatch]:
        rows, arrays = (self.folder / f"{job.members[0].id}.{kind}" for kind in ("replicates.csv", "measure.npz"))
        origin = _origin(job, "measure", data.digest, fit.digest, *_digests(job, fitted))

        def make() -> None:
            table, measured = measure_batch(job, data, fit, fitted)
            write_table(rows, table, origin)
            measured.write(arrays, origin)

        self._keep([rows, arrays], origin, make)
        return read_table(rows), MeasureBatch.read(arrays)

    def audit(self, job: AuditJob, data: DataBatch) -> pd.DataFrame:
        program = [] if job.sampler is None else [checksum(self.executable)]
        path, origin = self.folder / "audited.csv", _origin(job, "audit", data.digest, *program)
        self._keep([path], origin, lambda: write_table(path, PARTS[AUDIT](job, data, self.executable), origin))
        return read_table(path)

    def _keep(self, paths: Sequence[Path], origin: str, make: Callable[[], None]) -> None:
        """Make the files unless they exist, complete and with the same specification."""
        kept = all(holds(path, origin) for path in paths)
        if not kept:
            make()
        print(*(path.name for path in paths), "kept" if kept else "made", flush=True)


def _origin(job: SimulateJob | FitJob | MeasureJob | AuditJob, step: str, *inputs: str) -> str:
    """Return the specification of a stored file: input of its job, code of its step and modules, and digests of input files."""
    code = code_digest(sources(f"formalsynth.steps.{step}", *job.modules))
    return specification(job.digest(), [code, *inputs])


def _digests(job: FitJob | MeasureJob, fitted: Mapping[str, Fitted]) -> list[str]:
    """Return the digests of the fits that a job builds on."""
    return [digest for id in dict.fromkeys(job.fits.values()) for digest in fitted[id].digests()]
