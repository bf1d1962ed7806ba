"""Find, repair or install CmdStan."""

from pathlib import Path

from formalsynth.jobs.begin import begin
from formalsynth.stan.install import ensure, log_steps

begin(snakemake)

log_steps()
ensure(Path(snakemake.output.record).absolute().parent)
