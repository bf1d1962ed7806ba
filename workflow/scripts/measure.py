"""Measure one synthesizer on each replicate of a batch."""

import pandas as pd

from formalsynth.runtime.files import write_table
from formalsynth_workflow.jobs.inputs import MeasureJob
from formalsynth_workflow.steps.begin import begin_step
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.fits import read_fits
from formalsynth_workflow.steps.measure import measure_batch
from formalsynth_workflow.steps.program import program_of
from formalsynth_workflow.steps.tables import SAMPLE_TABLES

job = begin_step(snakemake, MeasureJob)
program_of(job, snakemake.input.executable)
rows, sample = measure_batch(job, DataBatch.read(snakemake.input.data), read_fits(snakemake.input.fit))
write_table(snakemake.output.replicates, rows)
for name in SAMPLE_TABLES:
    write_table(snakemake.output[name], sample.get(name, pd.DataFrame(columns=["synthesizer"])))
