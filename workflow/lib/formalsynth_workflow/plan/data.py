"""Trial of confidential data: check, before any job starts, that they can be drawn or read."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.data_files import FILES, LEAST, load
from formalsynth.core.family import FAMILIES, bounded
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS
from formalsynth.core.registry import is_own
from formalsynth.core.synthesizer import Synthesizer
from formalsynth.core.text import DataError
from formalsynth.settings.messages import ConfigError, Section, short
from formalsynth_workflow.jobs.inputs import Simulated
from formalsynth_workflow.plan.model import FileChoice
from formalsynth_workflow.steps.simulate import drawn_with

TRIAL = 100_000
"""Largest number of records drawn to test a population."""
MOST = 0.5
"""Share of the records clipped at every draw, above which there is a warning."""


def check_outcomes(scenario: Section, family: str, records: Records) -> None:
    """Check that confidential data are in the family's support.

    Raises:
        ConfigError: they are not.
    """
    allowed = FAMILIES[family].outcomes
    if not allowed.holds(records.x):
        ends = f"{records.x.min():g} to {records.x.max():g}"
        raise scenario.refuse("family", family, [f"a family for these values, {ends}; {family} accepts {allowed.what}"])


def silence(family: str, records: Records, synthesizers: Iterable[Synthesizer]) -> str:
    """Return a warning about synthesizers without parents that clip most records at every draw; empty if there are none."""
    counts, sentences = bounded(FAMILIES[family]), list[str]()
    for synthesizer in synthesizers if counts is not None else ():
        mechanism = MECHANISMS[synthesizer.mechanism]
        epsilon = mechanism.claim(synthesizer.parameters, "add_remove") if mechanism.censors else None
        changes = mechanism.parents or mechanism.staged or "theta1" in mechanism.parameters.model_fields
        if counts is None or epsilon is None or changes or is_own(MECHANISMS.module(synthesizer.mechanism)):
            continue  # a reference, weights or code of one's own may keep records inside
        share = float((counts.largest_log_likelihood(records.x) <= -epsilon / 2).mean())
        if share > MOST:
            limit = math.exp(epsilon) / (2 * math.pi)  # the largest Poisson probability of a count x is about 1 / sqrt(2 pi x)
            sentences.append(
                f"{synthesizer.id} may carry nothing: it clips {share:.0%} of the records at every draw, because no count above "
                f"{limit:,.2f} has a probability above exp(-ε / 2) for ε = {epsilon:g}"
            )
    return "; ".join(sentences)


def check_counts(scenario: Section, key: str, data: Simulated) -> None:
    """Check that a population's published counts name a registered table of counts.

    Raises:
        ConfigError: they do not.
    """
    name = data.parameters.get("counts")
    tables = [table for table, dataset in FILES.items() if dataset.holds == "counts"]
    scenario.check_names(f"{key}.counts", [name] if name is not None else [], tables)


def draw_on_trial(scenario: Section, key: str, data: Simulated, n: int, folder: str) -> Records:
    """Draw records from a population.

    Raises:
        ConfigError: they cannot be drawn, or are not finite.
    """
    where = f"{scenario.file}: {scenario.where}.{key}"
    given = f"{where}: given {short({'name': data.population, **data.parameters})} and n = {n}"
    try:
        with np.errstate(all="ignore"):
            records = POPULATIONS[data.population].draw(np.random.default_rng(0), min(n, TRIAL), drawn_with(data, folder))
    except DataError as error:
        raise ConfigError(f"{where}.counts: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"{given}; {error}") from error
    if not np.isfinite(records.x).all():
        raise ConfigError(f"{given}; allowed: parameters that give finite values")
    return records


def read_on_trial(scenario: Section, choice: FileChoice, folder: str) -> Records:
    """Read the records of a file, without the dropped rows.

    Raises:
        ConfigError: the file cannot be used, or has no such rows.
    """
    try:
        records = load(choice.name, folder)
    except DataError as error:
        raise ConfigError(f"{scenario.file}: {scenario.where}.file: {error}") from error
    drop, rows = choice.drop_rows, len(records)
    if len(set(drop)) < len(drop) or max(drop, default=0) > rows or rows - len(drop) < LEAST:
        raise scenario.refuse("file.drop_rows", drop, [f"different rows from 1 to {rows}, leaving {LEAST} or more"])
    return load(choice.name, folder, drop)
