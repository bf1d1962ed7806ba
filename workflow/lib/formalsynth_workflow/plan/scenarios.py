"""Scenarios of config at every sample size, checked against the registers and against their data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.contract.program import ProgramUse
from formalsynth.core.arrays import Records
from formalsynth.core.data_files import FILES, check, find, sha256s
from formalsynth.core.family import FAMILIES, ProgramFamily, brackets, program
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.rows import REPLICATE_COLUMNS
from formalsynth.core.streams import number_of
from formalsynth.core.synthesizer import ScenarioKey, with_parents
from formalsynth.core.tables import has_distribution, tabled
from formalsynth.core.text import DataError
from formalsynth.core.utility import OWN_UTILITY
from formalsynth.settings.messages import ConfigError, Problems, Section, check_unique
from formalsynth_workflow.jobs.inputs import FromFile, Simulated
from formalsynth_workflow.plan.audits import EXACT, AuditPlan, AuditReader
from formalsynth_workflow.plan.data import check_counts, check_outcomes, draw_on_trial, read_on_trial, silence
from formalsynth_workflow.plan.expand import Expanded, expand
from formalsynth_workflow.plan.model import (
    BATCHES,
    FileScenario,
    FittedScenario,
    OwnStan,
    PaperConfig,
    RunConfig,
    SimulatedScenario,
    StudyScenario,
)
from formalsynth_workflow.plan.paper import Paper
from formalsynth_workflow.plan.scenario import ChosenStudy, Scenario

AnyScenario = SimulatedScenario | FileScenario | StudyScenario


@dataclass(frozen=True)
class _Entry(Section):
    """One scenario of a paper's config."""

    key: str
    paper: PaperConfig
    name: str
    run: RunConfig
    expanded: Expanded

    @property
    def config(self) -> AnyScenario:
        return self.paper.scenarios[self.name]

    @property
    def replicates(self) -> int:
        """Number of replicates at the scale of the run."""
        return min(self.config.replicates, self.run.size.replicates or self.config.replicates)

    @property
    def configured_size(self) -> int:
        """Configured number of replicates per batch: from the command line, else the scenario, else the run."""
        return self.run.batch_size if self.run.overrides_batch_size else self.config.batch_size or self.run.batch_size

    @property
    def batch_size(self) -> int:
        """Replicates per batch: as configured, or more if there would be too many batches; the command line's number is kept."""
        enlarged = 0 if self.run.overrides_batch_size else math.ceil(self.replicates / self.run.batches_max)
        return max(self.configured_size, enlarged)

    @property
    def place(self) -> str:
        """Place in the paper; the name if none is given."""
        return self.config.place or self.name

    @property
    def ids(self) -> list[str]:
        """Ids of the synthesizers or arms that it names."""
        return [id for name in self.config.synthesizers for id in self.expanded.groups[name]]

    @property
    def requires(self) -> tuple[str, ...]:
        """Registered files that its study requires."""
        return self.config.files if isinstance(self.config, StudyScenario) else ()


def spell_paper(key: str, config: PaperConfig, run: RunConfig, file: Path, problems: Problems) -> tuple[Paper, list[str]]:
    """Spell out a paper with its scenarios at every sample size, leaving out invalid ones.

    Returns:
        The paper, and sentences about scenarios that are skipped because their data are missing.
    """
    paper, skipped = Paper(key, config, expand(config, file), {}), list[str]()
    with problems.catch():
        check_unique((entry.id or number_of(name), f"{file}: scenarios.{name}.id") for name, entry in config.scenarios.items())
    for name in config.scenarios:
        with problems.catch():
            _spell(_Entry(file, f"scenarios.{name}", key, config, name, run, paper.expanded), paper.scenarios, skipped)
    return paper, skipped


def _spell(entry: _Entry, scenarios: dict[str, Scenario], skipped: list[str]) -> None:
    """Add a scenario at each of its sizes, or a sentence about it if its data are missing."""
    _check_sizes(entry)
    _check_entry(entry)
    config, folder = entry.config, entry.run.data_folder
    about = f"{entry.key}: {entry.place} ({entry.name})"
    if isinstance(config, FileScenario) and not find(config.file.name, folder):
        absent = f"{about}: {FILES[config.file.name].file} is absent"
        skipped.append(f"{absent}, a STAND-IN takes its place" if config.stand_in else f"{absent}, skipped")
        if not config.stand_in:
            return
    missing = [FILES[need].file for need in entry.requires if not find(need, folder)]
    if missing:
        skipped.append(f"{about}: {', '.join(missing)} absent, skipped")
        return
    for scenario in _at_sizes(entry):
        if scenario.id in scenarios:
            raise entry.refuse("n", config.n, [f"sizes that differ at scale {entry.run.scale}"])
        scenarios[scenario.id] = scenario


