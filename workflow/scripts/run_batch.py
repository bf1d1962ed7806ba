"""Simulate, fit and measure one batch."""

from pathlib import Path

from formalsynth.core.job import BatchJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.files import write_table
from formalsynth.runtime.jobs import begin
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.runtime.sources import check_code, sources
from formalsynth.steps.run import run_batch

begin(snakemake)
own_temporary_folder()

job, code = BatchJob.of(snakemake.params.job), snakemake.params.code
check_code(sources(run_batch.__module__, *job.modules), code)
load(job.modules)
public = list(map(Path, snakemake.input.public))
tables = run_batch(job, Path(snakemake.output.replicates).parent, Path(snakemake.input.executable), public)
for name, table in tables.items():
    write_table(snakemake.output[name], table, specification(job.digest(), [code]))
