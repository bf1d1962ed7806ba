"""The profiles for clusters, with a real Slurm of one node: the same bytes as a run without it, and failures that are seen."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from one_node_slurm import missing, one_node_slurm
from runs import EVERY_KIND, SCALE, STUDIES, content, environment, prepared, results, short, with_programs

pytestmark = pytest.mark.workflow

STATUS = Path("profiles", "cluster-generic", "status.sh")
# Batches of a study and of fits that build on one another, and some of what is drawn from them.
TARGETS = ["zcdp", f"results/{SCALE}/range/simulation_n200/replicates.csv", f"figures/{SCALE}/range/fig01.svg"]
# squeue, because there is no accounting. Slurm's plugin waits ten seconds more each time that it asks and no job has ended.
OPTIONS = {
    "slurm": ["--slurm-no-account", "--slurm-status-command=squeue", "--slurm-init-seconds-before-status-checks=10"],
    "cluster-generic": ["--seconds-between-status-checks=1"],
}


@pytest.fixture(scope="module")
def slurm():
    """Environment in which Slurm's commands speak to a cluster of one node."""
    if missing():
        pytest.skip(f"Slurm is not installed ({', '.join(missing())} not found): apt-get install slurm-wlm munge")
    with one_node_slurm() as environment:
        yield environment


@pytest.fixture
def folder(tmp_path, slurm, repository, cmdstan, with_real_data):
    """A folder for the short run where nothing but the program has been made."""
    return with_programs(short(tmp_path / "work", repository, cmdstan, STUDIES, real=True), with_real_data)


def submit(snakemake, repository, slurm, folder, profile, *arguments):
    """Run the workflow with a profile."""
    given = ["--profile", repository / "profiles" / profile, "--latency-wait", 10, *OPTIONS[profile]]
    return snakemake(folder, *given, *arguments, **slurm)


def jobs(slurm, fields="%T"):
    """Slurm's record of every job, array tasks one by one, newest last."""
    command = ["squeue", "--array", "--states=all", "--noheader", "--sort=i", f"--format={fields}"]
    return subprocess.run(command, env=os.environ | slurm, capture_output=True, text=True, check=True).stdout.splitlines()


def on_nodes(repository):
    """Rules that a cluster runs on its nodes: those with a script, their own or of the rule that they use, that are not local."""
    text = "\n".join(path.read_text() for path in (repository / "workflow" / "rules").glob("*.smk"))
    rules = re.findall(r"^(use rule \w+ as|rule) (\w+)(?: with)?:\n((?:    .*\n|\n)+)", text, re.M)
    return {name for kind, name, body in rules if (kind != "rule" or "script:" in body) and "localrule: True" not in body}


def test_arrays_are_of_the_rules_that_run_on_nodes(repository):
    profile = yaml.safe_load((repository / "profiles" / "slurm" / "profile.v9+.yaml").read_text())
    assert set(profile["slurm-array-jobs"].split(", ")) == on_nodes(repository) - {"simulate", "fit", "measure"}


@pytest.mark.parametrize("profile", OPTIONS)
def test_snakemake_takes_every_option_of_a_profile(profile, repository, cmdstan, tmp_path, completed):
    folder = prepared(tmp_path / "work", repository, cmdstan)
    said = completed(folder, "--profile", repository / "profiles" / profile, "--dry-run", "--", TARGETS[1])
    assert "This was a dry-run" in said


@pytest.mark.slow
def test_a_status_command_that_fails_ends_the_run_before_the_first_submission(slurm, repository, cmdstan, tmp_path, snakemake):
    """The cluster has no accounting, so sacct always fails."""
    folder, before = prepared(tmp_path / "work", repository, cmdstan, EVERY_KIND), jobs(slurm)
    run = submit(snakemake, repository, slurm, folder, "slurm", "--slurm-status-command=sacct", "--", TARGETS[1])
    assert run.returncode != 0
    assert "sacct ends with exit code 1" in run.stdout and "give --slurm-status-command=squeue" in run.stdout
    assert jobs(slurm) == before


FAKES = {
    "sbatch": """id=$(($(cat {folder}/last 2> /dev/null || echo 0) + 1))
echo $id | tee {folder}/last
echo "$*" >> {folder}/submitted
for script; do :; done
"$script" > {folder}/$id.log 2>&1 && echo COMPLETED > {folder}/$id || echo FAILED > {folder}/$id""",
    "scontrol": 'for id; do :; done; echo "JobId=$id JobState=$(cat {folder}/$id) Reason=None"',
    "scancel": "exit 1",
}
"""Shell scripts in place of Slurm's commands: sbatch runs the job before it returns."""


