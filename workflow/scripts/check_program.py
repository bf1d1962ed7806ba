"""Check a user's own Stan program against its contract."""

import sys
from pathlib import Path

from formalsynth.contract.program import ProgramUse, broken
from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import load
from formalsynth.runtime.files import unbroken, write_text
from formalsynth_workflow.jobs.begin import begin

begin(snakemake)

load([snakemake.params.module])
family, file = FAMILIES[snakemake.wildcards.own_program], Path(snakemake.params.module).name
problems = broken(family, unbroken(snakemake.input.executable), [ProgramUse.of(use) for use in snakemake.params.uses])
if problems:
    sys.exit("\n".join(f"{file}: {problem}" for problem in problems))
write_text(snakemake.output.passed, f"{file} keeps to its contract\n")
