"""Paths, inputs and parameters of the workflow's jobs, derived from the plan.

Rules ask :class:`Jobs` for everything that the plan determines. Everything that needs Snakemake itself, such as source paths and
marks for its own report, stays in ``workflow/rules``.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from formalsynth import __version__
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import BatchJob, StudyJob, joined_digest, specification
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.registry import REPOSITORY, is_own
from formalsynth.core.statistics import STATISTICS
from formalsynth.core.utility import OWN_UTILITY
from formalsynth.core.words import GUARANTEES, METRICS
from formalsynth.displays.display import DRAWINGS, FOR_PRINT
from formalsynth.displays.figure import FIGURES, Figure
from formalsynth.displays.table import TABLES
from formalsynth.ledger.tests.base import TESTS
from formalsynth.plan.errata import FILE as ERRATA
from formalsynth.plan.paper import Paper, Plan, figure_file
from formalsynth.plan.scenario import Scenario
from formalsynth.runtime.commit import commit
from formalsynth.runtime.files import holds
from formalsynth.runtime.sources import code_digest, source_of, sources

TABLE_KINDS = ("csv", "txt")
"""Extensions of a table's files: the table and its caption."""
FIGURE_KINDS = (*TABLE_KINDS, *DRAWINGS)
"""Extensions of the files made for every figure: its tidy table, its caption and its drawings."""
RUNS = {False: "formalsynth.steps.run", True: "formalsynth.steps.study"}
"""Module that runs a batch; the key is True for a batch of a study."""
NOTHING = "(?!)"
"""Pattern that matches no path."""


def code_files(*modules: str) -> list[str]:
    """List the source files of the package that modules depend on."""
    return [str(path) for path in sources(*modules)]


@functools.cache
def _code_of(*modules: str) -> str:
    """Return the digest of the source files that modules depend on."""
    return code_digest(sources(*modules))


@functools.cache
def _commit() -> str:
    """Return the commit of this code."""
    return commit(REPOSITORY)


def join_names(names: Iterable[str]) -> str:
    """Return a pattern that matches any of some names."""
    return "|".join(map(re.escape, names)) or NOTHING


