"""Locks of a killed run go away without help, and its jobs end; those of a live run stay."""

import os
import signal
import socket
import subprocess
import sys

import pytest
from processes import is_stopped, wait_for

from formalsynth_workflow.jobs.locks import FILE, StillAtWork, drop_stale_locks

RUN = """
import sys
from pathlib import Path
from formalsynth_workflow.jobs.locks import drop_stale_locks, hold_parent_lock
folder = Path(sys.argv[1])
hold_parent_lock(folder)
print(len(drop_stale_locks(folder)), flush=True)
(folder / "locks").mkdir(exist_ok=True)
(folder / "locks" / "0.output.lock").write_text("figure.png")
sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path):
    """Start a process that locks the folder as a run does; returns it and how many locks it removed."""
    started = []

    def start():
        command = [sys.executable, "-c", RUN, str(tmp_path)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        removed = int(process.stdout.readline())
        while not list((tmp_path / "locks").glob("*.lock")):
            assert process.poll() is None
        return process, removed

    yield start
    for process in started:
        process.kill()
        process.communicate()


def kill(process):
    """End it without a chance to clean up."""
    process.kill()
    process.wait()


def test_nothing_to_drop_in_a_new_folder(tmp_path):
    assert drop_stale_locks(tmp_path / ".snakemake") == []


def test_the_lock_of_a_killed_run_is_dropped(run):
    first, removed = run()
    assert removed == 0
    kill(first)
    assert run()[1] == 1


def test_the_lock_of_a_live_run_stays(tmp_path, run):
    run()
    assert drop_stale_locks(tmp_path) == []
    assert (tmp_path / "locks" / "0.output.lock").exists()


def test_a_live_run_is_not_unlocked(tmp_path, run):
    first, _ = run()
    with pytest.raises(StillAtWork, match="another run is active in this folder"):
        drop_stale_locks(tmp_path, unlocking=True)
    kill(first)
    assert len(drop_stale_locks(tmp_path, unlocking=True)) == 1


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / ".snakemake").write_text("a file")
    reason = r"\.snakemake cannot be written to \(File exists\), so nothing was started: run in a folder of your own"
    with pytest.raises(OSError, match=reason):
        drop_stale_locks(tmp_path / ".snakemake")


def test_a_second_live_run_is_protected_after_the_first_has_ended(tmp_path, run):
    first, _ = run()
    run()
    kill(first)
    assert run()[1] == 0
    assert (tmp_path / "locks" / "0.output.lock").exists()


def test_a_run_of_another_machine_is_left_to_snakemake(tmp_path, run):
    first, _ = run()
    kill(first)
    (tmp_path / FILE).write_text("another-machine")
    assert run()[1] == 0


def test_a_run_that_moved_to_another_machine_is_known_there(tmp_path, run):
    """Nothing was locked when it started, so its own lock may go once it was killed."""
    tmp_path.joinpath(FILE).write_text("another-machine")
    first, removed = run()
    assert removed == 0
    kill(first)
    assert run()[1] == 1


def test_a_full_disk_is_reported_before_anything_starts(small_disk):
    disk = small_disk(8)
    (disk / "others").write_bytes(bytes(8 * 1024))
    reason = rf"{disk}/\.snakemake cannot be written to \(No space left on device\), so nothing was started"
    with pytest.raises(OSError, match=reason):
        drop_stale_locks(disk / ".snakemake")
    (disk / "others").unlink()
    assert drop_stale_locks(disk / ".snakemake") == []
    assert (disk / ".snakemake" / FILE).read_text() == socket.gethostname()


LEADER = """
import subprocess, sys
from pathlib import Path
from formalsynth_workflow.jobs.locks import drop_stale_locks, hold_parent_lock
folder = Path(sys.argv[1])
hold_parent_lock(folder)
drop_stale_locks(folder)
(folder / "locks").mkdir()
(folder / "locks" / "0.output.lock").write_text("result")
subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", sys.argv[2], *sys.argv[3:]])
"""
JOB = """
import os, sys, time
from pathlib import Path
from formalsynth.runtime.files import write_text
from formalsynth_workflow.jobs.logs import log_to
log, result, go = map(Path, sys.argv[1:])
log_to(log)
print(os.getpid(), flush=True)
while not go.exists():
    time.sleep(0.01)
write_text(result, "made")
"""


@pytest.fixture
def job(tmp_path):
    """A process that leads a job, which it has started through a shell; returns it and the job's number."""
    log = tmp_path / "job.log"
    command = [sys.executable, "-c", LEADER, tmp_path, JOB, log, tmp_path / "result", tmp_path / "go"]
    process = subprocess.Popen(list(map(str, command)))
    wait_for(lambda: log.exists() and log.read_text().endswith("\n"))
    number = int(log.read_text())
    yield process, number
    (tmp_path / "go").touch()
    kill(process)
    wait_for(lambda: not alive(number))


def alive(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_job_of_a_live_run_puts_its_result_in_place(tmp_path, job):
    (tmp_path / "go").touch()
    assert job[0].wait(timeout=600) == 0
    assert (tmp_path / "result").read_text() == "made"


def test_a_job_ends_with_its_run_and_leaves_no_result(tmp_path, job):
    process, number = job
    process.kill()  # and not waited for: it counts as ended before its parent has taken note
    wait_for(lambda: not alive(number))
    process.wait()  # the system lets go of its lock a little later than of the job
    assert "was killed: the job ends too, without a result" in (tmp_path / "job.log").read_text()
    assert not (tmp_path / "result").exists()
    assert len(drop_stale_locks(tmp_path)) == 1


def test_a_job_that_has_not_ended_with_its_run_keeps_a_new_run_from_starting(tmp_path, job):
    process, number = job
    os.kill(number, signal.SIGSTOP)
    wait_for(lambda: is_stopped(number))
    kill(process)
    try:
        with pytest.raises(StillAtWork, match="jobs of a killed run are still running in this folder: wait until"):
            drop_stale_locks(tmp_path, patience=0.2)
        assert (tmp_path / "locks" / "0.output.lock").exists()
    finally:
        os.kill(number, signal.SIGCONT)
    assert len(drop_stale_locks(tmp_path, patience=600)) == 1
    wait_for(lambda: not alive(number))  # the system lets go of the lock before it takes the job off its list
