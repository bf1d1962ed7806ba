"""Fit one synthesizer to one batch."""

from formalsynth.files import read_arrays, read_parents, unbroken, write_arrays
from formalsynth.jobs import log_to
from formalsynth.private import own_temporary_folder
from formalsynth.sampler import Settings
from formalsynth.scenario import Scenario
from formalsynth.steps.fit import fit_batch

log_to(snakemake.log[0])
own_temporary_folder()

fit = fit_batch(
    Scenario.from_plain(snakemake.params.scenario),
    snakemake.wildcards.synthesizer,
    snakemake.params.root,
    read_arrays(snakemake.input.data),
    read_parents(snakemake.input.fits, snakemake.input.measures),
    unbroken(snakemake.input.executable),
    Settings(**snakemake.params.sampler),
)
write_arrays(snakemake.output.fit, fit)