@dataclass(frozen=True)
class ScenarioJobs:
    """Jobs of one scenario."""

    run: Jobs
    paper: str
    scenario: Scenario

    @property
    def folder(self) -> str:
        """Folder of its results."""
        return f"{self.run.results}/{self.paper}/{self.scenario.id}"

    @property
    def replicates(self) -> str:
        """Path of the collected table of its replicates."""
        return f"{self.folder}/replicates.csv"

    def batch_files(self, name: str) -> list[str]:
        """Return the path of the file with this name in every batch."""
        return [f"{self.folder}/batches/{batch}/{name}" for batch in self._batches]

    def program(self) -> str:
        """Return the path of its family's compiled Stan program."""
        return f"results/stan/{self.scenario.program}"

    def public_programs(self) -> list[str]:
        """Return the paths of the compiled Stan programs that fit its family to private statistics."""
        return [f"results/stan/{name}" for name in self.scenario.public_programs]

    def passed_checks(self) -> list[str]:
        """Return the files that mark its family, its mechanisms or its own Stan program as checked."""
        if self.scenario.program in self.run.own_programs:
            return [f"{self.program()}.checked"]
        first = (self.run.tried[part] for part in self.parts)
        return list(dict.fromkeys(f"{self.run.results}/checks/{jobs.paper}/{jobs.scenario.id}.checked" for jobs in first))

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Its family and its mechanisms, each as a kind and a name."""
        mechanisms = dict.fromkeys(synthesizer.mechanism for synthesizer in self.scenario.synthesizers.values())
        return [("family", self.scenario.family), *(("mechanism", name) for name in mechanisms)]

    def tried_mechanisms(self) -> list[list[Any]]:
        """Return the mechanisms that are tried on its family, each with parameters that it has here."""
        uses: dict[str, dict[str, float]] = {}
        for synthesizer in self.scenario.synthesizers.values():
            search = synthesizer.search
            searched = {search.parameter: search.high} if search else {}
            uses.setdefault(synthesizer.mechanism, dict(synthesizer.parameters) | searched)
        return [[name, uses[name]] for kind, name in self.parts if kind == "mechanism" and self.run.tried[kind, name] is self]

    def trial_job(self) -> dict[str, Any]:
        """Return the job that simulates records for a trial of its family."""
        job = self.scenario.simulate_job("0000")
        return dict(job.model_copy(update={"replicates": job.replicates[:1]}).plain())

    def trial_modules(self) -> list[str]:
        """Return the modules of a trial, of its records, its family and its mechanisms."""
        mechanisms = [MECHANISMS.module(name) for name, _ in self.tried_mechanisms()]
        steps = ["formalsynth.contract.parts", "formalsynth.steps.simulate"]
        family = FAMILIES.module(self.scenario.family)
        return list(dict.fromkeys([*steps, family, *mechanisms, *self.scenario.simulate_job("0000").modules]))

    def batch_job(self, batch: str) -> dict[str, Any]:
        """Return the parameters of the job that runs a batch of fits; batches share equal ones, which saves memory."""
        own = self._batch_job(batch)
        return {**self._shared, "simulate": own.simulate.plain(), "audit": own.audit.plain() if own.audit else None}

    def study_job(self, batch: str) -> dict[str, Any]:
        """Return the parameters of the job that runs a batch of a study."""
        return dict(self.scenario.study_job(batch).plain())

    def batch_code(self, batch: str) -> str:
        """Return the digest of the source files that a batch depends on."""
        return _code_of(RUNS[self.scenario.study is not None], *self._job(batch).modules)

    def check_batch(self, batch: str, study: bool) -> None:
        """Check that the plan has a batch, and that the batch runs a study or fits, as expected.

        Raises:
            SystemExit: it is not.
        """
        name, batches = f"{self.paper} {self.scenario.id}", self._batches
        if study != (self.scenario.study is not None):
            refuse(f"{name} has no such file, because it is {'not ' if study else ''}run by a study")
        if batch not in batches:
            shown = batches if len(batches) < 20 else [batches[0], "...", batches[-1]]
            refuse(f"no batch {batch} of {name}; there are: {', '.join(shown)}")

    def _job(self, batch: str) -> BatchJob | StudyJob:
        return self.scenario.study_job(batch) if self.scenario.study else self._batch_job(batch)

    def _batch_job(self, batch: str) -> BatchJob:
        """Return the input of a batch of fits: the first batch's, with its own replicates."""
        audit = self.scenario.audit_job(batch, self.run.plan.config.sampler)
        return self._first.model_copy(update={"simulate": self.scenario.simulate_job(batch), "audit": audit})

    @functools.cached_property
    def _first(self) -> BatchJob:
        return self.scenario.batch_job("0000", self.run.plan.config.sampler)

    @functools.cached_property
    def _shared(self) -> dict[str, Any]:
        return dict(self._first.plain())

    @functools.cached_property
    def _digests(self) -> dict[int, str]:
        """Digests of the parts that all batches share, by object identity; computed once because there are many batches."""
        return {id(part): part.digest() for part in self._first.parts}

    def _digest(self, job: BatchJob | StudyJob) -> str:
        """Return the digest of a batch, equal to the one that the job itself computes."""
        if isinstance(job, StudyJob):
            return job.digest()
        return joined_digest(self._digests.get(id(part)) or part.digest() for part in job.parts)

    @functools.cached_property
    def _batches(self) -> list[str]:
        return self.scenario.batches()

    @functools.cached_property
    def batch_specifications(self) -> list[str]:
        """Specifications of each batch's tables: its job, and the job's source code.

        The job writes the same specification into the seal of a table, and a job that reads the table compares the two. Snakemake
        detects a change of either from its own records, which can be lost; a seal lasts as long as the file.
        """
        return [specification(self._digest(self._job(batch)), [self.batch_code(batch)]) for batch in self._batches]

    @functools.cached_property
    def specification(self) -> str:
        """Specification of the collected tables."""
        return specification("", self.batch_specifications)


