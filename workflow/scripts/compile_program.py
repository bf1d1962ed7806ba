"""Compile one Stan program."""

from pathlib import Path

from formalsynth.cmdstan import read_record
from formalsynth.files import sealed
from formalsynth.jobs import log_to
from formalsynth.private import own_temporary_folder
from formalsynth.sampler import compile_program

log_to(snakemake.log[0])
own_temporary_folder()

cmdstan = read_record(Path(snakemake.input.cmdstan))
with sealed(snakemake.output.executable) as partial:
    compile_program(Path(snakemake.input.source), partial, cmdstan)
