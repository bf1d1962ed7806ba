"""The command ``check``: prints counts of violations, and writes their rows and values to a confidential file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.text import DataError
from formalsynth.custodian.budget import overlapping
from formalsynth.custodian.levels import levels_of
from formalsynth.custodian.margins import inside_levels
from formalsynth.custodian.rows import CheckResult, check_file
from formalsynth.custodian.schema import RELEASE, Column, Declared, Schema, read_release
from formalsynth.custodian.sources import source
from formalsynth.plan.messages import ConfigError
from formalsynth.runtime.private import private_folder, write_private

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.,]*$)")
"""Beginning of a cell that spreadsheets evaluate as a formula; a number with a sign does not match."""
SHIFTED, GRID = 3.0, 16
"""Standard errors by which drawing inside bins may change a mean, and number of points in a bin to find that."""
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
    warnings = [*checked.warnings, *_heaped_columns(declared.schema, checked.table)]
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


def _heaped_columns(schema: Schema, table: pd.DataFrame | None) -> Iterator[str]:
    for name, column in schema.released.items():
        if table is not None and column.type != "category" and column.release != "as_is":
            yield from _heaped(name, column, table[name])


def _heaped(name: str, column: Column, values: pd.Series) -> Iterator[str]:
    """Warn about a column of numbers whose mean would change if it were drawn from the counts of its bins, without noise."""
    levels = levels_of(column)
    places = levels.of(values)
    numbers = values.to_numpy(dtype=float)[places >= 0]
    if len(numbers) < 2:
        return
    counts = np.bincount(places[places >= 0], minlength=len(levels))
    grid, within = np.repeat(np.arange(len(levels)), GRID), np.tile((np.arange(GRID) + 0.5) / GRID, len(levels))
    drawn = levels.values(grid, inside_levels(levels, counts / counts.sum(), grid, within))
    shift, error = np.average(drawn, weights=counts[grid]) - numbers.mean(), numbers.std() / math.sqrt(len(numbers))
    if abs(shift) > SHIFTED * error:
        yield (
            f"{name}: noisy tables draw values anywhere in their bins, which would change its mean by {shift:+.2g}: frequent "
            "values are at one end of their bins. Declare a bin for each value, or bounds for which they are in the middle."
        )


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
