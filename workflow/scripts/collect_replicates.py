"""Collect the replicates of one scenario."""

from formalsynth.core.job import CollectJob, specification
from formalsynth.runtime.files import check_made_from, read_table, write_table
from formalsynth.runtime.logs import log_to
from formalsynth.steps.collect import collect_replicates
from formalsynth.steps.data import DataBatch

log_to(snakemake.log[0])

job = CollectJob.of(snakemake.params.job)
told = snakemake.params.made_from
check_made_from([*snakemake.input.data, *snakemake.input.rows], told)
data = [DataBatch.read(path) for path in snakemake.input.data]
table = collect_replicates(job, data, [read_table(path) for path in snakemake.input.rows])
write_table(snakemake.output.table, table, specification(job, told))
