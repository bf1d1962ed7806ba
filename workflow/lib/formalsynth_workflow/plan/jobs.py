"""Paths, inputs and parameters of the workflow's jobs, derived from the plan.

Rules ask :class:`Jobs` for everything that the plan determines. Everything that needs Snakemake itself, such as source paths and
marks for its own report, stays in ``workflow/rules``.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from formalsynth import __version__
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.statistics import STATISTICS
from formalsynth.core.utility import OWN_UTILITY
from formalsynth.core.words import GUARANTEES, METRICS
from formalsynth_workflow import REPOSITORY
from formalsynth_workflow.jobs.commit import commit
from formalsynth_workflow.jobs.inputs import Job
from formalsynth_workflow.jobs.sources import code_digest, source_of, sources
from formalsynth_workflow.ledger.tests.base import TESTS
from formalsynth_workflow.plan.audits import EXACT
from formalsynth_workflow.plan.errata import FILE as ERRATA
from formalsynth_workflow.plan.paper import Paper, Plan, figure_file
from formalsynth_workflow.plan.scenario import Scenario, batch_id
from formalsynth_workflow.show.display import DRAWINGS, FOR_PRINT, Display
from formalsynth_workflow.show.figure import FIGURES, Figure
from formalsynth_workflow.show.table import TABLES, Table

TABLE_KINDS = ("csv", "txt")
"""Extensions of a table's files: the table and its caption."""
FIGURE_KINDS = (*TABLE_KINDS, *DRAWINGS)
"""Extensions of the files made for every figure: its tidy table, its caption and its drawings."""
NOTHING = "(?!)"
"""Pattern that matches no path."""


SCRIPTS = REPOSITORY / "workflow" / "scripts"


@functools.cache
def code_of(script: str, *modules: str) -> str:
    """Return the digest of a rule's script and of all source files that it and modules, loaded by their names, depend on."""
    return code_digest(sources(str(SCRIPTS / f"{script}.py"), *modules))


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

    @property
    def record(self) -> str:
        """Path of the digest of everything that its collected tables were made from."""
        return f"{self.folder}/made_from.txt"

    @functools.cached_property
    def made_from(self) -> str:
        """Digest of the parameters of all jobs that its tables come from, which does not depend on the batches or on places."""
        every, sampler = batch_id(0, self.scenario.replicates - 1), self.run.plan.config.sampler
        if self.scenario.study:
            steps = [self.study_job(every)]
        else:
            audit = self.scenario.audit_job(every, sampler)
            steps = [self.simulate_job(every), self.fit_jobs, self.measure_jobs, self.collect_job()]
            steps += [with_code("audit", audit)] if audit else []
        return hashlib.sha256(json.dumps(_without_modules(steps), sort_keys=True).encode()).hexdigest()

    def is_made(self) -> bool:
        """Return True if its collected tables were made with these settings by this code."""
        path = Path(self.record)
        return path.is_file() and path.read_text(encoding="utf-8").strip() == self.made_from

    def files(self, name: str, batches: Iterable[str]) -> list[str]:
        """Return the path of the file with this name in some batches."""
        return [f"{self.folder}/seeds{batch}/{name}" for batch in batches]

    def files_of(self, ids: Iterable[str], name: str, batches: Iterable[str]) -> list[str]:
        """Return the path of the file with this name of some synthesizers in some batches."""
        ids = list(ids)
        return [f"{self.folder}/seeds{batch}/{id}/{name}" for batch in batches for id in ids]

    @functools.cached_property
    def batches(self) -> list[str]:
        """Ids of its batches."""
        return self.scenario.batches()

    @property
    def audited(self) -> list[str]:
        """Ids of the batches with audited data sets."""
        plan = self.scenario.audit
        return [batch for batch in self.batches if plan and int(batch.partition("-")[0]) < plan.replicates]

    def program(self, id: str) -> list[str]:
        """Return the path of the compiled Stan program that a synthesizer's fit needs; empty if it needs none."""
        name = self.scenario.program_of(id)
        return [f"results/stan/{name}"] if name else []

    def audit_program(self) -> list[str]:
        """Return the path of the compiled Stan program that the audit samples; empty if it samples none."""
        return [self.family_program()] if self.scenario.program not in EXACT else []

    def family_program(self) -> str:
        """Return the path of the compiled Stan program of its family."""
        return f"results/stan/{self.scenario.program}"

    def own_program(self) -> list[str]:
        """Return the path of its family's compiled program if it is the user's own, which also predicts; otherwise empty."""
        return [self.family_program()] if self.scenario.program in self.run.plan.own_programs else []

    def passed_checks(self) -> list[str]:
        """Return the files that mark its family, its mechanisms or its own Stan program as checked."""
        if own := self.own_program():
            return [f"{path}.checked" for path in own]
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
        return dict(self.scenario.simulate_job("0000-0000").plain())

    def trial_modules(self) -> list[str]:
        """Return the modules of a trial, of its records, its family and its mechanisms."""
        mechanisms = [MECHANISMS.module(name) for name, _ in self.tried_mechanisms()]
        family = FAMILIES.module(self.scenario.family)
        return list(dict.fromkeys([family, *mechanisms, *self.scenario.simulate_job("0000-0000").modules]))

    def simulate_job(self, batch: str) -> dict[str, Any]:
        """Return the parameters of the job that simulates a batch."""
        return with_code("simulate", self.scenario.simulate_job(batch))

    @functools.cached_property
    def fit_jobs(self) -> dict[str, dict[str, Any]]:
        """Parameters of the jobs that fit each synthesizer; batches share them, which saves memory."""
        sampler = self.run.plan.config.sampler
        return {id: with_code("fit", self.scenario.fit_job(id, sampler)) for id in self.scenario.synthesizers}

    @functools.cached_property
    def measure_jobs(self) -> dict[str, dict[str, Any]]:
        """Parameters of the jobs that measure each synthesizer."""
        return {id: with_code("measure", self.scenario.measure_job(id)) for id in self.scenario.synthesizers}

    def audit_job(self, batch: str) -> dict[str, Any]:
        """Return the parameters of the job that audits a batch."""
        job = self.scenario.audit_job(batch, self.run.plan.config.sampler)
        assert job is not None
        return with_code("audit", job)

    def collect_job(self) -> dict[str, Any]:
        """Return the parameters of the job that collects the tables of the scenario."""
        return with_code("collect", self.scenario.collect_job())

    def study_job(self, batch: str) -> dict[str, Any]:
        """Return the parameters of the job that runs a batch of a study."""
        return with_code("study", self.scenario.study_job(batch))

    def check(self, batch: str, id: str | None = None, audited: bool = False) -> None:
        """Check that the plan has the replicates of a batch and, if given, a synthesizer; batches of any size may be requested.

        Args:
            batch: the batch.
            id: id of the synthesizer.
            audited: True if one of its data sets has to be audited.

        Raises:
            SystemExit: it does not.
        """
        name, (first, last) = f"{self.paper} {self.scenario.id}", map(int, batch.split("-"))
        if not first <= last < self.scenario.replicates or batch != batch_id(first, last):
            whole = batch_id(0, self.scenario.replicates - 1)
            refuse(f"no seeds {batch} of {name}; allowed: a part of {whole}, such as {batch_id(0, 0)}")
        if id is not None and id not in self.scenario.synthesizers:
            refuse(f"no synthesizer {id} of {name}; there are: {', '.join(self.scenario.synthesizers)}")
        if audited and self.scenario.audit_job(batch, self.run.plan.config.sampler) is None:
            refuse(f"no audit in seeds {batch} of {name}; audited seeds: {', '.join(self.audited) or 'none'}")


