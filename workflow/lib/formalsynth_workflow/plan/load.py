"""Read the config, and the papers that it names, as a plan."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from formalsynth.core.streams import number_of
from formalsynth.runtime.files import is_file, is_folder
from formalsynth.settings.messages import ConfigError, Problems, check_unique, cut, refusal, short, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow import REPOSITORY
from formalsynth_workflow.ledger.claims import Claim
from formalsynth_workflow.ledger.errata import ErrataConfig, Erratum
from formalsynth_workflow.plan.checks import check_figure, check_readings, check_table
from formalsynth_workflow.plan.claims import read_claims
from formalsynth_workflow.plan.errata import FILE as ERRATA
from formalsynth_workflow.plan.errata import by_number
from formalsynth_workflow.plan.model import ClaimsConfig, PaperConfig, RunConfig, find_all
from formalsynth_workflow.plan.paper import Paper, Plan
from formalsynth_workflow.plan.scenarios import spell_paper
from formalsynth_workflow.plan.studies import (
    STUDY_DEFAULTS,
    Inherited,
    StudyFile,
    load_code,
    own_claims,
    read_study,
    tree_over,
)

REPORT = "report"
"""Folder of the report, next to those of the papers."""
PROGRAMS = "stan"
"""Folder of the compiled programs, next to those of the scales."""


def plan_of(folder: Path, **replaced: object) -> Plan:
    """Return the plan of the run in a config folder, with some keys replaced.

    Raises:
        ConfigError: with a line for each thing that cannot be used.
    """
    return read_plan({**load_yaml(folder / "config.yaml"), **replaced}, folder)


def read_plan(config: Mapping[str, object], folder: Path, command_line: Collection[str] = (), file: Path | None = None) -> Plan:
    """Validate the run's config and the papers that it names, and spell them out.

    Args:
        config: contents of ``config/config.yaml``, after overrides from the command line.
        folder: the config folder.
        command_line: keys of the config that were given on the command line.
        file: the file that contains the config; by default, the one in the config folder.

    Raises:
        ConfigError: with a line for each thing that cannot be used.
    """
    find_all()
    file = file or folder / "config.yaml"
    run = validated(RunConfig, config, file).overridden(command_line)
    _check_run(run, file)
    studies = _read_studies(run, folder)
    load_code(studies)
    papers: dict[str, Paper] = {}
    skipped: list[str] = []
    problems, errata = Problems(), dict[str, Erratum]()
    with problems.catch():
        errata = _read_errata(folder)
    for key in run.papers:
        with problems.catch():
            papers[key], absent = _read_paper(key, run, folder, errata)
            skipped += absent
    for study in studies:
        with problems.catch():
            papers[study.key], absent = _read_own(study, run, folder, errata)
            skipped += absent
    problems.report()
    plan = Plan(run, papers, skipped, _of_papers(errata, papers))
    _check_programs(plan)
    _check_ids(papers, {study.key for study in studies if study.extends})
    return plan


def _check_ids(papers: Mapping[str, Paper], extending: Collection[str]) -> None:
    """Check that no two papers and no two claims share an id; a study keeps the ids of the paper that it extends."""
    own = {key: paper for key, paper in papers.items() if key not in extending}
    check_unique((paper.config.id or number_of(key), f"{paper.files[0]}: id") for key, paper in own.items())
    check_unique((claim.id, f"{paper.files[-1]}: claims.{claim.id}.id") for paper in own.values() for claim in paper.claims)


def _read_studies(run: RunConfig, folder: Path) -> list[StudyFile]:
    """Read the study files of a run."""
    studies: list[StudyFile] = []
    problems, config = Problems(), folder / "config.yaml"
    for given in run.studies:
        with problems.catch():
            if not is_file(given):
                allowed = f"an existing file; looked for {cut(Path(given).absolute())}"
                raise refusal(config, "study", given, [allowed])
            study = read_study(Path(given).absolute(), load_yaml(Path(given)))
            taken = [other.stem for other in (folder / "papers").glob("*.yaml")] + [other.key for other in studies]
            if study.key in {REPORT, *taken}:
                why = "the name of a paper or another study" if study.key in taken else "a name that the workflow uses"
                raise refusal(study.path, "key", study.key, [f"another name: this is {why}"])
            studies.append(study)
    problems.report()
    return studies


def _read_errata(folder: Path) -> dict[str, Erratum]:
    """Return errata by each of their numbers; empty without a file of errata."""
    file = folder / ERRATA
    if not file.exists():
        return {}
    return by_number(validated(ErrataConfig, load_yaml(file), file).errata, folder)


def _of_papers(errata: Mapping[str, Erratum], papers: Mapping[str, Paper]) -> tuple[Erratum, ...]:
    """Return the errata with a place in one of the papers."""
    by_id = {erratum.id: erratum for erratum in errata.values()}
    return tuple(erratum for erratum in by_id.values() if any(place.paper in papers for place in erratum.places))


def _check_run(run: RunConfig, file: Path) -> None:
    """Check the run's names and folders."""
    problems, named = Problems(), os.environ.get("FORMALSYNTH_DATA")
    for wrong, error in (
        (run.scale not in run.scales, refusal(file, "scale", run.scale, run.scales)),
        (REPORT in run.papers, refusal(file, "papers", REPORT, ["another name: this is the report's folder"])),
        (PROGRAMS in run.scales, refusal(file, "scales", PROGRAMS, ["another name: this is the folder of the Stan programs"])),
        (
            named and not is_folder(named),
            ConfigError(f"environment variable FORMALSYNTH_DATA: given {short(named)}; allowed: an existing folder"),
        ),
        (
            os.path.lexists(run.data_folder) and not is_folder(run.data_folder),
            refusal(file, "data_folder", run.data_folder, ["a folder"]),
        ),
    ):
        with problems.catch():
            if wrong:
                raise error
    problems.report()


