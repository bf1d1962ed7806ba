"""The command ``plan``: the candidates of a study tried on made-up rows, without opening the file."""

from __future__ import annotations

import numpy as np

from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.compare import try_candidates
from formalsynth.custodian.fitted_plan import widths
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.schema import RELEASE, SCHEMA, TABLES, Declared, read_release
from formalsynth.custodian.sources import source
from formalsynth.custodian.tables import expected_errors
from formalsynth.plan.yaml_file import load_yaml

DRY_REPORT = "plan.html"


def plan(declared: Declared) -> list[str]:
    """Try the candidates on made-up rows; the file is not opened.

    Returns:
        Lines to print.

    Raises:
        ConfigError: something is not declared yet, or not allowed.
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
        f"The same on the file will take about {max(seconds, 1):.0f} seconds. What its report will look like: "
        f"{declared.folder / DRY_REPORT}",
        f"Next: formalsynth compare {declared.folder}",
    ]


def _of_tables(declared: Declared) -> list[str]:
    """Predict the errors of noisy tables of all columns from the declarations.

    Raises:
        ConfigError: something is not declared yet, or not allowed.
    """
    config, schema = read_release(declared.folder), declared.schema
    source(declared, config)
    share, correlations = expected_errors(schema.public, config.ceiling, made_up(schema, np.random.default_rng()))
    worst = sorted(correlations.items(), key=lambda pair: -pair[1])
    return [
        f"Errors to expect from the noise alone at epsilon {config.ceiling:g}, for {schema.rows} rows; no file was opened.",
        f"The share of a bin or category: {share:.4f} (standard deviation, the largest of the columns).",
        *(f"The correlation of {names}: {error:.3f}." for names, error in worst),
        f"Fewer pairs in {SCHEMA} are kept better, and so is a larger ceiling. Next: formalsynth release {declared.folder}",
    ]
