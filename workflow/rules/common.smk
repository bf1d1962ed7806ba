# Everything that rules look up: the plan, paths of batches, and which code a step depends on.
import functools
import re
import shlex
import sys
from pathlib import Path

# Snakemake takes the path of its Python into shell commands as it is, spaces and all (snakemake#2645).
if Path(sys.executable).exists():
    sys.executable = shlex.quote(sys.executable)

# A study is run alone unless the command line, or the workflow that this is a module of, names papers beside it.
NAMED = workflow.config_settings.overwrite_config if not workflow.modifier.skip_configfile else config
CHOSEN = config if "papers" in NAMED or not config.get("study") else {**config, "papers": []}


def as_given(problems):
    """What is wrong with the config, each thing by where it was given: in the file, or behind --config."""
    file, given = CONFIG / "config.yaml", workflow.config_settings.config
    keys = "|".join(re.escape(str(key)) for key in given or ())
    return re.sub(rf"^{re.escape(str(file))}: (?=(?:{keys})\b)", "--config: ", problems, flags=re.MULTILINE) if keys else problems


try:
    PLAN = read_plan(CHOSEN, CONFIG, workflow.config_settings.overwrite_config)
except ConfigError as error:
    raise WorkflowError(as_given(str(error)))
except ModuleNotFoundError as error:
    raise WorkflowError(MISSING.format(error.name))

STAN_FUNCTIONS = ("clipped_sum", "negative_binomial_sum")
FUNCTION_FILES = [
    part.format(name) for name in STAN_FUNCTIONS for part in ("portable/{}.stan", "native/{}.stan", "native/{}.hpp")
]
# Looked up while the rules are read: a source path is relative to the file that is being included.
FUNCTIONS = [workflow.source_path(f"../../stan/{name}") for name in FUNCTION_FILES]
PAGES = (
    "base.html",
    "parts.html",
    "index.html",
    "claims.html",
    "errata.html",
    "paper.html",
    "source.html",
    "style.css",
    "search.js",
    "ledger.js",
)
TEMPLATES = [workflow.source_path(f"../report/{name}") for name in PAGES]
OWN_PROGRAMS = {name: str(path) for name, path in PLAN.own_programs().items()}
OWN_FAMILIES = PLAN.own_families()
PROGRAMS = {name: OWN_PROGRAMS.get(name) or workflow.source_path(f"../../stan/{name}.stan") for name in PLAN.programs()}
SCALE = PLAN.config.scale
ROOT = PLAN.config.root_seed
JUDGED = PLAN.config.scales[SCALE].judged
THRESHOLDS = PLAN.config.verdicts.model_dump()
CLAIMING = [key for key, paper in PLAN.papers.items() if paper.claims]
CONFIDENTIAL = {
    key: list(dict.fromkeys(file for scenario in paper.scenarios.values() for file in scenario.confidential))
    for key, paper in PLAN.papers.items()
}
CONFIDENTIAL = {key: files for key, files in CONFIDENTIAL.items() if files}


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


def private_of(key):
    """The folders of a paper that only their owner may read: all of them where a data file of it is not published."""
    return [f"results/{SCALE}/{key}", f"figures/{SCALE}/{key}"] if key in CONFIDENTIAL else []


def private_folders(wildcards):
    """The folders of a job's paper that only their owner may read."""
    return private_of(wildcards.paper)


def batch_job(wildcards):
    """What a job is told that runs a batch of fits."""
    return dict(scenario_of(wildcards).batch_job(wildcards.batch, PLAN.config.sampler).plain())


def study_job(wildcards):
    """What a job is told that runs a batch of a study."""
    return dict(scenario_of(wildcards).study_job(wildcards.batch).plain())


@functools.cache
def specifications(paper, scenario):
    """What the tables of a scenario are to be made from."""
    return Specifications(PLAN.papers[paper].scenarios[scenario], PLAN.config.sampler)


def made_from_batches(wildcards):
    """What the tables of each batch are to be made from."""
    return specifications(wildcards.paper, scenario_of(wildcards).id).batches()


def made_from_collected(wildcards):
    """What the collected tables of a scenario are to be made from."""
    return specifications(wildcards.paper, scenario_of(wildcards).id).table()


def made_from_tables(wildcards, input):
    """What collected tables are to be made from."""
    return [specifications(*Path(path).parts[-3:-1]).table() for path in input.tables]


def made_from_all(wildcards):
    """What the replicates of every scenario are to be made from."""
    return [specifications(key, id).table() for key, paper in PLAN.papers.items() for id in paper.scenarios]


