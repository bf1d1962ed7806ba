"""The command ``inspect``: writes a study for a file, with guessed types, and a confidential file of questions about the data."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.model import PATTERNS
from formalsynth.core.text import DataError
from formalsynth.core.yaml_text import yaml_text
from formalsynth.runtime.private import private_folder, write_private
from formalsynth_release.csv_file import CsvFormat, guess, listed
from formalsynth_release.file_formats import is_binary, labels_of, read_file
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
from formalsynth_release.study_files import NEIGHBOURS, release_text, schema_text

if TYPE_CHECKING:
    import pandas as pd

QUESTIONS = "confidential/questions.txt"
MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", ".", "-", "?")
MOST_CATEGORIES, FEW_NUMBERS = 30, 5
"""Largest number of categories that are listed, and of different numbers that may be categories."""
MOST = 0.95
"""Share of values above which a column counts as numbers or as dates."""
DATE = r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}.*)?\s*"
ISO = r"\d{4}-\d\d-\d\d"
DATES = (
    "contains dates. A release has their year, or the number of months or days since a day that everyone knows: declare date, "
    "and since where it is needed. format is how the file writes them, such as %d.%m.%Y."
)
GROUPED = r"[-+]?\d{1,3}(['\u2019\s.,]\d{3})+([.,]\d+)?"
"""Pattern of a number with marks or spaces between thousands."""
RARE = 5
AGES = 120
"""Number of different ages, which do not name persons."""
OFTEN, HEAP = 5.0, 0.02
"""Number of rows of a value, in those of another one, above which it may be a code or a heap, and smallest share of a heap."""


@dataclass(frozen=True)
class ColumnGuess:
    """Guessed declarations of a column, with questions."""

    name: str
    declared: Mapping[str, object]
    questions: Sequence[str]
    """Questions to the file's owner; confidential, because they describe the file."""
    grouped: bool = field(default=False)
    """True if its numbers may have marks between thousands."""


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
    guesses = [_guessed(name, table[name], written, missing, name == outcome) for name in table.columns]
    columns = {guess.name: _column(guess, labels.get(guess.name, {}), guess.name == outcome) for guess in guesses}
    private_folder(folder)
    private_folder((folder / QUESTIONS).parent)
    path = os.path.relpath(csv.resolve(), folder.resolve())
    grouped = any(guess.grouped for guess in guesses)
    write_private(folder / SCHEMA, schema_text(path, written, grouped, missing, outcome, columns))
    write_private(folder / RELEASE, release_text())
    write_private(folder / QUESTIONS, _questions(table, guesses))
    open_keys = (folder / SCHEMA).read_text(encoding="utf-8").count(DECLARE) - 1
    return [
        f"Written: {folder}, which only you can read: {SCHEMA}, {RELEASE} and {QUESTIONS}.",
        f"Next: read {folder / QUESTIONS} (CONFIDENTIAL), fill in the {open_keys} values marked {DECLARE} in {SCHEMA}, then run "
        f"formalsynth check {folder}",
    ]


def _guessed(name: str, values: pd.Series, written: CsvFormat, missing: Sequence[str], is_outcome: bool) -> ColumnGuess:
    import pandas as pd

    present = values[~values.isin(missing)]
    absent = _missing_question(name, len(values) - len(present))
    if not len(present):
        why = [f"{name}: has no value. Suppress it: a release would have invented values."]
        return ColumnGuess(name, {"type": "category", "release": "suppressed"}, why)
    if present.str.fullmatch(DATE).mean() > MOST:
        form = {} if present.str.fullmatch(ISO).mean() > MOST else {"format": DECLARE}
        return ColumnGuess(
            name, {"type": "whole", "date": DECLARE, **form, "lower": DECLARE, "upper": DECLARE}, [f"{name}: {DATES}", *absent]
        )
    grouped, plain = present.str.fullmatch(GROUPED), numbers(present, written)
    apart = plain.fillna(pd.to_numeric(present.where(grouped).str.replace(r"\D", "", regex=True), errors="coerce"))
    # codes with zeros in front are no numbers
    numbered = present.str.fullmatch(r"0\d+").any() and not is_outcome
    several = is_outcome or present.nunique() > FEW_NUMBERS
    numeric = several and not numbered and apart.notna().mean() > MOST
    if not numeric:
        unknown = present.nunique() > MOST_CATEGORIES
        declared = {"type": "category", "categories": DECLARE, **({"release": DECLARE} if unknown else {})}
        return ColumnGuess(name, declared, [*_category_questions(name, present, written), *absent])
    fraction = (plain.dropna() % 1 != 0).any() or present.str.contains(r"[.,]\d*$").any()
    kind = "number" if fraction else "whole"
    doubt = grouped & (plain.isna() | present.str.fullmatch(PARTED)) & (not written.thousands)
    questions = _number_questions(name, apart.dropna(), is_outcome)
    if doubt.any():
        questions.append(f"{name}: are there decimals, or marks between thousands? {DOUBT[0].upper()}{DOUBT[1:]}.")
    declared = {"type": kind, "lower": DECLARE, "upper": DECLARE, **({"decimals": DECLARE} if kind == "number" else {})}
    unknown = is_unique_number(apart.dropna()) or _may_be_persons(apart.dropna())
    return ColumnGuess(name, declared | ({"release": DECLARE} if unknown else {}), [*questions, *absent], bool(doubt.any()))


