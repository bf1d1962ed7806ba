"""Drafts of a study's files: commented YAML with placeholders for its author to fill in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from formalsynth.core.yaml_text import yaml_text
from formalsynth_release.csv_file import CsvFormat
from formalsynth_release.study import DECLARE

NEIGHBOURS = (
    "Is it a secret whether someone is in the file (add_remove), or only which values they have in it (replace)? With the same "
    "noise, epsilon under replace is twice that under add_remove."
)


def schema_text(
    file: str,
    written: CsvFormat,
    grouped: bool,
    missing: Sequence[str],
    outcome: str,
    columns: Sequence[Mapping[str, object]],
) -> str:
    """Write the draft of a schema, with its questions as comments."""
    lines = [f"  {_one(column['name'])}: {_one({k: v for k, v in column.items() if k != 'name'})}" for column in columns]
    return "\n".join([_SCHEMA.format(
        declare=DECLARE, file=_one(file), encoding=_one(written.encoding), delimiter=_one(written.delimiter),
        decimal=f"{DECLARE}\nthousands: {DECLARE} # mark between thousands, or none" if grouped else _one(written.decimal),
        missing=_one(list(missing)), outcome=_one(outcome), neighbours=NEIGHBOURS,
    ), *lines, ""])  # fmt: skip


def release_text() -> str:
    """Write the draft of a release's settings, with placeholders."""
    return _RELEASE.format(declare=DECLARE)


def _one(value: object) -> str:
    """Write a value as one line of YAML."""
    text = yaml_text(value, flow=True)
    return text.removesuffix("\n").removesuffix("\n...")


_SCHEMA = """\
# Declarations about the file. Replace each {declare} with the true value, from public knowledge and not from the data.
file: {file}
encoding: {encoding}
delimiter: {delimiter}
decimal: {decimal}
missing_values: {missing} # texts that mark a missing value
rows: {declare} # number of rows in the file; with neighbours: replace, a release shows it, so it must not be confidential

# Source: the same name for all files of the same people. They share one ledger and one budget.
source: {declare}

# Who is protected: the unit that a row describes (person, household, business). rows_each: largest number of rows of each unit
# that are used; above 1, the noise is as many times as large, and person names the suppressed column with the units.
protected: {declare}
rows_each: {declare}
# {neighbours}
neighbours: {declare} # add_remove or replace

outside_bounds: {declare} # numbers outside the declared bounds: clip (set to the nearest bound) or refuse (reject the file)
missing: {declare} # rows with a missing value: drop_rows or refuse; columns with may_be_missing: true are exempt
zeros: {declare} # rows with an outcome of 0: keep, drop_rows or refuse

# The main column, whose mean and quantiles are reported.
outcome: {outcome}

# Pairs whose association is kept, the most important one first, such as [[age, income], [age, "income kind"]]. Each further pair
# makes the others less precise; formalsynth plan shows how many the file can carry, and [] keeps none.
pairs: {declare}

# Types (guessed here), bounds, decimals and categories are published: declare only what everyone knows without the file. release:
#   synthesized: drawn from noisy tables; suppressed: left out.
# More keys, all in docs/OWN_STUDY.md: description, labels, leading, ordered, bins, points, edges, own_zero, missing_codes,
# may_be_missing, scale with unit, weight; and rules for values that others make impossible.
columns:"""

_RELEASE = """\
# Settings of the release. Choose ceiling and budget before you look at any result.
sets: 5 # number of synthetic data sets
# rows: 3000 # rows of each set, chosen without the file; required if neighbours is add_remove or rows are dropped
ceiling: {declare} # the largest epsilon that this release may claim; it is published
budget: {declare} # the epsilon that all releases from this source may claim together
title: {declare}
intended_use: {declare}
licence: {declare}
curator: {{ name: {declare}, contact: {declare} }}
# Analyses that users of the data are likely to do: each has an interval, or a reason for none.
analyses: {{ quantiles: [0.15, 0.5, 0.9], regressions: [] }}
"""
