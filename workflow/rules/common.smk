# Everything that rules look up: the plan, paths of batches, and which code a step depends on.
import functools
import re
import shlex
import sys
from pathlib import Path

# Snakemake takes the path of its Python into shell commands as it is, spaces and all (snakemake#2645).
if Path(sys.executable).exists():
    sys.executable = shlex.quote(sys.executable)

try:
    PLAN = read_plan(config, CONFIG)
except ConfigError as error:
    raise WorkflowError(str(error))
except ModuleNotFoundError as error:
    raise WorkflowError(MISSING.format(error.name))

FUNCTION_FILES = ("portable/clipped_sum.stan", "native/clipped_sum.stan", "native/clipped_sum.hpp")
# Looked up while the rules are read: a source path is relative to the file that is being included.
FUNCTIONS = [workflow.source_path(f"../../stan/{name}") for name in FUNCTION_FILES]
PAGES = ("base.html", "parts.html", "index.html", "claims.html", "paper.html", "source.html", "style.css", "ledger.js")
TEMPLATES = [workflow.source_path(f"../report/{name}") for name in PAGES]
PROGRAMS = {name: workflow.source_path(f"../../stan/{name}.stan") for name in PLAN.programs()}
SCALE = PLAN.config.scale
ROOT = PLAN.config.root_seed
JUDGED = PLAN.config.scales[SCALE].judged
THRESHOLDS = PLAN.config.verdicts.model_dump()
CLAIMING = [key for key, paper in PLAN.papers.items() if paper.claims]


pathvars:
    results=f"results/{SCALE}",
    figures=f"figures/{SCALE}",
    logs=f"logs/{SCALE}",
    benchmarks=f"benchmarks/{SCALE}",
    programs="results/stan",
    batch=f"results/{SCALE}/{{paper}}/{{scenario}}/batches/{{batch}}",


wildcard_constraints:
    paper="|".join(PLAN.papers),
    scenario=r"[A-Za-z][A-Za-z0-9_.]*",
    batch=r"\d\d\d\d",
    synthesizer=r"[A-Za-z][A-Za-z0-9_.-]*",
    table_number=r"\d+",
    program="|".join(PROGRAMS),


def refuse(sentence, paper=""):
    """End the run with a sentence, and with what of a paper is skipped.

    To an Exception from an input function Snakemake would add its traceback.
    """
    skipped = [one for one in PLAN.skipped if paper and one.startswith(f"{paper}:")]
    raise SystemExit("; ".join([sentence, *skipped]))


def refuse_scale(wildcards):
    """Input function of what belongs to a run at another scale."""
    path = f"{wildcards.folder}/{wildcards.other}/{wildcards.rest}"
    refuse(f"{path} is not of this run, which is at scale {SCALE}; for it add --config scale={wildcards.other}")


def refuse_paper(wildcards):
    """Input function of what belongs to a paper that is not run."""
    refuse(f"no paper {wildcards.paper} in this run; there are: {', '.join(PLAN.papers)}")


def scenario_of(wildcards):
    """The scenario that the wildcards name; a path that names none belongs to no rule's plan."""
    try:
        return PLAN.papers[wildcards.paper].scenarios[wildcards.scenario]
    except KeyError:
        known = ", ".join(PLAN.papers[wildcards.paper].scenarios)
        sentence = f"no scenario {wildcards.scenario} at scale {SCALE} of {wildcards.paper}; there are: {known}"
        refuse(sentence, wildcards.paper)


def growing(first):
    """Resource function: what the first attempt asks for, and as much more with each that a cluster makes after a failure.

    Memory counts the Snakemake processes that a job on a node has above it, about half a gigabyte.
    """

    def amount(wildcards, attempt):
        return first * attempt

    return amount


def simulate_job(wildcards):
    """What a job is told that simulates a batch."""
    return dict(scenario_of(wildcards).simulate_job(wildcards.batch).plain())


def fit_job(wildcards):
    """What a job is told that fits a synthesizer."""
    return dict(scenario_of(wildcards).fit_job(wildcards.synthesizer, PLAN.config.sampler).plain())


def measure_job(wildcards):
    """What a job is told that measures the synthesizers of a fit."""
    return dict(scenario_of(wildcards).measure_job(wildcards.synthesizer).plain())


