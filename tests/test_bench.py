"""Scripts of the folder bench that plan or run the workflow in a copy of the repository."""

import re
import subprocess
import sys

import pytest
from runs import environment


@pytest.mark.slow
@pytest.mark.workflow
def test_a_large_study_is_planned_in_a_copy(repository):
    run = subprocess.run(
        [sys.executable, repository / "bench" / "many.py", "20"], env=environment(), capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.findall(r"^\| 20 \| ([\w ]+) \| [1-9][\d,]* \|", run.stdout, re.MULTILINE) == ["1000", "as planned"]


def test_errors_of_a_release_are_those_of_the_guide(repository, monkeypatch):
    """Bands are twice as wide as 40 seeds of the noise need."""
    monkeypatch.syspath_prepend(repository / "bench")
    import release_errors

    rows = release_errors.rows_of(7, 4000)
    errors = release_errors.errors_of(rows, release_errors.noisy_sums(rows, 200.0, 1)).abs()
    assert errors["pairs"].median() < 0.03
    assert errors["pairs"].max() < 0.2
    assert errors[["zeros", "losses", "missing"]].max() < 0.03
    assert errors[["q90", "q99"]].max() < 0.2
    assert errors["slope"].max() < 5
    assert release_errors.errors_of(rows, [rows]).abs().max() == 0


def test_relations_of_values_that_only_some_rows_have_are_kept(repository, monkeypatch):
    """Columns that are not paired depend on whether somebody works; each once weakened the relations of others by up to 0.3."""
    monkeypatch.syspath_prepend(repository / "bench")
    import release_errors

    rows = release_errors.rows_of(7, 4000, "workers")
    errors = release_errors.errors_of(rows, release_errors.noisy_sums(rows, 200.0, 1)).abs()
    assert errors["pairs"].median() < 0.03
    assert errors["pairs"].max() < 0.2
