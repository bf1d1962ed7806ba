"""Begin of each job."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from formalsynth_workflow.jobs.begin import add_to_python_path

JOB = """
import sys, tempfile
from types import SimpleNamespace
from formalsynth_workflow.jobs.begin import begin

begin(SimpleNamespace(params={"private": sys.argv[1:]}, log=["job.log"]))
print("begun in", tempfile.gettempdir())
open("made", "w").close()
"""


@pytest.fixture
def start(tmp_path):
    return lambda *private: subprocess.run([sys.executable, "-c", JOB, *private], cwd=tmp_path, check=True)


def test_files_of_a_job_with_private_folders_are_the_owners(tmp_path, start):
    start("results")
    assert (tmp_path / "results").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600


def test_a_job_prints_to_its_log_and_has_a_temporary_folder(tmp_path, start):
    start()
    place = (tmp_path / "job.log").read_text().splitlines()[0].removeprefix("begun in ")
    assert place.startswith(f"{tempfile.gettempdir()}/.formalsynth.")
    assert not Path(place).exists()


def test_a_folder_is_searched_first_and_once(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["theirs", "ours"]))
    add_to_python_path("ours")
    add_to_python_path("ours")
    assert os.environ["PYTHONPATH"].split(os.pathsep) == ["ours", "theirs"]


def test_without_other_folders_there_is_one(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "")
    add_to_python_path("ours")
    assert os.environ["PYTHONPATH"] == "ours"
