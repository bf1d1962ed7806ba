"""Scenarios of the plan: one data design at one sample size, and the inputs of its jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from formalsynth.contract.program import ProgramUse
from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import (
    STUDY,
    ArmChoice,
    AuditJob,
    BatchJob,
    FitJob,
    FromFile,
    MeasureJob,
    SamplerSettings,
    ScenarioColumns,
    ScenarioKey,
    Simulated,
    SimulateJob,
    StudyJob,
    Synthesizer,
    TablesJob,
    with_parents,
)
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.model import Settings
from formalsynth.core.population import POPULATIONS
from formalsynth.core.study import STUDIES
from formalsynth.core.utility import OWN_UTILITY
from formalsynth.plan.audits import EXACT, SAMPLED, AuditPlan

AUDIT_STEP, EXACT_DRAWS = "formalsynth.steps.audit", "formalsynth.steps.exact_draws"
"""Modules of the audit step and of exact draws: only named here, and imported by the jobs that need them."""


@dataclass(frozen=True)
class ChosenStudy:
    """A study and its settings."""

    name: str
    settings: Settings


@dataclass(frozen=True)
class Scenario:
    """One data design at one sample size, with all its synthesizers spelled out."""

    key: ScenarioKey
    name: str
    """Name of its entry in config."""
    place: str
    label: str
    family: str
    """Model family; empty for a study."""
    priors: dict[str, float]
    data: Simulated | FromFile | None
    """Confidential data; None for a study, which has its own."""
    stand_in: bool
    """True if simulated data replace an absent file."""
    study: ChosenStudy | None
    """Study that runs its replicates; None for a scenario with fits."""
    unit: float
    size: int
    """Sample size in config, before the scale shrinks it."""
    replicates: int
    batch_size: int
    """Replicates that one job handles."""
    synthetic_sets: int
    centre_sets: int
    coefficient: bool
    """True if its table of replicates contains the last coefficient of a regression."""
    data_folder: str
    files: dict[str, str]
    """The sha256 of each real data file that it reads, by registered name; empty for a missing file."""
    use: ProgramUse | None
    """Its use of the user's own Stan program; None for families of the package and for studies."""
    doubt: str
    """Warning that a data file may not be the paper's; empty if there is no doubt."""
    audit: AuditPlan | None
    """Audit; None if nothing is audited."""
    synthesizers: dict[str, Synthesizer] = field(repr=False)
    arms: dict[str, ArmChoice] = field(repr=False)
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

    def fits(self) -> list[str]:
        """Return the ids of the synthesizers with a fit of their own; a study counts as one."""
        if self.study:
            return [STUDY]
        return [synthesizer.id for synthesizer in self.synthesizers.values() if synthesizer.fit == synthesizer.id]

    def members(self, fit: str) -> list[Synthesizer]:
        """Return the synthesizers that share a fit, its owner first."""
        sharing = [synthesizer for synthesizer in self.synthesizers.values() if synthesizer.fit == fit]
        return sorted(sharing, key=lambda synthesizer: synthesizer.id != fit)

    def fits_in_turn(self) -> list[str]:
        """Return the ids of the fits, parents first."""
        needs = {fit: dict.fromkeys(self._fits_of_parents(self.members(fit)).values()) for fit in self.fits()}
        return list(TopologicalSorter(needs).static_order())

    def _fits_of_parents(self, chosen: Sequence[Synthesizer]) -> dict[str, str]:
        return {parent: self.synthesizers[parent].fit for synthesizer in chosen for parent in synthesizer.parents}

    def batches(self) -> list[str]:
        """Return the ids of its batches."""
        return [f"{k:04d}" for k in range(-(-self.replicates // self.batch_size))]

    def batch(self, id: str) -> tuple[int, ...]:
        """Return the replicates of a batch."""
        first = int(id) * self.batch_size
        return tuple(range(first, min(first + self.batch_size, self.replicates)))

    # Inputs of jobs; a change of anything not listed here does not rerun a job. ----------------------------------------

    def batch_job(self, batch: str, sampler: SamplerSettings) -> BatchJob:
        """Return the input of the job that runs a batch, made of the inputs of its parts."""
        fits = self.fits_in_turn()
        return BatchJob(
            simulate=self.simulate_job(batch), fits=tuple(self.fit_job(fit, sampler) for fit in fits),
            measures=tuple(map(self.measure_job, fits)), tables=self.tables_job(), audit=self.audit_job(batch, sampler),
        )  # fmt: skip

    def simulate_job(self, batch: str) -> SimulateJob:
        """Return the input of simulating a batch."""
        assert self.data is not None
        population = [POPULATIONS.module(self.data.population)] if isinstance(self.data, Simulated) else []
        modules = (*population, *map(FILES.module, self.files))
        return SimulateJob(
            key=self.key, modules=modules, data=self.data, data_folder=self.data_folder, files=self.files,
            replicates=self.batch(batch),
        )  # fmt: skip

    def fit_job(self, fit: str, sampler: SamplerSettings) -> FitJob:
        """Return the input of fitting a synthesizer."""
        synthesizer = self.synthesizers[fit]
        exact = (EXACT_DRAWS, EXACT[self.program]) if self.exact else ()
        return FitJob(
            key=self.key, modules=(*exact, *self._modules([synthesizer])), family=self.family, priors=self.priors,
            sampler=sampler, synthesizer=synthesizer, fits=self._fits_of_parents([synthesizer]), exact=self.exact,
        )  # fmt: skip

    def measure_job(self, fit: str) -> MeasureJob:
        """Return the input of measuring the synthesizers of a fit."""
        members = self.members(fit)
        built_on = {parent for synthesizer in self.synthesizers.values() for parent in synthesizer.parents}
        return MeasureJob(
            key=self.key, modules=(*self._modules(members), *self._own_utility()), family=self.family, members=tuple(members),
            parents=tuple(member.id for member in members if member.id in built_on), fits=self._fits_of_parents(members),
            synthetic_sets=self.synthetic_sets, centre_sets=self.centre_sets, unit=self.unit, utility=self.utility,
            coefficient=self.coefficient,
        )  # fmt: skip

    def audit_job(self, batch: str, sampler: SamplerSettings) -> AuditJob | None:
        """Return the input of auditing a batch; None if none of its data sets is audited."""
        plan = self.audit
        replicates = tuple(replicate for replicate in self.batch(batch) if plan and replicate < plan.replicates)
        if plan is None or not replicates:
            return None
        chain = with_parents(plan.audited, self.synthesizers)
        exact = EXACT.get(self.program)
        modules = (AUDIT_STEP, exact or SAMPLED, *self._modules(chain))
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

    def tables_job(self) -> TablesJob:
        """Return the input of combining the tables of a batch."""
        return TablesJob(
            key=self.key, modules=(FAMILIES.module(self.family), *self._own_utility()), family=self.family, priors=self.priors,
            fits={id: synthesizer.fit for id, synthesizer in self.synthesizers.items()},
            synthetic_sets=self.synthetic_sets, centre_sets=self.centre_sets, unit=self.unit, utility=self.utility,
            coefficient=self.coefficient,
        )  # fmt: skip

    def _own_utility(self) -> tuple[str, ...]:
        """Return the files that define its own utility statistics."""
        return tuple(dict.fromkeys(OWN_UTILITY.module(name) for name in self.utility))

    def _modules(self, synthesizers: Sequence[Synthesizer]) -> tuple[str, ...]:
        """Return the modules that define the family and the synthesizers' mechanisms."""
        mechanisms = (MECHANISMS.module(synthesizer.mechanism) for synthesizer in synthesizers)
        return tuple(dict.fromkeys([FAMILIES.module(self.family), *mechanisms]))
