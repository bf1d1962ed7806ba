"""Tests that are left out: which tests made-up data leave out, and what CI makes of it."""

import os
import subprocess
import sys

import pytest

PUBLISHED = "test_the_nineteen_rows_have_the_printed_statistics"


def without_data(repository, folder, *arguments, **environment):
    """Run tests of the fatigue data in a process that finds no published file."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("FORMALSYNTH_", "PYTEST_"))}
    variables |= {"FORMALSYNTH_TEST_DATA": str(folder / "absent"), **environment}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", folder / "base"]
    command += ["tests/data/test_fatigue.py", *arguments]
    return subprocess.run(command, cwd=repository, env=variables, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("workers", [0, 1])
def test_published_numbers_are_not_asked_of_made_up_data(repository, tmp_path, workers):
    if (repository / "resources" / "fatigue.csv").exists():
        pytest.skip("published fatigue.csv is in resources")
    run = without_data(repository, tmp_path, "-n", str(workers), "-v", "-k", f"{PUBLISHED} or design", CI="true")
    assert run.returncode == 0, run.stdout
    assert "1 passed, 1 skipped" in run.stdout


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("false", 0)])
def test_a_folder_without_a_test_that_ran_fails_in_ci(repository, tmp_path, ci, status):
    run = without_data(repository, tmp_path, "-k", PUBLISHED, CI=ci)
    assert run.returncode == status, run.stdout
    assert "SKIPPED, which nobody expects in CI: every test of tests/data" in run.stdout
