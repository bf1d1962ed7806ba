"""The audit that a scenario asks for, checked against its family, its synthesizers and its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.contract.program import ProgramUse
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import AuditSearch
from formalsynth.plan.messages import ConfigError, message
from formalsynth.plan.model import AuditConfig, DeclaredRange, ScaleConfig

EXACT = {
    "linear_regression": "formalsynth.audit.exact_linear",
    "poisson": "formalsynth.audit.exact_lattice",
    "beta": "formalsynth.audit.exact_lattice",
    "negative_binomial": "formalsynth.audit.exact_lattice",
}
"""Modules of the exact posteriors by Stan program, as their register has them: to import them would take each job a second."""
SAMPLED = "formalsynth.steps.sampling"
"""Module of what samples the posteriors of all other families."""
LEAST_DELTA = 1e-3
"""Of audits from draws, of which there are some thousand: what is rarer than that they do not see."""
CANDIDATES = 1000
"""Records to add at most: every synthesizer is run with each of them."""


@dataclass(frozen=True)
class AuditPlan:
    """The audit of a scenario with everything spelled out."""

    search: AuditSearch
    outcomes: tuple[float, ...]
    predictors: tuple[tuple[float, ...], ...]
    audited: tuple[str, ...]
    """Ids of the synthesizers."""
    replicates: int
    """How many data sets, the first ones."""
    curve: bool
    concern: str
    """What speaks against the declared ranges; empty where nothing does."""


@dataclass(frozen=True)
class AuditReader:
    """Spells out the audit of one scenario of config."""

    file: Path
    where: str
    """Path of keys to the scenario."""
    family: str
    groups: Mapping[str, Sequence[str]]
    """Ids of the synthesizers that each entry of the scenario stands for."""
    scale: ScaleConfig
    use: ProgramUse | None = None
    """How it uses a Stan program of the user's own."""

    def read(self, config: AuditConfig, records: Records, replicates: int) -> AuditPlan:
        """The audit.

        Args:
            config: as it is asked for.
            records: the scenario's data, or some like them.
            replicates: how many data sets the scenario has.

        Raises:
            ConfigError: it cannot be run.
        """
        outcomes = tuple(config.outcome.values(self.scale.audit_points))
        predictors = tuple(tuple(each.values(self.scale.audit_points)) for each in config.predictors)
        self._check_ranges(config, outcomes, records)
        candidates = len(outcomes) * int(np.prod([len(each) for each in predictors]))
        if candidates > CANDIDATES:
            allowed = f"so many that there are at most {CANDIDATES} records to add, one for each combination of values"
            raise self._refuse("outcome.points", config.outcome.points, [allowed])
        kept = set(AuditSearch.model_fields)
        search = AuditSearch.model_validate({key: value for key, value in dict(config).items() if key in kept})
        if FAMILIES[self.family].program not in EXACT:
            search = self._from_draws(config, search)
        if self.scale.attack_runs:
            search = search.model_copy(update={"attack": min(search.attack, self.scale.attack_runs)})
        return AuditPlan(
            search, outcomes, predictors, tuple(self._audited(config)), min(config.replicates or replicates, replicates),
            config.curve, self._concern(config, records),
        )  # fmt: skip

    def _refuse(self, key: str, given: object, allowed: Sequence[object]) -> ConfigError:
        return ConfigError(message(self.file, f"{self.where}.audit.{key}", given, allowed))

    def _check_ranges(self, config: AuditConfig, outcomes: Sequence[float], records: Records) -> None:
        """Check that what is declared can be a record."""
        family, ends = FAMILIES[self.family], f"{config.outcome.low:g} to {config.outcome.high:g}"
        if not family.outcomes.holds(np.array(outcomes)):
            raise self._refuse("outcome", ends, [f"what family {self.family} takes: {family.outcomes.what}"])
        if self.use is not None and (config.outcome.low < self.use.lower or config.outcome.high > self.use.upper):
            raise self._refuse("outcome", ends, [f"what the family declares: {self.use.lower:g} to {self.use.upper:g}"])
        varying = int((np.ptp(records.design, axis=0) > 0).sum())
        if len(config.predictors) != varying:
            allowed = f"one for each predictor that varies: {varying}"
            raise self._refuse("predictors", f"{len(config.predictors)} of them", [allowed])

    def _from_draws(self, config: AuditConfig, search: AuditSearch) -> AuditSearch:
        """What can be said from draws alone, where the posterior is not known exactly."""
        why = f"the posterior of family {self.family} is not known exactly, and draws alone tell nothing of"
        if search.attack:
            raise self._refuse("attack", search.attack, [f"0: {why} an attack"])
        if search.streams > 1:
            raise self._refuse("streams", search.streams, [f"0: {why} mixtures"])
        if "deltas" not in config.model_fields_set:
            return search.model_copy(update={"deltas": (LEAST_DELTA,)})
        if min(search.deltas) < LEAST_DELTA:
            raise self._refuse("deltas", min(search.deltas), [f"at least {LEAST_DELTA:g}: {why} what is rarer"])
        return search

    def _audited(self, config: AuditConfig) -> list[str]:
        """Ids of the synthesizers that are audited."""
        names = list(self.groups) if config.synthesizers is None else config.synthesizers
        for name in names:
            if name not in self.groups:
                raise self._refuse("synthesizers", name, list(self.groups))
        return list(dict.fromkeys(id for name in names for id in self.groups[name]))

    def _concern(self, config: AuditConfig, records: Records) -> str:
        """A sentence about data that lie outside what is declared."""
        design = records.design[:, np.ptp(records.design, axis=0) > 0]
        told = [("outcome", config.outcome, records.x)]
        told += [(f"predictor {k + 1}", each, design[:, k]) for k, each in enumerate(config.predictors)]
        outside = [_outside(*each) for each in told]
        return "; ".join(each for each in outside if each)


def _outside(what: str, declared: DeclaredRange, values: np.ndarray) -> str:
    """What is said of values that are not all in a declared range."""
    beyond = int(((values < declared.low) | (values > declared.high)).sum())
    if not beyond:
        return ""
    return (
        f"the audit declares {declared.low:g} to {declared.high:g} for the {what}, and {beyond} of {len(values)} records "
        f"lie outside, between {values.min():g} and {values.max():g}"
    )
