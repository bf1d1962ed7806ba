"""Find, repair or install CmdStan."""

from pathlib import Path

from formalsynth.stan.install import ensure, log_steps
from formalsynth_workflow.jobs.begin import begin

begin(snakemake)

log_steps()
ensure(Path(snakemake.output.record).absolute().parent)