def _category_questions(name: str, present: pd.Series, written: CsvFormat) -> list[str]:
    counts = present.value_counts()
    if (signs := signs_in(present)) and numbers(
        present.str.replace(f"[{re.escape(signs)}]", "", regex=True), written
    ).notna().mean() > MOST:
        return [f"{name}: contains numbers with {', '.join(map(repr, signs))}. Remove this, and run inspect again."]
    if counts.size > MOST_CATEGORIES:
        return [
            f"{name}: has {counts.size} different values; is it a person's name or number? Then suppress it. Of codes, such as "
            "postcodes or diagnoses, leading: 2 keeps the first two characters, with categories: 01..99 or A..Z or a list."
        ]
    if counts.size < 2:
        return [
            f"{name}: has the same value in every row, and a release needs at least two public categories. Suppress it, unless "
            "you know more of them."
        ]
    listing = yaml_text(list(map(str, counts.index)), flow=True).strip()
    rare = [str(category) for category, number in counts.items() if number < RARE]
    return [
        f"{name}: the file has {listing}. Which categories are public? Declare those.",
        *([f"{name}: {', '.join(rare)}: fewer than {RARE} rows; expect poor utility."] if rare else []),
    ]


def _number_questions(name: str, values: pd.Series, is_outcome: bool) -> list[str]:
    questions = [
        f"{name}: which bounds does everyone know without this file? Do not read them off the data: that is a leak. The same "
        "applies to its type (whole or number), which was guessed from the file, and to its decimals: a release shows both."
    ]
    if is_unique_number(values):
        questions.append(f"{name}: has a different whole number in every row; is it an identifier? Then suppress it.")
    elif _may_be_persons(values):
        questions.append(
            f"{name}: has {values.nunique()} different whole numbers in {len(values)} rows; do they name persons? Then suppress "
            f"it, declare person: {name}, and in rows_each how many rows of each of them are used."
        )
    if codes := few_codes(values):
        declared = ", ".join(f"{code:g}: MEANING" for code in codes)
        questions.append(f"{name}: are these codes of missing values? Then declare missing_codes: {{ {declared} }}.")
    if code := _nines(values[~values.isin(codes)]):
        questions.append(
            f"{name}: {code} is in many rows; is it a code of missing values? If it is between the bounds, declare it as the "
            f"file writes it: recode: {{ '{code}': '' }}."
        )
    elif len(heap := _heap(values)):
        questions.append(
            f"{name}: {heap[0]:g} is in {(values == heap[0]).mean():.0%} of the rows. If it is public, such as a minimum wage, "
            f"points: [{heap[0]:g}] gives it a level of its own."
        )
    if is_outcome and (zeros := int((values == 0).sum())):
        questions.append(f"{name}: {zeros} values are 0; are they amounts, or something else? own_zero: true keeps their share.")
    if not codes and (below := int((values < 0).sum())):
        questions.append(
            f"{name}: {below} values are below 0; is that intended? For amounts of both signs, use scale: signed_log with a unit."
        )
    return questions


def _may_be_persons(values: pd.Series) -> bool:
    """Return True for whole numbers that are nearly all between the smallest and the largest one, most of them in few rows."""
    number, few = values.nunique(), max(IDENTIFYING * len(values), AGES)
    return bool((values % 1 == 0).all() and few < number < len(values) and np.ptp(values) < 2 * number)


def _heap(values: pd.Series) -> list[float]:
    """Return a number other than 0 in far more rows than any other one, if there are many; empty if there is none."""
    counts = values[values != 0].value_counts()
    heaped = len(counts) > MOST_CATEGORIES and counts.iloc[0] > max(HEAP * len(values), OFTEN * counts.iloc[1])
    return [float(counts.index[0])] if heaped else []


def _nines(values: pd.Series) -> str:
    """Return a number of two or more nines that is in far more rows than most others; empty if there is none."""
    counts = values.value_counts()
    often = counts[counts > max(CODED * len(values), OFTEN * counts.median())]
    return next((code for code in (f"{value:g}" for value in often.index) if re.fullmatch("99+", code)), "")


def _missing_question(name: str, absent: int) -> list[str]:
    if not absent:
        return []
    return [
        f"{name}: {absent} values are missing. may_be_missing: true (with missing: refuse) keeps their share; otherwise the "
        "rows are left out (missing: drop_rows)."
    ]


def _column(guess: ColumnGuess, labels: Mapping[str, str], is_outcome: bool) -> dict[str, object]:
    """Return the draft of a column; labels are part of the file's codebook."""
    column = dict(guess.declared)
    if labels and column["type"] == "category":
        column |= {"categories": list(labels), "labels": dict(labels)}
    elif labels and "date" not in column:
        column["missing_codes"] = dict(labels)
    treatment = column.pop("release", "synthesized")
    return column if is_outcome else column | {"release": treatment}


def _questions(table: pd.DataFrame, guesses: Sequence[ColumnGuess]) -> str:
    lines = [
        "CONFIDENTIAL: the following was read from the data. Do not send it to anyone, and do not copy it into a release.",
        "",
        f"The file has {len(table)} rows. Is that number public? With neighbours: replace, a release shows it.",
        f"Who is protected: what does a row describe, and in how many rows may each of them be? {NEIGHBOURS}",
        "",
    ]
    return "\n".join([*lines, *(f"- {question}" for guess in guesses for question in guess.questions), ""])
