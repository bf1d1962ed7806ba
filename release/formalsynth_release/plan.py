"""The command ``plan``: a verdict from the declarations alone."""

from __future__ import annotations

from formalsynth_release.declarations import checked_declarations
from formalsynth_release.study import Declared, read_release
from formalsynth_release.verdict import Verdict

LEFT_OUT = "Rows with {causes} will be left out, but are counted here: with half of the rows, noise distorts twice as much."


def plan(declared: Declared) -> list[str]:
    """Compute errors to expect from a release; the file is not opened.

    Returns:
        Lines to print.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: an analysis is not possible.
    """
    config, schema = read_release(declared.folder), declared.schema
    checked_declarations(declared, config)
    return [
        f"Errors to expect at epsilon {config.ceiling:g}, for {schema.rows} rows; no file was opened.",
        *([LEFT_OUT.format(causes=schema.dropped)] if schema.dropped else []),
        *Verdict(schema, config.ceiling).lines(config.analyses),
        f"Next: formalsynth release {declared.folder}, if the verdict suits; it refuses pairs that are weak and not accepted.",
    ]
