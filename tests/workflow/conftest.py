"""One whole run of the workflow, for everything that looks at results or starts from what is made."""

import ast
import fcntl
import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager

import pytest
from runs import EVERY_KIND, STUDIES, command, environment, prepared, short, with_programs
from warm import WarmPython

PREPARED = """
import atexit, os, pkgutil, sys
import nbformat, scipy.special, smart_open, snakemake.cli, snakemake.linting, snakemake.report
import formalsynth_workflow.plan.jobs, formalsynth_workflow.plan.load, formalsynth_workflow.report.describe
import formalsynth_workflow.jobs.benchmarks
import formalsynth_workflow.jobs.begin, formalsynth_workflow.jobs.locked, formalsynth.stan.compile
from pathlib import Path
from formalsynth_workflow.plan.model import find_all
from multiprocessing import forkserver, resource_tracker
from formalsynth_workflow.jobs import forked
from formalsynth_workflow.jobs.sources import code_digest, sources
find_all()
snakemake.cli.get_argument_parser()  # imports its plugins
config = Path({config!r})
formalsynth_workflow.plan.load.read_plan(formalsynth_workflow.plan.load.load_yaml(config / "config.yaml"), config)
for package in (formalsynth, formalsynth_workflow):
    code_digest(sources(*(info.name for info in pkgutil.walk_packages(package.__path__, f"{{package.__name__}}."))))
forked.start_server(sys.executable, {imported!r})
servers, owner = (forkserver._forkserver, resource_tracker._resource_tracker), os.getpid()
atexit.register(lambda: os.getpid() == owner and [server._stop() for server in servers])
forked.start_server, forked.FEW_JOBS, forkserver._forkserver.ensure_running = lambda *_: None, 0, lambda: None
"""
"""Imports of Snakemake's commands, and the server of their jobs, which one process prepares for all of them."""
SNAKEMAKE = "import sys; from snakemake.cli import main; sys.argv[0] = 'snakemake'; sys.exit(main() or 0)"
FORGET = "import sys; [sys.modules.pop(name) for name in [*sys.modules] if name.startswith('formalsynth')]\n"
FORGET += "import multiprocessing.forkserver as s; vars(s._forkserver).clear(); s._forkserver.__init__()\n"
"""Code that forgets this copy of the package, and the server that has imported it."""
MODULE = FORGET + "import runpy; del sys.argv[0]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
"""Code that runs a module, whose name is the first argument."""


@pytest.fixture(scope="session")
def loaded(repository, tmp_path_factory):
    """Run code in a folder, by a Python that has loaded Snakemake and the package: exit code, and what it printed."""
    rules = (repository / "workflow" / "rules" / "serve.smk").read_text(encoding="utf-8")
    imported = ast.literal_eval(re.search(r"^IMPORTED = (.*?^\))", rules, re.MULTILINE | re.DOTALL)[1])
    warm = WarmPython(PREPARED.format(imported=imported, config=str(repository / "config")), environment())
    log = tmp_path_factory.mktemp("loaded") / "output"

    def run(code, arguments, folder=None, **changes):
        with log.open("wb") as output:
            status = warm.start(code, arguments, environment(**changes), output, output, folder).wait()
        return subprocess.CompletedProcess([code, *arguments], status, log.read_text(encoding="utf-8", errors="replace"))

    yield run
    warm.end()


@pytest.fixture(scope="session")
def module(loaded):
    """Run a module in a folder, as ``python -m`` does."""
    return lambda folder, *arguments: loaded(MODULE, arguments, folder)


@pytest.fixture(scope="session")
def snakemake(repository, loaded):
    """Run the repository's workflow in a folder, by a Snakemake that has been loaded unless a change is about what it loads."""

    def run(folder, *arguments, snakefile=repository / "Snakefile", **changes):
        given = command(folder, *arguments, snakefile=snakefile)
        if "PYTHONPATH" in changes:
            return subprocess.run(
                given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment(**changes)
            )
        code = SNAKEMAKE if snakefile == repository / "Snakefile" else FORGET + SNAKEMAKE
        return loaded(code, given[3:], **changes)

    return run


@pytest.fixture(scope="session")
def completed(snakemake):
    """Run the workflow in a folder to its end: what it printed."""

    def completed(folder, *arguments, **changes):
        run = snakemake(folder, *arguments, **changes)
        assert run.returncode == 0, run.stdout[-5000:]
        return run.stdout

    return completed


def copied(folder, to):
    """Copy a folder of many small files, with their times, in less time than Python takes."""
    subprocess.run(["cp", "-a", folder, to], check=True)
    return to


@contextmanager
def made_once(factory, name):
    """A folder that one worker makes while the others wait: the place of the whole, and a new folder to make it in, or None."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with open(shared / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        whole = shared / name
        folder = None if whole.exists() else factory.mktemp("made") / "work"
        yield whole, folder
        if folder:
            folder.rename(whole)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, repository, cmdstan, fatigue, completed):
    """A folder in which everything of two papers has been made, with every kind of job, from compiling to the report.

    Each worker has a copy, since some tests run Snakemake there.
    """
    with made_once(tmp_path_factory, "finished") as (whole, folder):
        if folder:
            prepared(folder, repository, cmdstan, EVERY_KIND)
            (folder / "temporary").mkdir()
            completed(folder, "--cores", 2, TMPDIR=str(folder / "temporary"))
    return copied(whole, tmp_path_factory.mktemp("finished") / "work")


JOBS = {
    "find_cmdstan", "compile", "simulate", "fit", "measure", "study", "collect", "collect_study", "plot", "judge",
    "join_verdicts", "write_report",
}  # fmt: skip


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, repository, cmdstan, completed):
    """Make a short run once, by its name: its folder, in which nothing is changed, and how many seconds it took."""

    def undisturbed(name, **settings):
        with made_once(tmp_path_factory, name) as (whole, folder):
            if folder:
                short(folder, repository, cmdstan, **settings)
                shutil.rmtree(folder / ".cmdstan")
                began = time.monotonic()
                said = completed(folder, "--cores", 2, CMDSTAN=str(cmdstan))
                assert [job for job in JOBS if f"(Rule: {job})" not in said] == []
                (folder / "seconds").write_text(str(time.monotonic() - began))
        return whole, float((whole / "seconds").read_text())

    return undisturbed


@pytest.fixture(scope="session")
def reference(undisturbed):
    """A short run, and how many seconds it took."""
    return undisturbed("reference")


@pytest.fixture(scope="session")
def with_real_data(undisturbed):
    """Folder of a short run with several studies and real data."""
    return undisturbed("with_real_data", studies=STUDIES, real=True)[0]


@pytest.fixture
def folder(tmp_path, repository, cmdstan, finished):
    """A folder where nothing but the program has been made."""
    return with_programs(prepared(tmp_path / "work", repository, cmdstan), finished)


@pytest.fixture
def again(tmp_path, finished):
    """A copy of the finished folder to change."""
    return copied(finished, tmp_path / "again")