@pytest.fixture
def fake_slurm(tmp_path):
    """A folder of scripts that answer as Slurm's commands do."""
    folder = tmp_path / "fake"
    folder.mkdir()
    for name, body in FAKES.items():
        (folder / name).write_text("#!/bin/sh\n" + body.format(folder=folder) + "\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.stan
def test_the_documented_command_runs_a_batch_with_fake_commands_of_slurm(
    fake_slurm, tmp_path, repository, cmdstan, finished, completed
):
    """All steps of a batch are one job."""
    folder = with_programs(prepared(tmp_path / "work", repository, cmdstan), finished)
    rows = f"results/{SCALE}/range/simulation_n200/seeds0000-0001/Weighted/replicates.csv"
    profile = ["--profile", repository / "profiles" / "cluster-generic", "--latency-wait", 1]
    path = os.pathsep.join([str(fake_slurm), environment()["PATH"]])
    said = completed(folder, *profile, "--seconds-between-status-checks=1", "--", rows, PATH=path)
    assert f"formalsynth: scale {SCALE}, papers range" in said
    submitted = (fake_slurm / "submitted").read_text().splitlines()
    assert len(submitted) == 1
    assert "--job-name=GROUP --output=logs/cluster/%x-%j.log --cpus-per-task=1 --mem=1000 --time=" in submitted[0]
    assert (fake_slurm / "1").read_text() == "COMPLETED\n"
    assert content(folder / rows) == content(finished / rows)


@pytest.mark.slow
@pytest.mark.stan
@pytest.mark.parametrize("profile", OPTIONS)
def test_a_cluster_makes_the_same_bytes(profile, slurm, folder, with_real_data, repository, snakemake):
    before = len(jobs(slurm))
    run = submit(snakemake, repository, slurm, folder, profile, "--", *TARGETS)
    assert run.returncode == 0, run.stdout[-5000:]
    assert ("Submitted array job" in run.stdout) == (profile == "slurm")
    logs = [path for rule in on_nodes(repository) for path in (folder / "logs" / SCALE / rule).rglob("*.log")]
    parts = [path for path in logs if "study" in path.relative_to(folder).parts]
    assert len(parts) == len(STUDIES)
    assert len(logs) - len(parts) >= 4
    # one for each part of a study, and one for the batch, which runs four steps at a time
    assert sorted(jobs(slurm, "%T %C")[before:]) == ["COMPLETED 1"] * len(parts) + ["COMPLETED 4"]
    made, locally = results(folder), results(with_real_data)
    assert made == {name: locally[name] for name in made}
    assert {name for name in locally if "/zcdp/" in name} <= set(made)
    assert set(TARGETS[1:]) <= set(made)


@pytest.mark.slow
@pytest.mark.stan
@pytest.mark.parametrize("profile", OPTIONS)
def test_a_failed_job_gets_more_memory_and_then_ends_the_run(profile, slurm, folder, repository, snakemake):
    batch = Path("results", SCALE, "range", "simulation_n200", "seeds0000-0001")
    assert snakemake(folder, "--cores", 1, batch / "data.npz").returncode == 0
    (folder / batch / "data.npz").write_bytes(b"damaged")
    before = len(jobs(slurm))
    run = submit(snakemake, repository, slurm, folder, profile, "--retries", 1, "--", batch / "Unweighted" / "fit.npz")
    assert run.returncode == 1, run.stdout[-5000:]
    assert run.stdout.count("Trying to restart job") == 1
    assert jobs(slurm, "%T %m")[before:] == ["FAILED 600M", "FAILED 1200M"]


def status(repository, environment, job):
    done = subprocess.run([repository / STATUS, job], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("command", "answer"), [("true", "success"), ("false", "failed"), ("sleep 3600", "running")])
def test_the_status_script_knows_the_state_of_a_job(command, answer, slurm, repository):
    environment = os.environ | slurm
    submit = ["sbatch", "--parsable", "--output=/dev/null", f"--wrap={command}"]
    job = subprocess.run(submit, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    until = time.monotonic() + 600
    while answer != "running" and status(repository, environment, job) == "running\n" and time.monotonic() < until:
        time.sleep(0.2)
    assert status(repository, environment, job) == f"{answer}\n"
    subprocess.run(["scancel", job], env=environment, check=True)


@pytest.mark.slow
def test_a_job_that_slurm_never_had_has_failed(slurm, repository):
    assert status(repository, os.environ | slurm, "999999") == "failed\n"


@pytest.mark.parametrize(
    ("scontrol", "sacct", "answer"),
    [
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", "echo COMPLETED", "success"),
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", "echo 'CANCELLED by 1000'", "failed"),
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", "exit 1", "failed"),
        ("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1", "exit 1", "running"),
        ("echo JobId=1 JobName=a JobState=PENDING Reason=None", "exit 1", "running"),
    ],
    ids=["done by accounting", "cancelled by accounting", "nobody knows", "no answer", "waiting"],
)
def test_the_status_script_without_a_cluster(scontrol, sacct, answer, repository, tmp_path):
    for name, body in (("scontrol", scontrol), ("sacct", sacct)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    assert status(repository, os.environ | {"PATH": path}, "1") == f"{answer}\n"
