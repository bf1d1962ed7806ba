"""Mechanisms of the package, run on a data set by the engine and Stan, as in a run of the workflow."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Draws, Records, count, take
from formalsynth.core.family import FAMILIES, Predictor
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease
from formalsynth.core.streams import Address, number_of
from formalsynth.core.synthesizer import SamplerSettings, Synthesizer
from formalsynth.engine.chain import Step
from formalsynth.posteriors import StanPosteriors
from formalsynth.stan.compile import compile_program

from .tasks import Task

ROOT = Path(__file__).parents[2]
FOLDER = tempfile.TemporaryDirectory(prefix="formalsynth-")
Parameters = Callable[[Task, float], Mapping[str, float]]
"""Function from the declarations, and epsilon for adding or removing a record, to the parameters of a mechanism."""


def fitted(
    mechanism: str, parameters: Mapping[str, float], task: Task, records: Records, replicate: int
) -> tuple[Predictor, Draws]:
    """Run a mechanism without parents; return a predictor and draws for it.

    Args:
        mechanism: registered name.
        parameters: its parameters.
        task: declarations.
        records: confidential records.
        replicate: number of the replicate, which keys the random streams.

    Raises:
        ValueError: the mechanism refuses the data, or its fit fails.
    """
    MECHANISMS.find()
    entry = MECHANISMS[mechanism]
    synthesizer = Synthesizer(
        id=mechanism, mechanism=mechanism, parameters=dict(parameters), parents=(), fit=mechanism, words=entry.words(parameters)
    )
    family = FAMILIES[task.family]
    address = Address(1, 6, number_of(f"competitors {task.name}"), len(records), replicate)
    source = StanPosteriors(_executable(entry.program or family.program), family.priors, SamplerSettings())
    result = Step(synthesizer, Context(family, records, address), source).run()
    if isinstance(result, DirectRelease):
        return result.predictor, result.draws
    return family, result.posterior.draws


def predicted(predictor: Predictor, draws: Draws, records: Records, generator: np.random.Generator) -> Records:
    """Draw a synthetic data set at the predictors of the records, from one of the draws."""
    drawn = take(draws, [int(generator.integers(count(draws)))])
    return Records(predictor.predict(generator, records, drawn)[0], records.design)


@functools.cache
def _executable(program: str) -> Path:
    """Compiled program in a folder that is removed at the end."""
    path = Path(FOLDER.name, program)
    cmdstan = Path(json.loads((ROOT / ".cmdstan" / "cmdstan.json").read_text(encoding="utf-8"))["path"])
    compile_program(ROOT / "stan" / f"{program}.stan", path, cmdstan)
    return path
