"""Declarations of a user: ``schema.yaml`` and ``release.yaml`` of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from formalsynth.core.model import Identifier
from formalsynth.settings.messages import ConfigError, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_release.schema import RELEASE, SCHEMA, Analyses, Column, Name, PublicSchema, ReleaseConfig

DECLARE = "DECLARE"
"""Mark of a value that the author still has to declare."""


def _between(code: str, column: Column) -> bool:
    """Return True for a number between the bounds of a column of numbers."""
    try:
        number = float(code)
    except ValueError:
        return False
    return column.lower is not None and column.upper is not None and column.lower <= number <= column.upper


class Schema(PublicSchema):
    """Declarations of a file: its format, and what may be published."""

    file: str = Field(min_length=1)
    """Path of the file, relative to the folder of the schema."""
    encoding: str = "utf-8"
    """Encoding of the file."""
    delimiter: str = Field(",", min_length=1, max_length=1)
    """Character between two values of a row."""
    decimal: Literal[".", ","] = "."
    """Decimal separator of numbers."""
    missing_values: list[str] | dict[Name, list[str]] = Field(default_factory=lambda: [""])
    """Texts that mark a missing value: of all columns, or a list for each of some."""
    thousands: Literal[",", ".", " ", "'", "none"] | None = None
    """Mark between thousands of numbers, or none; without it, check asks where a mark could be either."""
    person: Name | None = None
    """Suppressed column that names the protected unit of a row."""
    rows: int = Field(ge=2, le=10**9)
    """Number of rows, without the header; public where neighbours is replace."""

    @model_validator(mode="after")
    def _present_values(self) -> Self:
        if isinstance(self.missing_values, dict) and (
            unknown := [name for name in self.missing_values if name not in self.columns]
        ):
            raise ValueError(f"missing_values has {', '.join(unknown)}; allowed: {', '.join(self.columns)}")
        for name, column in self.columns.items():
            for category in {"", *self.missing_in(name)} & set(column.categories or []):
                raise ValueError(f"columns.{name}.categories has {category!r}, which is a missing value: see missing_values")
            for code in self.missing_values if isinstance(self.missing_values, list) else []:
                if _between(code, column):
                    raise ValueError(
                        f"missing_values has {code!r} for all columns, and it is between the bounds of columns.{name}: declare a "
                        "list for each column that has such codes, as in missing_values: { age: ['', '99'] }"
                    )
        return self

    @model_validator(mode="after")
    def _persons(self) -> Self:
        if self.person and (self.person not in self.columns or self.columns[self.person].release != "suppressed"):
            raise ValueError("person has to be a suppressed column, which names the protected unit of a row")
        if self.rows_each > 1 and not self.person:
            raise ValueError("rows_each above 1 needs person: the suppressed column that names the protected unit of a row")
        if self.thousands == self.decimal:
            raise ValueError("thousands and decimal have to be different marks")
        return self

    def missing_in(self, name: str) -> list[str]:
        """Texts that mark a missing value of a column."""
        return self.missing_values if isinstance(self.missing_values, list) else self.missing_values.get(name, [""])

    @property
    def public(self) -> PublicSchema:
        """The part that may be published, without suppressed columns, the file, and the number of rows if it is confidential."""
        kept = {name: getattr(self, name) for name in PublicSchema.model_fields}
        rows = self.rows if self.neighbours == "replace" and self.rows_each == 1 else None
        return PublicSchema.model_construct(**kept | {"rows": rows, "columns": self.released})


@dataclass(frozen=True)
class Declared:
    """Declarations of a file, with their folder."""

    name: Identifier
    """Name of the study and of its folder."""
    folder: Path
    schema: Schema

    @property
    def csv(self) -> Path:
        """The confidential file."""
        return self.folder / self.schema.file


def read_declared(folder: Path) -> Declared:
    """Read the schema of a study.

    Raises:
        ConfigError: a line for each key that is missing, not filled in yet or not allowed, also for those of ``release.yaml``.
    """
    try:
        values = declarations(folder / SCHEMA)
        return Declared(folder.resolve().name, folder, validated(Schema, values, folder / SCHEMA))
    except ConfigError as error:
        raise ConfigError("\n".join([str(error), *_wrong_in_release(folder)])) from error


def _wrong_in_release(folder: Path) -> list[str]:
    """List the mistakes in the settings of a release, which are shown together with those of the schema."""
    try:
        if (folder / RELEASE).exists() and not any(undeclared(load_yaml(folder / RELEASE))):
            read_release(folder)
    except ConfigError as error:
        return [str(error)]
    return []


def read_release(folder: Path) -> ReleaseConfig:
    """Read the settings of a release.

    Raises:
        ConfigError: a line for each key that is missing, not filled in yet or not allowed.
    """
    return validated(ReleaseConfig, declarations(folder / RELEASE), folder / RELEASE)


def read_analyses(folder: Path) -> Analyses:
    """Read the declared analyses for a check of the file, before all else is filled in.

    Raises:
        ConfigError: they are not valid.
    """
    given = load_yaml(folder / RELEASE).get("analyses")
    return validated(Analyses, {} if given in (None, DECLARE) else given, folder / RELEASE, "analyses")


def declarations(path: Path) -> dict[object, object]:
    """Read a file in which every key must be filled in; unfilled keys of suppressed columns are ignored.

    Raises:
        ConfigError: the file cannot be read, or keys are not filled in yet, with a line for each.
    """
    values = _without_suppressed(dict(load_yaml(path)))
    open_questions = [f"{path}: {key}: is not filled in yet; replace {DECLARE} with the true value" for key in undeclared(values)]
    if open_questions:
        raise ConfigError("\n".join(open_questions))
    return values


def _without_suppressed(values: dict[object, object]) -> dict[object, object]:
    columns = values.get("columns")
    if not isinstance(columns, dict):
        return values
    kept = {
        name: {key: value for key, value in column.items() if value != DECLARE}
        if isinstance(column, dict) and column.get("release") == "suppressed"
        else column
        for name, column in columns.items()
    }
    return {**values, "columns": kept}


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
