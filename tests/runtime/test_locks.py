"""The lock of a killed run goes away by itself; the lock of a live one stays."""

import socket
import subprocess
import sys

import pytest
from formalsynth.runtime.locks import drop_stale_locks

RUN = """
import sys
from pathlib import Path
from formalsynth.runtime.locks import drop_stale_locks
folder = Path(sys.argv[1])
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


def test_a_second_live_run_is_protected_after_the_first_has_ended(tmp_path, run):
    first, _ = run()
    run()
    kill(first)
    assert run()[1] == 0
    assert (tmp_path / "locks" / "0.output.lock").exists()


def test_a_run_of_another_machine_is_left_to_snakemake(tmp_path, run):
    first, _ = run()
    kill(first)
    (tmp_path / "formalsynth.lock").write_text("another-machine")
    assert run()[1] == 0


def test_a_run_that_moved_to_another_machine_is_known_there(tmp_path, run):
    """Nothing was locked when it started, so its own lock may go once it was killed."""
    tmp_path.joinpath("formalsynth.lock").write_text("another-machine")
    first, removed = run()
    assert removed == 0
    kill(first)
    assert run()[1] == 1


def test_a_full_disk_is_told_before_anything_starts(small_disk):
    disk = small_disk(8)
    (disk / "others").write_bytes(bytes(8 * 1024))
    reason = rf"{disk}/\.snakemake cannot be written to \(No space left on device\): nothing was started"
    with pytest.raises(OSError, match=reason):
        drop_stale_locks(disk / ".snakemake")
    (disk / "others").unlink()
    assert drop_stale_locks(disk / ".snakemake") == []
    assert (disk / ".snakemake" / "formalsynth.lock").read_text() == socket.gethostname()
