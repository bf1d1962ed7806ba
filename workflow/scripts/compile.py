"""Compile one Stan program."""

from pathlib import Path

from formalsynth.jobs.begin import begin
from formalsynth.runtime.files import sealed
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.stan.compile import compile_program, read_record

begin(snakemake)
own_temporary_folder()

cmdstan = read_record(Path(snakemake.input.cmdstan))
with sealed(snakemake.output.executable) as partial:
    compile_program(Path(snakemake.input.code[0]), partial, cmdstan)