def program_code(wildcards):
    """The source of a Stan program, then the function files that programs include; all of them, since there are few.

    Their content decides about a new compilation, as a parameter of the job: a checkout changes times alone.
    """
    return ancient([PROGRAMS[wildcards.program], *FUNCTIONS])


def program(wildcards):
    """The compiled Stan program of a scenario's family."""
    return f"results/stan/{scenario_of(wildcards).program}"


def checked_program(wildcards):
    """That the Stan program or the family of a scenario keeps to its contract, where it is the user's own."""
    scenario = scenario_of(wildcards)
    if scenario.family in OWN_FAMILIES:
        return f"results/{SCALE}/checks/{scenario.family}.checked"
    return f"results/stan/{scenario.program}.checked" if scenario.program in OWN_PROGRAMS else []


def family_trial(wildcards):
    """What the data of a user's own family are simulated from, for a trial: one data set of the first scenario that uses it."""
    job = OWN_FAMILIES[wildcards.own_family].simulate_job("0000")
    return job.model_copy(update={"replicates": job.replicates[:1]})


def family_modules(wildcards):
    """The modules of a user's own family, and of the data that it is tried on."""
    return [*OWN_FAMILIES[wildcards.own_family].tables_job().modules, *family_trial(wildcards).modules]


def custody_folder(wildcards):
    """The folder of the study of a confidential file."""
    folders = [str(Path(study).parent) for study in PLAN.config.studies if Path(study).with_name("schema.yaml").is_file()]
    if len(folders) != 1:
        refuse("validate and release need one study that formalsynth inspect began: --config study=studies/<name>/study.yaml")
    return folders[0]


def scenario_folder(wildcards):
    """The folder of a scenario's results."""
    return f"results/{SCALE}/{wildcards.paper}/{wildcards.scenario}"


def every_batch(name):
    """Input function: one file of every batch."""

    def files(wildcards):
        folder = f"{scenario_folder(wildcards)}/batches"
        return [f"{folder}/{batch}/{name}" for batch in scenario_of(wildcards).batches()]

    return files


def named_modules(step, wildcards):
    """The modules that a scenario names for the jobs of a step."""
    if step == "run":
        return scenario_of(wildcards).batch_job(wildcards.batch, PLAN.config.sampler).modules
    return scenario_of(wildcards).study_job(wildcards.batch).modules if step == "study" else ()


def code(step, study):
    """Input function: the package's source files that a job of a step depends on, those that its scenario names included.

    It is the first input of every job, and finds out whether the job's path is one of the plan: its scenario, with a study
    where the job is for those that have one or for those that have none, and its batch.
    """

    def checked(wildcards):
        scenario = scenario_of(wildcards)
        if study != (scenario.study is not None):
            refuse(f"{wildcards.paper} {scenario.id} has no such file, because it is run by {'no' if study else 'a'} study")
        known = scenario.batches()
        if wildcards.get("batch", known[0]) not in known:
            shown = known if len(known) < 20 else [known[0], "...", known[-1]]
            refuse(f"no batch {wildcards.batch} of {wildcards.paper} {scenario.id}; there are: {', '.join(shown)}")
        return code_of(f"formalsynth.steps.{step}", *named_modules(step, wildcards))

    return checked


def code_of_job(wildcards, **given):
    """Digest of a job's source files, as its parameter: times do not show that a file was edited while the job ran.

    Snakemake compares no parameter whose function has an argument called input, so that argument is not named here.
    """
    return code_digest(given["input"].code)


def code_of(*modules):
    """The package's source files that modules depend on."""
    return [str(path) for path in sources(*modules)]


def figure_files(key, number):
    """Every file of a figure: its tidy table, its drawings and its caption."""
    return [f"figures/{SCALE}/{key}/{figure_file(number)}.{kind}" for kind in ("csv", "pdf", "png", "svg", "txt")]


def marked_figure(key, number):
    """The files of a figure, its drawing marked for Snakemake's own report unless only its owner may see it."""
    if key in CONFIDENTIAL:
        return figure_files(key, number)
    labels = {"figure": number, "shows": PLAN.papers[key].original(number).subject}
    mark = {"caption": "../report/shown.rst", "category": PLAN.papers[key].config.title, "labels": labels}
    return [report(path, **mark) if path.endswith(".svg") else path for path in figure_files(key, number)]


def collected(key, entry, scenarios):
    """The collected tables that a figure or table reads."""
    return [f"results/{SCALE}/{key}/{scenario.id}/{name}.csv" for name in entry.tables() for scenario in scenarios]


def figure_tables(key, number):
    """The collected tables that a figure reads."""
    paper = PLAN.papers[key]
    figure = paper.original(number)
    return collected(key, figure, paper.of(figure.scenario, figure.size))