PLACE = "data_folder"
"""Field of a job's input that changes no result; its files' checksums are another field."""


def with_code(step: str, job: Job) -> dict[str, Any]:
    """Return the parameters of a step's job: its input without places, and the digest of the code, which decide if it reruns."""
    given = {key: value for key, value in job.plain().items() if key != PLACE}
    return {"job": given, "code": code_of(step, *job.modules)}


def _without_modules(value: Any) -> Any:
    """Leave out the names of modules, which for own code are places; the code itself is in a digest."""
    if isinstance(value, dict):
        return {key: _without_modules(inner) for key, inner in value.items() if key != "modules"}
    return [_without_modules(inner) for inner in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class DisplayJob:
    """The job that makes one figure or one table."""

    inputs: list[str]
    """The collected tables that it reads."""
    modules: list[str]
    """Modules that draw the figure, or compute the table."""
    display: Display

    def code(self, script: str) -> str:
        """Return the digest of the source files that a script for it depends on."""
        return code_of(script, *self.modules)

    @property
    def plain(self) -> dict[str, Any]:
        """Contents of the figure or table, as plain data."""
        return dict(self.display.plain())


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

    def _collected(self, entry: Figure | Table) -> list[str]:
        """Return the collected tables that a figure or table reads."""
        scenarios = self.paper.of(entry.scenario, entry.size)
        return [f"{self.scenarios[scenario.id].folder}/{table}.csv" for table in entry.tables() for scenario in scenarios]

    def figure_job(self, file: str) -> DisplayJob:
        """Return the job that makes a figure, given its file name.

        Raises:
            SystemExit: the run does not make it.
        """
        self._check_made("figure", file, self._numbers)
        number = self._numbers[file]
        original = self.paper.original(number)
        return DisplayJob(self._collected(original), figure_modules([original]), self.paper.figure(number, self.run.scale))

    def table_job(self, number: int) -> DisplayJob:
        """Return the job that makes a table.

        Raises:
            SystemExit: the run does not make it.
        """
        self._check_made("table", f"table{number}", [f"table{number}" for number in self.paper.tables])
        table = self.paper.tables[number]
        return DisplayJob(self._collected(table), [TABLES.module(table.kind)], self.paper.table(number, self.run.scale))

    def _check_made(self, kind: str, file: str, files: Collection[str]) -> None:
        if file not in files:
            key = self.paper.key
            made = ", ".join(f"{key}/{other}" for other in files) or "none"
            self.run.refuse(f"no {kind} {key}/{file} to make; there are: {made}", key)

    @functools.cached_property
    def _numbers(self) -> dict[str, str]:
        """Numbers of the figures by file name."""
        return {figure_file(number): number for number in self.paper.figures}

    def number(self, file: str) -> str:
        """Return the printed number of a figure or table, given its file name."""
        return self._numbers.get(file) or file.removeprefix("table")

    def subject(self, file: str) -> str:
        """Return the subject of a figure or table, given its file name."""
        number = self.number(file)
        return (self.paper.original(number) if file in self._numbers else self.paper.tables[int(number)]).subject

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

    def judge_code(self) -> str:
        """Return the digest of the source files that its verdicts depend on."""
        return code_of("judge", *self.judge_modules())

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
        return made and all(scenario.is_made() for scenario in self.scenarios.values())


def figure_modules(figures: Iterable[Figure]) -> list[str]:
    """Return the modules that draw figures and their parts."""
    parts = [part for figure in figures for part in (figure, *figure.members().values())]
    return list(dict.fromkeys(FIGURES.module(part.kind) for part in parts))


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
    def tried(self) -> dict[tuple[str, str], ScenarioJobs]:
        """First scenario that uses a family in Python, or a mechanism with one: the contract is tried there."""
        fitted = [jobs for jobs in self.scenarios if jobs.scenario.family and jobs.scenario.program not in self.plan.own_programs]
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
            self.refuse(f"no scenario {id} at scale {self.scale} of {paper}; there are: {', '.join(scenarios)}", paper)
        return scenarios[id]

    def refuse(self, sentence: str, paper: str) -> NoReturn:
        """End the run with a message that also lists the skipped parts of a paper."""
        refuse("; ".join([sentence, *(skipped for skipped in self.plan.skipped if skipped.startswith(f"{paper}:"))]))

    def displays_pattern(self, confidential: bool) -> str:
        """Return a pattern of the papers that read unpublished data, or of all others."""
        return join_names(key for key, jobs in self.papers.items() if bool(jobs.confidential) == confidential)

    def pdfs(self) -> list[str]:
        """Return the PDF of every figure."""
        numbers = [(key, number) for key, paper in self.plan.papers.items() for number in paper.figures]
        return [f"{self.figures}/{key}/{figure_file(number)}.{FOR_PRINT}" for key, number in numbers]

    def papers_pattern(self, study: bool) -> str:
        """Return a pattern of papers in paths that are followed by a scenario with a study, or by one without."""
        sign = "=" if study else "!"
        patterns = []
        for key, paper in self.plan.papers.items():
            studies = join_names(id for id, scenario in paper.scenarios.items() if scenario.study)
            patterns.append(f"{key}(?{sign}/(?:{studies})/)")
        return "|".join(patterns)

    def scenario_summaries(self) -> list[dict[str, Any]]:
        """Return the columns of every scenario in the table of all results, except its replicates."""
        return [dict(jobs.scenario.summary().plain()) for jobs in self.scenarios]

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

    def report_code(self) -> str:
        """Return the digest of the source files that the report depends on."""
        return code_of("write_report", *self.report_modules())

    def figure_sources(self) -> list[str]:
        """Return the source files of figures, for the report to show."""
        papers = self.plan.papers.values()
        drawn = figure_modules(paper.original(number) for paper in papers for number in paper.figures)
        return _files_of(["formalsynth_workflow.show.tidy", "formalsynth_workflow.show.draw", *drawn])

    def table_sources(self) -> list[str]:
        """Return the source files of tables, for the report to show."""
        tables = [table for paper in self.plan.papers.values() for table in paper.tables.values()]
        return _files_of(["formalsynth_workflow.show.tidy", *(TABLES.module(table.kind) for table in tables)])

    def claim_sources(self) -> list[str]:
        """Return the source files of verdicts, for the report to show."""
        tests = [TESTS.module(claim.test.kind) for paper in self.plan.papers.values() for claim in paper.claims]
        return _files_of(["formalsynth_workflow.ledger.judge", *tests])

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
