"""The command ``check``: prints counts of violations, and writes their rows and values to a confidential file."""

from __future__ import annotations

import re

from formalsynth.core.text import DataError
from formalsynth.runtime.private import private_folder, write_private
from formalsynth.settings.messages import ConfigError
from formalsynth_release import tables_check
from formalsynth_release.budget import overlapping
from formalsynth_release.declarations import checked_declarations
from formalsynth_release.rows import CheckResult, check_file
from formalsynth_release.schema import Analyses
from formalsynth_release.study import Declared, read_release

FORMULA = re.compile(r"[=@\t\r]|[-+](?![\d.,]*$)")
"""Beginning of a cell that spreadsheets evaluate as a formula; a number with a sign does not match."""
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
    warnings, (analyses, problems) = [*checked.warnings], _of_release(declared)
    if checked.table is not None:
        warnings += tables_check.warnings(declared.schema, analyses, checked.table)
    lines = ["CONFIDENTIAL: the counts below come from the data."] if checked.violations or warnings else []
    if checked.violations:
        cases = checked.cases.assign(**{name: checked.cases[name].map(_harmless) for name in ("column", "value")})
        write_private(path, cases.to_csv(index=False, lineterminator="\n"))
        lines += [f"{declared.schema.file}: {violation.sentence()}" for violation in checked.violations]
        lines += [f"The rows and values are listed in {path} (CONFIDENTIAL). Correct the file or the schema, and check again."]
        return checked, lines
    lines += [f"Warning: {warning}" for warning in (*warnings, *overlapping(declared, checked.content))]
    lines += [f"Warning: a release would be refused: {problem}" for problem in problems]
    first = "correct what a release would be refused for, then " if problems else ""
    fits = "The file can be used with these changes" if checked.changed else "The file matches the schema"
    return checked, [*lines, f"{fits}. Next: {first}formalsynth plan {declared.folder}"]


def _of_release(declared: Declared) -> tuple[Analyses, list[str]]:
    """Return the declared analyses, and the problems for which a release would be refused; the file is not used."""
    try:
        config = read_release(declared.folder)
        checked_declarations(declared, config)
    except (ConfigError, DataError) as error:
        return Analyses(quantiles=[]), str(error).splitlines()
    return config.analyses, []


def _harmless(value: object) -> object:
    """Put an apostrophe before a value that a spreadsheet would read as a formula."""
    return f"'{value}" if FORMULA.match(str(value)) else value
