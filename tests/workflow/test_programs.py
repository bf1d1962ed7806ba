"""Stan programs: their content decides about a new compilation, and their times do not."""

import os
import shutil

import pytest
from runs import prepared

pytestmark = [pytest.mark.workflow, pytest.mark.stan]

PROGRAM = "results/stan/linear_regression"


def test_an_edited_program_is_compiled_again_and_a_touched_one_is_not(tmp_path, repository, cmdstan, snakemake):
    for name in ("workflow", "stan", "profiles", "resources"):
        shutil.copytree(repository / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(repository / "Snakefile", tmp_path)
    source = tmp_path / "stan" / "linear_regression.stan"
    folder = prepared(tmp_path / "work", repository, cmdstan)

    def run(*arguments):
        done = snakemake(folder, "--cores", 1, *arguments, "--", PROGRAM, snakefile=tmp_path / "Snakefile")
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    assert "(Rule: compile)" in run()
    made = (folder / PROGRAM).stat().st_mtime
    for path in source.parent.rglob("*.*"):
        os.utime(path, (made + 1000, made + 1000))
    assert "Nothing to be done" in run("--dry-run")
    text = source.read_text(encoding="utf-8")
    source.write_text(text + "// a comment\n", encoding="utf-8")
    assert "Nothing to be done" in run("--dry-run")
    source.write_text(text.replace("square(sigma)", "sigma * sigma"), encoding="utf-8")
    assert source.read_text(encoding="utf-8") != text
    os.utime(source, (made - 1000, made - 1000))  # as if it had been edited while it was compiled
    assert "compile" in run("--dry-run")
