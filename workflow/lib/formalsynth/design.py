"""The design of a run: config and papers, validated, with every fan-out spelled out as plain data.

:mod:`formalsynth.config` says what a user may write; :func:`read_plan` turns it into a :class:`Plan` of scenarios,
synthesizers, figures and tables in which nothing is left to expand.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from formalsynth.claims import STATISTICS, Claim
from formalsynth.config import (
    ClaimConfig,
    ClaimsConfig,
    ConfigError,
    FigureConfig,
    PaperConfig,
    RunConfig,
    ScenarioConfig,
    SynthesizerConfig,
    TableConfig,
    check_unique,
    load_yaml,
    message,
    short,
    validated,
)  # fmt: skip
from formalsynth.datasets import COUNTS, DATASETS, TABLES, DataError, count, find
from formalsynth.families import FAMILIES
from formalsynth.mechanisms import MECHANISMS
from formalsynth.populations import POPULATIONS
from formalsynth.scenario import DATA, PRIOR, Display, Look, Scenario, Synthesizer
from formalsynth.studies import STUDIES

DATA_COLOUR = "#333333"
PRIOR_COLOUR = "#999999"
_SYMBOLS = {"epsilon": "ε"}


@dataclass(frozen=True)
class Paper:
    """One paper with everything expanded."""

    key: str
    config: PaperConfig
    scenarios: dict[str, Scenario]
    figures: dict[str, FigureConfig]
    tables: dict[int, TableConfig]
    groups: dict[str, list[str]]
    """Ids of the synthesizers of each config entry."""
    looks: dict[str, Look]
    """Label and colour of each synthesizer id, the confidential data included."""
    synthesizers: dict[str, Synthesizer]
    """Every synthesizer of the paper's config."""
    claims: list[Claim] = field(default_factory=list)

    def of(self, names: str | Sequence[str]) -> list[Scenario]:
        """The scenarios that config entries expanded to, by sample size; skipped ones are not among them."""
        names = [names] if isinstance(names, str) else names
        return [one for name in names for one in self.scenarios.values() if one.name == name]

    def order(self, names: Sequence[str | Sequence[str]]) -> list[str]:
        """Synthesizer ids from left to right; the members of a nested list alternate."""
        ids: list[str] = []
        for name in names:
            members = [self._ids(one) for one in ([name] if isinstance(name, str) else name)]
            ids += [one for row in itertools.zip_longest(*members) for one in row if one is not None]
        return ids

    def display(self, section: str, number: int | str, scale: str) -> Display:
        """What a figure (section ``figures``) or table (``tables``) shows."""
        entry = self.figures[str(number)] if section == "figures" else self.tables[int(number)]
        if section == "figures" and entry.same_as:
            entry = self.figures[entry.same_as]
        scenarios = [one for one in self.of(entry.scenario) if getattr(entry, "size", None) in (None, one.size)]
        ids = [id for id in self.order(entry.synthesizers) if self.fits(id, entry.where)]
        given = self._by_id(getattr(entry, "labels", {}))
        looks = {id: asdict(self.looks[id]) | {"guarantee": self._guarantee(id)} for id in ids}
        shown = ("id", "name", "label", "n", "place", "replicates", "synthetic_sets", "file", "population", "stand_in", "unit")
        return Display(
            paper=self.key,
            number=str(number),
            scale=scale,
            authors=self.config.authors,
            source=entry.source,
            entry=entry.model_dump(exclude={"synthesizers", "scenario", "where", "labels"}),
            ids=ids,
            looks={id: look | {"label": given.get(id, look["label"])} for id, look in looks.items()},
            panels=self._panels(ids, getattr(entry, "panels", "none"), entry.where),
            at={id: self.parameters(id).get(entry.at) for id in ids} if getattr(entry, "at", "") else {},
            scenarios=[{key: getattr(one, key) for key in shown} for one in scenarios],
        )

    def _by_id(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Labels of a figure by id, where config gives them by id or for a whole entry."""
        return {id: label for name, label in labels.items() for id in self.groups.get(name, [name])}

    def parameters(self, id: str) -> dict[str, float]:
        """Parameters of a synthesizer over those of its parents, with defaults; none for the confidential data."""
        one = self.synthesizers.get(id)
        if one is None:
            return {}
        inherited = {key: value for parent in one.parents for key, value in self.parameters(parent).items()}
        defaults = {k: v for k, v in MECHANISMS[one.mechanism].parameters().items() if v is not inspect.Parameter.empty}
        return inherited | defaults | one.parameters

    def fits(self, id: str, where: Mapping[str, float]) -> bool:
        """Whether a synthesizer has these parameters where it has them at all."""
        parameters = self.parameters(id)
        return all(parameters.get(key, value) == value for key, value in where.items())

    def _panels(self, ids: Sequence[str], by: str, where: Mapping[str, float]) -> list[dict[str, Any]]:
        if by in ("none", "synthesizer", "scenario"):
            return [{"title": "", "ids": list(ids), "epsilon": where.get("epsilon")}]
        values = dict.fromkeys(self.parameters(id)[by] for id in ids if by in self.parameters(id))
        return [
            {
                "title": f"{_SYMBOLS.get(by, by)} = {value:g}",
                "ids": [id for id in ids if self.fits(id, {by: value})],
                "epsilon": value if by == "epsilon" else where.get("epsilon"),
            }
            for value in values
        ]

    def _guarantee(self, id: str) -> str:
        if id not in self.synthesizers:
            return "none: confidential" if id == DATA else "none: prior"
        return MECHANISMS[self.synthesizers[id].mechanism].guarantee

    def _ids(self, name: str) -> list[str]:
        return [name] if name in (DATA, PRIOR) else self.groups.get(name, [name])


@dataclass(frozen=True)
class Plan:
    """A whole run."""

    config: RunConfig
    papers: dict[str, Paper]
    skipped: list[str]
    """What is left out because its data are absent, each a sentence."""

    def programs(self) -> list[str]:
        """Names of the Stan programs that the run needs."""
        return sorted({one.program for paper in self.papers.values() for one in paper.scenarios.values()} - {""})


def figure_file(number: str) -> str:
    """A figure's file name without its ending: two digits, so that files sort, and the letter of its panel."""
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    return f"fig{int(digits):02d}{number.removeprefix(digits)}"


def read_plan(config: Mapping[str, Any], folder: Path) -> Plan:
    """Validate the run's config and the papers it names, and expand them.

    Args:
        config: contents of ``config/config.yaml``, with what the command line overrides.
        folder: the config folder.

    Raises:
        ConfigError: something cannot be used.
    """
    file = folder / "config.yaml"
    run = validated(RunConfig, config, file)
    if run.scale not in run.scales:
        raise ConfigError(message(file, "scale", run.scale, run.scales))
    papers, skipped = {}, []
    for key in run.papers:
        path = folder / "papers" / f"{key}.yaml"
        known = sorted(one.stem for one in path.parent.glob("*.yaml"))
        if not path.exists():
            raise ConfigError(message(file, "papers", key, known))
        paper, absent = _paper(key, validated(PaperConfig, load_yaml(path), path), run, path)
        papers[key] = replace(paper, claims=_claims(paper, folder / "claims" / f"{key}.yaml"))
        skipped += absent
    check_unique((paper.config.id, key) for key, paper in papers.items())
    check_unique((claim.id, f"{claim.paper} claims") for paper in papers.values() for claim in paper.claims)
    return Plan(run, papers, skipped)


@dataclass(frozen=True)
class _Expanded:
    """The synthesizers of a paper: by id, their looks, and the ids of each config entry."""

    synthesizers: dict[str, Synthesizer]
    looks: dict[str, Look]
    groups: dict[str, list[str]]


def _paper(key: str, config: PaperConfig, run: RunConfig, file: Path) -> tuple[Paper, list[str]]:
    expanded = _expand(config, file)
    for name, one in config.scenarios.items():
        if one.synthetic_sets > run.sampler.draws:
            where = f"{file}: scenarios.{name}.synthetic_sets"
            raise ConfigError(f"{where}: given {one.synthetic_sets}; allowed: up to sampler.draws, which is {run.sampler.draws}")
    check_unique((one.id, f"{file}: scenarios.{name}") for name, one in config.scenarios.items())
    scenarios: dict[str, Scenario] = {}
    skipped: list[str] = []
    for name, one in config.scenarios.items():
        _check_scenario(name, one, expanded, file)
        if one.file and not find(one.file.name, run.data_folder):
            absent = f"{key}: {one.place} ({name}): {DATASETS[one.file.name].file} is absent"
            skipped.append(f"{absent}, a STAND-IN takes its place" if one.stand_in else f"{absent}, skipped")
            if not one.stand_in:
                continue
        missing = [(DATASETS | TABLES)[need].file for need in _required(one) if not find(need, run.data_folder)]
        if missing:
            skipped.append(f"{key}: {one.place} ({name}): {', '.join(missing)} absent, skipped")
            continue
        try:
            for scenario in _scenarios(key, config, name, run, expanded):
                scenarios[scenario.id] = scenario
        except DataError as error:
            raise ConfigError(f"{file}: scenarios.{name}.file: {error}") from error

    def kept(section: str, entries: Mapping[Any, Any]) -> dict[Any, Any]:
        return {
            number: entry
            for number, entry in entries.items()
            if _shown(f"{section}.{number}", entry, config, scenarios, expanded, file)
        }

    for number in config.telling:
        if number not in config.figures:
            raise ConfigError(message(file, "telling", number, config.figures))
    figures, tables = kept("figures", config.figures), kept("tables", config.tables)
    return Paper(key, config, scenarios, figures, tables, expanded.groups, expanded.looks, expanded.synthesizers), skipped


def _expand(config: PaperConfig, file: Path) -> _Expanded:
    all = _Expanded({}, {DATA: Look(DATA, DATA_COLOUR), PRIOR: Look(PRIOR, PRIOR_COLOUR)}, {})
    for name, entry in config.synthesizers.items():
        where = f"synthesizers.{name}"
        for sweep in entry.over:
            if sweep not in config.sweeps:
                raise ConfigError(message(file, f"{where}.over", sweep, config.sweeps))
        all.groups[name] = []
        for k, point in enumerate(_points(config, entry.over)):
            one, label = _synthesizer(name, entry, point, file)
            if one.id in all.looks:
                raise ConfigError(f"{file}: {where}.id: given {one.id!r}; it is already used, ids are unique")
            all.synthesizers[one.id] = one
            all.looks[one.id] = Look(label, entry.colours[k % len(entry.colours)])
            all.groups[name].append(one.id)
    for name, ids in all.groups.items():
        for id in ids:
            _check_references(all.synthesizers[id], f"synthesizers.{name}", all.synthesizers, file)
    return all


def _check_references(one: Synthesizer, where: str, synthesizers: Mapping[str, Synthesizer], file: Path) -> None:
    for key, ids in (("parents", one.parents), ("fit", [one.fit])):
        for id in ids:
            if id not in synthesizers:
                raise ConfigError(message(file, f"{where}.{key}", id, synthesizers))
    if synthesizers[one.fit].fit != one.fit:
        raise ConfigError(f"{file}: {where}.fit: given {one.fit!r}; it has no fit of its own")
    _check_acyclic(one.id, synthesizers, (), file)


def _check_acyclic(id: str, synthesizers: Mapping[str, Synthesizer], below: tuple[str, ...], file: Path) -> None:
    if id in below:
        raise ConfigError(f"{file}: synthesizers: parents run in a circle: {' -> '.join((*below, id))}")
    for parent in synthesizers[id].parents:
        _check_acyclic(parent, synthesizers, (*below, id), file)


def _points(config: PaperConfig, sweeps: Sequence[str]) -> Iterator[dict[str, float]]:
    """The product of the sweeps; a bare number in a sweep is the parameter of the sweep's name."""
    axes = [[p if isinstance(p, dict) else {sweep: p} for p in config.sweeps[sweep]] for sweep in sweeps]
    for combination in itertools.product(*axes):
        yield {key: value for point in combination for key, value in point.items()}


def _synthesizer(name: str, entry: SynthesizerConfig, point: dict[str, float], file: Path) -> tuple[Synthesizer, str]:
    """A synthesizer at one point of its sweeps, and its label."""
    where = f"synthesizers.{name}"
    if entry.mechanism not in MECHANISMS:
        raise ConfigError(message(file, f"{where}.mechanism", entry.mechanism, MECHANISMS))
    mechanism = MECHANISMS[entry.mechanism]
    parameters = entry.parameters | point
    allowed = mechanism.parameters()
    for key in parameters:
        if key not in allowed:
            raise ConfigError(message(file, f"{where}.parameters", key, allowed or ["no parameter"]))
    if entry.search and entry.search.parameter not in allowed:
        raise ConfigError(message(file, f"{where}.search.parameter", entry.search.parameter, allowed or ["no parameter"]))
    for key, default in allowed.items():
        if default is inspect.Parameter.empty and key not in parameters and not (entry.search and entry.search.parameter == key):
            raise ConfigError(f"{file}: {where}.parameters: {key} is missing; {entry.mechanism} needs it")
    if len(entry.parents) != mechanism.parents:
        raise ConfigError(f"{file}: {where}.parents: given {entry.parents}; {entry.mechanism} takes {mechanism.parents}")
    text = {key: f"{value:g}" for key, value in parameters.items()}
    try:
        id = (entry.id or "_".join([name, *(f"{{{key}}}" for key in point)])).format(**text)
        label = (entry.label or id).format(**text)
        parents = [parent.format(**text) for parent in entry.parents]
        fit = (entry.fit or id).format(**text)
    except (KeyError, IndexError, ValueError) as error:
        raise ConfigError(f"{file}: {where}: {error} in braces; allowed: {', '.join(text) or 'no parameter'}") from error
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", id):
        raise ConfigError(f"{file}: {where}.id: given {id!r}; allowed: letters, digits, _ . -, a letter first")
    search = entry.search.model_dump() if entry.search else None
    return Synthesizer(id, entry.mechanism, parameters, parents, fit, search, list(mechanism.words(parameters))), label


def _required(one: ScenarioConfig) -> tuple[str, ...]:
    """Registered data files without which a scenario's study cannot run."""
    return STUDIES[one.study["name"]].requires(one.study) if one.study else ()


def _check_study(where: str, one: ScenarioConfig, file: Path) -> None:
    given = dict(one.study or {})
    name = given.pop("name", None)
    if not isinstance(name, str) or name not in STUDIES:
        raise ConfigError(message(file, f"{where}.study.name", name, STUDIES))
    _check_settings(f"{where}.study", name, STUDIES[name].function, given, file)
    if one.n is None or one.family or one.file or one.population:
        raise ConfigError(f"{file}: {where}: a study takes n, and neither family nor file nor population")
    try:
        STUDIES[name].check(given)
    except ValidationError as error:
        lines = [f"{file}: {where}.study.settings.{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise ConfigError("\n".join(lines)) from error


def _check_settings(where: str, name: str, function: Any, given: Mapping[str, Any], file: Path, but: str = "") -> None:
    """Check the settings given for a function against its keyword-only parameters."""
    signature = inspect.signature(function).parameters.values()
    wanted = {p.name: p.default for p in signature if p.kind is inspect.Parameter.KEYWORD_ONLY and p.name != but}
    for key in given:
        if key not in wanted:
            raise ConfigError(message(file, where, key, wanted))
    for key, default in wanted.items():
        if default is inspect.Parameter.empty and key not in given:
            raise ConfigError(f"{file}: {where}: {key} is missing; {name} needs it")


def _check_scenario(name: str, one: ScenarioConfig, expanded: _Expanded, file: Path) -> None:
    where, groups = f"scenarios.{name}", expanded.groups
    if one.study is not None:
        _check_study(where, one, file)
    for synthesizer in one.synthesizers:
        if synthesizer not in groups:
            raise ConfigError(message(file, f"{where}.synthesizers", synthesizer, groups))
        for id in groups[synthesizer]:
            belongs = MECHANISMS[expanded.synthesizers[id].mechanism].study
            if belongs != (one.study or {}).get("name", ""):
                raise ConfigError(f"{file}: {where}.synthesizers: {synthesizer} is for {belongs or 'scenarios with a family'}")
    if one.study is not None:
        return
    if one.family not in FAMILIES:
        raise ConfigError(message(file, f"{where}.family", one.family, FAMILIES))
    for prior in one.priors:
        if prior not in FAMILIES[one.family].priors:
            raise ConfigError(message(file, f"{where}.priors", prior, FAMILIES[one.family].priors))
    if (one.population is None) == (one.file is None):
        raise ConfigError(f"{file}: {where}: one of population and file is needed, not both")
    if one.file and one.file.name not in DATASETS:
        raise ConfigError(message(file, f"{where}.file.name", one.file.name, DATASETS))
    if one.file:
        rows = DATASETS[one.file.name].rows or math.inf
        drop = one.file.drop_rows
        if len(set(drop)) < len(drop) or max(drop, default=0) > rows:
            raise ConfigError(f"{file}: {where}.file.drop_rows: given {drop}; allowed: different rows from 1 to {rows}")
    if one.file and ((one.n is not None) != (one.stand_in is not None) or one.replicates != 1):
        raise ConfigError(f"{file}: {where}: n (but for a stand-in) and replicates are for simulated data, this one reads a file")
    if one.stand_in is not None and one.file is None:
        raise ConfigError(f"{file}: {where}.stand_in: it takes the place of a file, and there is none")
    if one.population is not None or one.stand_in is not None:
        _check_population(where, one, file)


def _check_population(where: str, one: ScenarioConfig, file: Path) -> None:
    given = dict(one.population or one.stand_in or {})
    name = given.pop("name", None)
    if given.pop("counts", None) not in (None, *COUNTS):
        raise ConfigError(message(file, f"{where}.population.counts", (one.population or one.stand_in)["counts"], COUNTS))
    if not isinstance(name, str) or name not in POPULATIONS:
        raise ConfigError(message(file, f"{where}.population.name", name, POPULATIONS))
    if one.n is None:
        raise ConfigError(f"{file}: {where}.n is missing; simulated data need a sample size")
    _check_settings(f"{where}.population", name, POPULATIONS[name], given, file, but="counts")
    for key in given:
        if not isinstance(given[key], int | float) or not math.isfinite(given[key]):
            raise ConfigError(f"{file}: {where}.population.{key}: given {short(given[key])}; allowed: a number")


def _scenarios(key: str, config: PaperConfig, name: str, run: RunConfig, expanded: _Expanded) -> Iterator[Scenario]:
    synthesizers, groups = expanded.synthesizers, expanded.groups
    one, scale = config.scenarios[name], run.scales[run.scale]
    ids = _with_parents([id for entry in one.synthesizers for id in groups[entry]], synthesizers)
    sizes = one.n if isinstance(one.n, list) else [one.n]
    found = one.file is not None and find(one.file.name, run.data_folder) is not None
    for size in sizes:
        n = (
            count(one.file.name, run.data_folder) - len(one.file.drop_rows)
            if found
            else min(size, max(one.n_least, math.ceil(size / scale.shrink)))
        )
        yield Scenario(
            paper=key,
            paper_id=config.id,
            id=name if one.file else f"{name}_n{n}",
            name=name,
            number=one.id,
            place=one.place,
            label=one.label or name,
            family=one.family,
            program=FAMILIES[one.family].program if one.family else "",
            priors=(dict(FAMILIES[one.family].priors) if one.family else {}) | one.priors,
            population=None if found else one.stand_in if one.file else one.population,
            file=one.file.model_dump() if found else None,
            stand_in=one.file is not None and not found,
            study=one.study,
            unit=one.unit,
            n=n,
            size=n if one.file else size,
            replicates=min(one.replicates, scale.replicates or one.replicates),
            synthetic_sets=min(one.synthetic_sets, scale.synthetic_sets or one.synthetic_sets),
            synthesizers={id: synthesizers[id] for id in ids},
        )


def _with_parents(ids: Sequence[str], synthesizers: Mapping[str, Synthesizer]) -> list[str]:
    """The ids with everything they build on, each after what it needs."""
    ordered: list[str] = []

    def visit(id: str) -> None:
        if id not in ordered:
            for needed in (*synthesizers[id].parents, *({synthesizers[id].fit} - {id})):
                visit(needed)
            ordered.append(id)

    for id in ids:
        visit(id)
    return ordered


def _shown(
    where: str, entry: FigureConfig | TableConfig, config: PaperConfig, scenarios: Mapping[str, Scenario],
    expanded: _Expanded, file: Path,
) -> bool:  # fmt: skip
    """Check the references of a figure or table; False when its scenario was skipped."""
    if isinstance(entry, FigureConfig) and entry.same_as:
        original = config.figures.get(entry.same_as)
        if original is None or original.same_as:
            raise ConfigError(
                message(file, f"{where}.same_as", entry.same_as, [n for n, f in config.figures.items() if not f.same_as])
            )
        return _shown(where, original, config, scenarios, expanded, file)
    of = [entry.scenario] if isinstance(entry.scenario, str) else entry.scenario
    for name in of:
        if name not in config.scenarios:
            raise ConfigError(message(file, f"{where}.scenario", name, config.scenarios))
    names = [name for one in entry.synthesizers for name in ([one] if isinstance(one, str) else one)]
    run = [one for one in scenarios.values() if one.name in of]
    for name in names:
        if name not in (DATA, PRIOR, *expanded.groups) and name not in expanded.synthesizers:
            raise ConfigError(message(file, f"{where}.synthesizers", name, [DATA, *expanded.groups]))
        missing = [id for id in expanded.groups.get(name, [name]) if run and id not in (DATA, PRIOR, *run[0].synthesizers)]
        if missing:
            raise ConfigError(message(file, f"{where}.synthesizers", name, run[0].synthesizers))
    return bool(run)


def _claims(paper: Paper, file: Path) -> list[Claim]:
    """The claims of a paper, with the ids of their cells spelled out; none where it has no file of them."""
    if not file.exists():
        return []
    return [_claim(paper, one, file) for one in validated(ClaimsConfig, load_yaml(file), file).claims]


def _claim(paper: Paper, one: ClaimConfig, file: Path) -> Claim:
    where, of = f"{one.id}.estimate", one.estimate
    names = [of.scenario] if isinstance(of.scenario, str) else of.scenario
    for name in names:
        if name not in paper.config.scenarios:
            raise ConfigError(message(file, f"{where}.scenario", name, paper.config.scenarios))
    if of.statistic not in STATISTICS:
        raise ConfigError(message(file, f"{where}.statistic", of.statistic, STATISTICS))
    _check_test(one, file)
    section, _, number = one.shows.partition(" ")
    shown: Any = {"figure": paper.config.figures, "table": {str(k) for k in paper.config.tables}, "": {""}}[section]
    if number not in shown:
        raise ConfigError(message(file, f"{one.id}.shows", one.shows, [f"{section} {k}" for k in shown]))
    scenarios = [one for one in paper.of(names) if of.size in (None, one.size)]
    if of.size is not None and paper.of(names) and not scenarios:
        raise ConfigError(message(file, f"{where}.size", of.size, [one.size for one in paper.of(names)]))
    cells = _cells(paper, one, scenarios, file)
    return Claim(
        id=one.id, paper=paper.key, place=one.place, shows=one.shows, claim=one.claim, printed=one.printed, erratum=one.erratum,
        note=one.note, estimate=of.model_dump(exclude={"scenario", "size", "where"}) | {"of": cells}, test=one.test.model_dump(),
        scenarios=[{key: getattr(one, key) for key in ("id", "name", "population", "stand_in")} for one in scenarios],
    )  # fmt: skip


def _cells(paper: Paper, one: ClaimConfig, scenarios: Sequence[Scenario], file: Path) -> list[Any]:
    """Cells of a claim from left to right."""
    of, where = one.estimate, f"{one.id}.estimate.of"
    if of.over == "value":
        return list(of.value)
    if of.over == "n":
        return sorted(float(one.n) for one in scenarios)
    if of.over != "synthesizer":
        return list(of.of)
    known = (DATA, PRIOR, *paper.groups, *paper.synthesizers)
    for name in of.of:
        if name not in known:
            raise ConfigError(message(file, where, name, known))
    ids = [id for id in paper.order([str(name) for name in of.of]) if paper.fits(id, of.where)]
    for id in ids:
        if scenarios and id not in (DATA, PRIOR, *scenarios[0].synthesizers):
            raise ConfigError(message(file, where, id, scenarios[0].synthesizers))
    if not ids:
        raise ConfigError(f"{file}: {where}: given {of.of}; at least one synthesizer is needed")
    return ids


def _check_test(one: ClaimConfig, file: Path) -> None:
    """Check that a claim's test has what its kind needs, and nothing of another kind."""
    takes = {
        "value": {"printed", "tolerance"},
        "within": {"low", "high", "share"},
        "order": {"direction", "pairs", "share"},
        "equal": {"tolerance"},
        "trend": {"low", "high"},
    }[one.test.kind]
    for key in one.test.model_fields_set - {"kind"} - takes:
        raise ConfigError(message(file, f"{one.id}.test", key, sorted(takes)))
    for key in {"value": ("printed",), "trend": ("low", "high")}.get(one.test.kind, ()):
        if getattr(one.test, key) in (None, []):
            raise ConfigError(f"{file}: {one.id}.test: {key} is missing; {one.test.kind} needs it")
