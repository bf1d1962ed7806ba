"""Confidential data on trial: whether what config names can be drawn or read, before any job starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import Simulated
from formalsynth.core.population import POPULATIONS
from formalsynth.data.files import FILES, LEAST, DataError, load
from formalsynth.plan.messages import ConfigError, message, short
from formalsynth.plan.model import FileChoice
from formalsynth.steps.simulate import drawn_with

TRIAL = 100_000
"""Records at most that are drawn to see whether a population can be drawn from."""


def check_outcomes(where: str, family: str, records: Records, file: Path) -> None:
    """Check that confidential data are in the family's support.

    Raises:
        ConfigError: they are not.
    """
    allowed = FAMILIES[family].outcomes
    if not allowed.holds(records.x):
        ends = f"{records.x.min():g} to {records.x.max():g}"
        raise ConfigError(
            message(file, f"{where}.family", family, [f"a family of these values, {ends}; {family} takes {allowed.what}"])
        )


def check_counts(where: str, data: Simulated, file: Path) -> None:
    """Check that a population's published counts are a registered table of counts.

    Raises:
        ConfigError: they are not.
    """
    name = data.parameters.get("counts")
    tables = [table for table, dataset in FILES.items() if dataset.holds == "counts"]
    if name is not None and name not in tables:
        raise ConfigError(message(file, f"{where}.counts", name, tables))


def draw_on_trial(where: str, data: Simulated, n: int, folder: str, file: Path) -> Records:
    """Records drawn on trial.

    Raises:
        ConfigError: they cannot be drawn, or are not finite.
    """
    given = f"{file}: {where}: given {short({'name': data.population, **data.parameters})} and n = {n}"
    try:
        with np.errstate(all="ignore"):
            records = POPULATIONS[data.population].draw(np.random.default_rng(0), min(n, TRIAL), drawn_with(data, folder))
    except DataError as error:
        raise ConfigError(f"{file}: {where}.counts: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"{given}; {error}") from error
    if not np.isfinite(records.x).all():
        raise ConfigError(f"{given}; allowed: what gives finite values")
    return records


def read_on_trial(where: str, choice: FileChoice, folder: str, file: Path) -> Records:
    """Records of a file, without those that are left out.

    Raises:
        ConfigError: the file cannot be used, or the rows to leave out are not in it.
    """
    try:
        records = load(choice.name, folder)
    except DataError as error:
        raise ConfigError(f"{file}: {where}: {error}") from error
    drop, rows = choice.drop_rows, len(records)
    if len(set(drop)) < len(drop) or max(drop, default=0) > rows or rows - len(drop) < LEAST:
        allowed = f"different rows from 1 to {rows}, so that {LEAST} or more are left"
        raise ConfigError(message(file, f"{where}.drop_rows", drop, [allowed]))
    return load(choice.name, folder, drop)
