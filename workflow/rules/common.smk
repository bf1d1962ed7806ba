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
    "glossary.yaml",
    "style.css",
    "search.js",
    "ledger.js",
)
TEMPLATES = [workflow.source_path(f"../report/{name}") for name in PAGES]
OWN_PROGRAMS = {name: str(path) for name, path in PLAN.own_programs.items()}
# A source path is not converted to text: the text would be the path of a temporary copy, which differs in every run.
PROGRAMS = {name: OWN_PROGRAMS.get(name) or workflow.source_path(f"../../stan/{name}.stan") for name in PLAN.programs()}


# Snakemake does not apply constraints to wildcards in pathvars.
BATCH = "<results>/{paper}/{scenario}/seeds{seeds}"


pathvars:
    results=JOBS.results,
    figures=JOBS.figures,
    logs=f"logs/{SCALE}",
    benchmarks=f"benchmarks/{SCALE}",
    programs="results/stan",


wildcard_constraints:
    paper=join_names(JOBS.papers),
    scenario=r"[A-Za-z][A-Za-z0-9_.]*",
    seeds=r"\d+-\d+",
    synthesizer=r"[A-Za-z][A-Za-z0-9_.-]*",
    figure=r"fig\d+[a-z]?",
    table_number=r"[1-9]\d*",
    program=join_names(PROGRAMS),


def scenario(wildcards):
    """Return the jobs of the scenario that the wildcards name."""
    return JOBS.scenario(wildcards.paper, wildcards.scenario)


def paper(wildcards):
    """Return the jobs of the paper that the wildcards name."""
    return JOBS.papers[wildcards.paper]


def memory(mb):
    """Return a resource function: megabytes of the first attempt, and more for each further one."""
    return lambda wildcards, attempt: mb * attempt


def minutes(first):
    """Return a resource function: minutes of the first attempt, and more for each further one."""
    return lambda wildcards, attempt: first * attempt


def planned(audited=False):
    """Return an input function that returns no files, but ends the run if the plan has no such seeds, synthesizer or audit."""

    def no_files(wildcards):
        scenario(wildcards).check(wildcards.seeds, wildcards.get("synthesizer"), audited)
        return []

    return no_files


def synthesizer(wildcards):
    """Return the synthesizer that the wildcards name."""
    return scenario(wildcards).scenario.synthesizers[wildcards.synthesizer]


def fits_of(wildcards, ids):
    """Return the fits of some synthesizers in the batch that the wildcards name."""
    return scenario(wildcards).files_of(ids, "fit.npz", [wildcards.seeds])


def sample_of(name):
    """Return an input function that lists each synthesizer's part of a table of the single sample, which is in the first batch."""

    def files(wildcards):
        jobs = scenario(wildcards)
        return jobs.files_of(jobs.scenario.synthesizers, f"{name}.csv", jobs.batches[:1])

    return files


def private_folders(wildcards):
    """Parameter function: return the folders of the paper that only their owner may read."""
    return paper(wildcards).private


def data_folder(wildcards, input):
    """Parameter function: return the folder of data files; not compared, because it has an argument called input."""
    return scenario(wildcards).scenario.data_folder


def origin_of(wildcards, input):
    """Parameter function: describe the run; Snakemake does not compare it, because it has an argument called input."""
    key = wildcards.paper
    listed = key in LISTED or "study" in OPTIONS
    return paper(wildcards).origin({**OPTIONS} if listed else {"papers": [key], **OPTIONS})


def code_of_job(wildcards, **given):
    """Parameter function: return the digest of a program's source files, which decides whether it is compiled again.

    The files are ancient inputs, whose times do not matter: editing a comment, or a checkout, reruns no job. Snakemake does not compare
    parameters whose function has an argument called input, so that argument is not named here.
    """
    return code_digest(given["input"].code)


def config_of_job(wildcards):
    """Parameter function: return the digest of the config files when the run was planned."""
    return CONFIG_DIGEST


CONFIG_DIGEST = code_digest([path for path in REPORTED.report_config() if Path(path).exists()])


def figure_job(wildcards):
    """Return the job of the figure that the wildcards name."""
    return paper(wildcards).figure_job(wildcards.figure)


def table_job(wildcards):
    """Return the job of the table that the wildcards name."""
    return paper(wildcards).table_job(int(wildcards.table_number))


def described(kind):
    """Return the description of a figure or table in Snakemake's own report."""

    def labels(wildcards):
        file = wildcards.figure if kind == "figure" else f"table{wildcards.table_number}"
        return {kind: paper(wildcards).number(file), "shows": paper(wildcards).subject(file)}

    return {
        "caption": "../report/shown.rst",
        "category": lambda wildcards: paper(wildcards).paper.config.title,
        "labels": labels,
    }


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