def _check_programs(plan: Plan) -> None:
    """Check that the Stan program of each family and mechanism exists."""
    problems, shipped = Problems(), sorted(path.stem for path in (REPOSITORY / "stan").glob("*.stan"))
    for paper in plan.papers.values():
        for scenario in paper.scenarios.values():
            for name in filter(None, (scenario.program, *scenario.public_programs)):
                with problems.catch():
                    if name not in shipped and name not in plan.own_programs:
                        key = f"scenarios.{scenario.name}: Stan program of {scenario.family}"
                        raise refusal(paper.files[0], key, name, shipped)
    problems.report()


def _read_paper(key: str, run: RunConfig, folder: Path, errata: Mapping[str, Erratum]) -> tuple[Paper, list[str]]:
    """Read a paper; also return sentences about its skipped parts."""
    path, of_claims = (folder / part / f"{key}.yaml" for part in ("papers", "claims"))
    _check_paper("papers", key, folder / "config.yaml", folder)
    tree, config, about = _read_files(path, of_claims)
    problems = Problems()
    _check_named(about, config, of_claims, problems)
    paper, skipped = spell_paper(key, config, run, path, problems)
    paper = replace(_with_shown(paper, path, problems), files=(path, *([of_claims] if of_claims.exists() else [])))
    paper = replace(paper, tree=tree, claims=read_claims(paper, about.claims, errata, of_claims, problems))
    paper = replace(paper, question=about.question, answer=tuple(about.answer), seen=about.seen, questions=about.questions)
    problems.report()
    return paper, skipped


def _check_paper(key: str, paper: str, file: Path, folder: Path) -> None:
    """Check that the paper that a key names exists."""
    if not (folder / "papers" / f"{paper}.yaml").exists():
        known = sorted(other.stem for other in (folder / "papers").glob("*.yaml"))
        raise refusal(file, key, paper, known)


