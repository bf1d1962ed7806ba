"""Collect the record-level tables of one scenario's single sample."""

from formalsynth.core.job import CollectJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.files import check_made_from, write_table
from formalsynth.runtime.logs import log_to
from formalsynth.steps.batch import read_fitted
from formalsynth.steps.collect import collect_sample
from formalsynth.steps.data import DataBatch

log_to(snakemake.log[0])

job = CollectJob.of(snakemake.params.job)
load(job.modules)
told = snakemake.params.made_from
check_made_from([snakemake.input.data, *snakemake.input.fits, *snakemake.input.measures], told)
fitted = read_fitted(snakemake.input.fits, snakemake.input.measures)
for name, table in collect_sample(job, DataBatch.read(snakemake.input.data), fitted).items():
    write_table(snakemake.output[name], table, specification(job, told))