@dataclass(frozen=True)
class DisplayJob:
    """The job that makes those figures and tables of a paper that use the same scenarios.

    One job makes several because loading the drawing library takes longer than drawing. They share scenarios so that a figure can
    be requested without running the scenarios of others.
    """

    jobs: PaperJobs
    figures: tuple[str, ...]
    """Printed numbers of the figures."""
    tables: tuple[int, ...]
    """Printed numbers of the tables."""

    @property
    def name(self) -> str:
        """File name of its first figure or table."""
        return [*map(figure_file, self.figures), *(f"table{number}" for number in self.tables)][0]

    @property
    def contents(self) -> str:
        """List of its figures and tables, as text."""
        return ", ".join([*self.figures, *(f"table {number}" for number in self.tables)])

    @functools.cached_property
    def inputs(self) -> list[str]:
        """The collected tables that it reads."""
        figures = [path for number in self.figures for path in self.jobs.figure_inputs(number)]
        return list(dict.fromkeys([*figures, *(path for number in self.tables for path in self.jobs.table_inputs(number))]))

    @property
    def modules(self) -> list[str]:
        """Modules that draw its figures and compute its tables."""
        paper = self.jobs.paper
        drawn = figure_modules(paper.original(number) for number in self.figures)
        return list(dict.fromkeys([*drawn, *(maker(TABLES.module(paper.tables[number].kind)) for number in self.tables)]))

    @property
    def code(self) -> list[str]:
        """Source files that its figures and tables depend on."""
        drawing = ["formalsynth.show.draw"] if self.figures else []
        return code_files("formalsynth.show.tidy", "formalsynth.show.captions", *drawing, *self.modules)

    def figure_entries(self) -> list[dict[str, Any]]:
        """Return each figure's contents, file name, file name of the figure that it repeats, and indices of its inputs."""
        paper, scale = self.jobs.paper, self.jobs.run.scale
        original = {number: getattr(paper.figures[number], "same_as", "") for number in self.figures}
        return [
            {
                "display": dict(paper.figure(number, scale).plain()),
                "file": figure_file(number),
                "same_as": figure_file(original[number]) if original[number] else "",
                "reads": self._places(self.jobs.figure_inputs(number)),
            }
            for number in self.figures
        ]

    def table_entries(self) -> list[dict[str, Any]]:
        """Return each table's contents, file name, and the indices of its inputs."""
        paper, scale = self.jobs.paper, self.jobs.run.scale
        return [
            {
                "display": dict(paper.table(number, scale).plain()),
                "file": f"table{number}",
                "reads": self._places(self.jobs.table_inputs(number)),
            }
            for number in self.tables
        ]

    def _places(self, paths: Iterable[str]) -> list[int]:
        return [self.inputs.index(path) for path in paths]