def table_tables(key, number):
    """The collected tables that a table reads."""
    table = PLAN.papers[key].tables[number]
    return collected(key, table, PLAN.papers[key].of(table.scenario, table.size))


def shown_together(key):
    """The figures and tables of a paper that one job makes, those of the same scenarios, as a list of both for each job.

    To load what draws takes longer than to draw; and each can be asked for without the scenarios of others.
    """
    paper, groups = PLAN.papers[key], {}
    for kind, tables in (("figures", figure_tables), ("tables", table_tables)):
        for number in getattr(paper, kind):
            scenarios = tuple(dict.fromkeys(Path(path).parent for path in tables(key, number)))
            groups.setdefault(scenarios, {"figures": [], "tables": []})[kind].append(number)
    return list(groups.values())


def shown_inputs(key, figures, tables):
    """The collected tables that figures and tables read."""
    paths = [figure_tables(key, number) for number in figures] + [table_tables(key, number) for number in tables]
    return list(dict.fromkeys(path for each in paths for path in each))


def made_of(figure):
    """A figure and the parts that it is made of."""
    return [figure, *figure.members().values()]


def shown_modules(key, figures, tables):
    """The modules that define the kinds of figures and tables."""
    paper = PLAN.papers[key]
    modules = [FIGURES.module(each.kind) for number in figures for each in made_of(paper.original(number))]
    return list(dict.fromkeys([*modules, *(TABLES.module(paper.tables[number].kind) for number in tables)]))


def shown_code(key, figures, tables):
    """The package's source files that figures and tables depend on."""
    drawing = ["formalsynth.show.draw"] if figures else []
    return code_of("formalsynth.show.tidy", "formalsynth.show.captions", *drawing, *shown_modules(key, figures, tables))


def made_figures():
    """A pattern of the figures that this run makes, without their endings."""
    return "|".join(f"{key}/{figure_file(number)}" for key, paper in PLAN.papers.items() for number in paper.figures)


def refuse_figure(wildcards):
    """Input function of what is not made: says what there is, and what is skipped."""
    paper = wildcards.missing.split("/")[0]
    made = [one for one in made_figures().split("|") if one.startswith(f"{paper}/")]
    refuse(f"no figure {wildcards.missing} to make; there are: {', '.join(made)}", paper)


def figures_told(key, figures, tables):
    """What the job is told of figures: each with its files' name, that of the figure that it repeats, and which input it reads."""
    paper, inputs = PLAN.papers[key], shown_inputs(key, figures, tables)
    again = {number: getattr(paper.figures[number], "same_as", "") for number in figures}
    return [
        {
            "display": dict(paper.figure(number, SCALE).plain()),
            "file": figure_file(number),
            "same_as": figure_file(again[number]) if again[number] else "",
            "reads": [inputs.index(path) for path in figure_tables(key, number)],
        }
        for number in figures
    ]


def tables_told(key, figures, tables):
    """What the job is told of tables: each with its files' name and which input it reads."""
    paper, inputs = PLAN.papers[key], shown_inputs(key, figures, tables)
    return [
        {
            "display": dict(paper.table(number, SCALE).plain()),
            "file": f"table{number}",
            "reads": [inputs.index(path) for path in table_tables(key, number)],
        }
        for number in tables
    ]


def table_files(key, number):
    """Both files of a table: itself and its caption."""
    return [f"results/{SCALE}/{key}/table{number}.{kind}" for kind in ("csv", "txt")]


def marked_table(key, number):
    """The files of a table, itself marked for Snakemake's own report unless only its owner may see it."""
    if key in CONFIDENTIAL:
        return table_files(key, number)
    paper = PLAN.papers[key]
    labels = {"table": str(number), "shows": paper.tables[number].subject}
    mark = {"caption": "../report/shown.rst", "category": paper.config.title, "labels": labels}
    return [report(path, **mark) if path.endswith(".csv") else path for path in table_files(key, number)]


def refuse_table(wildcards):
    """Input function of a table that is not made: says which there are, and what is skipped."""
    tables = PLAN.papers[wildcards.paper].tables
    refuse(
        f"no table {wildcards.table_number} of {wildcards.paper} to make; there are: {', '.join(map(str, tables))}",
        wildcards.paper,
    )


def refuse_kind(wildcards):
    """Input function of a collected table that only scenarios with a study have, or only those without."""
    scenario = scenario_of(wildcards)
    run_by = "a" if scenario.study else "no"
    refuse(f"{wildcards.paper} {scenario.id} has no {wildcards.table}.csv, because it is run by {run_by} study")


