"""Snakemake as it is started in the repository: with either Snakefile, and to unlock a folder."""

import pytest

pytestmark = pytest.mark.workflow


@pytest.mark.parametrize("snakefile", ["Snakefile", "workflow/Snakefile"])
def test_the_default_profile_is_found(snakefile, repository, module):
    given = ("--cores", "1", "--snakefile", snakefile, "--config", "papers=[zcdp]", "scale=smoke")
    run = module(repository, "snakemake", "-n", *given)
    assert run.returncode == 0, run.stdout
    assert "Using workflow specific profile profiles/default" in run.stdout


def test_unlocking_needs_no_further_option(tmp_path, repository, module):
    for name in ("Snakefile", "workflow", "config", "stan", "profiles", "resources"):
        (tmp_path / name).symlink_to(repository / name)
    run = module(tmp_path, "snakemake", "--unlock")
    assert run.returncode == 0, run.stdout
    assert "Unlocked" in run.stdout