@dataclass(frozen=True)
class PaperJobs:
    """Jobs of one paper."""

    run: Jobs
    paper: Paper

    @functools.cached_property
    def scenarios(self) -> dict[str, ScenarioJobs]:
        """Jobs of its scenarios, by id."""
        return {id: ScenarioJobs(self.run, self.paper.key, scenario) for id, scenario in self.paper.scenarios.items()}

    @functools.cached_property
    def confidential(self) -> list[str]:
        """Unpublished data files that it reads."""
        return list(dict.fromkeys(file for scenario in self.paper.scenarios.values() for file in scenario.confidential))

    @property
    def private(self) -> list[str]:
        """Folders that only their owner may read: all of the paper's folders if one of its data files is not published."""
        folders = [f"{self.run.results}/{self.paper.key}", f"{self.run.figures}/{self.paper.key}"]
        return folders if self.confidential else []

    @property
    def ledger(self) -> list[str]:
        """File of the verdicts on its claims; empty if it has no claims."""
        return [f"{self.run.results}/{self.paper.key}/claims.csv"] if self.paper.claims else []

    def figure_files(self, number: str) -> list[str]:
        """Return every file of a figure, except the PDF for print."""
        return [f"{self.run.figures}/{self.paper.key}/{figure_file(number)}.{kind}" for kind in FIGURE_KINDS]

    def table_files(self, number: int) -> list[str]:
        """Return every file of a table."""
        return [f"{self.run.results}/{self.paper.key}/table{number}.{kind}" for kind in TABLE_KINDS]

    def figure_inputs(self, number: str) -> list[str]:
        """Return the collected tables that a figure reads."""
        figure = self.paper.original(number)
        return self._collected(figure.tables(), self.paper.of(figure.scenario, figure.size))

    def table_inputs(self, number: int) -> list[str]:
        """Return the collected tables that a table reads."""
        table = self.paper.tables[number]
        return self._collected(table.tables(), self.paper.of(table.scenario, table.size))

    def _collected(self, tables: Iterable[str], scenarios: Sequence[Scenario]) -> list[str]:
        return [f"{self.scenarios[scenario.id].folder}/{table}.csv" for table in tables for scenario in scenarios]

    def display_jobs(self) -> list[DisplayJob]:
        """Return the jobs that make its figures and tables, one job for all that read the same scenarios."""
        figures: dict[tuple[Path, ...], list[str]] = {}
        tables: dict[tuple[Path, ...], list[int]] = {}
        for number in self.paper.figures:
            figures.setdefault(_folders(self.figure_inputs(number)), []).append(number)
        for place in self.paper.tables:
            tables.setdefault(_folders(self.table_inputs(place)), []).append(place)
        read = dict.fromkeys([*figures, *tables])
        return [DisplayJob(self, tuple(figures.get(key, ())), tuple(tables.get(key, ()))) for key in read]

    def claims(self) -> list[dict[str, Any]]:
        """Return the claims that are judged."""
        return [dict(claim.plain()) for claim in self.paper.claims]

    def claim_inputs(self) -> list[str]:
        """Return the collected tables that its claims are about."""
        read = [(scenario.id, claim.estimate.table) for claim in self.paper.claims for scenario in claim.scenarios]
        return list(dict.fromkeys(f"{self.scenarios[id].folder}/{table}.csv" for id, table in read))

    def judge_modules(self) -> list[str]:
        """Return the modules that define the tests of its claims, and the estimated statistics."""
        tests = [TESTS.module(claim.test.kind) for claim in self.paper.claims]
        statistics = [STATISTICS.module(claim.estimate.statistic) for claim in self.paper.claims]
        return list(dict.fromkeys([*tests, *statistics]))

    def judge_code(self) -> list[str]:
        """Return the source files that its verdicts depend on."""
        return code_files("formalsynth.ledger.judge", *self.judge_modules())

    def origin(self, options: Mapping[str, Any]) -> dict[str, str]:
        """Describe the run in captions and drawings. Snakemake does not compare it, so a new commit alone redraws nothing.

        Args:
            options: settings for the command line.
        """
        written = {key: value if isinstance(value, str) else json.dumps(value) for key, value in options.items()}
        given = [shlex.quote(f"{key}={value}") for key, value in written.items()]
        return {
            "software": f"formalsynth {__version__} (commit {_commit()})",
            "seed": str(self.run.plan.config.root_seed),
            "config": code_digest([path for path in self.paper.files if path.exists()])[:12],
            "options": f" --config {' '.join(given)}" if given else "",
        }

    def figures(self) -> list[str]:
        """Return every file of its figures, except the PDFs for print."""
        return [path for number in self.paper.figures for path in self.figure_files(number)]

    def pdf_job(self, file: str) -> DisplayJob:
        """Return the job that draws the PDF of a figure, given its file name; for a repeated figure, that of the original."""
        number = next(number for number in self.paper.figures if figure_file(number) == file)
        return DisplayJob(self, (getattr(self.paper.figures[number], "same_as", "") or number,), ())

    def tables(self) -> list[str]:
        """Return every file of its tables."""
        return [path for number in self.paper.tables for path in self.table_files(number)]

    def targets(self) -> list[str]:
        """Return all files of its results: figures, tables, replicates and verdicts."""
        tables = [path for path in self.tables() if path.endswith(".csv")]
        return [*self.figures(), *tables, *(scenario.replicates for scenario in self.scenarios.values()), *self.ledger]

    def is_made(self) -> bool:
        """Return True if all files of its results exist, and were made with these settings by this code."""
        made = all(Path(path).is_file() and Path(path).stat().st_size for path in (*self.targets(), *self.tables()))
        return made and all(holds(scenario.replicates, scenario.specification) for scenario in self.scenarios.values())


