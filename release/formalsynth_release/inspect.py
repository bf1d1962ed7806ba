"""The command ``inspect``: writes a study for a file, with guessed types, and a confidential file of questions about the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.model import PATTERNS
from formalsynth.core.text import DataError
from formalsynth.runtime.private import private_folder, write_private
from formalsynth.settings.yaml_file import yaml_text
from formalsynth_release.csv_file import CsvFormat, guess, listed, read_text, with_points
from formalsynth_release.metadata import FileMetadata
from formalsynth_release.rows import DOUBT, NUMBER, PARTED, SURVEY_WEIGHT, far_above, is_unique_number, is_weight
from formalsynth_release.schema import DECLARE, RELEASE, SCHEMA
from formalsynth_release.study_files import NEIGHBOURS, release_text, schema_text

if TYPE_CHECKING:
    import pandas as pd

QUESTIONS = "confidential/questions.txt"
MISSING_MARKS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", ".", "-", "?")
MOST_CATEGORIES = 30
MOST = 0.95
"""Share of values above which a column counts as numbers or as dates."""
DATE = r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T]\d{1,2}:\d{2}.*)?\s*"
DATES = (
    "contains dates, for which there is no type: a category for each day would have more noise than rows. Make it a number, such "
    "as the year or the days since a day that everyone knows, or suppress it."
)
GROUPED = r"[-+]?\d{1,3}(['’\s.,]\d{3})+([.,]\d+)?"
"""Pattern of a number with marks or spaces between thousands."""
RARE = 5


@dataclass(frozen=True)
class ColumnGuess:
    """Guessed type of a column, with questions."""

    name: str
    type: str
    questions: tuple[str, ...]
    """Questions to the file's owner; confidential, because they describe the file."""
    identifier: bool = False
    """True if it may be a person's name or number."""


def inspect(csv: Path, outcome: str, folder: Path, known: FileMetadata | None = None) -> list[str]:
    """Write the folder of a study for a file, with placeholders for everything that its owner has to declare.

    Args:
        csv: the file.
        outcome: the main column.
        folder: folder of the study; it must not contain a schema.
        known: metadata of the file.

    Returns:
        Sentences on the written files and the next step, without any value of the file.

    Raises:
        DataError: the file cannot be used, the outcome is not one of its columns, or the folder contains a study.
    """
    if (folder / SCHEMA).exists():
        raise DataError(f"{folder / SCHEMA}: already exists; delete it, or choose another folder with --to")
    _check_name(folder)
    written = guess(csv)
    table = read_text(csv, written)
    if outcome not in table.columns:
        raise DataError(f"{csv}: --outcome: given {outcome!r}; allowed: {listed(list(table.columns))}")
    missing = sorted(mark for mark in MISSING_MARKS if (table == mark).any().any()) or [""]
    guesses = [_guessed(name, table[name], written, missing, name == outcome) for name in table.columns]
    private_folder(folder)
    private_folder((folder / QUESTIONS).parent)
    known = known or FileMetadata()
    columns = [_column(guess, outcome, known.columns.get(guess.name, {})) for guess in guesses]
    write_private(folder / SCHEMA, schema_text(_relative(csv, folder), written, missing, outcome, columns, known))
    write_private(folder / RELEASE, release_text())
    write_private(folder / QUESTIONS, _questions(csv, table, guesses))
    open_keys = (folder / SCHEMA).read_text(encoding="utf-8").count(DECLARE) - 1
    return [
        f"Written: {folder}, which only you can read: {SCHEMA}, {RELEASE} and {QUESTIONS}.",
        f"Next: read {folder / QUESTIONS} (CONFIDENTIAL), fill in the {open_keys} values marked {DECLARE} in {SCHEMA}, then run "
        f"formalsynth check {folder}",
    ]


def _check_name(folder: Path) -> None:
    import re

    expression, words = PATTERNS["name"]
    if not re.fullmatch(expression, folder.resolve().name):
        raise DataError(
            f"{folder}: given {folder.resolve().name!r} as the name of the study; allowed: {words}: choose another with --to"
        )


def _relative(csv: Path, folder: Path) -> str:
    import os

    return os.path.relpath(csv.resolve(), folder.resolve())


def _guessed(name: str, values: pd.Series, written: CsvFormat, missing: Sequence[str], is_outcome: bool) -> ColumnGuess:
    import pandas as pd

    present = values[~values.isin(missing)]
    plain = with_points(present) if written.decimal == "," else present
    numbers = pd.to_numeric(plain, errors="coerce")
    numeric = len(present) > 0 and numbers.notna().mean() > MOST
    few = present.nunique() <= MOST_CATEGORIES and not is_outcome
    if not numeric or (few and present.nunique() <= 5):
        questions = _category_questions(name, values, present, missing)
        return ColumnGuess(name, "category", tuple(questions), identifier=present.nunique() > MOST_CATEGORIES)
    kind = "number" if plain.str.contains(r"\.\d", na=False).any() else "whole"
    numbers = numbers.dropna()
    questions = _number_questions(name, values, present, numbers, missing, is_outcome)
    return ColumnGuess(name, kind, tuple(questions), identifier=is_unique_number(numbers))