def _read_own(study: StudyFile, run: RunConfig, folder: Path, errata: Mapping[str, Erratum]) -> tuple[Paper, list[str]]:
    """Read a user's own study; also return sentences about its skipped parts.

    Inherited parts that no longer make sense are left out and reported.
    """
    inherited, problems, tree = None, Problems(), study.tree
    if study.extends:
        _check_paper("extends", study.extends, study.path, folder)
        inherited = Inherited(study, _read_paper(study.extends, run, folder, errata)[0])
        tree = tree_over(inherited.base.tree, study)
    config = validated(PaperConfig, STUDY_DEFAULTS | tree, study.path)
    paper, skipped = spell_paper(study.key, config, run, study.path, problems)
    if inherited:
        tree = tree_over(inherited.base.tree, study, inherited.missing(paper))
        paper = inherited.unprinted(replace(paper, config=validated(PaperConfig, STUDY_DEFAULTS | tree, study.path)))
    paper, file, claims = _with_shown(paper, study.path, problems, inherited), study.claims or study.path, list[Claim]()
    with problems.catch():
        claims = read_claims(paper, own_claims(study), errata, file, problems)
    problems.report()
    files: tuple[Path, ...] = (study.path, *([study.claims] if study.claims else []))
    if inherited:
        claims = [*inherited.claims(paper), *claims]
        check_unique((claim.id, f"{file}: claims.{claim.id}.id") for claim in claims)
        files, skipped = (*files, *inherited.base.files), [*skipped, *inherited.left_out]
    return replace(paper, files=files, claims=claims), skipped


def _check_named(about: ClaimsConfig, config: PaperConfig, file: Path, problems: Problems) -> None:
    """Check that everything named as an answer to a question or as the start of a caption exists."""
    ids = [claim.id for claim in about.claims]
    shown = [f"figure {number}" for number in config.figures] + [f"table {number}" for number in config.tables]
    named = [("answer", id, ids) for id in about.answer]
    named += [("seen", number, list(config.figures)) for number in about.seen]
    named += [(f"seen.{number}", id, ids) for number, several in about.seen.items() for id in several]
    named += [(f"questions.{text}", what, [*ids, *shown]) for text, names in about.questions.items() for what in names]
    for key, given, allowed in named:
        with problems.catch():
            if given not in allowed:
                raise refusal(file, key, given, allowed)


def _read_files(paper: Path, claims: Path) -> tuple[Mapping[Any, Any], PaperConfig, ClaimsConfig]:
    """Return the contents of a paper's file, its config, and its claims if their file exists."""
    problems, claims_config = Problems(), ClaimsConfig(claims=[])
    with problems.catch():
        tree = load_yaml(paper)
        config = validated(PaperConfig, tree, paper)
    with problems.catch():
        if claims.exists():
            claims_config = validated(ClaimsConfig, load_yaml(claims), claims)
    problems.report()
    return tree, config, claims_config


def _with_shown(paper: Paper, file: Path, problems: Problems, inherited: Inherited | None = None) -> Paper:
    """Return the paper with the figures and tables that can be made; inherited ones that cannot be made are left out."""
    config = paper.config
    figures, tables = {}, {}
    check_readings(paper, file)

    def catch(section: str, number: object) -> AbstractContextManager[None]:
        if inherited is None or inherited.mentions(section, number):
            return problems.catch()
        return inherited.shown(f"{section.removesuffix('s')} {number}")

    for number in config.telling:
        with problems.catch():
            if number not in config.figures:
                raise refusal(file, "telling", number, config.figures)
    for number, figure in config.figures.items():
        with catch("figures", number):
            if check_figure(number, figure, paper, file):
                figures[number] = figure
    for place, table in config.tables.items():
        with catch("tables", place):
            if check_table(place, table, paper, file):
                tables[place] = table
    return replace(paper, figures=figures, tables=tables)
