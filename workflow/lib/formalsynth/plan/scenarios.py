"""Scenarios of config at every sample size, checked against the registers and against their data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from formalsynth.contract.program import ProgramUse
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES, ProgramFamily, program, whole
from formalsynth.core.job import FromFile, ScenarioKey, Simulated
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.streams import number_of
from formalsynth.core.study import STUDIES
from formalsynth.data.files import FILES, DataError, check, find, sha256s
from formalsynth.plan.audits import EXACT, AuditReader
from formalsynth.plan.data import check_counts, check_outcomes, draw_on_trial, read_on_trial
from formalsynth.plan.expand import Expanded
from formalsynth.plan.messages import ConfigError, Problems, check_unique, message
from formalsynth.plan.model import (
    AuditConfig,
    Choice,
    FileScenario,
    FittedScenario,
    OwnStan,
    PaperConfig,
    RunConfig,
    SimulatedScenario,
    StudyScenario,
)
from formalsynth.plan.scenario import ChosenStudy, Scenario

BATCHES = 10_000
"""Batches of a scenario at most: their ids have four digits."""
AnyScenario = SimulatedScenario | FileScenario | StudyScenario


@dataclass(frozen=True)
class Spelled:
    """The scenarios of a paper, and what is left out because its data are absent, each a sentence."""

    scenarios: dict[str, Scenario]
    skipped: list[str]


@dataclass(frozen=True)
class _Entry:
    """One scenario of a paper's config."""

    key: str
    paper: PaperConfig
    name: str
    run: RunConfig
    expanded: Expanded
    file: Path

    @property
    def config(self) -> AnyScenario:
        return self.paper.scenarios[self.name]

    @property
    def batch_size(self) -> int:
        """Replicates of a job: the command line's, else the scenario's own, else the run's."""
        return self.run.batch_size if self.run.overrides_batch_size else self.config.batch_size or self.run.batch_size

    @property
    def place(self) -> str:
        """Where it stands in the paper; of a study that says no place, its name."""
        return self.config.place or self.name

    @property
    def where(self) -> str:
        return f"scenarios.{self.name}"

    def refuse(self, key: str, given: object, allowed: Sequence[object]) -> ConfigError:
        return ConfigError(message(self.file, f"{self.where}.{key}", given, list(allowed)))

    def requires(self) -> tuple[str, ...]:
        """Registered files without which it cannot run."""
        config = self.config
        return STUDIES[config.study.name].requires(config.study.as_given()) if isinstance(config, StudyScenario) else ()


def data_files(config: AnyScenario) -> list[str]:
    """Names of the registered data files that a scenario reads where they are there."""
    if isinstance(config, StudyScenario):
        return list(STUDIES[config.study.name].requires(config.study.as_given()))
    drawn = config.population if isinstance(config, SimulatedScenario) else config.stand_in
    counts = drawn.as_given().get("counts") if drawn else None
    files = [config.file.name] if isinstance(config, FileScenario) else []
    return [*files, *([str(counts)] if counts else [])]


def spell_scenarios(key: str, paper: PaperConfig, run: RunConfig, expanded: Expanded, file: Path, problems: Problems) -> Spelled:
    """Every scenario of a paper at every sample size, without those in which something is wrong."""
    spelled = Spelled({}, [])
    with problems.catch():
        check_unique((config.id or number_of(name), f"{file}: scenarios.{name}.id") for name, config in paper.scenarios.items())
    for name in paper.scenarios:
        with problems.catch():
            _spell(_Entry(key, paper, name, run, expanded, file), spelled)
    return spelled


def _spell(entry: _Entry, spelled: Spelled) -> None:
    _check_sizes(entry)
    _check_entry(entry)
    config, folder = entry.config, entry.run.data_folder
    about = f"{entry.key}: {entry.place} ({entry.name})"
    if isinstance(config, FileScenario) and not find(config.file.name, folder):
        absent = f"{about}: {FILES[config.file.name].file} is absent"
        spelled.skipped.append(f"{absent}, a STAND-IN takes its place" if config.stand_in else f"{absent}, skipped")
        if not config.stand_in:
            return
    missing = [FILES[need].file for need in entry.requires() if not find(need, folder)]
    if missing:
        spelled.skipped.append(f"{about}: {', '.join(missing)} absent, skipped")
        return
    for scenario in _at_sizes(entry):
        if scenario.id in spelled.scenarios:
            raise entry.refuse("n", config.n, [f"sizes that are different at scale {entry.run.scale}"])
        spelled.scenarios[scenario.id] = scenario


def _check_sizes(entry: _Entry) -> None:
    config, run = entry.config, entry.run
    sets = {key: getattr(config, key, 0) for key in ("synthetic_sets", "centre_sets")}
    for key, given in sets.items():
        if given > run.sampler.draws:
            raise entry.refuse(key, given, [f"up to sampler.draws, which is {run.sampler.draws}"])
    most = BATCHES * entry.batch_size
    if config.replicates > most:
        raise entry.refuse("replicates", config.replicates, [f"up to {most}, {BATCHES} times batch_size"])


