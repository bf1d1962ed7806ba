"""Declarations of a user: ``schema.yaml`` and ``release.yaml`` of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from formalsynth.core.model import Identifier
from formalsynth.settings.messages import ConfigError, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_release.schema import RELEASE, SCHEMA, Column, Name, PublicSchema, ReleaseConfig

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
    delimiter: Literal[",", ";", "\t", "|", " "] = ","
    """Character between two values of a row."""
    decimal: Literal[".", ","] = "."
    """Decimal separator of numbers."""
    missing_values: list[str] = Field(default_factory=lambda: [""])
    """Texts that mark a missing value in all columns."""
    thousands: Literal[",", ".", " ", "'", "none"] | None = None
    """Mark between thousands of numbers, or none; without it, check asks where a mark could be either."""
    person: Name | None = None
    """Suppressed column that names the protected unit of a row."""
    rows: int = Field(ge=2, le=10**9)
    """Number of rows, without the header; public where neighbours is replace."""

    def _wrong(self) -> Iterator[str]:
        yield from super()._wrong()
        for name, column in self.columns.items():
            for category in {"", *self.missing_values} & set(column.categories or []):
                yield f"columns.{name}.categories has {category!r}, which is a missing value: see missing_values"
            if within := [code for code in self.missing_values if _between(code, column)]:
                yield (
                    f"missing_values has {within[0]!r} for all columns, and it is between the bounds of columns.{name}: declare "
                    f"it where it marks a missing value, as in recode: {{ '{within[0]}': '' }}"
                )
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
