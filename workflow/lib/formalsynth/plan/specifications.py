"""What the tables of a scenario are to be made from, worked out from config.

The job that makes a table writes the same beside it, and what reads the table compares the two. Snakemake notices by its own
records that a job is told something else; those can be lost, what stands beside a file is there as long as the file.
"""

from __future__ import annotations

import functools

from formalsynth.core.job import SamplerSettings, specification
from formalsynth.plan.scenario import Scenario


class Specifications:
    """The specifications of one scenario's tables."""

    def __init__(self, scenario: Scenario, sampler: SamplerSettings) -> None:
        """Work out specifications as they are asked for, each once."""
        self._scenario = scenario
        self._sampler = sampler
        self.table = functools.cache(self._table)
        """Of the collected tables."""

    def batches(self) -> list[str]:
        """Of the tables of each batch."""
        return [self._batch(batch) for batch in self._scenario.batches()]

    def _batch(self, batch: str) -> str:
        scenario = self._scenario
        return specification(scenario.study_job(batch) if scenario.study else scenario.batch_job(batch, self._sampler))

    def _table(self) -> str:
        return specification(None, self.batches())
