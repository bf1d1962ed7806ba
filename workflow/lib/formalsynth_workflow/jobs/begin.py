"""Start of each job of the workflow."""

from __future__ import annotations

import os
from typing import Any

from formalsynth.runtime.private import keep_to_owner
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth_workflow.jobs.logs import log_to


def add_to_python_path(folder: str) -> None:
    """Make programs started by this process search a folder for packages first: the package need not be installed."""
    others = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([folder, *others]))


def begin(job: Any) -> None:
    """Close folders of confidential files to others, print to the job's log, and use a temporary folder of its own.

    Args:
        job: Snakemake's description of the job; ``params.private`` names the folders.
    """
    keep_to_owner(job.params.get("private", ()))
    log_to(job.log[0])
    own_temporary_folder()