def _check_entry(entry: _Entry) -> None:
    """Check what a scenario names."""
    config = entry.config
    study = config.study.name if isinstance(config, StudyScenario) else ""
    for name in config.synthesizers:
        if name not in entry.expanded.groups:
            raise entry.refuse("synthesizers", name, list(entry.expanded.groups))
        for id in entry.expanded.groups[name]:
            belongs = entry.expanded.studies.get(id, "")
            if belongs != study:
                allowed = f"another one: it is for {f'the study {belongs}' if belongs else 'scenarios with a family'}"
                raise entry.refuse("synthesizers", name, [allowed])
    if isinstance(config, StudyScenario):
        return
    _check_family(entry, config)
    _check_source(entry, config)


def _check_source(entry: _Entry, config: SimulatedScenario | FileScenario) -> None:
    """Check where the data of a scenario come from."""
    if isinstance(config, FileScenario):
        records = [name for name, dataset in FILES.items() if dataset.holds == "records"]
        if config.file.name not in records:
            raise entry.refuse("file.name", config.file.name, records)
        if config.stand_in is None and config.n is not None:
            raise entry.refuse("n", config.n, ["nothing: a file without a stand_in has its own size"])
        if config.stand_in is not None and config.n is None:
            raise ConfigError(f"{entry.file}: {entry.where}: n is missing; simulated data need a sample size")
    drawn = config.population if isinstance(config, SimulatedScenario) else config.stand_in
    if drawn is not None:
        key = "population" if isinstance(config, SimulatedScenario) else "stand_in"
        check_counts(f"{entry.where}.{key}", _simulated(drawn), entry.file)


def _check_family(entry: _Entry, config: FittedScenario) -> None:
    if config.model not in FAMILIES:
        raise entry.refuse("family", config.model, sorted(FAMILIES))
    family = FAMILIES[config.model]
    if isinstance(config.family, OwnStan):
        _check_numbers(entry, config.family, program(family))
    allowed_priors = [] if isinstance(config.family, OwnStan) else list(family.priors)
    for prior in config.priors:
        if prior not in allowed_priors:
            raise entry.refuse("priors", prior, allowed_priors or ["none: a program's numbers are under family.data"])
    if config.exact and family.program not in EXACT:
        raise entry.refuse("exact", config.exact, [f"false: no exact posterior is known for family {config.model}"])
    for name in config.synthesizers:
        chosen = [MECHANISMS[entry.expanded.synthesizers[id].mechanism] for id in entry.expanded.groups[name]]
        if not family.censors and any(mechanism.censors for mechanism in chosen):
            allowed = f"no censoring: family {config.model} has no censored likelihood"
            raise entry.refuse("synthesizers", name, [allowed])
        if whole(family) and program(family) and any(mechanism.truncates for mechanism in chosen):
            allowed = f"no truncation: the Stan program {config.model} gives no interval probabilities"
            raise entry.refuse("synthesizers", name, [allowed])


def _check_numbers(entry: _Entry, own: OwnStan, family: ProgramFamily | None) -> None:
    """Check that a program is given the numbers that it declares, and no others."""
    declared = family.numbers if family else []
    for name in own.data:
        if name not in declared:
            raise entry.refuse("family.data", name, declared or ["none: the program declares no number of its own"])
    missing = [name for name in declared if name not in own.data]
    if missing:
        allowed = f"a number for each that the program declares; {', '.join(missing)} has none"
        raise entry.refuse("family.data", own.data, [allowed])


def _check_bounds(entry: _Entry, config: FittedScenario, records: Records) -> None:
    """Check that confidential data are between the declared bounds; no value is told."""
    own = config.family
    if isinstance(own, OwnStan) and not ((records.x >= own.lower) & (records.x <= own.upper)).all():
        outside = int(((records.x < own.lower) | (records.x > own.upper)).sum())
        allowed = f"bounds that hold all values: {outside} of {len(records)} lie outside"
        raise entry.refuse("family", f"lower: {own.lower:g}, upper: {own.upper:g}", [allowed])


def _at_sizes(entry: _Entry) -> Iterator[Scenario]:
    """A scenario at each of its sample sizes."""
    config, scale = entry.config, entry.run.size
    for need in entry.requires():
        try:
            check(need, entry.run.data_folder)
        except DataError as error:
            raise ConfigError(f"{entry.file}: {entry.where}.study: {error}") from error
    for size in config.n if isinstance(config.n, list) else [config.n]:
        n = 0 if size is None else min(size, max(config.n_least, math.ceil(size / scale.shrink)))
        if isinstance(config, StudyScenario):
            yield _study(entry, config, size or n, n)
        else:
            yield _fitted(entry, config, size, n)


