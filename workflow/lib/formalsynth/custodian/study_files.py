"""First files of a study: commented YAML with open keys for its author."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import yaml

from formalsynth.custodian.csv_file import CsvFormat
from formalsynth.custodian.metadata import FileMetadata
from formalsynth.custodian.schema import DECLARE

NEIGHBOURS = (
    "Is it a secret whether someone is in the file (add_remove), or only which values they have in it (replace)? The same noise "
    "protects half as much under replace."
)


def schema_text(
    file: str,
    written: CsvFormat,
    missing: Sequence[str],
    outcome: str,
    columns: Sequence[Mapping[str, object]],
    known: FileMetadata,
) -> str:
    """Write a schema with its questions."""
    lines = [f"  {_one(column['name'])}: {_one({k: v for k, v in column.items() if k != 'name'})}" for column in columns]
    return "\n".join([_SCHEMA.format(
        declare=DECLARE, file=_one(file), encoding=_one(written.encoding), delimiter=_one(written.delimiter),
        decimal=_one(written.decimal), missing=_one(list(missing)), outcome=_one(outcome), neighbours=NEIGHBOURS,
        rows=known.rows or DECLARE, protected=_one(known.protected or DECLARE),
    ), *lines, ""])  # fmt: skip


def study_text(name: str) -> str:
    """Write a study with four candidates."""
    return _STUDY.format(name=name, declare=DECLARE)


def release_text() -> str:
    """Write the open declarations of a release."""
    return _RELEASE.format(declare=DECLARE)


def _one(value: object) -> str:
    """Write a value as one line of YAML."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    return text.removesuffix("\n").removesuffix("\n...")


_SCHEMA = """\
# Declarations of the file. Replace {declare} with the true value, from public knowledge and not from the data.
file: {file}
encoding: {encoding}
delimiter: {delimiter}
decimal: {decimal}
missing_values: {missing} # texts that mark a missing value
rows: {rows} # number of rows in the file; with neighbours: replace, a release shows it, so it has to be public

# Who is protected: what a row describes (person, household, business), and 1 if each of them is in one row only.
protected: {protected}
rows_each: {declare}
# {neighbours}
neighbours: {declare} # add_remove or replace

outside_bounds: {declare} # for numbers outside the declared bounds: clip (set to the nearest bound) or refuse
missing: {declare} # for rows with a missing value: drop_rows or refuse; columns with may_be_missing: true are exempt
zeros: {declare} # for an outcome of 0: keep, drop_rows or refuse

# The column that is described first; with a synthesizer other than tables, the only one that a model makes synthetic.
outcome: {outcome}

# Associations to keep, such as [[age, income], [age, "income kind"]]: by default all pairs, each with a smaller share of epsilon.
# pairs: []

# Types (guesses), bounds, decimals and categories are published: declare what everyone knows without the file. release:
#   synthesized: drawn from noisy tables; suppressed: left out; as_is: as in the file, outside the guarantee.
# More keys, all in docs/OWN_STUDY.md: description, ordered, bins, own_zero, may_be_missing, scale with unit, weight.
columns:"""

_STUDY = """\
# Synthesizers to compare. Not used with synthesizer: tables in release.yaml. Everything here may be changed.
title: {name}
authors: ours
code: [records.py] # how the workflow reads the file
synthesizers:
  # Noisy bin counts between declared bounds: a guarantee for every file. Enter the declared bounds of the outcome.
  Histogram: {{ mechanism: perturbed_histogram, parameters: {{ epsilon: 1, low: {declare}, high: {declare}, bins: 50 }} }}
  # The plain posterior, for comparison: the best utility, the largest epsilon.
  Unweighted: {{ mechanism: unweighted }}
  # Records at risk count less in the fit; its epsilon is computed from the data and holds asymptotically.
  Weighted: {{ mechanism: weighted, parents: [Unweighted] }}
  # The same with a scale that is declared, not computed from the data.
  Declared: {{ mechanism: declared_scale, parents: [Unweighted], parameters: {{ scale: 20 }} }}
scenarios:
  {name}:
    id: 1
    place: own data
    # Amounts above 0 such as incomes: lognormal_regression or gamma_regression; counts: negative_binomial_regression;
    # shares between 0 and 1: beta_regression; other numbers: normal.
    family: {declare}
    file: {{ name: {name} }}
    synthesizers: [Histogram, Unweighted, Weighted, Declared]
"""

_RELEASE = """\
# Settings of the release. Choose both epsilons before you look at any result.
synthesizer: tables # all columns from noisy tables; or a synthesizer of study.yaml, which is not used otherwise
sets: 5 # synthetic data sets
# rows: 3000 # where neighbours is add_remove or rows are dropped, before compare: rows of each set, chosen without the file
ceiling: {declare} # the largest epsilon that this release may claim; it is published, so choose it before looking
budget: {declare} # the epsilon that all releases from this file may claim together
# predictors_epsilon: 1 # with a synthesizer other than tables, where predictors are synthesized: the budget of their noisy table
title: {declare}
intended_use: {declare}
region: {declare}
sector: {declare} # Technology, Healthcare, Education, Government, Energy or Finance; delete the line if none fits
licence: {declare}
curator: {{ name: {declare}, type: Government, contact: {declare} }}
figure: false # true adds a PNG of the synthetic outcomes
# The publisher's answers, for the page with the questions of NIST SP 800-226: collection, access, one_row, epsilon, others.
answers: {{}}
# What analysts will do, for the internal report: quantiles of the outcome and linear regressions on released predictors.
analyses: {{ quantiles: [0.15, 0.5, 0.9], regressions: [] }}
"""
