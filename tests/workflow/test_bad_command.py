"""Bad input as a user gives it: each command ends before any job, in one sentence and without a traceback.

A case for each way that input takes; what is refused is in ``tests/plan/refused.yaml`` and ``tests/plan/test_jobs.py``.
"""

import shutil

import pytest
from runs import FIGURES, RESULTS, SIMULATION, prepared

pytestmark = [pytest.mark.workflow]

RANGE, CLAIMS = "papers/range.yaml", "claims/range.yaml"
COMMANDS = [
    # what --config gives
    (["--config", "scale=huge"], "--config: scale: given 'huge'; allowed: paper, smoke"),
    (["--config", "bach_size=7"], "--config: bach_size: given 7; Extra inputs are not permitted; allowed keys: scale"),
    (["--config", "sampler={draws: 5}"], "--config: sampler.draws: given '5'; Input should be greater than or equal to 100"),
    # targets
    ([FIGURES / "fig99.png"], "no figure range/fig99 to make; there are: range/fig01, range/fig02"),
    ([RESULTS / "table99.csv"], "no table range/table99 to make; there are: range/table1, range/table2"),
    (["figures/paper/range/fig01.png"], "No rule to produce figures/paper/range/fig01.png"),
    (
        [RESULTS / "simulated_n200" / "replicates.csv"],
        "no scenario simulated_n200 at scale smoke of range; there are: simulation_n",
    ),
    ([SIMULATION / "seeds0000-0009" / "Weighted" / "fit.npz"], "no seeds 0000-0009 of range simulation_n200; allowed: a part of"),
    ([SIMULATION / "seeds0000-0000" / "Heavy" / "fit.npz"], "no synthesizer Heavy of range simulation_n200; there are: Unweigh"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, repository, cmdstan):
    """A working folder for runs that make nothing."""
    return prepared(tmp_path_factory.mktemp("bad"), repository, cmdstan)


def refused(folder, run, sentence):
    """The run ended before any job, and said why once."""
    assert run.returncode != 0, run.stdout
    assert "Traceback" not in run.stdout
    assert run.stdout.count(sentence) == 1, run.stdout
    assert "jobid" not in run.stdout
    assert "Job stats" not in run.stdout
    assert len(run.stdout.splitlines()) < 40, run.stdout
    for made in ("results", "figures", "benchmarks"):
        assert not (folder / made).exists()


@pytest.mark.parametrize(("arguments", "sentence"), COMMANDS, ids=[" ".join(map(str, case[0])) for case in COMMANDS])
def test_a_command_that_cannot_be_followed(folder, snakemake, arguments, sentence):
    targets = [] if arguments[0] == "--config" else ["--"]
    refused(folder, snakemake(folder, "--cores", 1, *targets, *arguments), sentence)


# a file below config/, a replacement in it, and the message
FILES = [
    ("config.yaml", ("scale:", "scale: ["), "config.yaml: cannot be read as YAML: "),
    ("config.yaml", None, "config/config.yaml but it is not present or accessible"),
    (
        RANGE,
        ("mechanism: range_averaged", "mechanism: range_avreaged"),
        "averaged.mechanism: given 'range_avreaged'; Input should be '",
    ),
    (RANGE, ("id: 1", "id: 1\nid: 1"), "range.yaml: cannot be read as YAML: the key 'id' is given twice"),
    (CLAIMS, ("value: [delta]", "value: [dleta]"), "estimate.value: given 'dleta'; allowed: n, replicate, seed, delta"),
]


@pytest.mark.parametrize(("file", "change", "sentence"), FILES)
def test_a_file_that_cannot_be_used(folder, repository, snakemake, file, change, sentence):
    path = folder / "config" / file
    kept = path.read_bytes()
    if file == RANGE:  # as it is shipped, with the comments and anchors of a file that people write
        shutil.copy(repository / "config" / file, path)
    if change:
        assert change[0] in path.read_text(encoding="utf-8")
        path.write_text(path.read_text(encoding="utf-8").replace(*change, 1), encoding="utf-8")
    else:
        path.unlink()
    try:
        refused(folder, snakemake(folder, "--dry-run", "--cores", 1), sentence)
    finally:
        path.write_bytes(kept)


def test_a_data_file_that_is_not_the_published_one(folder, snakemake, tmp_path):
    (tmp_path / "fatigue.csv").write_text("stress,cycle\n276,11500\n")
    run = snakemake(folder, "--cores", 1, "--config", f"data_folder={tmp_path}")
    refused(folder, run, "papers/range.yaml: scenarios.fatigue.file: ")
    assert "fatigue.csv: sha256 is " in run.stdout


def test_a_variable_that_names_no_folder(folder, snakemake, tmp_path):
    run = snakemake(folder, "--cores", 1, FORMALSYNTH_DATA=str(tmp_path / "nowhere"))
    refused(folder, run, "environment variable FORMALSYNTH_DATA: given '")
