"""Measure the synthesizers that share one fit, on one batch."""

from formalsynth.core.job import MeasureJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.files import check_made_from, write_table
from formalsynth.runtime.logs import log_to
from formalsynth.steps.batch import FitBatch, read_fitted
from formalsynth.steps.data import DataBatch
from formalsynth.steps.measure import measure_batch

log_to(snakemake.log[0])

job = MeasureJob.of(snakemake.params.job)
load(job.modules)
told = snakemake.params.made_from
found = snakemake.input
check_made_from([found.data, found.fit, *found.fits, *found.measures], told)
fitted = read_fitted(snakemake.input.fits, snakemake.input.measures)
rows, measured = measure_batch(job, DataBatch.read(snakemake.input.data), FitBatch.read(snakemake.input.fit), fitted)
measured.write(snakemake.output.arrays, specification(job, told))
write_table(snakemake.output.rows, rows, specification(job, told))
