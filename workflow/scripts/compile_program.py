"""Compile one Stan program."""

import json
from pathlib import Path

from formalsynth.jobs import log_to
from formalsynth.sampler import compile_program

log_to(snakemake.log[0])

cmdstan = json.loads(Path(snakemake.input.cmdstan).read_text())["path"]
compile_program(Path(snakemake.input.source), Path(snakemake.output.executable), Path(cmdstan))