def study_job(wildcards):
    """What a job is told that runs a batch of a study."""
    return dict(scenario_of(wildcards).study_job(wildcards.batch).plain())


def collect_job(wildcards):
    """What a job is told that collects batches."""
    return dict(scenario_of(wildcards).collect_job().plain())


@functools.cache
def specifications(paper, scenario):
    """What each file of a scenario is to be made from."""
    return Specifications(PLAN.papers[paper].scenarios[scenario], PLAN.config.sampler)


def made_from_fit(wildcards):
    """What the input of a fit is to be made from."""
    return specifications(wildcards.paper, scenario_of(wildcards).id).of_fit(wildcards.synthesizer, wildcards.batch)


def made_from_measure(wildcards):
    """What the input of a measurement is to be made from."""
    return specifications(wildcards.paper, scenario_of(wildcards).id).of_measure(wildcards.synthesizer, wildcards.batch)


def made_from_replicates(wildcards):
    """What the batches of a scenario are to be made from."""
    return specifications(wildcards.paper, scenario_of(wildcards).id).of_replicates()


def made_from_sample(wildcards):
    """What the batch of the single sample is to be made from."""
    return specifications(wildcards.paper, scenario_of(wildcards).id).of_sample()


def made_from_details(wildcards):
    """What the details of a study are to be made from."""
    return specifications(wildcards.paper, scenario_of(wildcards).id).of_details()


def made_from_tables(wildcards, input):
    """What collected tables are to be made from."""
    named = [Path(path).parts[-3:] for path in input.tables]
    return [specifications(paper, scenario).table(Path(name).stem) for paper, scenario, name in named]


def made_from_all(wildcards):
    """What the replicates of every scenario are to be made from."""
    return [specifications(key, id).table("replicates") for key, paper in PLAN.papers.items() for id in paper.scenarios]


def data_batches(wildcards):
    """The confidential data of every batch; a study keeps none."""
    return [] if scenario_of(wildcards).study else every_batch("data.npz")(wildcards)


def program_source(wildcards):
    """The source of a Stan program."""
    return PROGRAMS[wildcards.program]


def program_functions(wildcards):
    """The function files that the programs include; all of them, since there are few."""
    return FUNCTIONS


def program(wildcards):
    """The compiled Stan program of a scenario's family."""
    return f"results/stan/{scenario_of(wildcards).program}"


def scenario_folder(wildcards):
    """The folder of a scenario's results."""
    return f"results/{SCALE}/{wildcards.paper}/{wildcards.scenario}"


def parents(kind, members):
    """Input function: the files of one kind of the fits that a fit, or all that share it, build on."""

    def files(wildcards):
        folder = f"{scenario_folder(wildcards)}/batches/{wildcards.batch}"
        return [f"{folder}/{one}.{kind}" for one in scenario_of(wildcards).ancestors(wildcards.synthesizer, members)]

    return files


def every_fit(kind, first=False):
    """Input function: the files of one kind of every fit, in every batch or in the one with the single sample."""

    def files(wildcards):
        scenario = scenario_of(wildcards)
        folder = f"{scenario_folder(wildcards)}/batches"
        chosen = scenario.batches()[:1] if first else scenario.batches()
        return [f"{folder}/{batch}/{fit}.{kind}" for batch in chosen for fit in scenario.fits()]

    return files


def every_batch(name):
    """Input function: one file of every batch."""

    def files(wildcards):
        folder = f"{scenario_folder(wildcards)}/batches"
        return [f"{folder}/{batch}/{name}" for batch in scenario_of(wildcards).batches()]

    return files


TOLD = {
    "simulate": simulate_job,
    "fit": fit_job,
    "measure": measure_job,
    "study": study_job,
    "collect_sample": collect_job,
}
"""What the jobs are told that import the modules that their scenario names."""


