"""Specifications of a scenario's tables: the jobs that make them, from config, and the source code of these jobs.

The job that makes a table writes the same into its seal, and what reads the table compares the two. Snakemake notices a change
of either by its own records, which can be lost; a seal is there as long as the file.
"""

from __future__ import annotations

import functools

from formalsynth.core.job import SamplerSettings, specification
from formalsynth.plan.scenario import Scenario
from formalsynth.runtime.sources import code_digest, sources


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
        step = "study" if scenario.study else "run"
        job = scenario.study_job(batch) if scenario.study else scenario.batch_job(batch, self._sampler)
        return specification(job, [code_digest(sources(f"formalsynth.steps.{step}", *job.modules))])

    def _table(self) -> str:
        return specification(None, self.batches())
