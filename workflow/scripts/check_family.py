"""Check a user's own family against its contract, on a few records."""

import sys
from pathlib import Path

from formalsynth.contract.family import broken_family
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import SimulateJob
from formalsynth.core.registry import load
from formalsynth.runtime.files import write_text
from formalsynth.runtime.jobs import begin
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.steps.simulate import simulate_batch

begin(snakemake)
own_temporary_folder()

load(snakemake.params.modules)
name, records = snakemake.wildcards.own_family, simulate_batch(SimulateJob.of(snakemake.params.job)).records(0)
problems = broken_family(FAMILIES[name], records, Path(snakemake.input.executable), dict(snakemake.params.priors))
if problems:
    sys.exit("\n".join(f"family {name}: {problem}" for problem in problems))
write_text(snakemake.output.passed, f"family {name} keeps to its contract\n")
