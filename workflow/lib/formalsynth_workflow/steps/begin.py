"""Start of a job that runs a step."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from formalsynth.core.family import FAMILIES, program
from formalsynth.core.registry import load
from formalsynth.runtime.files import unbroken
from formalsynth.stan.generate import generate
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.jobs.inputs import AuditJob, FitJob, Job, MeasureJob

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


def program_of(job: FitJob | MeasureJob | AuditJob, paths: Sequence[str]) -> Path | None:
    """Return the compiled program of a job, if it has one, and give it to a family that is the user's own program.

    Args:
        job: the input.
        paths: the compiled program, or nothing.

    Raises:
        OSError: the program is damaged.
    """
    executable = next(map(unbroken, paths), None)
    if executable is not None and (own := program(FAMILIES[job.family])):
        own.bind(functools.partial(generate, executable), job.priors)
    return executable
