"""What every job does before its work."""

import subprocess
import sys

import pytest
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


def test_what_a_job_makes_is_the_owners_where_it_is_told_so(tmp_path, started):
    assert started(code_digest([tmp_path / "code.py"]), "results") == 0
    assert (tmp_path / "results").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600


def test_a_job_without_code_or_private_folders_begins(tmp_path, started):
    assert started("") == 0
    assert (tmp_path / "made").exists()


def test_code_that_was_changed_is_told_in_the_log_and_nothing_is_made(tmp_path, started):
    assert started("another") != 0
    assert "were changed after the run had begun" in (tmp_path / "job.log").read_text()
    assert not (tmp_path / "made").exists()