def of_scenarios(study):
    """A pattern of papers in paths: where a scenario with a study follows, or where none does."""
    ids = {
        key: "|".join(re.escape(id) for id, scenario in paper.scenarios.items() if scenario.study) or "(?!)"
        for key, paper in PLAN.papers.items()
    }
    return "|".join(f"{key}(?{'=' if study else '!'}/(?:{studies})/)" for key, studies in ids.items())


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


def results_told():
    """What the table of all results says of each scenario beside its replicates."""
    return [dict(scenario.told().plain()) for paper in PLAN.papers.values() for scenario in paper.scenarios.values()]


def targets(key):
    """Everything that a paper has to show."""
    paper = PLAN.papers[key]
    figures = [path for number in paper.figures for path in figure_files(key, number)]
    tables = [f"results/{SCALE}/{key}/table{number}.csv" for number in paper.tables]
    rows = [f"results/{SCALE}/{key}/{scenario}/replicates.csv" for scenario in paper.scenarios]
    claims = [f"results/{SCALE}/{key}/claims.csv"] if paper.claims else []
    return figures + tables + rows + claims


def report_shown():
    """Every figure, table and caption; the PDF of a figure is for print."""
    papers = PLAN.papers.items()
    figures = [path for key, paper in papers for number in paper.figures for path in figure_files(key, number)]
    return [path for path in figures if not path.endswith(".pdf")] + [
        f"results/{SCALE}/{key}/table{n}.{kind}" for key, one in papers for n in one.tables for kind in ("csv", "txt")
    ]


def report_config():
    """The config files behind the run, those in the working folder without its path: it may be moved."""
    files = [CONFIG / "config.yaml", *(path for paper in PLAN.papers.values() for path in paper.files)]
    files = dict.fromkeys([*files, *([CONFIG / "errata.yaml"] if PLAN.errata else [])])
    return [str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path) for path in files]


CONFIG_READ = code_digest([path for path in report_config() if Path(path).exists()])


def config_of_job(wildcards):
    """Parameter of a job: what the config files said when the run was planned."""
    return CONFIG_READ


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
        drawn = [each for paper in papers for number in paper.figures for each in made_of(paper.original(number))]
        modules += [FIGURES.module(each.kind) for each in drawn]
    elif kind == "tables":
        modules = ["formalsynth.show.tidy", *(TABLES.module(table.kind) for paper in papers for table in paper.tables.values())]
    else:
        modules = ["formalsynth.ledger.judge", *(TESTS.module(claim.test.kind) for paper in papers for claim in paper.claims)]
    return [str(source_of(module)) for module in dict.fromkeys(modules)]


def benchmarks_of_jobs(exclude_finished=True):
    """The benchmarks of the jobs of this run, as far as they are known: of those that are left, or of all."""
    jobs = workflow.dag.needrun_jobs(exclude_finished=exclude_finished) if workflow.dag else ()
    return [Path(str(job.benchmark)) for job in jobs if job.benchmark]


def how_long():
    """Time that the jobs of this run will take, from earlier runs; empty where these do not exist, and on a cluster.

    A cluster decides itself how many jobs run at a time; Snakemake has no number of cores there, and asking for it is an error.
    """
    cores = workflow.resource_settings.cores
    return about(benchmarks_of_jobs(exclude_finished=False), cores) if cores else ""


def tell_time_left():
    """Say every minute how much of this run is left."""
    tell_what_is_left(benchmarks_of_jobs, workflow.cores)


def tell_of_dry_run():
    """Say at the end of a dry run how long the run will take."""
    if workflow.dag and workflow.dryrun and (sentence := how_long()):
        print(sentence, file=sys.stderr)


def announcement():
    """What this run does, and what it leaves out because data are absent."""
    papers = ", ".join(PLAN.papers)
    lines = [f"formalsynth: scale {SCALE}, papers {papers}, root seed {ROOT}", *filter(None, [how_long()])]
    others = [f"{one}: `make setup` puts that right" for one in other_versions(Path(sys.prefix))]
    lines += [f"WARNING: {one}" for one in PLAN.warnings + others] + [f"SKIPPED: {one}" for one in PLAN.skipped]
    return "\n".join(lines + [f"CONFIDENTIAL: {one}" for one in confidential()])


def confidential():
    """What of this run has to stay with its owner, a sentence for each paper."""
    return [
        f"{key}: made from {' and '.join(files)}, which nobody publishes: {' and '.join(private_of(key))} can be read by you alone; "
        "what may be sent is made by the target share"
        for key, files in CONFIDENTIAL.items()
    ]


# Nothing would make them again: Snakemake compares times.
PAGES_MADE = Path("results", SCALE, "report").rglob("*.html")
try:
    check_filled([*report_shown(), *(path for key in PLAN.papers for path in targets(key)), *PAGES_MADE])
except OSError as error:
    raise WorkflowError(str(error))
