"""Drafts of a study's files: commented YAML with placeholders for its author to fill in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

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
    lines = [f"{_one(column['name'])}: {_one({k: v for k, v in column.items() if k != 'name'})}" for column in columns]
    thousands = f"\nthousands: {written.thousands}" if written.thousands else ""
    decimal = (
        f"{DECLARE}\nthousands: {DECLARE} # mark between thousands, or none" if grouped else _one(written.decimal) + thousands
    )
    given = {
        "file": file,
        "encoding": written.encoding,
        "delimiter": written.delimiter,
        "missing": list(missing),
        "outcome": outcome,
    }
    texts = {key: _one(value) for key, value in given.items()}
    return _rendered("schema.yaml", texts | {"decimal": decimal, "neighbours": NEIGHBOURS, "columns": lines})


def release_text() -> str:
    """Write the draft of a release's settings, with placeholders."""
    return _rendered("release.yaml", {})


def _rendered(name: str, given: Mapping[str, object]) -> str:
    environment = Environment(
        loader=PackageLoader("formalsynth_release"), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    return environment.get_template(f"{name}.j2").render(given, declare=DECLARE)


def _one(value: object) -> str:
    """Write a value as one line of YAML."""
    text = yaml_text(value, flow=True)
    return text.removesuffix("\n").removesuffix("\n...")
