"""Check the family of a scenario, and mechanisms that it is the first to use, against their contracts."""

import sys

from formalsynth.contract.parts import broken_parts
from formalsynth.core.registry import load
from formalsynth.runtime.files import unbroken, write_text
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.jobs.inputs import SimulateJob
from formalsynth_workflow.steps.simulate import simulate_batch

begin(snakemake)

given = snakemake.params
load(given.modules)
records = simulate_batch(SimulateJob.of(given.job)).records(0)
problems = broken_parts(given.family, records, unbroken(snakemake.input.executable), dict(given.priors), given.uses)
if problems:
    sys.exit("\n".join(problems))
write_text(snakemake.output.passed, f"{' '.join([given.family, *(name for name, _ in given.uses)])}: contracts met\n")
