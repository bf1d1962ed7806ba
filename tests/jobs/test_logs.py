"""A job prints to its log, and its last error is always somewhere."""

import os
import subprocess
import sys

import pytest

from formalsynth_workflow.jobs.logs import ACCOUNT

JOB = """
import subprocess, sys
from formalsynth_workflow.jobs.logs import log_to
log_to(sys.argv[1])
print("from the job")
subprocess.run(["echo", "from its child"])
"""
LAST_WORDS = """
import sys
from formalsynth_workflow.jobs.logs import log_to
log_to(sys.argv[1])
raise OSError("records.csv could not be written")
"""


NO_ROOM = """
import sys
from formalsynth_workflow.jobs.logs import log_to
log_to(sys.argv[1])
raise MemoryError("Unable to allocate 9 GiB")
"""


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""Environment in which output has a buffer, as it has for most users."""


def run(program, log):
    return subprocess.run([sys.executable, "-c", program, str(log)], capture_output=True, text=True, check=False, env=BUFFERED)


def test_what_a_job_and_its_children_print_goes_to_the_log(tmp_path):
    job = run(JOB, tmp_path / "new" / "job.log")
    assert (job.returncode, job.stdout, job.stderr) == (0, "", "")
    lines = (tmp_path / "new" / "job.log").read_text().splitlines()
    assert set(lines[:-1]) == {"from the job", "from its child"}
    assert lines[-1].startswith(ACCOUNT)


def test_the_error_that_ends_a_job_goes_to_the_log(tmp_path):
    job = run(LAST_WORDS, tmp_path / "job.log")
    assert (job.returncode, job.stdout, job.stderr) == (1, "", "")
    lines = (tmp_path / "job.log").read_text().splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-2] == "OSError: records.csv could not be written"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_job_that_was_started_without_a_terminal_has_its_log(tmp_path, closed):
    log = tmp_path / "job.log"
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", LAST_WORDS, str(log)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1
    assert "OSError: records.csv could not be written" in log.read_text().splitlines()


def test_a_job_that_is_short_of_memory_reports_the_remedy(tmp_path):
    run(NO_ROOM, tmp_path / "job.log")
    lines = (tmp_path / "job.log").read_text().splitlines()
    assert lines[-3] == "MemoryError: Unable to allocate 9 GiB"
    assert lines[-2].startswith("Out of memory: raise the limit")


def test_where_the_log_cannot_be_written_the_error_is_still_reported(tmp_path):
    log = tmp_path / "job.log"
    log.symlink_to("/dev/full")
    job = run(LAST_WORDS, log)
    assert job.returncode == 1
    reason = f"{log} could not be written either: No space left on device"
    assert job.stderr.splitlines() == ["records.csv could not be written", reason]
