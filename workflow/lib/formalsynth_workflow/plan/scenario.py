"""Scenarios of the plan: one data design at one sample size, and the inputs of its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from formalsynth.contract.program import ProgramUse
from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES, program
from formalsynth.core.inputs import Ranges
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.model import Settings
from formalsynth.core.population import POPULATIONS
from formalsynth.core.synthesizer import SamplerSettings, ScenarioKey, Synthesizer, with_parents
from formalsynth.core.tables import fits_itself
from formalsynth.core.utility import OWN_UTILITY
from formalsynth_workflow.jobs.inputs import (
    ArmChoice,
    AuditJob,
    CollectJob,
    FitJob,
    FromFile,
    MeasureJob,
    ScenarioColumns,
    Simulated,
    SimulateJob,
    StudyJob,
)
from formalsynth_workflow.plan.audits import EXACT, SAMPLED, AuditPlan
from formalsynth_workflow.study import STUDIES

EXACT_DRAWS = "formalsynth_workflow.steps.exact_draws"
"""Module of exact draws: only named here, and imported by the jobs that need it."""


@dataclass(frozen=True)
class ChosenStudy:
    """A study and its settings."""

    name: str
    settings: Settings


def batch_id(first: int, last: int) -> str:
    """Return the id of a batch, as in paths."""
    return f"{first:04d}-{last:04d}"


@dataclass(frozen=True)
class Scenario:
    """One data design at one sample size, with all its synthesizers spelled out."""

    key: ScenarioKey
    name: str
    """Name of its entry in config."""
    place: str
    label: str
    size: int
    """Sample size in config, before the scale shrinks it."""
    replicates: int
    batch_size: int
    """Replicates of a batch."""
    data_folder: str
    files: dict[str, str]
    """The sha256 of each real data file that it reads, by registered name; empty for a missing file."""
    study: ChosenStudy | None = None
    """Study that runs its replicates; None for a scenario with fits, which has all that follows except arms."""
    arms: dict[str, ArmChoice] = field(default_factory=dict, repr=False)
    family: str = ""
    """Model family."""
    priors: dict[str, float] = field(default_factory=dict)
    data: Simulated | FromFile | None = None
    """Confidential data."""
    stand_in: bool = False
    """True if simulated data replace an absent file."""
    unit: float = 1.0
    ranges: Ranges | None = None
    """Declared sensitive range of each record."""
    synthetic_sets: int = 1
    centre_sets: int = 0
    coefficient: bool = False
    """True if its table of replicates contains the last coefficient of a regression."""
    by_area: bool = False
    """True if its table of replicates contains the error of area means."""
    use: ProgramUse | None = None
    """Its use of the user's own Stan program; None for families of the package."""
    doubt: str = ""
    """Warning that a data file may not be the paper's; empty if there is no doubt."""
    silence: str = ""
    """Warning about synthesizers that clip most records at every draw; empty if there are none."""
    audit: AuditPlan | None = None
    """Audit; None if nothing is audited."""
    synthesizers: dict[str, Synthesizer] = field(default_factory=dict, repr=False)
    exact: bool = False
    """True if its draws are from exact pseudo posteriors instead of Stan."""
    utility: tuple[str, ...] = ()
    """Names of own utility statistics."""

    @property
    def id(self) -> str:
        """Id, as in paths."""
        return self.key.scenario

    @property
    def n(self) -> int:
        """Sample size."""
        return self.key.n

    @property
    def program(self) -> str:
        """Name of the Stan program of its family; empty for a study."""
        return FAMILIES[self.family].program if self.family else ""

    @property
    def public_programs(self) -> list[str]:
        """Names of the Stan programs that fit its family to private statistics."""
        return sorted({MECHANISMS[synthesizer.mechanism].program for synthesizer in self.synthesizers.values()} - {""})

    @property
    def ids(self) -> list[str]:
        """Ids of its synthesizers, or of the arms of its study."""
        return [*self.synthesizers, *self.arms]

    @property
    def confidential(self) -> tuple[str, ...]:
        """Unpublished data files that it reads: everything made from them stays with their owner."""
        datasets = [FILES[name] for name, sha256 in self.files.items() if sha256]
        return tuple(dict.fromkeys(dataset.shown for dataset in datasets if dataset.confidential))

    @property
    def published(self) -> tuple[str, ...]:
        """Published data files from which its records are read."""
        datasets = [FILES[name] for name, sha256 in self.files.items() if sha256]
        return tuple(dict.fromkeys(data.file for data in datasets if not data.confidential and data.holds != "counts"))

    def batches(self) -> list[str]:
        """Return the ids of its batches: the first and the last replicate, as in ``0000-0099``."""
        firsts = range(0, self.replicates, self.batch_size)
        return [batch_id(first, min(first + self.batch_size, self.replicates) - 1) for first in firsts]

    def batch(self, id: str) -> tuple[int, ...]:
        """Return the replicates of a batch."""
        first, last = map(int, id.split("-"))
        return tuple(range(first, last + 1))

    # Inputs of jobs; a change of anything not listed here does not rerun a job. ----------------------------------------

    def simulate_job(self, batch: str) -> SimulateJob:
        """Return the input of simulating a batch."""
        assert self.data is not None
        population = [POPULATIONS.module(self.data.population)] if isinstance(self.data, Simulated) else []
        modules = (*population, *map(FILES.module, self.files))
        return SimulateJob(
            key=self.key, modules=modules, data=self.data, data_folder=self.data_folder, files=self.files,
            unit=self.unit, replicates=self.batch(batch), ranges=self.ranges,
        )  # fmt: skip

    def fit_job(self, id: str, sampler: SamplerSettings) -> FitJob:
        """Return the input of fitting a synthesizer."""
        synthesizer = self.synthesizers[id]
        exact = (EXACT_DRAWS, EXACT[self.program]) if self.exact else ()
        return FitJob(
            key=self.key, modules=(*exact, *self._modules([synthesizer])), family=self.family, priors=self.priors,
            sampler=sampler, synthesizer=synthesizer, exact=self.exact,
        )  # fmt: skip

    def program_of(self, id: str) -> str:
        """Return the name of the Stan program that a synthesizer's fit needs; empty if it needs none."""
        synthesizer = self.synthesizers[id]
        mechanism, family = MECHANISMS[synthesizer.mechanism], FAMILIES[self.family]
        if mechanism.fits_public and not fits_itself(family, synthesizer.parameters):
            return mechanism.program
        drawn = self.exact or synthesizer.fit != id or (mechanism.releases and not mechanism.fits_public)
        return "" if drawn and program(family) is None else self.program

    def measure_job(self, id: str) -> MeasureJob:
        """Return the input of measuring a synthesizer."""
        synthesizer = self.synthesizers[id]
        mechanism = MECHANISMS[synthesizer.mechanism]
        # The predictor of a direct release can be defined with its mechanism.
        modules = self._modules([synthesizer]) if mechanism.releases else self._modules([])
        return MeasureJob(
            key=self.key, modules=(*modules, *self._own_utility()), family=self.family, priors=self.priors, synthesizer=id,
            words=self.synthesizers[synthesizer.fit].words, guarantee=mechanism.kind,
            **self._rows(),
        )  # fmt: skip

    def audit_job(self, batch: str, sampler: SamplerSettings) -> AuditJob | None:
        """Return the input of auditing a batch; None if none of its data sets is audited."""
        plan = self.audit
        replicates = tuple(replicate for replicate in self.batch(batch) if plan and replicate < plan.replicates)
        if plan is None or not replicates:
            return None
        chain = with_parents(plan.audited, self.synthesizers)
        exact = EXACT.get(self.program)
        modules = (exact or SAMPLED, *self._modules(chain))
        return AuditJob(
            key=self.key, modules=modules, family=self.family, priors=self.priors, synthesizers=tuple(chain),
            audited=plan.audited, outcomes=plan.outcomes, predictors=plan.predictors,
            inputs=plan.inputs, at_most=plan.at_most, search=plan.search, curve=plan.curve,
            draws=sampler.draws, sampler=None if exact else sampler, replicates=replicates,
        )  # fmt: skip

    def summary(self) -> ScenarioColumns:
        """Return its columns in the table of all results."""
        mechanisms = {id: synthesizer.mechanism for id, synthesizer in self.synthesizers.items()}
        parameters = {id: synthesizer.parameters for id, synthesizer in self.synthesizers.items()}
        return ScenarioColumns(
            family=self.family,
            mechanisms=mechanisms | {id: choice.arm for id, choice in self.arms.items()},
            parameters=parameters | {id: choice.parameters for id, choice in self.arms.items()},
        )

    def study_job(self, batch: str) -> StudyJob:
        """Return the input of the job that runs a batch of a study."""
        assert self.study is not None
        modules = (STUDIES.module(self.study.name), *map(FILES.module, self.files))
        return StudyJob(
            key=self.key, modules=tuple(dict.fromkeys(modules)), study=self.study.name, settings=self.study.settings,
            arms=tuple(self.arms.values()), data_folder=self.data_folder, files=self.files,
            replicates=self.batch(batch),
        )  # fmt: skip

    def collect_job(self) -> CollectJob:
        """Return the input of combining the tables of the scenario."""
        return CollectJob(
            key=self.key, modules=(*self._modules([]), *self._own_utility()), family=self.family, priors=self.priors,
            synthesizers=tuple(self.synthesizers), **self._rows(),
        )  # fmt: skip

    def _rows(self) -> dict[str, Any]:
        """Return the requests for columns of its rows."""
        return {
            "synthetic_sets": self.synthetic_sets, "centre_sets": self.centre_sets, "unit": self.unit, "utility": self.utility,
            "coefficient": self.coefficient, "by_area": self.by_area,
        }  # fmt: skip

    def _own_utility(self) -> tuple[str, ...]:
        """Return the files that define its own utility statistics."""
        return tuple(dict.fromkeys(OWN_UTILITY.module(name) for name in self.utility))

    def _modules(self, synthesizers: Sequence[Synthesizer]) -> tuple[str, ...]:
        """Return the modules that define the family and the synthesizers' mechanisms."""
        mechanisms = (MECHANISMS.module(synthesizer.mechanism) for synthesizer in synthesizers)
        return tuple(dict.fromkeys([FAMILIES.module(self.family), *mechanisms]))
