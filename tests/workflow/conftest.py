"""One whole run of the workflow, for everything that looks at results or starts from what is made."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from runs import EVERY_KIND, command, environment, prepared, with_programs
from warm import WarmSnakemake


@pytest.fixture(scope="session")
def snakemake(repository, tmp_path_factory):
    """Run the repository's workflow in a folder, by a Snakemake that has been loaded unless a change is about what it loads."""
    warm = WarmSnakemake(environment())
    log = tmp_path_factory.mktemp("snakemake") / "output"

    def run(folder, *arguments, snakefile=repository / "Snakefile", **changes):
        given = command(folder, *arguments, snakefile=snakefile)
        if "PYTHONPATH" in changes:
            return subprocess.run(
                given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment(**changes)
            )
        status = warm.run(given[3:], log, environment(**changes), copied=snakefile != repository / "Snakefile")
        return subprocess.CompletedProcess(given, status, log.read_text(encoding="utf-8", errors="replace"))

    yield run
    warm.end()


@pytest.fixture(scope="session")
def finished(tmp_path_factory, repository, cmdstan, fatigue, snakemake):
    """A folder in which everything of two papers has been made, with every kind of job, from compiling to the report.

    One worker makes it and each has a copy, since some tests run Snakemake there.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with open(shared / "finished.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        whole = shared / "finished"
        if not whole.exists():
            folder = prepared(tmp_path_factory.mktemp("made"), repository, cmdstan, EVERY_KIND)
            (folder / "temporary").mkdir()
            run = snakemake(folder, "--cores", 2, TMPDIR=str(folder / "temporary"))
            assert run.returncode == 0, run.stdout[-5000:]
            folder.rename(whole)
    return Path(shutil.copytree(whole, tmp_path_factory.mktemp("finished") / "work"))


@pytest.fixture
def folder(tmp_path, repository, cmdstan, finished):
    """A folder where nothing but the program has been made."""
    return with_programs(prepared(tmp_path / "work", repository, cmdstan), finished)


@pytest.fixture
def again(tmp_path, finished):
    """A copy of the finished folder to change."""
    return Path(shutil.copytree(finished, tmp_path / "again"))
