"""Start of each job of the workflow."""

from __future__ import annotations

import os
from typing import Any

from formalsynth.runtime.logs import log_to
from formalsynth.runtime.private import keep_to_owner
from formalsynth.runtime.sources import check_code


def add_to_python_path(folder: str) -> None:
    """Make programs started by this process search a folder for packages first: the package need not be installed."""
    others = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([folder, *others]))


def begin(job: Any) -> None:
    """Close folders of confidential files to others, print to the job's log, and check that the code matches the plan.

    Args:
        job: Snakemake's description of the job. ``params.private`` names the folders, ``input.code`` and ``params.code`` the
            code. Without ``input.code`` the script calls :func:`check_code` itself: Snakemake plans slowly if each of many jobs
            lists its source files.

    Raises:
        RuntimeError: the code was changed after the run started.
    """
    keep_to_owner(job.params.get("private", ()))
    log_to(job.log[0])
    files, planned = getattr(job.input, "code", ()), job.params.get("code")
    if files and planned:
        check_code(files, planned)
