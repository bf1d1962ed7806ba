"""Compile one Stan program."""

import json
from pathlib import Path

from formalsynth.sampler import compile_program

cmdstan = json.loads(Path(snakemake.input.cmdstan).read_text())["path"]
compile_program(Path(snakemake.input.source), Path(snakemake.output.executable), Path(cmdstan))
