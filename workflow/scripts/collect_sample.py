"""Collect the record-level tables of one scenario's single sample."""

from formalsynth.core.job import CollectJob
from formalsynth.core.registry import load
from formalsynth.runtime.files import write_table
from formalsynth.runtime.logs import log_to
from formalsynth.steps.batch import read_fitted
from formalsynth.steps.collect import collect_sample
from formalsynth.steps.data import DataBatch

log_to(snakemake.log[0])

job = CollectJob.of(snakemake.params.job)
load(job.modules)
fitted = read_fitted(snakemake.input.fits, snakemake.input.measures)
for name, table in collect_sample(job, DataBatch.read(snakemake.input.data), fitted).items():
    write_table(snakemake.output[name], table)
