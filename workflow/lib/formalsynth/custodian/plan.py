"""The command ``plan``: the candidates of a study tried on made-up rows, without opening the file."""

from __future__ import annotations

import numpy as np

from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.compare import try_candidates
from formalsynth.custodian.records import made_up
from formalsynth.custodian.schema import Declared

DRY_REPORT = "plan.html"


def plan(declared: Declared) -> list[str]:
    """Try the candidates on made-up rows; the file is not opened.

    Returns:
        Lines to print.

    Raises:
        ConfigError: something is not declared yet, or not allowed.
        DataError: there is no CmdStan.
    """
    study = read_study(declared)
    table = made_up(declared.schema, np.random.default_rng())
    seconds, failed = try_candidates(declared, study, table, declared.folder / DRY_REPORT, (), made=True)
    return [
        f"The dry run worked on {len(table)} made-up rows; {declared.schema.file} was not opened.",
        *(f"{id} failed on made-up rows: {reason}" for id, reason in failed),
        f"The same on the file will take about {max(seconds, 1):.0f} seconds. What its report will look like: "
        f"{declared.folder / DRY_REPORT}",
        f"Next: formalsynth compare {declared.folder}",
    ]
