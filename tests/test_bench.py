"""Scripts of the folder bench that plan or run the workflow in a copy of the repository."""

import re
import subprocess
import sys

import pytest
from runs import environment


@pytest.mark.slow
@pytest.mark.workflow
def test_a_large_study_is_planned_in_a_copy(repository):
    run = subprocess.run(
        [sys.executable, repository / "bench" / "many.py", "20"], env=environment(), capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.findall(r"^\| 20 \| ([\w ]+) \| [1-9][\d,]* \|", run.stdout, re.MULTILINE) == ["1000", "as planned"]
