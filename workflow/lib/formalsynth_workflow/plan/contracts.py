"""Check the user's own mechanisms, families, populations and programs against their contracts, and print a line for each.

Run as ``python -m formalsynth_workflow.plan.contracts <study file> ...``: mechanisms, families, populations and Stan programs are
tried on a few records and draws. Only compiled programs are written, and no line contains a record's value.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from formalsynth.contract.family import RECORDS, Fitted, check_family, trial
from formalsynth.contract.mechanism import check_mechanism
from formalsynth.contract.program import ProgramUse, broken
from formalsynth.contract.utility import broken_utility
from formalsynth.core.arrays import Array, Records
from formalsynth.core.family import FAMILIES, program
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS, Population
from formalsynth.core.progress import show_progress
from formalsynth.core.registry import Registry, is_own
from formalsynth.core.utility import OWN_UTILITY, OwnUtility
from formalsynth.settings.messages import ConfigError
from formalsynth.stan.compile import build
from formalsynth.stan.generate import generate
from formalsynth.stan.install import ensure
from formalsynth_workflow import REPOSITORY
from formalsynth_workflow.jobs.inputs import FromFile
from formalsynth_workflow.plan.load import plan_of
from formalsynth_workflow.plan.paper import Plan
from formalsynth_workflow.plan.scenario import Scenario
from formalsynth_workflow.steps.simulate import simulate_batch

SEED = 20260205
UNUSED = "is not tried, because no scenario of these studies uses it"
"""Sentence about an entry that a code file registers for other studies."""


@dataclass
class Trials:
    """Data, draws and programs for trials, each made once."""

    plan: Plan
    folder: Path
    _programs: dict[str, Path] = field(default_factory=dict)
    _fitted: dict[str, Fitted | str] = field(default_factory=dict)

    def executable(self, name: str) -> Path:
        """Compile a program."""
        if name not in self._programs:
            self._programs[name] = self.folder / name
            build(self.plan.source_of(name), self._programs[name], ensure(REPOSITORY / ".cmdstan"))
        return self._programs[name]

    def fitted(self, scenario: Scenario) -> Fitted | str:
        """Fit a few records of a scenario; return a sentence about the fault if that fails."""
        if scenario.id not in self._fitted:
            self._fitted[scenario.id] = self._fit(scenario)
        return self._fitted[scenario.id]

    def _fit(self, scenario: Scenario) -> Fitted | str:
        family, executable = FAMILIES[scenario.family], self.executable(scenario.program)
        if own := program(family):
            own.bind(lambda data, draws, seed: generate(executable, data, draws, seed), scenario.priors)
        records = simulate_batch(scenario.simulate_job("0000-0000")).records(0)
        return trial(family, records, executable, scenario.priors)


def check_plan(plan: Plan, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of the user's own entries in a plan, each with its faults.

    Args:
        plan: the plan.
        folder: folder for compiled programs.
    """
    trials = Trials(plan, folder)
    for name in _own(POPULATIONS):
        yield f"population {name}", check_population(POPULATIONS[name], plan)
    for name, source in plan.own_programs.items():
        faults = _check_program(name, plan, trials)
        yield f"Stan program {source.name}", faults
        if faults:  # families and mechanisms that use it would fail for the same reason
            return
    for name in _own(FAMILIES):
        if program(FAMILIES[name]) is None:
            yield f"family {name}", _check_family(name, plan, trials)
    for name in _own(MECHANISMS):
        yield f"mechanism {name}", _check_mechanism(name, plan, trials)
    for name in _own(OWN_UTILITY):
        yield f"utility statistic {name}", _check_utility(OWN_UTILITY[name], plan)


def _own(register: Registry[Any]) -> list[str]:
    """Return the names of the user's own entries in a register."""
    return [name for name in register if is_own(register.module(name))]


def _check_family(name: str, plan: Plan, trials: Trials) -> list[str]:
    fitted = next((trials.fitted(scenario) for scenario in _scenarios(plan) if scenario.family == name), UNUSED)
    return [fitted] if isinstance(fitted, str) else check_family(fitted)


def check_population(population: Population, plan: Plan) -> list[str]:
    """Return the faults of a population, as a plan uses it."""
    for scenario in _scenarios(plan):
        if scenario.data is None or isinstance(scenario.data, FromFile) or scenario.data.population != population.name:
            continue
        first, second = (population.draw(np.random.default_rng(SEED), RECORDS, scenario.data.parameters) for _ in range(2))
        if len(first.x) != RECORDS or first.design.shape[:1] != (RECORDS,):
            return [f"returns {len(first.x)} records when asked for {RECORDS}"]
        if not all(np.array_equal(*columns) for columns in zip(_columns(first), _columns(second), strict=True)):
            return ["returns different records for the same generator: take random numbers only from the generator"]
        return []
    return [UNUSED]


def _columns(records: Records) -> list[Array]:
    """Return all columns of some records."""
    return [records.x, *records.design.T, *records.inputs.values()]


def _check_program(name: str, plan: Plan, trials: Trials) -> list[str]:
    try:
        executable = trials.executable(name)
    except RuntimeError as error:  # the compiler's message
        return [str(error)]
    return broken(FAMILIES[name], executable, [ProgramUse.of(use) for use in plan.uses_of(name)])


def _check_mechanism(name: str, plan: Plan, trials: Trials) -> list[str]:
    """Return the faults of a mechanism, as each synthesizer of the plan uses it."""
    uses: dict[tuple[object, ...], tuple[Scenario, dict[str, float]]] = {}
    for scenario in _scenarios(plan):
        for synthesizer in scenario.synthesizers.values():
            if synthesizer.mechanism == name:
                parameters = dict(synthesizer.parameters)
                if synthesizer.search:
                    parameters[synthesizer.search.parameter] = synthesizer.search.high
                uses.setdefault((scenario.family, *sorted(parameters.items())), (scenario, parameters))
    if not uses:
        return [UNUSED]
    problems: list[str] = []
    for scenario, parameters in uses.values():
        fitted = trials.fitted(scenario)
        problems += (
            [fitted]
            if isinstance(fitted, str)
            else check_mechanism(MECHANISMS[name], parameters, fitted.family, fitted.records, fitted.draws)
        )
    return list(dict.fromkeys(problems))


def _check_utility(own: OwnUtility, plan: Plan) -> list[str]:
    """Return sentences about faults of a utility statistic on the confidential data of a scenario that names it."""
    for scenario in _scenarios(plan):
        if own.name in scenario.utility:
            return broken_utility(own, simulate_batch(scenario.simulate_job("0000-0000")).records(0).x * scenario.unit)
    return [UNUSED]


def _scenarios(plan: Plan) -> list[Scenario]:
    return [scenario for scenario in plan.scenarios if not scenario.study]


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: print a line for each of the user's own entries; return 1 if one that is used breaks its contract."""
    parser = argparse.ArgumentParser(
        prog="python -m formalsynth_workflow.plan.contracts", description="Check own code and programs."
    )
    parser.add_argument("study", nargs="+", help="study file")
    options = parser.parse_args(arguments)
    show_progress()
    try:
        plan = plan_of(REPOSITORY / "config", papers=[], study=options.study)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    failed = False
    with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
        for what, problems in check_plan(plan, Path(folder)):
            failed |= bool(problems) and problems != [UNUSED]
            print(*(f"{what}: {problem}" for problem in problems or ["keeps to its contract"]), sep="\n", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
