"""The command ``inspect``: writes a study for a file, with guessed types, and a confidential file of questions about the data."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from formalsynth.core.model import PATTERNS
from formalsynth.core.text import DataError
from formalsynth.core.yaml_text import yaml_text
from formalsynth.runtime.private import private_folder, write_private
from formalsynth_release.csv_file import CsvFormat, guess, listed
from formalsynth_release.file_formats import is_binary, labels_of, read_file
from formalsynth_release.ledger import CONFIDENTIAL
from formalsynth_release.rows import (
    CODED,
    DOUBT,
    IDENTIFYING,
    PARTED,
    few_codes,
    is_unique_number,
    numbers,
    signs_in,
)  # fmt: skip
from formalsynth_release.schema import RELEASE, SCHEMA
from formalsynth_release.study import DECLARE

QUESTIONS = f"{CONFIDENTIAL}/questions.txt"
MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", ".", "-", "?")
MOST_CATEGORIES, FEW_NUMBERS = 30, 5
"""Largest number of categories that are listed, and of different numbers that may be categories."""
MOST = 0.95  # share of values above which a column counts as numbers or as dates
DATE = r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}.*)?\s*"
ISO = r"\d{4}-\d\d-\d\d"
DATES = (
    "contains dates. A release has their year, or the number of months or days since a day that everyone knows: declare date, "
    "and since where it is needed. format is how the file writes them, such as %d.%m.%Y."
)
GROUPED = r"[-+]?\d{1,3}(['\u2019\s.,]\d{3})+([.,]\d+)?"  # pattern of a number with marks or spaces between thousands
RARE = 5
AGES = 120  # number of different ages, which do not name persons
OFTEN, HEAP = 5.0, 0.02
"""Number of rows of a value, in those of another one, above which it may be a code or a heap, and smallest share of a heap."""


class ColumnGuess(NamedTuple):
    """Guessed declarations of a column, with questions."""

    declared: dict[str, object]
    questions: list[str]  # questions to the file's owner; confidential, because they describe the file
    grouped: bool = False  # True if its numbers may have marks between thousands


def inspect(csv: Path, outcome: str, folder: Path) -> list[str]:
    """Write the folder of a study for a file, with placeholders for everything that its owner has to declare.

    Args:
        csv: the file.
        outcome: the main column.
        folder: folder of the study; it must not contain a schema.

    Returns:
        Sentences on the written files and the next step, without any value of the file.

    Raises:
        DataError: the file cannot be used, the outcome is not one of its columns, or the folder contains a study.
    """
    if (folder / SCHEMA).exists():
        raise DataError(f"{folder / SCHEMA}: already exists; delete it, or choose another folder with --to")
    expression, words = PATTERNS["name"]
    if not re.fullmatch(expression, name := folder.resolve().name):
        raise DataError(f"{folder}: given {name!r} as the name of the study; allowed: {words}: choose another with --to")
    written = CsvFormat("", "", thousands="none") if is_binary(csv) else guess(csv)
    table, labels = read_file(csv, written), labels_of(csv)
    if outcome not in table.columns:
        raise DataError(f"{csv}: --outcome: given {outcome!r}; allowed: {listed(list(table.columns))}")
    missing = sorted(mark for mark in MISSING_MARKS if (table == mark).any().any()) or [""]
    guesses = {name: _guessed(table[name], written, missing, name == outcome) for name in table.columns}
    columns = {name: _column(guess.declared, labels.get(name, {}), name == outcome) for name, guess in guesses.items()}
    private_folder(private_folder(folder) / CONFIDENTIAL)
    path = os.path.relpath(csv.resolve(), folder.resolve())
    given = {"file": path, "written": written, "missing": missing, "outcome": outcome, "columns": columns}
    schema = draft(SCHEMA, **given, grouped=any(guess.grouped for guess in guesses.values()))
    write_private(folder / SCHEMA, schema)
    write_private(folder / RELEASE, draft(RELEASE))
    write_private(folder / QUESTIONS, draft("questions.txt", rows=len(table), guesses=guesses))
    return [
        f"Written: {folder}, which only you can read: {SCHEMA}, {RELEASE} and {QUESTIONS}.",
        f"Next: read {folder / QUESTIONS} (CONFIDENTIAL), fill in the {schema.count(DECLARE) - 1} values marked {DECLARE} in "
        f"{SCHEMA}, then run formalsynth check {folder}",
    ]


def draft(name: str, **given: object) -> str:
    """Write the draft of schema.yaml or release.yaml, with its questions as comments."""
    loader = PackageLoader("formalsynth_release")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    environment.filters["one"] = lambda value: yaml_text(value, flow=True).removesuffix("\n").removesuffix("\n...")
    return environment.get_template(f"{name}.j2").render(given, declare=DECLARE)


def _guessed(values: pd.Series, written: CsvFormat, missing: Sequence[str], is_outcome: bool) -> ColumnGuess:
    present = values[~values.isin(missing)]
    absent = []
    if number := len(values) - len(present):
        keep = "may_be_missing: true (with missing: refuse) keeps their share"
        absent = [f"{number} values are missing. {keep}; otherwise the rows are left out (missing: drop_rows)."]
    if not len(present):
        why = "has no value. Suppress it: a release would have invented values."
        return ColumnGuess({"type": "category", "release": "suppressed"}, [why])
    bounds = {"lower": DECLARE, "upper": DECLARE}
    if present.str.fullmatch(DATE).mean() > MOST:
        form = {} if present.str.fullmatch(ISO).mean() > MOST else {"format": DECLARE}
        return ColumnGuess({"type": "whole", "date": DECLARE, **form, **bounds}, [DATES, *absent])
    grouped, plain = present.str.fullmatch(GROUPED), numbers(present, written)
    apart = plain.fillna(pd.to_numeric(present.where(grouped).str.replace(r"\D", "", regex=True), errors="coerce"))
    # codes with zeros in front are no numbers
    numbered = present.str.fullmatch(r"0\d+").any() and not is_outcome
    several = is_outcome or present.nunique() > FEW_NUMBERS
    if not several or numbered or apart.notna().mean() <= MOST:
        unknown = {"release": DECLARE} if present.nunique() > MOST_CATEGORIES else {}
        question = _category_question(present, written)
        return ColumnGuess({"type": "category", "categories": DECLARE, **unknown}, [question, *absent])
    fraction = (plain.dropna() % 1 != 0).any() or present.str.contains(r"[.,]\d*$").any()
    kind = {"type": "number", **bounds, "decimals": DECLARE} if fraction else {"type": "whole", **bounds}
    doubt = bool((grouped & (plain.isna() | present.str.fullmatch(PARTED)) & (not written.thousands)).any())
    marks = [f"are there decimals, or marks between thousands? {DOUBT[0].upper()}{DOUBT[1:]}."] if doubt else []
    apart = apart.dropna()
    unknown = {"release": DECLARE} if is_unique_number(apart) or _may_be_persons(apart) else {}
    return ColumnGuess({**kind, **unknown}, [*_number_questions(apart, is_outcome), *marks, *absent], doubt)


def _category_question(present: pd.Series, written: CsvFormat) -> str:
    counts, signs = present.value_counts(), signs_in(present)
    if signs and numbers(present.str.replace(f"[{re.escape(signs)}]", "", regex=True), written).notna().mean() > MOST:
        return f"contains numbers with {', '.join(map(repr, signs))}. Remove this, and run inspect again."
    if counts.size > MOST_CATEGORIES:
        return (
            f"has {counts.size} different values; is it a person's name or number? Then suppress it. Of codes, such as postcodes "
            "or diagnoses, leading: 2 keeps the first two characters, with categories: 01..99 or A..Z or a list."
        )
    if counts.size < 2:
        needed = "a release needs at least two public categories. Suppress it, unless you know more of them"
        return f"has the same value in every row, and {needed}."
    listing, rare = yaml_text(list(map(str, counts.index)), flow=True).strip(), list(map(str, counts.index[counts < RARE]))
    poor = f" {', '.join(rare)}: fewer than {RARE} rows; expect poor utility." if rare else ""
    return f"the file has {listing}. Which categories are public? Declare those.{poor}"


def _number_questions(values: pd.Series, is_outcome: bool) -> list[str]:
    codes, unique, heap = few_codes(values), is_unique_number(values), _heap(values)
    nines = _nines(values[~values.isin(codes)])
    zeros, below = int((values == 0).sum()), int((values < 0).sum())
    meanings = ", ".join(f"{code:g}: MEANING" for code in codes)
    asked = {
        "which bounds does everyone know without this file? Do not read them off the data: that is a leak. The same applies to "
        "its type (whole or number), which was guessed from the file, and to its decimals: a release shows both.": True,
        "has a different whole number in every row; is it an identifier? Then suppress it.": unique,
        f"has {values.nunique()} different whole numbers in {len(values)} rows; do they name persons? Then suppress it, name it "
        "in person, and declare in rows_each how many rows of each of them are used.": not unique and _may_be_persons(values),
        f"are these codes of missing values? Then declare missing_codes: {{ {meanings} }}.": codes,
        f"{nines} is in many rows; is it a code of missing values? If it is between the bounds, declare it as the file writes "
        f"it: recode: {{ '{nines}': '' }}.": nines,
        f"{heap:g} is in {(values == heap).mean():.0%} of the rows. If it is public, such as a minimum wage, points: [{heap:g}] "
        "gives it a level of its own.": heap and not nines,
        f"{zeros} values are 0; are they amounts, or something else? own_zero: true keeps their share.": is_outcome and zeros,
        f"{below} values are below 0; is that intended? For amounts of both signs, use scale: signed_log with a unit.": below
        and not codes,
    }
    return [question for question, needed in asked.items() if needed]


def _may_be_persons(values: pd.Series) -> bool:
    """Return True for whole numbers that are nearly all between the smallest and the largest one, most of them in few rows."""
    number, few = values.nunique(), max(IDENTIFYING * len(values), AGES)
    return bool((values % 1 == 0).all() and few < number < len(values) and np.ptp(values) < 2 * number)


def _heap(values: pd.Series) -> float:
    """Return a number other than 0 in far more rows than any other one, if there are many; 0 if there is none."""
    counts = values[values != 0].value_counts()
    heaped = len(counts) > MOST_CATEGORIES and counts.iloc[0] > max(HEAP * len(values), OFTEN * counts.iloc[1])
    return float(counts.index[0]) if heaped else 0.0


def _nines(values: pd.Series) -> str:
    """Return a number of two or more nines that is in far more rows than most others; empty if there is none."""
    counts = values.value_counts()
    often = counts[counts > max(CODED * len(values), OFTEN * counts.median())]
    return next((code for code in (f"{value:g}" for value in often.index) if re.fullmatch("99+", code)), "")


def _column(column: dict[str, object], labels: Mapping[str, str], is_outcome: bool) -> dict[str, object]:
    """Return the draft of a column; labels are part of the file's codebook."""
    if labels and column["type"] == "category":
        column |= {"categories": list(labels), "labels": dict(labels)}
    elif labels and "date" not in column:
        column["missing_codes"] = dict(labels)
    treatment = column.pop("release", "synthesized")
    return column if is_outcome else column | {"release": treatment}
