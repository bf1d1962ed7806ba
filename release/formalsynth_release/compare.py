"""The command ``compare``: tries noisy tables on the file, for the internal report."""

from __future__ import annotations

from formalsynth.runtime.private import private_folder, write_private
from formalsynth_release.budget import head, read_comparisons, record_comparison
from formalsynth_release.declarations import checked_declarations
from formalsynth_release.rows import usable
from formalsynth_release.schema import RELEASE, TABLES, Declared, read_release
from formalsynth_release.tables_compare import compare_tables

REPORT = "confidential/CONFIDENTIAL-report.html"


def compare(declared: Declared) -> list[str]:
    """Try noisy tables on the file, and write the internal report.

    Returns:
        Lines to print, without anything from the data.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: the file cannot be used.
    """
    folder = declared.folder
    read_comparisons(folder)  # a damaged ledger stops a comparison before it takes time
    config = read_release(folder)
    checked_declarations(declared, config)
    file = usable(declared)
    private_folder((folder / REPORT).parent)
    record_comparison(folder, [TABLES], file.content)
    write_private(folder / REPORT, compare_tables(declared.schema, config, file.table))
    return [
        f"The internal report is {folder / REPORT}: CONFIDENTIAL, only you can read it.",
        head(folder),
        "Next: read it. Where an analysis is lost, declare fewer pairs or bins or a larger ceiling, or leave the analysis out. "
        f"Then formalsynth release {folder}. What you change in {folder / RELEASE} from now on "
        "may depend on the file, and the texts of the release state that noisy tables were compared with it.",
    ]
