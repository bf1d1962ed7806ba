"""Collect the replicates of one scenario."""

from formalsynth.core.job import CollectJob
from formalsynth.runtime.files import read_table, write_table
from formalsynth.runtime.logs import log_to
from formalsynth.steps.collect import collect_replicates
from formalsynth.steps.data import DataBatch

log_to(snakemake.log[0])

job = CollectJob.of(snakemake.params.job)
data = [DataBatch.read(path) for path in snakemake.input.data]
write_table(snakemake.output.table, collect_replicates(job, data, [read_table(path) for path in snakemake.input.rows]))
