"""Scratch folders are removed when their process has ended, or when the next one starts."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from formalsynth.runtime.scratch import LOCK, scratch_folder, sweep

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
    with scratch_folder(tmp_path / "new", "fit.npz") as folder, scratch_folder(tmp_path / "new", "fit.npz") as other:
        assert folder.parent == other.parent == tmp_path / "new"
        assert folder != other
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text("secret")
    assert list((tmp_path / "new").iterdir()) == []


def left(folder):
    """Make a folder look like one with a lock that nobody holds."""
    (folder / "inner").mkdir(parents=True)
    (folder / LOCK).touch()
    return folder


def test_what_the_dead_left_goes_and_all_else_stays(tmp_path):
    gone = [left(tmp_path / ".fit.npz.a1.scratch"), left(tmp_path / ".fit.npz.part.b2.scratch")]
    kept = [
        left(tmp_path / ".other.npz.a1.scratch"),  # not what is swept
        left(tmp_path / "fit.npz.a1.scratch"),  # not hidden
        tmp_path / ".fit.npz.c3.scratch",  # not locked yet
        left(tmp_path / ".fit.npz.backup"),  # somebody's own
        tmp_path / ".fit.npz.link.scratch",
    ]
    kept[2].mkdir()
    outside = left(tmp_path / "outside")
    kept[4].symlink_to(outside)
    with scratch_folder(tmp_path, "fit.npz.used") as used:
        assert sorted(sweep(tmp_path, "fit.npz")) == sorted(gone)
        assert sorted(tmp_path.iterdir()) == sorted([*kept, outside, used])
    assert (outside / "inner").is_dir()


def test_where_there_are_no_locks_nothing_is_swept(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    young = left(tmp_path / ".fit.npz.a1.scratch")
    with scratch_folder(tmp_path, "fit.npz") as folder:
        assert young.is_dir()
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == [young]


def test_a_name_with_wildcards_is_taken_as_it_is(tmp_path):
    other = left(tmp_path / ".ab.a1.scratch")
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


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGHUP])
def test_the_temporary_files_of_a_job_and_its_children_go_with_it(tmp_path, start, number):
    job, made = start()
    (folder,) = tmp_path.iterdir()
    assert made.startswith(f"{folder}/")
    assert len([path for path in folder.iterdir() if path.name != LOCK]) == 2
    if number:
        job.send_signal(number)
    job.communicate(timeout=600)
    assert (job.returncode == 0) is not bool(number)
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
