"""Status command of Slurm, in place of which there is a script."""

import os
import time

import pytest

from formalsynth_workflow.jobs.slurm import NoStatusError, check_status, watch_status


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Function that puts a script in place of a command of Slurm."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def write(name, body):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)

    return write


def test_a_status_command_that_always_fails_is_refused_before_the_first_submission(command):
    command("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    words = r"sacct ends with exit code 1 \(Slurm accounting storage is disabled\): .*--slurm-status-command=squeue"
    with pytest.raises(NoStatusError, match=words):
        check_status("sacct", 0)


def test_a_status_command_that_answers_is_used_even_if_it_failed_at_first(command, tmp_path):
    command("squeue", "exit 0")
    check_status("squeue", 0)
    command("sacct", f"test -e {tmp_path}/asked && exit 0; touch {tmp_path}/asked; exit 1")
    check_status("sacct", 0)


def test_failures_during_a_run_are_reported(command, capfd):
    command("sacct", "exit 3")
    stop = watch_status("sacct", 0.01)
    until, written = time.monotonic() + 600, ""
    while "in a row" not in written and time.monotonic() < until:
        time.sleep(0.05)
        written += capfd.readouterr().err
    stop.set()
    assert "WARNING: the status of jobs is unknown: sacct ends with exit code 3 () (3 times in a row)" in written
