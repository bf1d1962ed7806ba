"""Declarations of a release, checked without the file."""

from __future__ import annotations

from formalsynth.core.text import DataError
from formalsynth_release.analyses import check_analyses
from formalsynth_release.crossing import Declarations, declarations_of
from formalsynth_release.schema import Declared, ReleaseConfig, Schema
from formalsynth_release.tables import check_numbers


def checked_declarations(declared: Declared, config: ReleaseConfig) -> Declarations:
    """Check the declarations of a release, and return those that are published.

    Raises:
        DataError: the number of synthetic rows is not declared, or an analysis, a column or a pair is not possible.
    """
    schema = declared.schema
    _check_rows_declared(schema, config)
    check_analyses(schema, config.analyses)
    check_numbers(schema)
    return declarations_of(declared.name, schema.public, config)


def _check_rows_declared(schema: Schema, config: ReleaseConfig) -> None:
    """Check that the number of synthetic rows is declared where that of the file is confidential, and only there.

    Raises:
        DataError: it is missing, or another one than that of the file is declared.
    """
    if not schema.hides_rows and config.rows not in (None, schema.rows):
        raise DataError(
            f"release.yaml: rows: given {config.rows}; allowed: {schema.rows}, or leave it out: the number of rows of this file "
            "is public, so each synthetic set has as many"
        )
    if schema.hides_rows and config.rows is None:
        raise DataError(
            "release.yaml: rows: is missing; where neighbours is add_remove, or rows with a missing value or an outcome of 0 are "
            "dropped, the number of used rows is confidential: give the number of rows for each synthetic set"
        )


def rows_of(schema: Schema, config: ReleaseConfig, used: int) -> int:
    """Return the number of rows of each set: that of the used rows, or the declared number if that is confidential."""
    return int(config.rows or 0) if schema.hides_rows else used
