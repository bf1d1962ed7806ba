"""The command ``check``: prints counts of violations, and writes their rows and values to a confidential file."""

from __future__ import annotations

import re

import pandas as pd

from formalsynth.runtime.private import private_folder, write_private
from formalsynth_release import tables_check
from formalsynth_release.ledger import CONFIDENTIAL
from formalsynth_release.rows import CheckResult, check_file
from formalsynth_release.study import Declared

FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.,]*$)")
"""Beginning of a cell that spreadsheets evaluate as a formula; a number with a sign does not match."""
VIOLATIONS = f"{CONFIDENTIAL}/CONFIDENTIAL-violations.csv"


def check(declared: Declared) -> tuple[CheckResult, list[str]]:
    """Check a file, and write the rows and values that break a rule to a confidential file.

    Returns:
        Result of the check, and lines to print, which contain counts but no values.

    Raises:
        DataError: the file cannot be read, or its columns or number of rows differ from the declared ones.
    """
    checked = check_file(declared)
    path = private_folder(declared.folder / CONFIDENTIAL).parent / VIOLATIONS
    path.unlink(missing_ok=True)
    warnings = [*checked.warnings, *([] if checked.table is None else tables_check.warnings(declared.schema, checked.table))]
    head = ["CONFIDENTIAL: the counts below come from the data."] if checked.violations or warnings else []
    if checked.violations:
        cases = [
            (row, _harmless(broken.column), broken.rule, _harmless(value))
            for broken in checked.violations
            for row, value in zip(broken.values.index + 1, broken.values, strict=True)
        ]
        table = pd.DataFrame(cases, columns=["row", "column", "rule", "value"])
        write_private(path, table.to_csv(index=False, lineterminator="\n"))
        lines = [f"{declared.schema.file}: {violation.sentence()}" for violation in checked.violations]
        end = f"The rows and values are listed in {path} (CONFIDENTIAL). Correct the file or the schema, and check again."
    else:
        lines = [f"Warning: {warning}" for warning in warnings]
        fits = "The file can be used with these changes" if checked.changed else "The file matches the schema"
        end = f"{fits}. Next: formalsynth plan {declared.folder}"
    return checked, [*head, *lines, end]


def _harmless(value: object) -> object:
    """Put an apostrophe before a value that a spreadsheet would read as a formula."""
    return f"'{value}" if FORMULA.match(str(value)) else value
