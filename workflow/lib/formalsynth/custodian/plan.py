"""The command ``plan``: tries the candidates of a study on made-up rows, without opening the file."""

from __future__ import annotations

import numpy as np

from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.compare import try_candidates
from formalsynth.custodian.fitted_plan import widths
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.schema import RELEASE, SCHEMA, TABLES, Declared, read_release
from formalsynth.custodian.sources import source
from formalsynth.custodian.tables_plan import plan_tables
from formalsynth.settings.yaml_file import load_yaml

DRY_REPORT = "plan.html"


def plan(declared: Declared) -> list[str]:
    """Try the candidates on made-up rows; the file is not opened.

    Returns:
        Lines to print.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: there is no CmdStan.
    """
    if load_yaml(declared.folder / RELEASE).get("synthesizer") == TABLES:
        return _of_tables(declared)
    study = read_study(declared)
    table = made_up(declared.schema, np.random.default_rng())
    seconds, failed = try_candidates(declared, study, table, declared.folder / DRY_REPORT, (), content=None)
    return [
        f"The dry run worked on {len(table)} made-up rows; {declared.schema.file} was not opened.",
        *(f"{id} failed on made-up rows: {reason}" for id, reason in failed),
        *widths(study, records_of(declared.schema, table)),
        f"A run on the file will take about {max(seconds, 1):.0f} seconds. An example of its report: "
        f"{declared.folder / DRY_REPORT}",
        f"Next: formalsynth compare {declared.folder}",
    ]


def _of_tables(declared: Declared) -> list[str]:
    """Simulate releases by noisy tables of all columns.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: an analysis is not possible.
    """
    config = read_release(declared.folder)
    source(declared, config)
    return [
        *plan_tables(declared.schema, config, declared.folder / DRY_REPORT),
        f"All epsilons, with a picture: {declared.folder / DRY_REPORT}. With fewer pairs in {SCHEMA}, each is more precise.",
        f"Next: formalsynth release {declared.folder}; formalsynth compare shows errors for the file, but is recorded.",
    ]
