"""Find, repair or install CmdStan."""

from pathlib import Path

from formalsynth.cmdstan import ensure, log_steps
from formalsynth.jobs import log_to

log_to(snakemake.log[0])

log_steps()
ensure(Path(snakemake.output.record).absolute().parent)