def _check_sizes(entry: _Entry) -> None:
    config, run = entry.config, entry.run
    sets = {key: getattr(config, key, 0) for key in ("synthetic_sets", "centre_sets")}
    for key, given in sets.items():
        if given > run.sampler.draws:
            raise entry.refuse(key, given, [f"up to sampler.draws, which is {run.sampler.draws}"])
    most = BATCHES * entry.configured_size
    if config.replicates > most:
        raise entry.refuse("replicates", config.replicates, [f"up to {most}, {BATCHES} times batch_size"])


def _check_entry(entry: _Entry) -> None:
    """Check the names in a scenario."""
    config = entry.config
    _check_synthesizers(entry, config.study.name if isinstance(config, StudyScenario) else "")
    if isinstance(config, StudyScenario):
        return
    _check_family(entry, config)
    entry.check_names("utility", config.utility, [name for name in OWN_UTILITY if name not in REPLICATE_COLUMNS])
    if isinstance(config, FileScenario):
        _check_file(entry, config)
    if config.drawn is not None:
        check_counts(entry, config.DRAWN, config.drawn)


def _check_synthesizers(entry: _Entry, study: str) -> None:
    """Check that a scenario's synthesizers are for its study, or for fits if it has none."""
    groups, studies = entry.expanded.groups, entry.expanded.studies
    entry.check_names("synthesizers", entry.config.synthesizers, list(groups))
    for name in entry.config.synthesizers:
        for owner in (studies.get(id, "") for id in groups[name]):
            if owner != study:
                allowed = f"a different one: this one is for {f'the study {owner}' if owner else 'scenarios with a family'}"
                raise entry.refuse("synthesizers", name, [allowed])


def _check_file(entry: _Entry, config: FileScenario) -> None:
    """Check a scenario's file, and the sample size of its stand-in."""
    records = [name for name, dataset in FILES.items() if dataset.holds == "records"]
    entry.check_names("file.name", [config.file.name], records)
    if config.stand_in is None and config.n is not None:
        raise entry.refuse("n", config.n, ["nothing: a file without a stand_in has its own size"])
    if config.stand_in is not None and config.n is None:
        raise ConfigError(f"{entry.file}: {entry.where}: n is missing; simulated data need a sample size")


def _check_family(entry: _Entry, config: FittedScenario) -> None:
    entry.check_names("family", [config.model], sorted(FAMILIES))
    family = FAMILIES[config.model]
    if isinstance(config.family, OwnStan) and (own := program(family)):
        _check_program(entry, config.family, own)
    priors = [] if isinstance(config.family, OwnStan) else list(family.priors)
    entry.check_names("priors", config.priors, priors, "none: a program's numbers are under family.data")
    if config.exact and family.program not in EXACT:
        raise entry.refuse("exact", config.exact, [f"false: no exact posterior is known for family {config.model}"])
    for name in config.synthesizers:
        _check_likelihood(entry, config.model, name, config.exact)
        _check_ranges(entry, config, name)
        if isinstance(config.family, OwnStan):
            _check_bins(entry, config.family, name)


def _check_bins(entry: _Entry, own: OwnStan, name: str) -> None:
    """Check that a program with noisy tables has no further columns, and that all bin edges are possible outcomes."""
    for id in entry.expanded.groups[name]:
        synthesizer = entry.expanded.synthesizers[id]
        if not MECHANISMS[synthesizer.mechanism].fits_public:
            continue
        if own.inputs:
            raise entry.refuse("synthesizers", name, ["no noisy tables: the program has further columns of the records"])
        low, high = (synthesizer.parameters[end] for end in ("low", "high"))
        if low < own.lower or (not isinstance(own.upper, str) and high > own.upper):
            allowed = f"bins from {low:g} to {high:g} inside the declared bounds of the outcome, lower and upper"
            raise entry.refuse("synthesizers", name, [allowed])