def code(step, study=None):
    """Input function: the package's source files that a job of a step depends on, those that its scenario names included.

    It is the first input of every job, and finds out whether the job's path is one of the plan: its scenario, with a study
    where the job is for those that have one or for those that have none, its batch and its fit.
    """

    def checked(wildcards):
        scenario = scenario_of(wildcards)
        if study not in (None, scenario.study is not None):
            refuse(f"{wildcards.paper} {scenario.id} has no such file, because it is run by {'no' if study else 'a'} study")
        for key, known in (("batch", scenario.batches()), ("synthesizer", scenario.fits())):
            if wildcards.get(key, known[0]) not in known:
                shown = known if len(known) < 20 else [known[0], "...", known[-1]]
                refuse(f"no {key} {wildcards[key]} of {wildcards.paper} {scenario.id}; there are: {', '.join(shown)}")
        # Snakemake asks a rule that a ruleorder will pass over, too.
        told = step in TOLD and (scenario.study is not None) == (step == "study")
        named = TOLD[step](wildcards)["modules"] if told else ()
        return code_of(f"formalsynth.steps.{step.split('_')[0]}", *named)

    return checked


def code_of(*modules):
    """The package's source files that modules depend on."""
    return [str(path) for path in sources(*modules)]


def figure_files(key, number):
    """Every file of a figure: its tidy table, its drawings and its caption."""
    return [f"figures/{SCALE}/{key}/{figure_file(number)}.{kind}" for kind in ("csv", "png", "svg", "txt")]


def marked_figure(key, number):
    """The files of a figure, its drawing marked for Snakemake's own report."""
    labels = {"figure": number, "shows": PLAN.papers[key].original(number).subject}
    mark = {"caption": "../report/shown.rst", "category": PLAN.papers[key].config.title, "labels": labels}
    return [report(path, **mark) if path.endswith(".svg") else path for path in figure_files(key, number)]


def figure_tables(key, number):
    """The collected tables that a figure reads, one for each scenario."""
    paper = PLAN.papers[key]
    figure = paper.original(number)
    scenarios = paper.of(figure.scenario, figure.size)
    return [f"results/{SCALE}/{key}/{scenario.id}/{table}.csv" for table in figure.tables() for scenario in scenarios]


def figure_modules(key, numbers):
    """The modules that define the kinds of figures."""
    kinds = dict.fromkeys(PLAN.papers[key].original(number).kind for number in numbers)
    return [FIGURES.module(kind) for kind in kinds]


def figure_code(key, numbers):
    """The package's source files that drawing figures depends on."""
    return code_of("formalsynth.show.tidy", "formalsynth.show.draw", "formalsynth.show.captions", *figure_modules(key, numbers))


def drawn_together(key):
    """Figures of a paper that one job draws, those that read the same tables: to load what draws takes longer than to draw."""
    groups = {}
    for number in PLAN.papers[key].figures:
        groups.setdefault(tuple(figure_tables(key, number)), []).append(number)
    return [(key, numbers, list(tables)) for tables, numbers in groups.items()]


def made_figures():
    """A pattern of the figures that this run makes, without their endings."""
    return "|".join(f"{key}/{figure_file(number)}" for key, paper in PLAN.papers.items() for number in paper.figures)


def refuse_figure(wildcards):
    """Input function of what is not made: says what there is, and what is skipped."""
    paper = wildcards.missing.split("/")[0]
    made = [one for one in made_figures().split("|") if one.startswith(f"{paper}/")]
    refuse(f"no figure {wildcards.missing} to make; there are: {', '.join(made)}", paper)


def figures_told(key, numbers):
    """What the job is told that draws figures: each with its files' name and that of the figure that it repeats."""
    paper = PLAN.papers[key]
    again = {number: getattr(paper.figures[number], "same_as", "") for number in numbers}
    return [
        {
            "display": dict(paper.figure(number, SCALE).plain()),
            "file": figure_file(number),
            "same_as": figure_file(again[number]) if again[number] else "",
        }
        for number in numbers
    ]


def table_of(wildcards):
    """The table that the wildcards name."""
    paper, number = PLAN.papers[wildcards.paper], int(wildcards.table_number)
    if number not in paper.tables:
        refuse(f"no table {number} of {wildcards.paper} to make; there are: {', '.join(map(str, paper.tables))}", paper.key)
    return paper.tables[number]


def table_modules(wildcards):
    """The module that defines the kind of a table."""
    return [TABLES.module(table_of(wildcards).kind)]


def table_code(wildcards):
    """The package's source files that a table depends on."""
    return code_of("formalsynth.show.tidy", "formalsynth.show.captions", *table_modules(wildcards))


def paper_title(wildcards):
    """The category of a paper in Snakemake's own report."""
    return PLAN.papers[wildcards.paper].config.title


