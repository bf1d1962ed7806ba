"""Compiled Stan program of a job."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from formalsynth.core.family import FAMILIES, program
from formalsynth.runtime.files import unbroken
from formalsynth.stan.generate import generate
from formalsynth_workflow.jobs.inputs import AuditJob, FitJob, MeasureJob


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