def _check_ranges(entry: _Entry, config: FittedScenario, name: str) -> None:
    """Check that a synthesizer has ranges, and that the family's program can add their probability to what it clips."""
    for id in entry.expanded.groups[name]:
        synthesizer = entry.expanded.synthesizers[id]
        mechanism, given = MECHANISMS[synthesizer.mechanism], synthesizer.parameters
        strict = "move" in mechanism.strict
        declares = strict or ("radius" in mechanism.parameters.model_fields and not {"a", "radius"} & set(given))
        if declares and config.ranges is None:
            raise entry.refuse("synthesizers", name, ["a scenario with ranges, or a and b, or radius"])
        if strict and (brackets(FAMILIES[config.model]) is None or config.exact):
            why = "exact draws do not add" if config.exact else f"the Stan program of {config.model} does not add"
            allowed = f"no clipping inside ranges: {why} the probability of a range in full"
            raise entry.refuse("synthesizers", name, [allowed])


def _check_likelihood(entry: _Entry, model: str, name: str, exact: bool) -> None:
    """Check that a family has the likelihood that a synthesizer needs."""
    family = FAMILIES[model]
    mechanisms = [MECHANISMS[entry.expanded.synthesizers[id].mechanism] for id in entry.expanded.groups[name]]
    if not family.censors and any(mechanism.censors for mechanism in mechanisms):
        raise entry.refuse("synthesizers", name, [f"no censoring: {model} declares no threshold (docs/howto/own_model.md)"])
    if program(family) and not has_distribution(family) and any(mechanism.truncates for mechanism in mechanisms):
        allowed = f"no truncation: the Stan program {model} generates no log_cdf (docs/howto/own_model.md)"
        raise entry.refuse("synthesizers", name, [allowed])
    if tabled(family) is None and any(mechanism.staged or mechanism.selects for mechanism in mechanisms):
        allowed = f"no box or tables: {model} declares no linear predictor and spread by which parameters are chosen"
        raise entry.refuse("synthesizers", name, [allowed])
    fits_public = any(mechanism.fits_public for mechanism in mechanisms)
    if fits_public and tabled(family) is None and not has_distribution(family):
        how = "generate vector[n] log_cdf" if program(family) else "declare distribution = True"
        allowed = f"no noisy tables: family {model} cannot be fitted to them; to change that, {how} (docs/howto/own_model.md)"
        raise entry.refuse("synthesizers", name, [allowed])
    if exact and any(mechanism.fits_public for mechanism in mechanisms):
        raise entry.refuse("synthesizers", name, ["no noisy tables with exact: true: only Stan can fit them"])


def _check_program(entry: _Entry, own: OwnStan, family: ProgramFamily) -> None:
    """Check that a program is given exactly the numbers and columns that it declares."""
    for key, given, declared, what in (
        ("data", own.data, family.numbers, "number"),
        ("inputs", list(own.inputs), list(family.inputs), "column"),
    ):
        entry.check_names(f"family.{key}", given, declared, f"none: the program declares no {what} of its own")
        missing = [name for name in declared if name not in given]
        if missing:
            allowed = f"a {what} for each that the program declares; {', '.join(missing)} has none"
            raise entry.refuse(f"family.{key}", given, [allowed])
    for name, column in own.inputs.items():
        if column.type == "number" and name in family.integers:
            raise entry.refuse(f"family.inputs.{name}.type", column.type, ["whole, as the program declares it"])


def _check_bounds(entry: _Entry, use: ProgramUse, records: Records) -> None:
    """Check that confidential data have the declared columns and lie within the declared bounds; messages contain no values."""

    def refuse_outside(key: str, ends: str, inside: np.ndarray) -> None:
        if not inside.all():
            allowed = f"bounds that contain all values: {int((~inside).sum())} of {len(records)} are outside"
            raise entry.refuse(key, ends, [allowed])

    for name, column in use.inputs.items():
        values = records.inputs.get(name)
        if values is None or values.shape != (len(records),):
            raise entry.refuse("family.inputs", name, list(records.inputs) or ["none: the records have no further columns"])
        ends = f"{column.type}, low: {column.low:g}, high: {column.high:g}"
        refuse_outside(f"family.inputs.{name}", ends, column.holds(values))
    ends = f"lower: {use.lower:g}, upper: {use.at_most or format(use.upper, 'g')}"
    refuse_outside("family", ends, (records.x >= use.lower) & (records.x <= use.highest(records)))


