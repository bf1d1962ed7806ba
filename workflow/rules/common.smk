# The plan, and functions of rules that need Snakemake; all others are in plan/jobs.py.
import functools
import shlex
import sys
from pathlib import Path

# Snakemake takes the path of its Python into shell commands as it is, spaces and all (snakemake#2645).
if Path(sys.executable).exists():
    sys.executable = shlex.quote(sys.executable)

# A study is run alone unless the command line, or the workflow that this is a module of, names papers, too.
NAMED = workflow.config_settings.overwrite_config if not workflow.modifier.skip_configfile else config
CHOSEN = config if "papers" in NAMED or not config.get("study") else {**config, "papers": []}


try:
    PLAN = read_plan(CHOSEN, CONFIG, workflow.config_settings.overwrite_config)
except ConfigError as error:
    raise WorkflowError(blame_command_line(str(error), CONFIG / "config.yaml", workflow.config_settings.config or ()))
except ModuleNotFoundError as error:
    raise WorkflowError(MISSING.format(error.name))

JOBS = Jobs(PLAN, CONFIG)
SCALE = JOBS.scale

STAN_FUNCTIONS = ("clipped_sum", "negative_binomial_sum", "normal_table", "small_counts")
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
OWN_PROGRAMS = {name: str(path) for name, path in JOBS.own_programs.items()}
# A source path stays as it is: as text it would be that of a temporary copy, which is another one in every run.
PROGRAMS = {name: OWN_PROGRAMS.get(name) or workflow.source_path(f"../../stan/{name}.stan") for name in PLAN.programs()}


pathvars:
    results=JOBS.results,
    figures=JOBS.figures,
    logs=f"logs/{SCALE}",
    benchmarks=f"benchmarks/{SCALE}",
    programs="results/stan",
    batch=f"{JOBS.results}/{{paper}}/{{scenario}}/batches/{{batch}}",


wildcard_constraints:
    paper=join_names(JOBS.papers),
    scenario=r"[A-Za-z][A-Za-z0-9_.]*",
    batch=r"\d\d\d\d",
    table_number=r"\d+",
    program=join_names(PROGRAMS),


def scenario(wildcards):
    """Jobs of the scenario that the wildcards name."""
    return JOBS.scenario(wildcards.paper, wildcards.scenario)


def paper(wildcards):
    """Jobs of the paper that the wildcards name."""
    return JOBS.papers[wildcards.paper]


LEAST = Needs(1000, 20)


def learned(step, first):
    """Resource functions, of memory and of time: what earlier jobs of a step needed, for the first attempt.

    It is the same for all jobs of a step, since an array of Slurm asks for what its first job needs. An estimate that is too low
    would stop every run without further attempts: ``first`` is asked for where there are none, where nothing is known, and, growing,
    for further attempts. Benchmarks are read once, and only then: each job on a node reads these rules, too.
    """
    earlier = functools.cache(lambda: needs(Path("benchmarks", SCALE, step), LEAST) or first)

    def amount(part):
        def of_attempt(wildcards, attempt):
            retries = workflow.execution_settings and workflow.execution_settings.retries
            return (earlier() if retries and attempt == 1 else first)[part] * attempt

        return of_attempt

    return {"mem_mb": amount(0), "runtime": amount(1)}


def every_batch(name):
    """Input function: the file of this name of every batch."""

    def files(wildcards):
        return scenario(wildcards).batch_files(name)

    return files


def is_batch(study):
    """Input function without files: it refuses a batch that the plan does not have."""

    def no_files(wildcards):
        scenario(wildcards).check_batch(wildcards.batch, study)
        return []

    return no_files


def private_folders(wildcards):
    """Parameter function: the folders of the paper that only their owner may read."""
    return paper(wildcards).private


def specifications_of_tables(wildcards, input):
    """Parameter function: the specifications of collected tables."""
    return JOBS.specifications(input.tables)


def code_of_job(wildcards, **given):
    """Parameter function: the digest of the job's source files, which decides whether it runs again.

    The files are ancient inputs, whose times decide nothing: a comment, or a checkout, runs no job. Snakemake compares no parameter whose function has an argument called input, so that argument is not named here.
    """
    return code_digest(given["input"].code)


def config_of_job(wildcards):
    """Parameter function: the digest of the config files when the run was planned."""
    return CONFIG_DIGEST


CONFIG_DIGEST = code_digest([path for path in JOBS.report_config() if Path(path).exists()])


def marked(paths, kind, jobs, labels):
    """Files, those of a kind marked for Snakemake's own report unless only their owner may see them."""
    mark = {"caption": "../report/shown.rst", "category": jobs.paper.config.title, "labels": labels}
    return [report(path, **mark) if path.endswith(kind) and not jobs.confidential else path for path in paths]


def marked_figure(jobs, number):
    """The files of a figure."""
    labels = {"figure": number, "shows": jobs.paper.original(number).subject}
    return marked(jobs.figure_files(number), ".svg", jobs, labels)


def marked_table(jobs, number):
    """The files of a table."""
    labels = {"table": str(number), "shows": jobs.paper.tables[number].subject}
    return marked(jobs.table_files(number), ".csv", jobs, labels)


def benchmarks_of_jobs():
    """Benchmarks of the jobs of this run, as far as they are known."""
    jobs = workflow.dag.needrun_jobs(exclude_finished=False) if workflow.dag else ()
    return [Path(str(job.benchmark)) for job in jobs if job.benchmark]


def duration():
    """Time that the jobs of this run will take, from earlier runs; empty where these do not exist, and on a cluster.

    A cluster decides itself how many jobs run at a time; Snakemake has no number of cores there, and asking for it is an error.
    """
    cores = workflow.resource_settings.cores
    return about(benchmarks_of_jobs(), cores) if cores else ""


def report_dry_run():
    """Report at the end of a dry run how long the run will take."""
    if workflow.dag and workflow.dryrun and (sentence := duration()):
        print(sentence, file=sys.stderr)


def announcement():
    """Lines about what this run does and leaves out."""
    versions = [f"{difference}: `make setup` puts that right" for difference in other_versions(Path(sys.prefix))]
    return JOBS.announcement(duration(), versions)


# Nothing would make them again: Snakemake compares times.
try:
    check_filled([*JOBS.report_inputs(), *(path for jobs in JOBS.papers.values() for path in jobs.targets())])
    if Path(JOBS.results, "report", "index.html").exists():  # otherwise the report is written anyway
        check_folder(Path(JOBS.results, "report"))
except OSError as error:
    raise WorkflowError(str(error))
