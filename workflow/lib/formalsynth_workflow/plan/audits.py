"""The audit that a scenario requests, checked against its family, its synthesizers and its data."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.contract.program import ProgramUse
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import PACKAGE, module_name
from formalsynth.core.synthesizer import AuditSearch
from formalsynth.settings.messages import Section
from formalsynth_workflow.plan.model import AuditConfig, DeclaredRange, ScaleConfig

EXACT = {
    program: module_name(path)
    for path in sorted(PACKAGE.glob("audit/exact_*.py"))
    for program in re.findall(r'^@exact\("(\w+)"\)$', path.read_text(encoding="utf-8"), re.MULTILINE)
}
"""Modules of the exact posteriors, by Stan program; found by reading source files, since imports would delay each job."""
SAMPLED = "formalsynth_workflow.steps.sampling"
"""Module that samples the posteriors of all other families."""
LEAST_DELTA = 1e-3
"""Smallest delta of an audit from draws: a few thousand draws show no rarer events."""
CANDIDATES = 1000
"""Largest number of records to add; every synthesizer is run with each of them."""


@dataclass(frozen=True)
class AuditPlan:
    """The audit of a scenario with every setting spelled out."""

    search: AuditSearch
    outcomes: tuple[float, ...]
    predictors: tuple[tuple[float, ...], ...]
    inputs: dict[str, tuple[float, ...]]
    """Values of each further column."""
    at_most: str
    """The further column that no outcome exceeds; empty if there is none."""
    audited: tuple[str, ...]
    """Ids of the synthesizers."""
    replicates: int
    """Number of data sets, the first ones."""
    curve: bool
    concern: str
    """Sentence about data outside the declared ranges; empty for none."""


@dataclass(frozen=True)
class AuditReader(Section):
    """The audit section of a scenario in config."""

    family: str
    groups: Mapping[str, Sequence[str]]
    """Ids of the synthesizers, by the scenario's entries."""
    scale: ScaleConfig
    use: ProgramUse | None = None
    """Its use of the user's own Stan program."""

    def read(self, config: AuditConfig, records: Records, replicates: int) -> AuditPlan:
        """Read the audit.

        Args:
            config: the requested audit.
            records: the scenario's data, or simulated ones.
            replicates: number of data sets of the scenario.

        Raises:
            ConfigError: the audit cannot be run.
        """
        outcomes = tuple(config.outcome.values(self.scale.audit_points))
        predictors = tuple(tuple(declared.values(self.scale.audit_points)) for declared in config.predictors)
        inputs = {name: tuple(declared.values(self.scale.audit_points)) for name, declared in config.inputs.items()}
        self._check_ranges(config, outcomes, records)
        self._check_inputs(config, inputs)
        candidates = math.prod(map(len, [outcomes, *predictors, *inputs.values()]))
        if candidates > CANDIDATES:
            allowed = f"few enough for at most {CANDIDATES} records to add, one for each combination of values"
            raise self.refuse("outcome.points", config.outcome.points, [allowed])
        search = AuditSearch.model_validate({key: getattr(config, key) for key in AuditSearch.model_fields})
        if FAMILIES[self.family].program not in EXACT:
            search = self._from_draws(config, search)
        if self.scale.attack_runs:
            search = search.model_copy(update={"attack": min(search.attack, self.scale.attack_runs)})
        return AuditPlan(
            search=search, outcomes=outcomes, predictors=predictors, inputs=inputs, at_most=self.use.at_most if self.use else "",
            audited=tuple(self._audited(config)), replicates=min(config.replicates or replicates, replicates),
            curve=config.curve, concern=self._concern(config, records),
        )  # fmt: skip

    def _check_ranges(self, config: AuditConfig, outcomes: Sequence[float], records: Records) -> None:
        """Check that the declared values can be records."""
        family, ends = FAMILIES[self.family], f"{config.outcome.low:g} to {config.outcome.high:g}"
        if not family.outcomes.holds(np.array(outcomes)):
            raise self.refuse("outcome", ends, [f"the outcomes of family {self.family}: {family.outcomes.what}"])
        if self.use is not None and (config.outcome.low < self.use.lower or config.outcome.high > self.use.upper):
            raise self.refuse("outcome", ends, [f"the range declared by the family: {self.use.lower:g} to {self.use.upper:g}"])
        varying = int((np.ptp(records.design, axis=0) > 0).sum())
        if len(config.predictors) != varying:
            allowed = f"one for each predictor that varies: {varying}"
            raise self.refuse("predictors", f"{len(config.predictors)} of them", [allowed])

    def _check_inputs(self, config: AuditConfig, values: Mapping[str, Sequence[float]]) -> None:
        """Check that the further columns are those of the Stan program, with values that it accepts."""
        declared = self.use.inputs if self.use else {}
        self.check_names("inputs", config.inputs, declared, "none: the family has no further columns")
        missing = [name for name in declared if name not in config.inputs]
        if missing:
            raise self.refuse("inputs", list(config.inputs), [f"a range for each further column; {missing[0]} has none"])
        for name, column in declared.items():
            if not column.holds(np.array(values[name])).all():
                given, type = f"{config.inputs[name].low:g} to {config.inputs[name].high:g}", column.type
                whole = str(type == "whole").lower()
                allowed = f"the range declared by the family: {column.low:g} to {column.high:g}, with whole: {whole}"
                raise self.refuse(f"inputs.{name}", given, [allowed])

    def _from_draws(self, config: AuditConfig, search: AuditSearch) -> AuditSearch:
        """Return the search for an audit from draws alone, for a posterior that is not known exactly."""
        why = f"the posterior of family {self.family} is not known exactly, and draws alone give no information on"
        if search.attack:
            raise self.refuse("attack", search.attack, [f"0: {why} an attack"])
        if search.streams > 1:
            raise self.refuse("streams", search.streams, [f"0: {why} mixtures"])
        if "deltas" not in config.model_fields_set:
            return search.model_copy(update={"deltas": (LEAST_DELTA,)})
        if min(search.deltas) < LEAST_DELTA:
            raise self.refuse("deltas", min(search.deltas), [f"at least {LEAST_DELTA:g}: {why} rarer events"])
        return search

    def _audited(self, config: AuditConfig) -> list[str]:
        """Return the ids of the audited synthesizers."""
        names = list(self.groups) if config.synthesizers is None else config.synthesizers
        self.check_names("synthesizers", names, list(self.groups))
        return list(dict.fromkeys(id for name in names for id in self.groups[name]))

    def _concern(self, config: AuditConfig, records: Records) -> str:
        """Return a sentence about data outside the declared ranges."""
        design = records.design[:, np.ptp(records.design, axis=0) > 0]
        sentences = [_outside("outcome", config.outcome, records.x)]
        sentences += [_outside(f"predictor {k + 1}", declared, design[:, k]) for k, declared in enumerate(config.predictors)]
        sentences += [_outside(f"column {name}", declared, records.inputs[name]) for name, declared in config.inputs.items()]
        return "; ".join(filter(None, sentences))


def _outside(what: str, declared: DeclaredRange, values: np.ndarray) -> str:
    """Return a sentence about values outside a declared range; empty if there are none."""
    beyond = int(((values < declared.low) | (values > declared.high)).sum())
    if not beyond:
        return ""
    return (
        f"the audit declares {declared.low:g} to {declared.high:g} for the {what}, and {beyond} of {len(values)} records "
        f"lie outside, between {values.min():g} and {values.max():g}"
    )
