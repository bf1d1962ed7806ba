"""Compile one Stan program."""

from pathlib import Path

from formalsynth.runtime.files import sealed
from formalsynth.stan.compile import compile_program, read_record
from formalsynth_workflow.jobs.begin import begin

begin(snakemake)

cmdstan = read_record(Path(snakemake.input.cmdstan))
with sealed(snakemake.output.executable) as partial:
    compile_program(Path(snakemake.input.code[0]), partial, cmdstan)
