"""One whole run of the workflow, for everything that looks at its results."""

import subprocess

import pytest
from runs import command, environment, prepared


@pytest.fixture(scope="session")
def snakemake(repository):
    """Run the repository's workflow in a folder."""

    def run(folder, *arguments, snakefile=repository / "Snakefile", **changes):
        return subprocess.run(
            command(folder, *arguments, snakefile=snakefile),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment(**changes), timeout=900,
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def finished(tmp_path_factory, repository, cmdstan, fatigue, snakemake):
    """A folder in which everything has been made, from compiling to figures."""
    folder = prepared(tmp_path_factory.mktemp("finished"), repository, cmdstan)
    run = snakemake(folder, "--cores", 2)
    assert run.returncode == 0, run.stdout[-5000:]
    return folder
