"""Read the config and the papers it names as a plan."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import yaml
from yaml.composer import Composer

from formalsynth.data.files import is_folder
from formalsynth.ledger.claims import Claim, ClaimConfig, ClaimScenario
from formalsynth.ledger.errata import ErrataConfig, Erratum
from formalsynth.ledger.notes import sentences
from formalsynth.plan.checks import check_claim, check_figure, check_table
from formalsynth.plan.errata import FILE as ERRATA
from formalsynth.plan.errata import by_number, check_implied, check_named
from formalsynth.plan.expand import expand
from formalsynth.plan.messages import ConfigError, Problems, check_unique, message, short, validated
from formalsynth.plan.model import ClaimsConfig, PaperConfig, RunConfig, find_all
from formalsynth.plan.paper import Paper, Plan, figure_file, truth_of
from formalsynth.plan.scenarios import spell_scenarios

if TYPE_CHECKING or not yaml.__with_libyaml__:
    from yaml import SafeLoader as _FastLoader
else:  # seven times as fast
    from yaml import CSafeLoader as _FastLoader


RULES = (
    "all", "collect_batches", "compile_program", "data", "everything", "find_cmdstan", "judge_claims", "refuse_figure",
    "refuse_paper", "refuse_scale", "refuse_table", "refuse_table_of_a_study", "refuse_table_of_fits", "run_batch", "run_study",
    "write_ledger", "write_report",
)  # fmt: skip
"""Rules of the workflow. Each paper has a rule of its name, too."""
REPORT = "report"
"""Folder of the report, beside those of the papers: it is emptied before each report."""
PROGRAMS = "stan"
"""Folder of the compiled programs, beside those of the scales."""
NUMBERS = {
    "tag:yaml.org,2002:int": (r"[-+]?(0|[1-9][0-9_]*)",),
    "tag:yaml.org,2002:float": (
        r"[-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9]+)([eE][-+]?[0-9]+)?",
        r"[-+]?[0-9]+[eE][-+]?[0-9]+",
        r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    ),
}
"""How numbers are written, by the tag of YAML."""
LARGEST = 50_000
"""Values in a config file at most, about ten times as many as in the largest one that is shipped."""
LONGEST = 2_000_000
"""Bytes of a config file at most."""


class _KeysOnce(Composer):
    """Puts YAML together, and refuses a key that is given twice."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        names = [key.value for key in keys]
        for place, key in enumerate(keys):
            if key.value in names[:place]:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} is given twice", problem_mark=key.start_mark)
        return node


class _Bounded(Composer):
    """Puts YAML together, and refuses what aliases make larger than any file that people write."""

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _written_out(node, {})
        return node


def _written_out(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values a node has with its aliases written out; ``known`` keeps those that were counted."""
    if id(node) not in known:
        known[id(node)] = LARGEST + 1  # found again below itself, it would have no end
        parts = node.value if isinstance(node, yaml.SequenceNode) else []
        parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else parts
        known[id(node)] = 1 + sum(_written_out(part, known) for part in parts)
    if known[id(node)] > LARGEST:
        problem = f"with its aliases written out this has more than {LARGEST} values"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return known[id(node)]


class _Loader(_Bounded, _KeysOnce, _FastLoader):
    """YAML of a bounded size whose mappings have each key once, and in which numbers are what they are everywhere else.

    1e-5 is a number; 010 is not 8, and 1:30 is not 90.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 # a class variable of PyYAML, and so typed
        first: [(tag, pattern) for tag, pattern in known if tag not in NUMBERS]
        for first, known in _FastLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, stream: IO[str]) -> None:
        _FastLoader.__init__(self, stream)
        Composer.__init__(self)


def _refuse(loader: _Loader, node: yaml.Node) -> None:
    raise yaml.MarkedYAMLError(problem=f"{node.tag} has no order: give a list", problem_mark=node.start_mark)


