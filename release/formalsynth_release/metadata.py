"""Metadata in the formats of statistical offices, read and written: SmartNoise's YAML and CSVW-EO's JSON.

Both contain less than a schema: neither states the treatment of values outside the bounds, nor that of predictors in a release.
These are left open for the user to declare.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from formalsynth.core.text import DataError
from formalsynth.runtime.files import write_text
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import check_size, load_yaml, yaml_text
from formalsynth_release.csv_file import MOST_ROWS
from formalsynth_release.schema import Column, Schema

CONTEXT = "http://www.w3.org/ns/csvw"
EXTENDED = "https://w3id.org/csvw-eo#"
"""Namespaces of CSVW and of its extension."""
SMARTNOISE = {"number": "float", "whole": "int", "category": "string"}
CSVW = {"number": "double", "whole": "integer", "category": "string"}
NUMBERS = ("float", "double", "decimal", "number")
WHOLE = ("int", "integer", "long", "short", "byte", "unsigned", "positiveInteger", "nonNegativeInteger", "negativeInteger")
TABLE_KEYS = ("max_ids", "row_privacy", "rows", "sample_max_ids", "censor_dims", "clamp_counts", "clamp_columns", "use_dpsu")
"""Keys of a table in SmartNoise's metadata; every other key is a column."""
Tree = Mapping[str, object]


@dataclass(frozen=True)
class FileMetadata:
    """Facts about a file from its metadata."""

    rows: int | None = None
    protected: str | None = None
    columns: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Type, bounds and categories of each column, as far as they are given."""


def read_metadata(path: Path) -> FileMetadata:
    """Read metadata in SmartNoise's or CSVW-EO's format.

    Raises:
        DataError: the file is missing, is in neither format, or allows a person to be in several rows.
    """
    try:
        is_json = path.suffix in (".json", ".jsonld")
        tree = json.loads(check_size(path).read_text(encoding="utf-8")) if is_json else load_yaml(path)
    except ConfigError as error:
        if error.__cause__ is None:
            raise DataError(str(error)) from error
        raise DataError(_unparsed(path, error.__cause__)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(_unparsed(path, error)) from None
    if _is_tree(tree) and "tableSchema" in tree:
        return _from_csvw(tree, path)
    if _is_tree(tree):
        return _from_smartnoise(tree, path)
    raise DataError(f"{path}: is neither SmartNoise metadata (YAML) nor CSVW-EO (JSON with tableSchema)")


def _unparsed(path: Path, error: BaseException) -> str:
    """Report a file that cannot be parsed, without the parser's message, which may quote a confidential file."""
    mark = getattr(error, "problem_mark", None)
    line = getattr(error, "lineno", None) or (mark.line + 1 if mark else None)
    reason = error.strerror if isinstance(error, OSError) else f"line {line}" if line else "it is damaged"
    return f"{path}: cannot be read as metadata ({reason}): give SmartNoise metadata (YAML) or CSVW-EO (JSON)"


def _is_tree(value: object) -> TypeGuard[Tree]:
    return isinstance(value, dict)


def _from_smartnoise(tree: Tree, path: Path) -> FileMetadata:
    table: object = tree
    for _ in range(3):  # collection, schema, table
        inner = list(table.values()) if _is_tree(table) else []
        if len(inner) != 1:
            raise DataError(f"{path}: has {len(inner)} collections, schemas or tables at one level; give a file with one table")
        table = inner[0]
    if not _is_tree(table):
        raise DataError(f"{path}: its table has no columns")
    _check_once(path, "max_ids", table.get("max_ids", 1))
    columns = {}
    for name, column in table.items():
        if name not in TABLE_KEYS and _is_tree(column):
            given = {"lower": column.get("lower"), "upper": column.get("upper")}
            columns[name] = _column(str(column.get("type")), given, None)
    return FileMetadata(_rows(table.get("rows")), None, columns)


