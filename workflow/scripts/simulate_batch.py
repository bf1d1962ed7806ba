"""Simulate the confidential data of one batch."""

from formalsynth.files import write_arrays
from formalsynth.jobs import log_to
from formalsynth.scenario import Scenario
from formalsynth.steps.simulate import simulate_batch

log_to(snakemake.log[0])

scenario = Scenario.from_plain(snakemake.params.scenario)
data = simulate_batch(scenario, snakemake.params.root, snakemake.params.replicates, snakemake.params.data_folder)
write_arrays(snakemake.output.data, data)
