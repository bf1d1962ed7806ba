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
    columns: Mapping[str, Mapping[str, object]],
) -> str:
    """Write the draft of a schema, with its questions as comments."""
    given = {"file": file, "written": written, "grouped": grouped, "missing": list(missing), "outcome": outcome}
    return _rendered("schema.yaml", given | {"neighbours": NEIGHBOURS, "columns": columns})


def release_text() -> str:
    """Write the draft of a release's settings, with placeholders."""
    return _rendered("release.yaml", {})


def _rendered(name: str, given: Mapping[str, object]) -> str:
    environment = Environment(
        loader=PackageLoader("formalsynth_release"), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    environment.filters["one"] = _one
    return environment.get_template(f"{name}.j2").render(given, declare=DECLARE)


def _one(value: object) -> str:
    """Write a value as one line of YAML."""
    text = yaml_text(value, flow=True)
    return text.removesuffix("\n").removesuffix("\n...")