def _from_csvw(tree: Tree, path: Path) -> FileMetadata:
    _check_once(path, "maxContributions", tree.get("maxContributions", 1))
    schema = tree["tableSchema"]
    listed = schema.get("columns") if _is_tree(schema) else None
    if not isinstance(listed, list) or not all(map(_is_tree, listed)):
        raise DataError(f"{path}: tableSchema.columns: is missing or invalid; allowed: a list of columns")
    columns = {}
    for column in listed:
        given = {"lower": column.get("minimum"), "upper": column.get("maximum")}
        datatype = column.get("datatype")
        base = datatype.get("base") if _is_tree(datatype) else datatype
        columns[str(column.get("name"))] = _column(str(base), given, column.get("keyValues"))
    unit = tree.get("privacyUnit")
    return FileMetadata(_rows(tree.get("publicLength")), str(unit) if unit else None, columns)


def _check_once(path: Path, key: str, given: object) -> None:
    if given not in (1, None):
        raise DataError(f"{path}: {key}: given {given!r}; allowed: 1, since each person may be in one row only")


def _rows(given: object) -> int | None:
    return given if isinstance(given, int) and 1 < given <= MOST_ROWS else None


def _column(kind: str, bounds: Mapping[str, object], categories: object) -> dict[str, object]:
    known: dict[str, object] = {"type": "number" if kind in NUMBERS else "whole" if kind.startswith(WHOLE) else "category"}
    if known["type"] == "category":
        return known | ({"categories": [str(category) for category in categories]} if isinstance(categories, list) else {})
    return known | {key: value for key, value in bounds.items() if _is_bound(value)}


def _is_bound(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def write_metadata(schema: Schema, path: Path) -> None:
    """Write a schema as metadata: CSVW-EO for a name that ends in .json, else SmartNoise's YAML.

    Raises:
        DataError: the name ends in something else, or the file exists: it may be the schema itself.
    """
    if os.path.lexists(path):
        raise DataError(f"{path}: already exists; delete it, or choose another name with --to")
    if path.suffix == ".json":
        write_text(path, json.dumps(csvw(schema), indent=2, ensure_ascii=False) + "\n")
    elif path.suffix in (".yaml", ".yml"):
        write_text(path, yaml_text(smartnoise(schema), width=80))
    else:
        raise DataError(f"{path}: allowed: a name that ends in .json for CSVW-EO, or in .yaml for SmartNoise")


def smartnoise(schema: Schema) -> dict[str, object]:
    """Convert a schema to SmartNoise metadata."""
    table: dict[str, object] = {"max_ids": schema.rows_each, "row_privacy": True} | _public_rows(schema, "rows")
    table |= {"clamp_columns": schema.outside_bounds == "clip"}
    for name, column in schema.columns.items():
        table[name] = {
            "type": SMARTNOISE[column.type],
            "nullable": _nullable(schema, column),
            **_bounds(column, "lower", "upper"),
        }
    return {"": {"MySchema": {Path(schema.file).stem: table}}}


def csvw(schema: Schema) -> dict[str, object]:
    """Convert a schema to CSVW-EO."""
    return {
        "@context": [CONTEXT, {"eo": EXTENDED}], "@type": "Table", "privacyUnit": schema.protected,
        "maxContributions": schema.rows_each, **_public_rows(schema, "publicLength"),
        "tableSchema": {"columns": [
            csvw_column(name, column) | {"@type": "Column", "required": not _nullable(schema, column)}
            for name, column in schema.columns.items()
        ]},
    }  # fmt: skip


def _public_rows(schema: Schema, key: str) -> dict[str, object]:
    """Put the number of rows of the file under a key, if it is public."""
    return {} if schema.public.rows is None else {key: schema.public.rows}


def _nullable(schema: Schema, column: Column) -> bool:
    """Return True if a column of the file may have missing values."""
    return schema.missing != "refuse" or column.may_be_missing


def csvw_column(name: str, column: Column) -> dict[str, object]:
    """Describe a column in CSVW, with the public keys of the extension."""
    keys = {"keyValues": column.categories, "exhaustiveKeys": True} if column.categories else {}
    return {"name": name, "datatype": CSVW[column.type], **_bounds(column, "minimum", "maximum"), **keys}


def _bounds(column: Column, low: str, high: str) -> dict[str, object]:
    return {key: value for key, value in ((low, column.lower), (high, column.upper)) if value is not None}
