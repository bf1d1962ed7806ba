"""Fit one synthesizer to one batch."""

from formalsynth.core.job import FitJob, specification
from formalsynth.core.registry import load
from formalsynth.runtime.files import check_made_from, unbroken
from formalsynth.runtime.logs import log_to
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.steps.batch import read_fitted
from formalsynth.steps.data import DataBatch
from formalsynth.steps.fit import fit_batch

log_to(snakemake.log[0])
own_temporary_folder()

job = FitJob.of(snakemake.params.job)
load(job.modules)
told = snakemake.params.made_from
check_made_from([snakemake.input.data, *snakemake.input.fits, *snakemake.input.measures], told)
fitted = read_fitted(snakemake.input.fits, snakemake.input.measures)
fit = fit_batch(job, DataBatch.read(snakemake.input.data), fitted, unbroken(snakemake.input.executable))
fit.write(snakemake.output.fit, specification(job, told))
