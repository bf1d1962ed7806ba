# The plan, and the functions of rules that need Snakemake; all other functions are in plan/jobs.py.
import contextlib
import functools
import shlex
import sys
from pathlib import Path

from snakemake.utils import update_config

# Snakemake inserts the path of its Python into shell commands unquoted, including spaces (snakemake#2645).
if Path(sys.executable).exists():
    sys.executable = shlex.quote(sys.executable)

# Only the study is run, unless the command line, or the workflow that includes this one as a module, also names papers.
NAMED = workflow.config_settings.overwrite_config if not workflow.modifier.skip_configfile else config
# As a module, the workflow reads no config file: keys that its config leaves out are those of the config that comes with it.
MODULE = workflow.modifier.skip_configfile
GIVEN = load_yaml(HOME / "config" / "config.yaml") if MODULE else {}
update_config(GIVEN, config)
CHOSEN = GIVEN if "papers" in NAMED or not config.get("study") else {**GIVEN, "papers": []}
CONFIG_FILE = Path(workflow.configfiles[0]) if MODULE and workflow.configfiles else CONFIG / "config.yaml"


def close_logs():
    """Deny other users access to Snakemake's folder: messages and metadata of a run on a confidential file show facts about it."""
    try:
        private_folder(Path(".snakemake"))
    except OSError as error:
        reason = f"{Path('.snakemake').absolute()} cannot be closed to other users ({error.strerror})"
        raise WorkflowError(f"{reason}, and its logs can show confidential data: run in a folder of your own (--directory)")


if config.get("study"):
    close_logs()  # errors in its file are counted while the plan is read

try:
    PLAN = read_plan(CHOSEN, CONFIG, workflow.config_settings.overwrite_config, CONFIG_FILE)
except ConfigError as error:
    raise WorkflowError(blame_command_line(str(error), CONFIG_FILE, workflow.config_settings.config or ()))
except ModuleNotFoundError as error:
    raise WorkflowError(MISSING.format(error.name))

JOBS = Jobs(PLAN, CONFIG)
# Papers that a run makes without settings on the command line.
LISTED = load_yaml(CONFIG / "config.yaml")["papers"] if (CONFIG / "config.yaml").exists() else []
# Settings on the command line that change results: those of batches and data folders do not.
UNCHANGING = ("batch_size", "batches_max", "data_folder", "papers")
OPTIONS = {key: value for key, value in workflow.config_settings.overwrite_config.items() if key not in UNCHANGING}
SCALE = JOBS.scale
# The report and the ledger keep the papers that the command line does not name, if an earlier run has made them.
REPORTED = JOBS
if "papers" in workflow.config_settings.overwrite_config and not workflow.modifier.skip_configfile and not config.get("study"):
    LISTED = load_yaml(CONFIG / "config.yaml").get("papers", [])
    EARLIER = [key for key in LISTED if key in JOBS.papers or Path(JOBS.results, key).is_dir()]
    NEW = [key for key in JOBS.papers if key not in LISTED]
    if len(EARLIER) + len(NEW) > len(JOBS.papers):
        with contextlib.suppress(ConfigError):
            every = {**config, "papers": EARLIER + NEW}
            REPORTED = JOBS.with_earlier(read_plan(every, CONFIG, workflow.config_settings.overwrite_config))
if JOBS.confidential:
    close_logs()

STAN_FUNCTIONS = ("clipped_sum", "negative_binomial_sum", "noisy_counts", "outcome_table")
FUNCTION_FILES = [
    part.format(name) for name in STAN_FUNCTIONS for part in ("portable/{}.stan", "native/{}.stan", "native/{}.hpp")
]
# Resolved while the rules are read: a source path is relative to the file being included.
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
# A source path is not converted to text: the text would be the path of a temporary copy, which differs in every run.
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
    """Return the jobs of the scenario that the wildcards name."""
    return JOBS.scenario(wildcards.paper, wildcards.scenario)


def paper(wildcards):
    """Return the jobs of the paper that the wildcards name."""
    return JOBS.papers[wildcards.paper]


LEAST = Needs(1000, 20)


def learned(step, first):
    """Return resource functions for memory and time: the first attempt requests what earlier jobs of the step needed.

    The request is the same for all jobs of a step, since a Slurm array requests what its first job needs. Without further attempts,
    an estimate that is too low would stop every run. Therefore ``first`` is requested if there are no retries or no benchmarks and,
    multiplied, for further attempts. Benchmarks are read once, and only when needed: each job on a node reads these rules too.
    """
    earlier = functools.cache(lambda: needs(Path("benchmarks", SCALE, step), LEAST) or first)

    def amount(part):
        def of_attempt(wildcards, attempt):
            retries = workflow.execution_settings and workflow.execution_settings.retries
            return (earlier() if retries and attempt == 1 else first)[part] * attempt

        return of_attempt

    return {"mem_mb": amount(0), "runtime": amount(1)}


