"""Start of a job that runs a step."""

from __future__ import annotations

from typing import Any, TypeVar

from formalsynth.core.registry import load
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.jobs.inputs import Job

Input = TypeVar("Input", bound=Job)


def begin_step(job: Any, kind: type[Input]) -> Input:
    """Start a job, import the modules that its input names, and return the input.

    Args:
        job: Snakemake's description of the job; ``params.step["job"]`` is the input as plain data, without the folder of data
            files, which is a parameter of its own.
        kind: type of the input.
    """
    begin(job)
    folder = {"data_folder": job.params.data_folder} if "data_folder" in kind.model_fields else {}
    given = kind.of({**job.params.step["job"], **folder})
    load(given.modules)
    return given