for _tag, _patterns in NUMBERS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(f"^({'|'.join(_patterns)})$"), list("-+.0123456789"))
_Loader.add_constructor("tag:yaml.org,2002:set", _refuse)


def load_yaml(path: Path) -> Mapping[Any, Any]:
    """Read a YAML file of keys and values.

    Raises:
        ConfigError: it cannot be read or parsed, or holds something else.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ConfigError(f"{path}: (whole file): is a pipe or a device; allowed: a file")
        if path.stat().st_size > LONGEST:
            raise ConfigError(f"{path}: (whole file): has {path.stat().st_size} bytes; allowed: at most {LONGEST}")
        with open(path, encoding="utf-8") as file:
            values = yaml.load(file, Loader=_Loader)
    # a number or date that Python cannot hold, or brackets without end, are no YAMLError
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: (whole file): given {short(values)}; allowed: keys and values")
    return values


def read_plan(config: Mapping[str, object], folder: Path) -> Plan:
    """Validate the run's config and the papers it names, and spell them out.

    Args:
        config: contents of ``config/config.yaml``, with what the command line overrides.
        folder: the config folder.

    Raises:
        ConfigError: a line for each thing that cannot be used.
    """
    find_all()
    file = folder / "config.yaml"
    run = validated(RunConfig, config, file)
    _check_run(run, file)
    papers: dict[str, Paper] = {}
    skipped: list[str] = []
    problems, errata = Problems(), dict[str, Erratum]()
    with problems.catch():
        errata = _read_errata(folder)
    for key in run.papers:
        with problems.catch():
            papers[key], absent = _read_paper(key, run, folder, errata)
            skipped += absent
    problems.tell()
    _check_drawing(papers, file)
    check_unique((paper.config.id, f"{folder / 'papers' / key}.yaml: id") for key, paper in papers.items())
    check_unique(
        (claim.id, f"{folder / 'claims' / key}.yaml: claims.{claim.id}.id")
        for key, paper in papers.items()
        for claim in paper.claims
    )
    return Plan(run, papers, skipped, _of_papers(errata, papers))


def _read_errata(folder: Path) -> dict[str, Erratum]:
    """The errata by every number that they have; none where there is no file of them."""
    file = folder / ERRATA
    if not file.exists():
        return {}
    return by_number(validated(ErrataConfig, load_yaml(file), file).errata, folder)


def _of_papers(errata: Mapping[str, Erratum], papers: Mapping[str, Paper]) -> tuple[Erratum, ...]:
    """The errata with a place in one of the papers, each once."""
    each = {erratum.id: erratum for erratum in errata.values()}
    return tuple(erratum for erratum in each.values() if any(place.paper in papers for place in erratum.places))


def _check_run(run: RunConfig, file: Path) -> None:
    problems = Problems()
    with problems.catch():
        if run.scale not in run.scales:
            raise ConfigError(message(file, "scale", run.scale, run.scales))
    for name in run.papers:
        with problems.catch():
            if name in (*RULES, REPORT):
                taken = "the report's folder" if name == REPORT else "a rule of the workflow"
                raise ConfigError(message(file, "papers", name, [f"another name: this is {taken}"]))
    with problems.catch():
        if PROGRAMS in run.scales:
            raise ConfigError(message(file, "scales", PROGRAMS, ["another name: this is the folder of the Stan programs"]))
    with problems.catch():
        named = os.environ.get("FORMALSYNTH_DATA")
        if named and not is_folder(named):
            raise ConfigError(f"environment variable FORMALSYNTH_DATA: given {short(named)}; allowed: a folder that is there")
    with problems.catch():
        if os.path.lexists(run.data_folder) and not is_folder(run.data_folder):
            raise ConfigError(message(file, "data_folder", run.data_folder, ["a folder"]))
    problems.tell()


def _check_drawing(papers: Mapping[str, Paper], file: Path) -> None:
    """Check that no paper has the name of a rule that makes figures or tables of another one."""
    for key, paper in papers.items():
        shown = {f"figure {number}": figure_file(number) for number in paper.figures}
        for what, name in (shown | {f"table {number}": f"table{number}" for number in paper.tables}).items():
            if (rule := f"show_{key}_{name}") in papers:
                raise ConfigError(message(file, "papers", rule, [f"another name: this is the rule that makes {what} of {key}"]))


def _read_paper(key: str, run: RunConfig, folder: Path, errata: Mapping[str, Erratum]) -> tuple[Paper, list[str]]:
    """A paper, and what of it is left out."""
    path = folder / "papers" / f"{key}.yaml"
    if not path.exists():
        known = sorted(other.stem for other in path.parent.glob("*.yaml"))
        raise ConfigError(message(folder / "config.yaml", "papers", key, known))
    config, claims = _read_files(path, folder / "claims" / f"{key}.yaml")
    expanded = expand(config, path)
    problems = Problems()
    spelled = spell_scenarios(key, config, run, expanded, path, problems)
    paper = _with_shown(Paper(key, config, expanded, spelled.scenarios), path, problems)
    paper = replace(paper, claims=_claims(paper, claims, errata, folder / "claims" / f"{key}.yaml", problems))
    problems.tell()
    return paper, spelled.skipped


def _read_files(paper: Path, claims: Path) -> tuple[PaperConfig, list[ClaimConfig]]:
    """A paper's file, and the claims of the other one, if it is there."""
    problems, found = Problems(), ClaimsConfig(claims=[])
    with problems.catch():
        config = validated(PaperConfig, load_yaml(paper), paper)
    with problems.catch():
        if claims.exists():
            found = validated(ClaimsConfig, load_yaml(claims), claims)
    problems.tell()
    return config, found.claims


