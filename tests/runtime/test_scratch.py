"""What a process keeps to itself is gone when it has ended, or when the next one starts."""

import os
import socket
import subprocess
import sys
import time

import pytest
from formalsynth.runtime.scratch import STALE_SECONDS, scratch_folder, sweep

HERE = socket.gethostname()
JOB = """
import subprocess, sys, tempfile
from formalsynth.runtime.scratch import own_temporary_folder
own_temporary_folder()
tempfile.mkdtemp()
subprocess.run(["mktemp"], check=True)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def dead():
    """The id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


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


def test_what_the_dead_left_goes_and_all_else_stays(tmp_path, dead):
    left = [tmp_path / f".fit.npz.{HERE}-{dead}-1", tmp_path / f".fit.npz.{HERE}-{dead}-2", tmp_path / ".fit.npz.old.host-1-1"]
    kept = [
        tmp_path / f".fit.npz.{HERE}-{os.getpid()}-1",  # its process is alive
        tmp_path / ".fit.npz.other.host-1-1",  # nobody here can tell
        tmp_path / f".other.npz.{HERE}-{dead}-1",  # not what is swept
        tmp_path / f"fit.npz.{HERE}-{dead}-1",  # not hidden
        tmp_path / ".fit.npz.sha256",
    ]
    for folder in (*left, *kept):
        (folder / "inner").mkdir(parents=True)
    os.utime(left[2], (time.time() - 2 * STALE_SECONDS,) * 2)
    assert sorted(sweep(tmp_path, "fit.npz")) == sorted(left)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_a_name_with_wildcards_is_taken_as_it_is(tmp_path, dead):
    other = tmp_path / f".ab.{HERE}-{dead}-1"
    other.mkdir()
    with scratch_folder(tmp_path, "[ab]*"):
        assert other.is_dir()


@pytest.fixture
def start(tmp_path):
    """Start a job whose temporary folder is below ``tmp_path``."""
    started = []

    def start():
        job = subprocess.Popen(
            [sys.executable, "-c", JOB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
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
    assert len(list(folder.iterdir())) == 2
    job.communicate()
    assert job.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_the_next_job_removes_what_a_killed_one_left_and_spares_the_living(tmp_path, start):
    killed, _ = start()
    living, _ = start()
    killed.kill()
    killed.wait()
    assert len(list(tmp_path.iterdir())) == 2
    third, _ = start()
    assert len(list(tmp_path.iterdir())) == 2
    living.communicate()
    third.communicate()
    assert list(tmp_path.iterdir()) == []
