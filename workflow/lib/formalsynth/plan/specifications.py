"""What each file of a scenario is to be made from, worked out from config.

The job that makes the file writes the same beside it, and what reads the file compares the two. Snakemake notices by its own
records that a job is told something else; those can be lost, what stands beside a file is there as long as the file.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from formalsynth.core.job import SamplerSettings, specification
from formalsynth.plan.scenario import Scenario


class Specifications:
    """The specifications of one scenario's files, in the order in which its jobs take them as input."""

    def __init__(self, scenario: Scenario, sampler: SamplerSettings) -> None:
        """Work out specifications as they are asked for, each once."""
        self._scenario = scenario
        self.data = functools.cache(self._data)
        """Of the confidential data of a batch."""
        self.fit = functools.cache(self._fit)
        """Of a fit in a batch."""
        self.measure = functools.cache(self._measure)
        """Of what was measured of a fit in a batch; of the rows of a study in a batch."""
        self._fit_job = functools.cache(lambda fit: scenario.fit_job(fit, sampler))
        self._measure_job = functools.cache(scenario.measure_job)

    def of_fit(self, fit: str, batch: str) -> list[str]:
        """Of the input of a fit: data, fits, measures."""
        return [self.data(batch), *self._of_fits(self._scenario.ancestors(fit, members=False), batch)]

    def of_measure(self, fit: str, batch: str) -> list[str]:
        """Of the input of a measurement: data, the fit, the fits and measures that those who share it build on."""
        return [self.data(batch), self.fit(fit, batch), *self._of_fits(self._scenario.ancestors(fit), batch)]

    def of_replicates(self) -> list[str]:
        """Of what the replicates are collected from: the data of every batch, then the rows of every batch and fit."""
        scenario = self._scenario
        data = [] if scenario.study else [self.data(batch) for batch in scenario.batches()]
        return data + [self.measure(fit, batch) for batch in scenario.batches() for fit in scenario.fits()]

    def of_sample(self) -> list[str]:
        """Of what the single sample is collected from: data, fits, measures of the first batch."""
        first = self._scenario.batches()[0]
        return [self.data(first), *self._of_fits(self._scenario.fits(), first)]

    def of_details(self) -> list[str]:
        """Of what the details of a study are collected from."""
        return [self.measure(fit, batch) for batch in self._scenario.batches() for fit in self._scenario.fits()]

    def table(self, name: str) -> str:
        """Of a collected table."""
        if name == "details":
            return specification(None, self.of_details())
        inputs = self.of_replicates() if name == "replicates" else self.of_sample()
        return specification(self._scenario.collect_job(), inputs)

    def _of_fits(self, fits: Sequence[str], batch: str) -> list[str]:
        return [self.fit(fit, batch) for fit in fits] + [self.measure(fit, batch) for fit in fits]

    def _data(self, batch: str) -> str:
        return specification(self._scenario.simulate_job(batch))

    def _fit(self, fit: str, batch: str) -> str:
        return specification(self._fit_job(fit), self.of_fit(fit, batch))

    def _measure(self, fit: str, batch: str) -> str:
        if self._scenario.study:
            return specification(self._scenario.study_job(batch))
        return specification(self._measure_job(fit), self.of_measure(fit, batch))
