"""Find, repair or install CmdStan."""

from pathlib import Path

from formalsynth.cmdstan import ensure, log_steps
from formalsynth.jobs import log_to
from formalsynth.private import own_temporary_folder

log_to(snakemake.log[0])
own_temporary_folder()

log_steps()
ensure(Path(snakemake.output.record).absolute().parent)