def _category_questions(name: str, values: pd.Series, present: pd.Series, missing: Sequence[str]) -> list[str]:
    counts = present.value_counts()
    if counts.size and counts.index.to_series().str.fullmatch(DATE).mean() > MOST:
        questions = [f"{name}: {DATES}"]
    elif _grouped(counts.index.to_series()):
        questions = [f"{name}: contains numbers with spaces, apostrophes or other marks between thousands. Remove them."]
    elif counts.size > MOST_CATEGORIES:
        questions = [f"{name}: has {counts.size} different values; is it a person's name or number? Then suppress it."]
    elif counts.size < 2:
        only = "has the same value in every row" if counts.size else "has no value"
        return [f"{name}: {only}, and a release needs at least two public categories. Suppress it, unless you know more of them."]
    else:
        listing = yaml_text(list(map(str, counts.index)), flow=True).strip()
        questions = [f"{name}: the file has {listing}. Which categories are public? Declare those."]
        questions += [
            f"{name}: {category} is rare ({number} rows): expect poor utility for it."
            for category, number in counts.items()
            if number < RARE
        ]
    return questions + _missing_question(name, values, missing)


def _grouped(values: pd.Series) -> bool:
    """Return True for numbers, some of which have marks between thousands."""
    grouped = values.str.fullmatch(GROUPED)
    return bool(grouped.any() and (grouped | values.str.fullmatch(NUMBER)).mean() > MOST)


def _number_questions(
    name: str, values: pd.Series, present: pd.Series, numbers: pd.Series, missing: Sequence[str], is_outcome: bool
) -> list[str]:
    questions = [
        f"{name}: which bounds does everyone know without this file? Do not read them off the data: that is a leak. The same "
        "applies to its type (whole or number), which was guessed from the file, and to its decimals: a release shows both."
    ]
    if present.str.contains("[.,]").any() and present[present.str.contains("[.,]")].str.fullmatch(PARTED).all():
        questions.append(f"{name}: are there decimals, or marks between thousands? {DOUBT[0].upper()}{DOUBT[1:]}.")
    if is_unique_number(numbers):
        questions.append(f"{name}: has a different whole number in every row; is it an identifier? Then suppress it.")
    elif is_weight(name, numbers):
        questions.append(f"{name}: {SURVEY_WEIGHT}")
    far = far_above(numbers)
    if far:
        questions.append(f"{name}: {far} value{'s are' if far != 1 else ' is'} far above the rest; declare public bounds.")
    if is_outcome and (numbers == 0).any():
        questions.append(
            f"{name}: {int((numbers == 0).sum())} values are 0; are they amounts, or do they mean something else? "
            "own_zero: true keeps their share."
        )
    if (numbers < 0).any():
        questions.append(
            f"{name}: {int((numbers < 0).sum())} values are below 0; is that intended? For amounts of both signs, use "
            "scale: signed_log with a unit."
        )
    return questions + _missing_question(name, values, missing)


def _missing_question(name: str, values: pd.Series, missing: Sequence[str]) -> list[str]:
    absent = int(values.isin(missing).sum())
    if not absent:
        return []
    return [
        f"{name}: {absent} values are missing. may_be_missing: true (with missing: refuse) keeps their share; otherwise the "
        "rows are left out (missing: drop_rows)."
    ]


def _column(guess: ColumnGuess, outcome: str, known: Mapping[str, object]) -> dict[str, object]:
    column: dict[str, object] = {"type": known.get("type", guess.type)}
    wanted = ("categories",) if column["type"] == "category" else ("lower", "upper")
    column |= {key: known.get(key, DECLARE) for key in wanted}
    if column["type"] == "number":
        column["decimals"] = DECLARE
    if guess.name == outcome:
        return {"name": guess.name, **column}
    return {"name": guess.name, **column, "release": DECLARE if guess.identifier else "synthesized"}


def _questions(csv: Path, table: pd.DataFrame, guesses: Sequence[ColumnGuess]) -> str:
    lines = [
        "CONFIDENTIAL: the following was read from the data. Do not send it to anyone, and do not copy it into a release.",
        "",
    ]
    lines += [f"The file has {len(table)} rows. Is that number public? With neighbours: replace, a release shows it."]
    lines += [f"Who is protected: what does a row describe, and is each of them in one row only? {NEIGHBOURS}", ""]
    return "\n".join([*lines, *(f"- {question}" for guess in guesses for question in guess.questions), ""])
