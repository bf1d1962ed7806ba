"""Begin of each job."""

import os
import subprocess
import sys

import pytest
from formalsynth.runtime.jobs import add_to_python_path
from formalsynth.runtime.sources import code_digest

JOB = """
import sys
from types import SimpleNamespace
from formalsynth.runtime.jobs import begin

code, digest, *private = sys.argv[1:]
params = {"code": digest, "private": private} if digest else {}
begin(SimpleNamespace(params=params, input=SimpleNamespace(code=[code]), log=["job.log"]))
open("made", "w").close()
"""


@pytest.fixture
def started(tmp_path):
    code = tmp_path / "code.py"
    code.write_text("x = 1\n")

    def start(digest, *private):
        return subprocess.run([sys.executable, "-c", JOB, code, digest, *private], cwd=tmp_path).returncode

    return start


def test_files_of_a_job_with_private_folders_are_the_owners(tmp_path, started):
    assert started(code_digest([tmp_path / "code.py"]), "results") == 0
    assert (tmp_path / "results").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600


def test_a_job_without_code_or_private_folders_begins(tmp_path, started):
    assert started("") == 0
    assert (tmp_path / "made").exists()


def test_changed_code_is_reported_in_the_log_and_nothing_is_made(tmp_path, started):
    assert started("another") != 0
    assert "were changed after the run started" in (tmp_path / "job.log").read_text()
    assert not (tmp_path / "made").exists()


def test_a_folder_is_searched_first_and_once(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["theirs", "ours"]))
    add_to_python_path("ours")
    add_to_python_path("ours")
    assert os.environ["PYTHONPATH"].split(os.pathsep) == ["ours", "theirs"]


def test_without_other_folders_there_is_one(monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    add_to_python_path("ours")
    assert os.environ["PYTHONPATH"] == "ours"
