"""Scratch folders are removed when their process has ended, or when the next one starts."""

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from formalsynth.runtime.scratch import LOCK, STALE_SECONDS, scratch_folder, sweep

HERE = socket.gethostname()
JOB = """
import signal, subprocess, sys, tempfile
if "nohup" not in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
from formalsynth.runtime.scratch import own_temporary_folder
own_temporary_folder()
tempfile.mkdtemp()
subprocess.run(["mktemp"], check=True)
print("ready", flush=True)
sys.stdin.read()
"""
AGAIN = """
import sys
from pathlib import Path
from formalsynth.runtime.scratch import scratch_folder
for _ in range(100):
    with scratch_folder(Path(sys.argv[1]), "same") as folder:
        (folder / "file").write_text("mine")
        assert (folder / "file").read_text() == "mine"
"""


def test_a_folder_is_there_for_its_block_only(tmp_path):
    with scratch_folder(tmp_path / "new", "fit.npz") as folder:
        assert folder.parent == tmp_path / "new"
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text("secret")
    assert list((tmp_path / "new").iterdir()) == []


def test_two_folders_of_one_process_differ(tmp_path):
    with scratch_folder(tmp_path, "one") as first, scratch_folder(tmp_path, "one") as second:
        assert first != second
        assert first.is_dir()


def left(folder):
    """Make a folder look like one with a lock that nobody holds."""
    (folder / "inner").mkdir(parents=True)
    (folder / LOCK).touch()
    return folder


def test_what_the_dead_left_goes_and_all_else_stays(tmp_path):
    gone = [
        left(tmp_path / f".fit.npz.{HERE}-{os.getpid()}-1"),  # its number is that of another process now
        left(tmp_path / ".fit.npz.other.host-1-1"),  # of another machine
        tmp_path / ".fit.npz.old.host-1-1",  # without a lock
    ]
    kept = [
        tmp_path / f".fit.npz.{HERE}-1-2",  # without a lock, and young
        left(tmp_path / f".other.npz.{HERE}-1-1"),  # not what is swept
        left(tmp_path / f"fit.npz.{HERE}-1-1"),  # not hidden
        tmp_path / ".fit.npz.sha256",
        tmp_path / ".fit.npz.backup.2026-11-20",  # somebody's own: no lock, and not empty
    ]
    for folder in (gone[2], kept[0], kept[3], kept[4]):
        folder.mkdir()
    (kept[4] / "inside").touch()
    for folder in (gone[2], kept[4]):
        os.utime(folder, (time.time() - 2 * STALE_SECONDS,) * 2)
    assert sorted(sweep(tmp_path, "fit.npz")) == sorted(gone)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_a_folder_in_use_stays_however_old_it_looks_and_wherever_its_process_is(tmp_path):
    """As after a day in a stopped job, and in a container whose numbers of processes are its own."""
    with scratch_folder(tmp_path, "fit.npz") as folder:
        elsewhere = folder.rename(tmp_path / ".fit.npz.other.host-999999999-1")
        os.utime(elsewhere, (time.time() - 2 * STALE_SECONDS,) * 2)
        assert sweep(tmp_path, "fit.npz") == []
        elsewhere.rename(folder)
    assert list(tmp_path.iterdir()) == []


def test_where_there_are_no_locks_age_decides(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    young, old = left(tmp_path / ".fit.npz.host-1-1"), left(tmp_path / ".fit.npz.host-1-2")
    os.utime(old, (time.time() - 2 * STALE_SECONDS,) * 2)
    with scratch_folder(tmp_path, "fit.npz"):
        assert young.is_dir()
        assert not old.exists()


def test_a_link_that_looks_like_a_folder_is_not_followed(tmp_path):
    outside = left(tmp_path / "outside")
    (tmp_path / ".fit.npz.host-1-1").symlink_to(outside)
    assert sweep(tmp_path, "fit.npz") == []
    assert (outside / "inner").is_dir()


def test_a_name_with_wildcards_is_taken_as_it_is(tmp_path):
    other = left(tmp_path / f".ab.{HERE}-1-1")
    with scratch_folder(tmp_path, "[ab]*"):
        assert other.is_dir()


def test_many_processes_that_sweep_each_others_names_lose_nothing(tmp_path):
    """Each makes a folder of the same stem again and again, and finds its file in it."""
    jobs = [subprocess.Popen([sys.executable, "-c", AGAIN, str(tmp_path)], stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(job.communicate()[1], job.returncode) for job in jobs] == [("", 0)] * 4
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def start(tmp_path):
    """Start a job whose temporary folder is below ``tmp_path``."""
    started = []

    def start(*arguments):
        job = subprocess.Popen(
            [sys.executable, "-c", JOB, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"TMPDIR": str(tmp_path)},
        )  # fmt: skip
        started.append(job)
        made = job.stdout.readline().strip()
        assert job.stdout.readline() == "ready\n"
        return job, made

    yield start
    for job in started:
        job.kill()
        job.communicate()


def test_the_temporary_files_of_a_job_and_its_children_go_with_it(tmp_path, start):
    job, made = start()
    (folder,) = tmp_path.iterdir()
    assert made.startswith(f"{folder}/")
    assert len([path for path in folder.iterdir() if path.name != LOCK]) == 2
    job.communicate()
    assert job.returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_they_go_with_a_job_that_is_ended(tmp_path, start, number):
    job, _ = start()
    job.send_signal(number)
    job.wait(timeout=20)
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_ignores_the_end_of_its_terminal_goes_on(tmp_path, start):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        job, made = start("nohup")
    finally:
        signal.signal(signal.SIGHUP, before)
    job.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(timeout=0.5)
    assert Path(made).is_file()
    job.communicate()
    assert job.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_the_next_job_removes_what_a_killed_job_left(tmp_path, start):
    job, _ = start()
    job.kill()
    job.wait()
    (before,) = tmp_path.iterdir()
    _, made = start()
    (after,) = tmp_path.iterdir()
    assert made.startswith(f"{after}/")
    assert after != before
