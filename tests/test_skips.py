"""Tests that are left out, and what CI makes of it."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("false", 0)])
def test_a_folder_without_a_test_that_ran_fails_in_ci(repository, tmp_path, ci, status):
    """With an empty search path, there is no Chromium."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("FORMALSYNTH_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", tmp_path / "base"]
    run = subprocess.run(
        [*command, "tests/workflow/test_report_in_browser.py"], cwd=repository, env=variables | {"PATH": "", "CI": ci},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert run.returncode == status, run.stdout
    assert "SKIPPED, which nobody expects in CI: every test of tests/workflow" in run.stdout