def _folders(paths: Iterable[str]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(Path(path).parent for path in paths))


def maker(module: str) -> str:
    """Return the module that draws a kind of figure or computes a kind of table: in show, under the same name.

    Args:
        module: the module that defines its fields; a file of own code contains both.
    """
    return module if is_own(module) else module.replace("formalsynth.displays.", "formalsynth.show.", 1)


def figure_modules(figures: Iterable[Figure]) -> list[str]:
    """Return the modules that draw figures and their parts."""
    parts = [part for figure in figures for part in (figure, *figure.members().values())]
    return list(dict.fromkeys(maker(FIGURES.module(part.kind)) for part in parts))


@dataclass(frozen=True)
class Jobs:
    """Jobs of a whole run."""

    plan: Plan
    config: Path
    """The config folder."""

    def with_earlier(self, plan: Plan) -> Jobs:
        """Add the papers of a larger plan whose results an earlier run has made, for the report and the ledger."""
        every = Jobs(plan, self.config)
        papers = {key: paper for key, paper in plan.papers.items() if key in self.plan.papers or every.papers[key].is_made()}
        others = tuple(f"{key}: " for key in plan.papers if key not in papers)
        skipped = [sentence for sentence in plan.skipped if not sentence.startswith(others)]
        errata = tuple(erratum for erratum in plan.errata if any(place.paper in papers for place in erratum.places))
        return Jobs(replace(plan, papers=papers, skipped=skipped, errata=errata), self.config)

    @property
    def scale(self) -> str:
        """The scale of the run."""
        return self.plan.config.scale

    @property
    def results(self) -> str:
        """Folder of the results."""
        return f"results/{self.scale}"

    @property
    def figures(self) -> str:
        """Folder of the figures."""
        return f"figures/{self.scale}"

    @functools.cached_property
    def papers(self) -> dict[str, PaperJobs]:
        """Jobs of the papers, by key."""
        return {key: PaperJobs(self, paper) for key, paper in self.plan.papers.items()}

    @property
    def scenarios(self) -> list[ScenarioJobs]:
        """Jobs of every scenario."""
        return [scenario for paper in self.papers.values() for scenario in paper.scenarios.values()]

    @functools.cached_property
    def own_programs(self) -> dict[str, Path]:
        """The user's own Stan programs, by name."""
        return self.plan.own_programs()

    @functools.cached_property
    def tried(self) -> dict[tuple[str, str], ScenarioJobs]:
        """First scenario that uses a family in Python, or a mechanism with one: the contract is tried there."""
        fitted = [jobs for jobs in self.scenarios if jobs.scenario.family and jobs.scenario.program not in self.own_programs]
        return {part: jobs for jobs in reversed(fitted) for part in jobs.parts}

    @property
    def confidential(self) -> dict[str, list[str]]:
        """Unpublished data files, by paper; papers without any are left out."""
        return {key: paper.confidential for key, paper in self.papers.items() if paper.confidential}

    @property
    def private(self) -> list[str]:
        """Folders of papers that only their owner may read."""
        return [folder for paper in self.papers.values() for folder in paper.private]

    @property
    def ledgers(self) -> list[str]:
        """Files of the verdicts on the claims of each paper."""
        return [path for paper in self.papers.values() for path in paper.ledger]

    @property
    def replicates(self) -> list[str]:
        """The collected replicates of every scenario."""
        return [scenario.replicates for scenario in self.scenarios]

    def scenario(self, paper: str, id: str) -> ScenarioJobs:
        """Return the jobs of a scenario.

        Raises:
            SystemExit: the paper has no such scenario; the message lists those that it has.
        """
        scenarios = self.papers[paper].scenarios
        if id not in scenarios:
            self._refuse(f"no scenario {id} at scale {self.scale} of {paper}; there are: {', '.join(scenarios)}", paper)
        return scenarios[id]

    def unmade_pattern(self) -> str:
        """Return a pattern of figures and tables that the run does not make: of other scales, papers or numbers."""
        scale = re.escape(self.scale)
        scales = join_names(other for other in self.plan.config.scales if other != self.scale)
        papers, made = join_names(self.papers), join_names(self._displays())
        figures = rf"figures/{scale}/(?!(?:{made})\.)[^/]+/fig\w+\.(?:{'|'.join([*FIGURE_KINDS, FOR_PRINT])})"
        tables = rf"results/{scale}/(?!(?:{made})\.)[^/]+/table\d+\.(?:{'|'.join(TABLE_KINDS)})"
        rows = rf"results/{scale}/(?!(?:{papers})/)[A-Za-z][\w.]*/[^/]+/\w+\.csv"
        return rf"(?:figures|results)/(?:{scales})/[^/]+/.+|{figures}|{tables}|{rows}"

    def _displays(self) -> list[str]:
        """Return paths of the figures and tables that the run makes, relative to the scale's folder and without extensions."""
        figures = [f"{key}/{figure_file(number)}" for key, paper in self.plan.papers.items() for number in paper.figures]
        return [*figures, *(f"{key}/table{number}" for key, paper in self.plan.papers.items() for number in paper.tables)]

    def refuse_path(self, path: str) -> NoReturn:
        """End the run with a message about a path that matches :meth:`unmade_pattern`.

        Raises:
            SystemExit: always.
        """
        _, scale, paper, file = path.split("/", 3)
        if scale != self.scale:
            refuse(f"{path} is not part of this run, which is at scale {self.scale}; to make it, add --config scale={scale}")
        if paper not in self.papers:
            refuse(f"no paper {paper} in this run; there are: {', '.join(self.papers)}")
        name = f"{paper}/{file.partition('.')[0]}"
        kind, start = ("figure", f"{paper}/fig") if name.startswith(f"{paper}/fig") else ("table", f"{paper}/table")
        made = ", ".join(display for display in self._displays() if display.startswith(start))
        self._refuse(f"no {kind} {name} to make; there are: {made}", paper)

    def _refuse(self, sentence: str, paper: str) -> NoReturn:
        """End the run with a message that also lists the skipped parts of a paper."""
        refuse("; ".join([sentence, *(skipped for skipped in self.plan.skipped if skipped.startswith(f"{paper}:"))]))

    def pdf_pattern(self) -> str:
        """Return a pattern of papers in paths, each followed by the file name of one of its figures."""
        figures = {key: join_names(map(figure_file, paper.figures)) for key, paper in self.plan.papers.items()}
        return "|".join(rf"{key}(?=/(?:{names})\.)" for key, names in figures.items()) or NOTHING

    def pdfs(self) -> list[str]:
        """Return the PDF of every figure."""
        figures = [name for name in self._displays() if not name.rpartition("/")[2].startswith("table")]
        return [f"{self.figures}/{name}.{FOR_PRINT}" for name in figures]

    def papers_pattern(self, study: bool) -> str:
        """Return a pattern of papers in paths that are followed by a scenario with a study, or by one without."""
        sign = "=" if study else "!"
        patterns = []
        for key, paper in self.plan.papers.items():
            studies = join_names(id for id, scenario in paper.scenarios.items() if scenario.study)
            patterns.append(f"{key}(?{sign}/(?:{studies})/)")
        return "|".join(patterns)

    def specifications(self, tables: Iterable[str]) -> list[str]:
        """Return the specifications of collected tables, given their paths."""
        places = [Path(path).parts[-3:-1] for path in tables]
        return [self.papers[paper].scenarios[id].specification for paper, id in places]

    def scenario_summaries(self) -> list[dict[str, Any]]:
        """Return the columns of every scenario in the table of all results, except its replicates."""
        return [dict(jobs.scenario.summary().plain()) for jobs in self.scenarios]

    def study_folder(self) -> str:
        """Return the study folder of a confidential file.

        Raises:
            SystemExit: the run has no such study, or several.
        """
        studies = map(Path, self.plan.config.studies)
        folders = [str(study.parent) for study in studies if study.with_name("schema.yaml").is_file()]
        if len(folders) != 1:
            refuse("validate and release need one study created by formalsynth inspect: --config study=studies/<name>/study.yaml")
        return folders[0]

    def report_inputs(self) -> list[str]:
        """Every figure, table and caption."""
        return [path for paper in self.papers.values() for path in (*paper.figures(), *paper.tables())]

    def report_config(self) -> list[str]:
        """Return the config files of the run; paths inside the working folder are relative, so it can be moved."""
        files = [self.config / "config.yaml", *(path for paper in self.plan.papers.values() for path in paper.files)]
        files += [self.config / ERRATA] if self.plan.errata else []
        here = Path.cwd()
        return [str(path.relative_to(here) if path.is_relative_to(here) else path) for path in dict.fromkeys(files)]

    def report_modules(self) -> list[str]:
        """Return the modules that describe metrics and guarantees."""
        return list(dict.fromkeys(register.module(name) for register in (METRICS, GUARANTEES, OWN_UTILITY) for name in register))

    def report_code(self) -> list[str]:
        """Return the source files that the report depends on."""
        return code_files("formalsynth.report.pages", *self.report_modules())

    def figure_sources(self) -> list[str]:
        """Return the source files of figures, for the report to show."""
        papers = self.plan.papers.values()
        drawn = figure_modules(paper.original(number) for paper in papers for number in paper.figures)
        return _files_of(["formalsynth.show.tidy", "formalsynth.show.draw", *drawn])

    def table_sources(self) -> list[str]:
        """Return the source files of tables, for the report to show."""
        tables = [table for paper in self.plan.papers.values() for table in paper.tables.values()]
        return _files_of(["formalsynth.show.tidy", *(maker(TABLES.module(table.kind)) for table in tables)])

    def claim_sources(self) -> list[str]:
        """Return the source files of verdicts, for the report to show."""
        tests = [TESTS.module(claim.test.kind) for paper in self.plan.papers.values() for claim in paper.claims]
        return _files_of(["formalsynth.ledger.judge", *tests])

    def announcement(self, duration: str, warnings: Sequence[str]) -> str:
        """Describe the run, and the parts that are skipped because data are missing.

        Args:
            duration: sentence about how long it will take; empty if unknown.
            warnings: sentences to add to the plan's warnings.
        """
        root = self.plan.config.root_seed
        lines = [f"formalsynth: scale {self.scale}, papers {', '.join(self.papers)}, root seed {root}"]
        lines += [duration] if duration else []
        lines += [f"WARNING: {sentence}" for sentence in (*self.plan.warnings, *warnings)]
        lines += [f"SKIPPED: {sentence}" for sentence in self.plan.skipped]
        return "\n".join([*lines, *self.confidentiality()])

    def confidentiality(self) -> list[str]:
        """Return a line for each paper whose results must stay with their owner."""
        return [
            f"CONFIDENTIAL: {key}: made from {' and '.join(files)}, which no one publishes: "
            f"only you can read {', '.join(self.papers[key].private)} and .snakemake; "
            "the target share makes the files that may be sent"
            for key, files in self.confidential.items()
        ]


def _files_of(modules: Iterable[str]) -> list[str]:
    return [str(source_of(module)) for module in dict.fromkeys(modules)]


def refuse(sentence: str) -> NoReturn:
    """End the run with a message.

    SystemExit, because Snakemake would add a traceback to an Exception raised in an input function.

    Raises:
        SystemExit: always.
    """
    raise SystemExit(sentence)