def _study(entry: _Entry, config: StudyScenario, size: int, n: int) -> Scenario:
    chosen = ChosenStudy(config.study.name, config.study.as_given())
    arms = {id: entry.expanded.arms[id] for name in config.synthesizers for id in entry.expanded.groups[name]}
    return Scenario(
        key=_key(entry, f"{entry.name}_n{n}", n), name=entry.name, place=entry.place,
        label=config.label or entry.name, family="", priors={}, data=None, stand_in=False, study=chosen, unit=1.0, size=size,
        replicates=_replicates(entry), batch_size=entry.batch_size, synthetic_sets=1,
        centre_sets=0, data_folder=entry.run.data_folder, files=sha256s(entry.requires(), entry.run.data_folder), doubt="",
        audit=None, use=None, synthesizers={}, arms=arms,
    )  # fmt: skip


def _fitted(entry: _Entry, config: SimulatedScenario | FileScenario, size: int | None, n: int) -> Scenario:
    data, records = _data(entry, config, n)
    check_outcomes(entry.where, config.model, records, entry.file)
    _check_bounds(entry, config, records)
    own = config.family if isinstance(config.family, OwnStan) else None
    numbers = own.data if own else dict(FAMILIES[config.model].priors) | config.priors
    use = ProgramUse(data=own.data, lower=own.lower, upper=own.upper, predictors=records.design.shape[1]) if own else None
    scale, from_file = entry.run.size, isinstance(config, FileScenario)
    groups = {name: entry.expanded.groups[name] for name in config.synthesizers}
    reader = AuditReader(entry.file, entry.where, config.model, groups, scale, use)
    n = len(records) if isinstance(data, FromFile) else n
    ids = _with_parents([id for name in config.synthesizers for id in entry.expanded.groups[name]], entry.expanded)
    return Scenario(
        key=_key(entry, entry.name if from_file else f"{entry.name}_n{n}", n), name=entry.name, place=entry.place,
        label=config.label or entry.name, family=config.model, priors=numbers, use=use,
        data=data, stand_in=from_file and not isinstance(data, FromFile), study=None, unit=config.unit,
        size=n if from_file or size is None else size, replicates=_replicates(entry),
        batch_size=entry.batch_size,
        synthetic_sets=min(config.synthetic_sets, scale.synthetic_sets or config.synthetic_sets),
        centre_sets=min(config.centre_sets, scale.synthetic_sets or config.centre_sets),
        data_folder=entry.run.data_folder, files=sha256s(_read(data), entry.run.data_folder),
        doubt=_doubt(data, len(records)) if isinstance(data, FromFile) else "",
        audit=reader.read(config.audit, records, _replicates(entry)) if config.audit and _audited(config.audit, size) else None,
        exact=config.exact, synthesizers={id: entry.expanded.synthesizers[id] for id in ids}, arms={},
    )  # fmt: skip


def _data(entry: _Entry, config: SimulatedScenario | FileScenario, n: int) -> tuple[Simulated | FromFile, Records]:
    """The data of a scenario, and its records or some that are drawn on trial."""
    folder, file = entry.run.data_folder, entry.file
    if isinstance(config, FileScenario):
        if find(config.file.name, folder) is not None:
            chosen = FromFile(file=config.file.name, drop_rows=tuple(config.file.drop_rows))
            return chosen, read_on_trial(f"{entry.where}.file", config.file, folder, file)
        assert config.stand_in is not None
        drawn, key = _simulated(config.stand_in), "stand_in"
    else:
        drawn, key = _simulated(config.population), "population"
    return drawn, draw_on_trial(f"{entry.where}.{key}", drawn, n, folder, file)


def _read(data: Simulated | FromFile) -> list[str]:
    """Names of the registered files that data are read from or drawn with."""
    names = [data.file] if isinstance(data, FromFile) else [str(data.parameters.get("counts") or "")]
    return [name for name in names if name]


def _doubt(data: FromFile, kept: int) -> str:
    """What speaks against a file without a known checksum being the paper's; empty where nothing does."""
    dataset, found = FILES[data.file], kept + len(data.drop_rows)
    if dataset.printed in (None, found):
        return ""
    return f"{dataset.file} gives {found} records, the paper has {dataset.printed}: it may not be the file that the paper used"


def _simulated(choice: Choice) -> Simulated:
    return Simulated(population=choice.name, parameters=choice.as_given())


def _key(entry: _Entry, id: str, n: int) -> ScenarioKey:
    return ScenarioKey(
        paper=entry.key, paper_id=entry.paper.id or number_of(entry.key), scenario=id,
        number=entry.config.id or number_of(entry.name), n=n, root=entry.run.root_seed,
    )  # fmt: skip


def _audited(config: AuditConfig, size: int | None) -> bool:
    """Whether a scenario is audited at a sample size."""
    return config.largest is None or size is None or size <= config.largest


def _replicates(entry: _Entry) -> int:
    return min(entry.config.replicates, entry.run.size.replicates or entry.config.replicates)


def _with_parents(ids: Sequence[str], expanded: Expanded) -> list[str]:
    """The ids with everything they build on, each after what it needs."""
    ordered: list[str] = []

    def visit(id: str) -> None:
        if id not in ordered:
            synthesizer = expanded.synthesizers[id]
            for needed in (*synthesizer.parents, *({synthesizer.fit} - {id})):
                visit(needed)
            ordered.append(id)

    for id in ids:
        visit(id)
    return ordered
