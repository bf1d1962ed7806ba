"""Declarations of a user: ``schema.yaml`` and ``release.yaml`` of a study."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from formalsynth.core.model import Identifier, Model
from formalsynth.settings.messages import ConfigError, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_release.possible import wrong_column, wrong_schema
from formalsynth_release.schema import RELEASE, SCHEMA, Categories, Column, Name, PublicSchema, ReleaseConfig

MOST_DIGITS = 4  # largest number of digits of codes that may be declared as a range
DECLARE = "DECLARE"  # mark of a value that the author still has to declare


Section = TypeVar("Section", bound=Model)


def possible(section: Section, problems: Iterator[str]) -> Section:
    """Return a section without problems.

    Raises:
        ValueError: it has one.
    """
    if wrong := next(problems, ""):
        raise ValueError(wrong)
    return section


def _between(code: str, column: Column) -> bool:
    """Return True for a number between the bounds of a column of numbers."""
    with contextlib.suppress(ValueError):
        return column.lower is not None and column.upper is not None and column.lower <= float(code) <= column.upper
    return False


def _spelled_out(given: object) -> object:
    """Write out a range of codes: 01..99 or A..Z."""
    only = given[0] if isinstance(given, list) and len(given) == 1 else given
    first, dots, last = only.partition("..") if isinstance(only, str) else ("", "", "")
    if len(first) == len(last) <= MOST_DIGITS and (first + last).isascii() and (first + last).isdigit():
        return [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    if dots and not len(first) == len(last) == 1:
        raise ValueError("allowed: whole numbers of equal length up to 9999, such as 10..17, letters such as A..Z, or a list")
    return [chr(letter) for letter in range(ord(first), ord(last) + 1)] if dots else given


class DeclaredColumn(Column):
    """Column as declared by a user."""

    categories: Annotated[Categories | None, BeforeValidator(_spelled_out)] = None

    @model_validator(mode="after")
    def _possible(self) -> Self:
        return possible(self, wrong_column(self))


class Schema(PublicSchema):
    """Declarations of a file: its format, and what may be published."""

    columns: Mapping[Name, DeclaredColumn] = Field(min_length=1)

    file: str = Field(min_length=1)  # path of the file, relative to the folder of the schema
    encoding: str = "utf-8"  # encoding of the file
    delimiter: Literal[",", ";", "\t", "|", " "] = ","  # character between two values of a row
    decimal: Literal[".", ","] = "."  # decimal separator of numbers
    missing_values: list[str] = Field(default_factory=lambda: [""])  # texts that mark a missing value in all columns
    thousands: Literal[",", ".", " ", "'", "none"] | None = None
    """Mark between thousands of numbers, or none; without it, check asks where a mark could be either."""
    person: Name | None = None  # suppressed column that names the protected unit of a row
    rows: int = Field(ge=2, le=10**9)  # number of rows, without the header; public where neighbours is replace

    @model_validator(mode="after")
    def _possible(self) -> Self:
        return possible(self, self._wrong())

    def _wrong(self) -> Iterator[str]:
        yield from wrong_schema(self)
        for name, column in self.columns.items():
            for category in {"", *self.missing_values} & set(column.categories or []):
                yield f"columns.{name}.categories has {category!r}, which is a missing value: see missing_values"
            for within in [code for code in self.missing_values if _between(code, column)][:1]:
                where = f"declare it where it marks a missing value, as in recode: {{ '{within}': '' }}"
                yield f"missing_values has {within!r} for all columns, and it is between the bounds of columns.{name}: {where}"
        if self.person and (self.person not in self.columns or self.columns[self.person].release != "suppressed"):
            yield "person has to be a suppressed column, which names the protected unit of a row"
        if self.rows_each > 1 and not self.person:
            yield "rows_each above 1 needs person: the suppressed column that names the protected unit of a row"
        if self.thousands == self.decimal:
            yield "thousands and decimal have to be different marks"

    @property
    def public(self) -> PublicSchema:
        """The part that may be published, without suppressed columns, the file, and the number of rows if it is confidential."""
        kept = {name: getattr(self, name) for name in PublicSchema.model_fields}
        rows = self.rows if self.neighbours == "replace" and self.rows_each == 1 else None
        columns = {name: Column.model_construct(**dict(column)) for name, column in self.released.items()}
        return PublicSchema.model_construct(**kept | {"rows": rows, "columns": columns})


@dataclass(frozen=True)
class Declared:
    """Declarations of a file, with their folder."""

    name: Identifier  # name of the study and of its folder
    folder: Path
    schema: Schema

    @property
    def csv(self) -> Path:
        """The confidential file."""
        return self.folder / self.schema.file


def read_declared(folder: Path) -> Declared:
    """Read the schema of a study.

    Raises:
        ConfigError: a line for each key that is missing, not filled in yet or not allowed.
    """
    values = declarations(folder / SCHEMA)
    return Declared(folder.resolve().name, folder, validated(Schema, values, folder / SCHEMA))


def read_release(folder: Path) -> ReleaseConfig:
    """Read the settings of a release.

    Raises:
        ConfigError: a line for each key that is missing, not filled in yet or not allowed.
    """
    return validated(ReleaseConfig, declarations(folder / RELEASE), folder / RELEASE)


def declarations(path: Path) -> dict[object, object]:
    """Read a file in which every key must be filled in; unfilled keys of suppressed columns are ignored.

    Raises:
        ConfigError: the file cannot be read, or keys are not filled in yet, with a line for each.
    """
    values = dict(load_yaml(path))
    columns = values.get("columns")
    for column in columns.values() if isinstance(columns, dict) else []:
        if isinstance(column, dict) and column.get("release") == "suppressed":
            for key in [key for key, value in column.items() if value == DECLARE]:
                del column[key]
    open_questions = [f"{path}: {key}: is not filled in yet; replace {DECLARE} with the true value" for key in undeclared(values)]
    if open_questions:
        raise ConfigError("\n".join(open_questions))
    return values


def undeclared(values: object, path: str = "") -> Iterator[str]:
    """Yield the paths of keys that still have to be declared."""
    if values == DECLARE:
        yield path
    elif isinstance(values, Mapping):
        for key, value in values.items():
            yield from undeclared(value, f"{path}.{key}" if path else str(key))
    elif isinstance(values, list):
        for place, value in enumerate(values):
            yield from undeclared(value, f"{path}.{place}")
