"""Fit one synthesizer to one batch."""

from formalsynth.core.job import FitJob
from formalsynth.core.registry import load
from formalsynth.runtime.files import unbroken
from formalsynth.runtime.logs import log_to
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.steps.batch import read_fitted
from formalsynth.steps.data import DataBatch
from formalsynth.steps.fit import fit_batch

log_to(snakemake.log[0])
own_temporary_folder()

job = FitJob.of(snakemake.params.job)
load(job.modules)
fitted = read_fitted(snakemake.input.fits, snakemake.input.measures)
fit_batch(job, DataBatch.read(snakemake.input.data), fitted, unbroken(snakemake.input.executable)).write(snakemake.output.fit)
