"""Snakemake as it is started in the repository: with either Snakefile, and to unlock a folder."""

import pytest

pytestmark = pytest.mark.workflow


@pytest.mark.parametrize("snakefile", ["Snakefile", "workflow/Snakefile"])
def test_the_default_profile_is_found(snakefile, repository, snakemake):
    run = snakemake(repository, "-n", "--config", "papers=[zcdp]", snakefile=repository / snakefile)
    assert run.returncode == 0, run.stdout
    assert "Using workflow specific profile profiles/default" in run.stdout


def test_unlocking_needs_no_further_option(tmp_path, repository, snakemake):
    (tmp_path / "config").symlink_to(repository / "config")
    run = snakemake(tmp_path, "--unlock")
    assert run.returncode == 0, run.stdout
    assert "Unlocked" in run.stdout
