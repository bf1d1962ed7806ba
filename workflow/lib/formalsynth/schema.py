"""JSON schemas of the config and the tables of config/README.md, written from what validates the config.

Run as ``python -m formalsynth.schema`` after a change of :mod:`formalsynth.config` or of a registry (mechanisms, families,
populations, data sets); ``--check`` only compares. Editors complete and check keys with the schemas.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from formalsynth.config import ClaimsConfig, PaperConfig, RunConfig
from formalsynth.datasets import DATASETS, TABLES
from formalsynth.families import FAMILIES
from formalsynth.files import write_text
from formalsynth.mechanisms import MECHANISMS
from formalsynth.populations import POPULATIONS
from formalsynth.studies import STUDIES

REPOSITORY = Path(__file__).parents[3]
SCHEMAS: dict[str, type[BaseModel]] = {"config": RunConfig, "paper": PaperConfig, "claims": ClaimsConfig}
"""Models by the name of their schema file."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def main() -> int:
    """Command line: write the schemas and tables, or say which are out of date."""
    parser = argparse.ArgumentParser(prog="python -m formalsynth.schema", description="Write the config's schemas and tables.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
    options = parser.parse_args()
    stale = [(path, text) for path, text in rendered(REPOSITORY).items() if not path.exists() or path.read_text() != text]
    for path, text in stale:
        if options.check:
            print(f"{path.relative_to(REPOSITORY)} is out of date: run python -m formalsynth.schema", file=sys.stderr)
        else:
            write_text(path, text)
    return 1 if stale and options.check else 0


def rendered(repository: Path) -> dict[Path, str]:
    """What each generated file of a repository has to hold."""
    schemas = {name: schema_of(model) for name, model in SCHEMAS.items()}
    files = {
        repository / "workflow" / "schemas" / f"{name}.schema.json": json.dumps(one, indent=2, ensure_ascii=False) + "\n"
        for name, one in schemas.items()
    }
    readme = repository / "config" / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, one in schemas.items():
        text = _between(text, f"tables of {name}", "\n\n".join(tables(one)))
    return {**files, readme: _between(text, "names", "\n\n".join(names()))}


def schema_of(model: type[BaseModel]) -> Schema:
    """The JSON schema of a model, without references: pages that show schemas do not follow them."""
    schema = model.model_json_schema(schema_generator=_WithDefaults)
    definitions = schema.pop("$defs", {})
    return {"$schema": DIALECT, **_plain(schema, definitions)}


class _WithDefaults(GenerateJsonSchema):
    """Also shows the defaults that a factory makes."""

    def get_default_value(self, schema: Any) -> Any:
        factory = schema.get("default_factory")
        return factory() if factory else super().get_default_value(schema)


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """A schema with its references replaced, its titles dropped, and its maps closed to keys that match no pattern."""
    if isinstance(schema, list):
        return [_plain(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return _plain({**definitions[name], **{key: value for key, value in schema.items() if key != "$ref"}}, definitions)
    plain = {
        key: {name: _plain(one, definitions) for name, one in value.items()}
        if key in ("properties", "patternProperties")
        else _plain(value, definitions)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
    return {**plain, "additionalProperties": False} if "patternProperties" in plain else plain


def tables(schema: Schema) -> list[str]:
    """Markdown tables of a schema, one for each section, each under the path of its keys."""
    return [
        f"{f'`{path}`' if path else 'Top level'}: {_markdown(section['description'])}\n\n{_keys(section)}"
        for path, section in sections(schema)
    ]


def names() -> list[str]:
    """Markdown tables of the names that config may use, from the registries."""
    mechanisms = [
        (f"`{name}`", one.study or "none", _first_sentence(one.function), _parameters(one.parameters()), one.guarantee)
        for name, one in MECHANISMS.items()
    ]
    families = [(f"`{name}`", _parameters(one.priors)) for name, one in FAMILIES.items()]
    data = [(f"`{name}`", f"`{one.file}`", one.source) for name, one in (DATASETS | TABLES).items()]
    return [
        _table(("mechanism", "study", "what", "parameters", "kind of guarantee"), mechanisms),
        _functions("study", {name: one.function for name, one in STUDIES.items()}),
        _functions("population", POPULATIONS),
        _table(("family", "priors"), families),
        _table(("data", "file", "source"), data),
    ]


def _functions(kind: str, functions: Mapping[str, Any]) -> str:
    """The table of a registry of functions whose keyword-only parameters are what config may give."""
    rows = [(f"`{name}`", _first_sentence(one), _parameters(_keywords(one))) for name, one in functions.items()]
    return _table((kind, "what", "parameters"), rows)


def _first_sentence(function: Any) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def _keywords(function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def _parameters(values: Mapping[str, Any]) -> str:
    """Names, with the default where there is one; a leading underscore marks what config cannot give."""
    given = {name: value for name, value in values.items() if not name.startswith("_")}
    return ", ".join(f"`{name}`" if value is inspect.Parameter.empty else f"`{name}={value}`" for name, value in given.items())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_markdown(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _markdown(text: str) -> str:
    """Text of a docstring or description, with angle brackets outside code as they are."""
    parts = text.replace("``", "`").split("`")
    return "`".join(part if k % 2 else part.replace("<", "&lt;") for k, part in enumerate(parts))


def sections(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """The sections of a schema with their paths, outer ones first."""
    if "properties" in schema:
        yield path, schema
    for key, one in schema.get("properties", {}).items():
        for variant in _variants(one):
            yield from sections(variant, f"{path}.{key}".lstrip("."))
            yield from sections(variant.get("items", {}), f"{path}.{key}.<each>".lstrip("."))
    for one in _values(schema):
        for variant in _variants(one):
            yield from sections(variant, f"{path}.<name>")


def _keys(section: Schema) -> str:
    required = section.get("required", ())
    rows = [
        (f"`{key}`", one["description"], _allowed(one), "required" if key in required else _default(one.get("default")))
        for key, one in section["properties"].items()
    ]
    return _table(("key", "what", "allowed", "default"), rows)


def _default(value: Any) -> str:
    if value in (None, "", [], {}):
        return "none"
    return "see its table" if isinstance(value, dict) else f"`{json.dumps(value, ensure_ascii=False)}`"


def _allowed(schema: Schema) -> str:
    """A schema in words."""
    variants = [one for one in _variants(schema) if one.get("type") != "null"]
    if len(variants) > 1:
        return ", or ".join(_allowed(one) for one in variants)
    one = variants[0]
    if "enum" in one or "const" in one:
        return " or ".join(f"`{value}`" for value in one.get("enum", [one.get("const")]))
    if one.get("type") == "array":
        if "properties" in one["items"]:
            return "list, see its table"
        items = _allowed(one["items"])
        return f"list of ({items})" if " or " in items else f"list of {items}"
    if "properties" in one:
        return "see its table"
    if one.get("type") == "object":
        values = _values(one)
        return f"by name: {_allowed(values[0])}" if values else "keys and values"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {one[key]}" for key, sign in signs.items() if key in one]
    return " ".join([words[one["type"]], ", ".join(limits)]).strip()


def _variants(schema: Schema) -> list[Schema]:
    return schema.get("anyOf") or [schema]


def _values(schema: Schema) -> list[Schema]:
    """Schemas of the values of a map whose keys are free."""
    free = schema.get("additionalProperties")
    return [*schema.get("patternProperties", {}).values(), *([free] if isinstance(free, dict) else [])]


def _between(text: str, name: str, inside: str) -> str:
    """The text with what stands between the two marks of that name replaced."""
    start, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"config/README.md needs the marks {start} and {end} once")
    return pattern.sub(lambda _: f"{start}\n\n{inside}\n\n{end}", text)


if __name__ == "__main__":
    sys.exit(main())
