"""Compile one Stan program."""

from pathlib import Path

from formalsynth.jobs.begin import begin
from formalsynth.runtime.files import sealed
from formalsynth.stan.compile import compile_program, read_record

begin(snakemake)

cmdstan = read_record(Path(snakemake.input.cmdstan))
with sealed(snakemake.output.executable) as partial:
    compile_program(Path(snakemake.input.code[0]), partial, cmdstan)
