"""Find, repair or install CmdStan."""

from pathlib import Path

from formalsynth.jobs.begin import begin
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.stan.install import ensure, log_steps

begin(snakemake)
own_temporary_folder()

log_steps()
ensure(Path(snakemake.output.record).absolute().parent)
