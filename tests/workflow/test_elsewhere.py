"""The workflow where it was not set up: as a module of another one, from a copy that is not installed, without its packages."""

import shutil

import pytest

MODULE = """
configfile: "my.yaml"

module formalsynth:
    snakefile: "{workflow}"
    config: config
    prefix: "synthetic"

use rule * from formalsynth as formalsynth_*

rule mine:
    default_target: True
    input: "synthetic/figures/smoke/zcdp/fig02.png"
"""


@pytest.mark.workflow
def test_a_module_with_a_prefix_makes_figures_below_it(tmp_path, repository, snakemake):
    """Its papers are those that come with the workflow, and its results stand below the prefix alone."""
    (tmp_path / "Snakefile").write_text(MODULE.format(workflow=repository / "workflow" / "Snakefile"))
    config = (repository / "config" / "config.yaml").read_text(encoding="utf-8").replace("\nscale: paper", "\nscale: smoke")
    (tmp_path / "my.yaml").write_text(config, encoding="utf-8")
    run = snakemake(tmp_path, "--cores", 2, snakefile=tmp_path / "Snakefile")
    assert run.returncode == 0, run.stdout[-3000:]
    assert (tmp_path / "synthetic" / "figures" / "smoke" / "zcdp" / "fig02.png").stat().st_size > 1000
    assert not {"results", "figures", "logs", "benchmarks", "config"} & {path.name for path in tmp_path.iterdir()}


@pytest.fixture
def copy(tmp_path, repository):
    """A copy of the workflow that nobody installed."""
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("workflow", "config", "stan", "profiles", "resources"):
        shutil.copytree(repository / name, tmp_path / "copy" / name, ignore=skipped)
    shutil.copy(repository / "Snakefile", tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.workflow
def test_the_package_of_the_workflow_folder_is_used(copy, snakemake):
    """Not the one that happens to be installed."""
    with open(copy / "workflow" / "lib" / "formalsynth" / "plan" / "load.py", "a") as file:
        file.write('\nraise ModuleNotFoundError("from the copy", name="absent")\n')
    run = snakemake(copy, "--dry-run", "--cores", 1, snakefile=copy / "Snakefile")
    assert "The Python package absent is missing" in run.stdout


@pytest.mark.workflow
@pytest.mark.parametrize("arguments", [["--dry-run", "--cores", "1"], ["--lint"]])
def test_a_package_that_is_missing_is_named_in_one_sentence(tmp_path, repository, snakemake, arguments):
    """As where Snakemake alone is installed."""
    (tmp_path / "scipy.py").write_text("raise ModuleNotFoundError(\"No module named 'scipy'\", name='scipy')\n")
    run = snakemake(repository, *arguments, PYTHONPATH=str(tmp_path))
    assert run.returncode
    assert "The Python package scipy is missing. Run `make setup`" in run.stdout
    assert "Traceback" not in run.stdout
