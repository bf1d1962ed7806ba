"""The command ``plan``: simulates releases of made-up rows, without opening the file."""

from __future__ import annotations

from formalsynth_release.declarations import checked_declarations
from formalsynth_release.schema import SCHEMA, Declared, read_release
from formalsynth_release.tables_plan import plan_tables

DRY_REPORT = "plan.html"


def plan(declared: Declared) -> list[str]:
    """Simulate releases of made-up rows; the file is not opened.

    Returns:
        Lines to print.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: an analysis is not possible.
    """
    config, page = read_release(declared.folder), declared.folder / DRY_REPORT
    checked_declarations(declared, config)
    return [
        *plan_tables(declared.schema, config, page),
        f"All epsilons, with a picture: {page}. With fewer pairs in {SCHEMA}, each is more precise.",
        f"Next: formalsynth release {declared.folder}; formalsynth compare shows errors for the file, but is recorded.",
    ]