def _at_sizes(entry: _Entry) -> Iterator[Scenario]:
    """Yield a scenario at each of its sample sizes."""
    config, scale = entry.config, entry.run.size
    for need in entry.requires:
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
    return Scenario(
        key=_key(entry, f"{entry.name}_n{n}", n), name=entry.name, place=entry.place, label=config.label or entry.name,
        study=ChosenStudy(config.study.name, config.study.as_given()), arms={id: entry.expanded.arms[id] for id in entry.ids},
        size=size, replicates=entry.replicates, batch_size=entry.batch_size,
        data_folder=entry.run.data_folder, files=sha256s(entry.requires, entry.run.data_folder),
    )  # fmt: skip


def _fitted(entry: _Entry, config: SimulatedScenario | FileScenario, size: int | None, n: int) -> Scenario:
    data, records = _data(entry, config, n)
    if config.ranges is not None:
        try:
            records = config.ranges.added_to(records)
        except ValueError as error:
            raise ConfigError(f"{entry.file}: {entry.where}.{error}") from error
    records = records.in_unit(config.unit)
    check_outcomes(entry, config.model, records)
    own = config.family.use(records.design.shape[1]) if isinstance(config.family, OwnStan) else None
    if own is not None:
        _check_bounds(entry, own, records)
    chosen = with_parents(entry.ids, entry.expanded.synthesizers)
    scale, from_file = entry.run.size, isinstance(config, FileScenario)
    n = len(records) if isinstance(data, FromFile) else n
    return Scenario(
        key=_key(entry, entry.name if from_file else f"{entry.name}_n{n}", n), name=entry.name, place=entry.place,
        label=config.label or entry.name, family=config.model, priors=_numbers(config), use=own,
        data=data, stand_in=from_file and not isinstance(data, FromFile), unit=config.unit, ranges=config.ranges,
        size=n if from_file or size is None else size, replicates=entry.replicates, batch_size=entry.batch_size,
        synthetic_sets=min(config.synthetic_sets, scale.synthetic_sets or config.synthetic_sets),
        centre_sets=min(config.centre_sets, scale.synthetic_sets or config.centre_sets), coefficient=config.coefficient,
        by_area=config.by_area,
        data_folder=entry.run.data_folder, files=sha256s(data.files, entry.run.data_folder),
        doubt=_doubt(data, len(records)) if isinstance(data, FromFile) else "",
        audit=_audit(entry, config, records, size, own), exact=config.exact, utility=tuple(config.utility),
        synthesizers={synthesizer.id: synthesizer for synthesizer in chosen}, silence=silence(config.model, records, chosen),
    )  # fmt: skip


def _numbers(config: FittedScenario) -> dict[str, float]:
    """Return the numbers passed to the Stan program in addition to the data; for our families, the priors."""
    own = config.family
    return own.data if isinstance(own, OwnStan) else dict(FAMILIES[config.model].priors) | config.priors


def _audit(entry: _Entry, config: FittedScenario, records: Records, size: int | None, use: ProgramUse | None) -> AuditPlan | None:
    """Return the audit of a scenario; None if none is requested at its sample size."""
    if config.audit is None or (config.audit.largest is not None and size is not None and size > config.audit.largest):
        return None
    groups = {name: entry.expanded.groups[name] for name in config.synthesizers}
    reader = AuditReader(entry.file, f"{entry.where}.audit", config.model, groups, entry.run.size, use)
    return reader.read(config.audit, records, entry.replicates)


def _data(entry: _Entry, config: SimulatedScenario | FileScenario, n: int) -> tuple[Simulated | FromFile, Records]:
    """Return the data of a scenario, with its records or with some drawn on trial."""
    folder, drawn = entry.run.data_folder, config.drawn
    if isinstance(config, FileScenario) and find(config.file.name, folder) is not None:
        chosen = FromFile(file=config.file.name, drop_rows=tuple(config.file.drop_rows))
        return chosen, read_on_trial(entry, config.file, folder)
    assert drawn is not None
    return drawn, draw_on_trial(entry, config.DRAWN, drawn, n, folder)


def _doubt(data: FromFile, kept: int) -> str:
    """Return a warning about a file without a known checksum that may not be the paper's; empty if there is no doubt."""
    dataset, records = FILES[data.file], kept + len(data.drop_rows)
    if dataset.printed in (None, records):
        return ""
    return (
        f"{dataset.file} contains {records} records, the paper has {dataset.printed}: it may not be the file that the paper used"
    )


def _key(entry: _Entry, id: str, n: int) -> ScenarioKey:
    return ScenarioKey(
        paper=entry.key, paper_id=entry.paper.id or number_of(entry.key), scenario=id,
        number=entry.config.id or number_of(entry.name), n=n, root=entry.run.root_seed,
    )  # fmt: skip