def table_labels(wildcards):
    """What a table is called in Snakemake's own report."""
    return {"table": wildcards.table_number, "shows": table_of(wildcards).subject}


def table_told(wildcards):
    """What the job is told that writes a table."""
    return dict(PLAN.papers[wildcards.paper].table(int(wildcards.table_number), SCALE).plain())


def table_inputs(wildcards):
    """The collected tables that a table reads."""
    table = table_of(wildcards)
    folder, scenarios = f"results/{SCALE}/{wildcards.paper}", PLAN.papers[wildcards.paper].of(table.scenario)
    return [f"{folder}/{scenario.id}/{name}.csv" for name in table.tables() for scenario in scenarios]


def claims_told(wildcards):
    """What the job is told that judges the claims of a paper."""
    return [dict(claim.plain()) for claim in PLAN.papers[wildcards.paper].claims]


def judge_modules(wildcards):
    """The modules that define the tests of a paper's claims, and the statistics that they speak of."""
    claims = PLAN.papers[wildcards.paper].claims
    tests = [TESTS.module(claim.test.kind) for claim in claims]
    return list(dict.fromkeys([*tests, *(STATISTICS.module(claim.estimate.statistic) for claim in claims)]))


def judge_code(wildcards):
    """The package's source files that the verdicts of a paper depend on."""
    return code_of("formalsynth.ledger.judge", *judge_modules(wildcards))


def claim_inputs(wildcards):
    """The collected tables that a paper's claims speak of."""
    folder = f"results/{SCALE}/{wildcards.paper}"
    claims = PLAN.papers[wildcards.paper].claims
    tables = [f"{folder}/{scenario.id}/{claim.estimate.table}.csv" for claim in claims for scenario in claim.scenarios]
    return list(dict.fromkeys(tables))


def targets(key):
    """Everything that a paper has to show."""
    paper = PLAN.papers[key]
    figures = [path for number in paper.figures for path in figure_files(key, number)]
    tables = [f"results/{SCALE}/{key}/table{number}.csv" for number in paper.tables]
    rows = [f"results/{SCALE}/{key}/{scenario}/replicates.csv" for scenario in paper.scenarios]
    claims = [f"results/{SCALE}/{key}/claims.csv"] if paper.claims else []
    return figures + tables + rows + claims


def report_shown():
    """Every figure, table and caption."""
    papers = PLAN.papers.items()
    figures = [path for key, paper in papers for number in paper.figures for path in figure_files(key, number)]
    return figures + [
        f"results/{SCALE}/{key}/table{n}.{kind}" for key, one in papers for n in one.tables for kind in ("csv", "txt")
    ]


def report_config():
    """The config files behind the run."""
    claims = [CONFIG / "claims" / f"{key}.yaml" for key in CLAIMING]
    return [str(path) for path in (CONFIG / "config.yaml", *(CONFIG / "papers" / f"{key}.yaml" for key in PLAN.papers), *claims)]


def report_modules():
    """The modules with words for what the report shows."""
    return list(dict.fromkeys(register.module(name) for register in (METRICS, GUARANTEES) for name in register))


def report_code():
    """The package's source files that the report depends on."""
    return code_of("formalsynth.report.pages", *report_modules())


def report_makers(kind):
    """The source files of the package that made the figures, the tables or the verdicts, for the report to show."""
    papers = PLAN.papers.values()
    if kind == "figures":
        modules = ["formalsynth.show.tidy", "formalsynth.show.draw"]
        modules += [FIGURES.module(paper.original(number).kind) for paper in papers for number in paper.figures]
    elif kind == "tables":
        modules = ["formalsynth.show.tidy", *(TABLES.module(table.kind) for paper in papers for table in paper.tables.values())]
    else:
        modules = ["formalsynth.ledger.judge", *(TESTS.module(claim.test.kind) for paper in papers for claim in paper.claims)]
    return [str(PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")) for module in dict.fromkeys(modules)]


def announcement():
    """What this run does, and what it leaves out because data are absent."""
    papers = ", ".join(PLAN.papers)
    lines = [f"formalsynth: scale {SCALE}, papers {papers}, root seed {ROOT}"]
    return "\n".join(lines + [f"WARNING: {one}" for one in PLAN.warnings] + [f"SKIPPED: {one}" for one in PLAN.skipped])
