"""The workflow where it was not set up: as a module of another one, from a copy that is not installed, without its packages."""

import shutil

import pytest


@pytest.fixture
def example(tmp_path, repository):
    """The example of a module, in a folder of its own."""
    folder = repository / "examples" / "module"
    text = (folder / "Snakefile").read_text(encoding="utf-8").replace("../../workflow", str(repository / "workflow"))
    (tmp_path / "Snakefile").write_text(text, encoding="utf-8")
    shutil.copy(folder / "my.yaml", tmp_path)
    return tmp_path


@pytest.mark.workflow
def test_the_example_of_a_module_makes_figures_below_its_prefix(example, completed):
    """Its papers are those that come with the workflow, and its results are below the prefix alone."""
    completed(example, "--cores", 2, snakefile=example / "Snakefile")
    assert (example / "synthetic" / "figures" / "smoke" / "zcdp" / "fig02.png").stat().st_size > 1000
    assert not {"results", "figures", "logs", "benchmarks", "config"} & {path.name for path in example.iterdir()}


@pytest.mark.workflow
def test_a_wrong_key_of_a_module_is_reported_with_its_file(example, snakemake):
    with open(example / "my.yaml", "a", encoding="utf-8") as file:
        file.write("batch_size: none\n")
    run = snakemake(example, "--dry-run", "--cores", 2, snakefile=example / "Snakefile")
    assert run.returncode == 1
    assert "my.yaml: batch_size: given 'none'" in run.stdout


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
    with open(copy / "workflow" / "lib" / "formalsynth_workflow" / "plan" / "load.py", "a") as file:
        file.write('\nraise ModuleNotFoundError("from the copy", name="absent")\n')
    run = snakemake(copy, "--dry-run", "--cores", 1, snakefile=copy / "Snakefile")
    assert "The Python package absent is missing" in run.stdout


@pytest.mark.workflow
def test_a_package_that_is_missing_is_named_in_one_sentence(tmp_path, repository, snakemake):
    """As where Snakemake alone is installed."""
    (tmp_path / "scipy.py").write_text("raise ModuleNotFoundError(\"No module named 'scipy'\", name='scipy')\n")
    run = snakemake(repository, "--dry-run", "--cores", 1, PYTHONPATH=str(tmp_path))
    assert run.returncode
    assert "The Python package scipy is missing. Run `make setup`" in run.stdout
    assert "Traceback" not in run.stdout
