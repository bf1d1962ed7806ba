"""The command ``check``: prints counts of violations, and writes their rows and values to a confidential file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.text import DataError
from formalsynth.custodian.analyses import check_analyses, estimates
from formalsynth.custodian.budget import overlapping
from formalsynth.custodian.levels import levels_of
from formalsynth.custodian.margins import inside_levels
from formalsynth.custodian.rows import CheckResult, check_file
from formalsynth.custodian.schema import RELEASE, Analyses, Column, Declared, read_draft, read_release
from formalsynth.custodian.sources import source
from formalsynth.plan.messages import ConfigError
from formalsynth.runtime.private import private_folder, write_private

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.,]*$)")
"""Beginning of a cell that spreadsheets evaluate as a formula; a number with a sign does not match."""
SHIFTED = 1.0
"""Standard errors by which drawing inside bins may change an estimate."""
MORE_BINS = "Declare more bins, or a bin for each value if frequent values are at one end of their bins."
VIOLATIONS = "confidential/CONFIDENTIAL-violations.csv"


def check(declared: Declared) -> tuple[CheckResult, list[str]]:
    """Check a file, and write the rows and values that break a rule to a confidential file.

    Returns:
        Result of the check, and lines to print, which contain counts but no values.

    Raises:
        DataError: the file cannot be read, or its columns or number of rows differ from the declared ones.
    """
    checked = check_file(declared)
    path = declared.folder / VIOLATIONS
    private_folder(path.parent)
    path.unlink(missing_ok=True)
    warnings = [*checked.warnings, *_binned(declared, checked.table)]
    lines = ["CONFIDENTIAL: the counts below come from the data."] if checked.violations or warnings else []
    if checked.violations:
        cases = checked.cases.assign(**{name: checked.cases[name].map(_harmless) for name in ("column", "value")})
        write_private(path, cases.to_csv(index=False, lineterminator="\n"))
        lines += [f"{declared.schema.file}: {violation.sentence()}" for violation in checked.violations]
        lines += [f"The rows and values are listed in {path} (CONFIDENTIAL). Correct the file or the schema, and check again."]
        return checked, lines
    lines += [f"Warning: {warning}" for warning in (*warnings, *overlapping(declared.folder, checked.content))]
    lines += [f"Warning: a release would be refused: {problem}" for problem in release_problems(declared)]
    return checked, [*lines, f"The file matches the schema. Next: formalsynth plan {declared.folder}"]


def _binned(declared: Declared, table: pd.DataFrame | None) -> Iterator[str]:
    """Warn about means and declared analyses that would change if numbers were drawn again in their bins, without noise."""
    schema = declared.schema
    numbers = {
        name: column for name, column in schema.released.items() if column.type != "category" and column.release != "as_is"
    }
    if table is None or not numbers:
        return
    analyses = _analyses(declared).model_copy(update={"means": list(numbers)})
    drawn = table.assign(**{name: drawn_again(column, table[name]) for name, column in numbers.items()})
    after = estimates(schema, analyses, drawn)
    for name, (value, error) in estimates(schema, analyses, table).items():
        shift = after[name][0] - value
        if abs(shift) > SHIFTED * error:
            change, spread = (float(f"{number:.2g}") for number in (shift, error))
            yield (
                f"{name}: noisy tables draw values anywhere in their bins, which would change it by {change:+g} "
                f"(standard error: {spread:g}). {MORE_BINS}"
            )


def _analyses(declared: Declared) -> Analyses:
    """Return the declared analyses; none if they are missing or invalid."""
    try:
        analyses = read_draft(declared.folder).analyses
        check_analyses(declared.schema.public, analyses)
    except (ConfigError, DataError):
        return Analyses(quantiles=[])
    return analyses


def drawn_again(column: Column, values: pd.Series) -> pd.Series:
    """Draw numbers again in their bins, whose counts stay the same; each part of a bin gets its share of the values."""
    levels = levels_of(column)
    places = levels.of(values)
    there = np.flatnonzero(places >= 0)
    order = there[np.lexsort((np.random.default_rng(0).random(len(there)), places[there]))]
    place, counts = places[order], np.bincount(places[there], minlength=len(levels))
    within = (np.arange(len(order)) - (np.cumsum(counts) - counts)[place] + 0.5) / counts[place]
    drawn = np.full(len(values), np.nan)
    drawn[order] = levels.values(place, inside_levels(levels, counts / max(counts.sum(), 1), place, within))
    return values.astype(float).where(places < 0, drawn)


def release_problems(declared: Declared) -> list[str]:
    """List the problems for which a release would be refused; the file is not used."""
    if not (declared.folder / RELEASE).exists():
        return []
    try:
        source(declared, read_release(declared.folder))
    except (ConfigError, DataError) as error:
        return str(error).splitlines()
    return []


def _harmless(value: object) -> object:
    """Put an apostrophe before a value that a spreadsheet would read as a formula."""
    return f"'{value}" if FORMULA.match(str(value)) else value