def every_batch(name):
    """Return an input function that lists the file with this name in every batch."""

    def files(wildcards):
        return scenario(wildcards).batch_files(name)

    return files


def is_batch(study):
    """Return an input function that returns no files, but raises an error for a batch that is not in the plan."""

    def no_files(wildcards):
        scenario(wildcards).check_batch(wildcards.batch, study)
        return []

    return no_files


def private_folders(wildcards):
    """Parameter function: return the folders of the paper that only their owner may read."""
    return paper(wildcards).private


def origin_of(jobs):
    """Return a parameter function that describes the run; it is not compared, because it has an argument called input."""
    listed = jobs.paper.key in LISTED or "study" in OPTIONS
    options = {**OPTIONS} if listed else {"papers": [jobs.paper.key], **OPTIONS}
    return lambda wildcards, input: jobs.origin(options)


def specifications_of_tables(wildcards, input):
    """Parameter function: return the specifications of collected tables."""
    return JOBS.specifications(input.tables)


def code_of_job(wildcards, **given):
    """Parameter function: return the digest of the job's source files, which decides whether it reruns.

    The files are ancient inputs, whose times do not matter: editing a comment, or a checkout, reruns no job. Snakemake does not compare
    parameters whose function has an argument called input, so that argument is not named here.
    """
    return code_digest(given["input"].code)


def config_of_job(wildcards):
    """Parameter function: return the digest of the config files when the run was planned."""
    return CONFIG_DIGEST


CONFIG_DIGEST = code_digest([path for path in REPORTED.report_config() if Path(path).exists()])


def marked(paths, kind, jobs, labels):
    """Return files, with those of a kind marked for Snakemake's own report unless only their owner may see them."""
    mark = {"caption": "../report/shown.rst", "category": jobs.paper.config.title, "labels": labels}
    return [report(path, **mark) if path.endswith(kind) and not jobs.confidential else path for path in paths]


def marked_figure(jobs, number):
    """Return the files of a figure."""
    labels = {"figure": number, "shows": jobs.paper.original(number).subject}
    return marked(jobs.figure_files(number), ".svg", jobs, labels)


def marked_table(jobs, number):
    """Return the files of a table."""
    labels = {"table": str(number), "shows": jobs.paper.tables[number].subject}
    return marked(jobs.table_files(number), ".csv", jobs, labels)


def benchmarks_of_jobs():
    """Return the benchmark files of this run's jobs, as far as they are known."""
    jobs = workflow.dag.needrun_jobs(exclude_finished=False) if workflow.dag else ()
    return [Path(str(job.benchmark)) for job in jobs if job.benchmark]


def duration():
    """Estimate the time of this run's jobs from earlier runs; empty if there are none, and on a cluster.

    A cluster itself decides how many jobs run at a time; Snakemake knows no number of cores there, and asking for it is an error.
    """
    cores = workflow.resource_settings.cores
    return about(benchmarks_of_jobs(), cores) if cores else ""


def report_dry_run():
    """At the end of a dry run, report how long the run will take."""
    if workflow.dag and workflow.dryrun and (sentence := duration()):
        print(sentence, file=sys.stderr)


def announcement():
    """Return lines that describe this run and the parts it skips."""
    versions = [f"{difference}: run `make setup` to correct this" for difference in other_versions(Path(sys.prefix))]
    return JOBS.announcement(duration(), versions)


def check_scheduler():
    """On Slurm, try the status command before anything is submitted, and go on trying it."""
    name = getattr(workflow.executor_settings, "status_command", None)
    if name and not workflow.local_exec:
        try:
            check_status(name)
        except NoStatusError as error:
            raise WorkflowError(str(error))
        watch_status(name)


def last_lines():
    """Return the last lines of a run: failed replicates, what could not be made, and what must stay with its owner."""
    made = {str(path) for job in workflow.dag.jobs for path in job.output}
    return [*closing(describe(PLAN), [path for path in JOBS.replicates if path in made]), *JOBS.confidentiality()]


# Check for empty files: Snakemake would not make them again, because it only compares times.
try:
    check_filled([*JOBS.report_inputs(), *(path for jobs in JOBS.papers.values() for path in jobs.targets())])
    if Path(JOBS.results, "report", "index.html").exists():  # otherwise the report is written anyway
        check_folder(Path(JOBS.results, "report"))
except OSError as error:
    raise WorkflowError(str(error))
