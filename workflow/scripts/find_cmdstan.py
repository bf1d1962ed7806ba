"""Find, repair or install CmdStan."""

from pathlib import Path

from formalsynth.runtime.logs import log_to
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.stan.install import ensure, log_steps

log_to(snakemake.log[0])
own_temporary_folder()

log_steps()
ensure(Path(snakemake.output.record).absolute().parent)