def _with_shown(paper: Paper, file: Path, problems: Problems) -> Paper:
    """The paper with the figures and tables that can be made."""
    config = paper.config
    figures, tables = {}, {}
    for number in config.telling:
        with problems.catch():
            if number not in config.figures:
                raise ConfigError(message(file, "telling", number, config.figures))
    for number, figure in config.figures.items():
        with problems.catch():
            if check_figure(number, figure, paper, file):
                figures[number] = figure
    for place, table in config.tables.items():
        with problems.catch():
            if check_table(place, table, paper, file):
                tables[place] = table
    return replace(paper, figures=figures, tables=tables)


def _claims(
    paper: Paper, configs: Sequence[ClaimConfig], errata: Mapping[str, Erratum], file: Path, problems: Problems
) -> list[Claim]:
    """The claims of a paper, with the ids of their cells spelled out."""
    claims = []
    for config in configs:
        with problems.catch():
            check_named(config, errata, file)
            check_implied(config, configs, file)
            claims.append(_claim(paper, config, errata.get(config.erratum), file))
    return claims


def _claim(paper: Paper, config: ClaimConfig, erratum: Erratum | None, file: Path) -> Claim:
    checked = check_claim(config, paper, file)
    of, first = config.estimate, next(iter(checked.scenarios), None)
    truth = truth_of(first.data, of.value[0]) if first and of.distance == "population" else None
    doubts = dict.fromkeys(scenario.doubt for scenario in checked.scenarios)
    return Claim(
        id=config.id, paper=paper.key, place=config.place, shows=config.shows, claim=config.claim, printed=config.printed,
        kind=config.kind, implied_by=config.implied_by, erratum=erratum.id if erratum else "",
        finding=erratum.kind if erratum else "", note=sentences(config.note, *doubts), test=config.test, truth=truth,
        estimate=of.model_copy(update={"of": checked.cells}),
        scenarios=tuple(
            ClaimScenario(id=scenario.id, name=scenario.name, stand_in=scenario.stand_in) for scenario in checked.scenarios
        ),
    )  # fmt: skip
