"""JSON schemas of the config, tables of config/README.md and description of resources/, from models and registers.

Run as ``python -m formalsynth.plan.docs`` after changing a section of the config or a registered entry (mechanisms, families,
populations, studies, data files, kinds of figures, tables and tests); ``--check`` only compares. Editors use the schemas to
complete and check keys.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from formalsynth.core.data_files import FILES, Dataset, shipped
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Mechanism
from formalsynth.core.parameters import Parameters
from formalsynth.core.population import POPULATIONS, Population
from formalsynth.core.registry import REPOSITORY
from formalsynth.core.study import STUDIES, Study
from formalsynth.displays.figure import FIGURES
from formalsynth.displays.table import TABLES
from formalsynth.ledger.errata import ErrataConfig
from formalsynth.plan.marks import between
from formalsynth.plan.model import ArmEntry, ClaimsConfig, PaperConfig, RunConfig, SynthesizerEntry, find_all
from formalsynth.plan.studies import StudyKeys
from formalsynth.runtime.files import write_text

README = "config/README.md"
SCHEMAS: dict[str, type[BaseModel]] = {"config": RunConfig, "paper": PaperConfig, "claims": ClaimsConfig, "errata": ErrataConfig}
"""Models by the name of their schema file."""
PAPER = "paper.schema.json#/properties"
"""Path to the sections of a paper, from the schema of studies in the same folder."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def main() -> int:
    """Command line: write the schemas and tables, or report which are out of date."""
    parser = argparse.ArgumentParser(prog="python -m formalsynth.plan.docs", description="Write the config's schemas and tables.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is out of date")
    options = parser.parse_args()
    stale = [(path, text) for path, text in rendered(REPOSITORY).items() if not path.exists() or path.read_text() != text]
    for path, text in stale:
        if options.check:
            print(f"{path.relative_to(REPOSITORY)} is out of date: run python -m formalsynth.plan.docs", file=sys.stderr)
        else:
            write_text(path, text)
    return 1 if stale and options.check else 0


def rendered(repository: Path) -> dict[Path, str]:
    """Contents of the generated files of a repository, by path."""
    find_all()
    schemas = {name: schema_of(model) for name, model in SCHEMAS.items()}
    study = schema_of(StudyKeys)
    files = {
        repository / "workflow" / "schemas" / f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in {**schemas, "study": study_schema(study, schemas["paper"])}.items()
    }
    readme = repository / "config" / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, schema in {**schemas, "study": study}.items():
        text = between(text, f"tables of {name}", "\n\n".join(unrepeated(tables(schema))), README)
    text = between(text, "names", "\n\n".join(names()), README)
    package = {repository / "resources" / "datapackage.json": json.dumps(data_package(), indent=2, ensure_ascii=False) + "\n"}
    return {**files, **package, readme: between(text, "contents", contents(text), README)}


def data_package() -> dict[str, object]:
    """Return the description of the data files in the repository, as a Frictionless Data Package."""
    files = {entry.file: entry for entry in FILES.values() if entry.licence}
    resources = [_resource(entry, path) for _, entry in sorted(files.items()) for path in shipped(entry.file) if path.is_file()]
    return {"name": "formalsynth-data", "title": "Public data of the five papers", "resources": resources}


def _resource(entry: Dataset, path: Path) -> dict[str, object]:
    title, source = entry.source.split(": ", 1)
    packed = {"compression": "gz", "sha256_uncompressed": entry.sha256} if path.suffix == ".gz" else {}
    return {
        "name": re.sub(r"[^a-z0-9]+", "-", entry.file.lower()), "path": path.name, "title": title, "sources": [{"title": source}],
        "licenses": [{"name": entry.licence}], "rows": entry.rows,
        "hash": f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}", **packed,
    }  # fmt: skip


def schema_of(model: type[BaseModel]) -> Schema:
    """Return the JSON schema of a model, without references: pages that show schemas do not follow them."""
    schema = model.model_json_schema(schema_generator=_WithDefaults)
    definitions = schema.pop("$defs", {})
    return {"$schema": DIALECT, **_plain(schema, definitions)}


def study_schema(study: Schema, paper: Schema) -> Schema:
    """Return the schema of study files: their own keys, and references to those of a paper, which may also name own code.

    A study that extends a paper may give any part of a section, or null; any other study gives whole sections, as a paper does.
    """
    sections = {key: {"$ref": f"{PAPER}/{key}"} for key in paper["properties"]}
    entry = {key: f"{PAPER}/{key}/additionalProperties" for key in ("synthesizers", "scenarios", "figures", "tables")}
    registered = paper["properties"]["scenarios"]["additionalProperties"]["oneOf"]
    own = {
        "synthesizers": [_own_entry(SynthesizerEntry, "mechanism", MECHANISMS), _own_entry(ArmEntry, "study", STUDIES)],
        "figures": [_named("kind", FIGURES)],
        "tables": [_named("kind", TABLES)],
    }
    whole = {key: _map(paper, key, {"anyOf": [{"$ref": entry[key]}, *others]}) for key, others in own.items()}
    scenarios = [_own_scenario(f"{entry['scenarios']}/oneOf/{k}", variant) for k, variant in enumerate(registered)]
    whole["scenarios"] = _map(paper, "scenarios", {"oneOf": scenarios})
    line = {"type": "string", "description": "This schema, for editors."}
    return {
        **study,
        "properties": {"$schema": line, **study["properties"], **sections, **dict.fromkeys(whole, True)},
        "if": {"required": ["extends"]},
        "then": {"properties": {key: {"type": ["object", "null"]} for key in whole}},
        "else": {"properties": whole},
    }


def _map(paper: Schema, key: str, entry: Schema) -> Schema:
    """Return a section of a paper with its entries replaced."""
    return {**paper["properties"][key], "additionalProperties": entry}


def _named(key: str, registered: Collection[str]) -> Schema:
    """Return the schema of a section that names an entry of own code."""
    name = {"type": "string", "not": {"enum": list(registered)}}
    return {"type": "object", "properties": {key: name}, "required": [key]}


def _own_entry(model: type[BaseModel], key: str, registered: Collection[str]) -> Schema:
    """Return the schema of a model that names an entry of own code."""
    schema = schema_of(model)
    del schema["$schema"]
    free = {"parameters": {"type": "object", "description": schema["properties"]["parameters"]["description"]}}
    return {**schema, "properties": {**schema["properties"], **free, **_named(key, registered)["properties"]}}


def _own_scenario(pointer: str, registered: Schema) -> Schema:
    """Return a paper's scenario that may also name a population or study from own code."""
    keys = {key: {"$ref": f"{pointer}/properties/{key}"} for key in registered["properties"]}
    chosen: Mapping[str, Collection[str]] = {"population": POPULATIONS, "stand_in": POPULATIONS, "study": STUDIES}
    own = {key: {"anyOf": [keys[key], _named("name", names)]} for key, names in chosen.items() if key in keys}
    return {**registered, "properties": {**keys, **own}}


class _WithDefaults(GenerateJsonSchema):
    """Schema generator that also shows defaults made by a factory."""

    def get_default_value(self, schema: Any) -> Any:
        factory = schema.get("default_factory")
        return factory() if factory else super().get_default_value(schema)


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Resolve the references of a schema, drop its titles, and express patterns of maps as patterns of their keys."""
    if isinstance(schema, list):
        return [_plain(inner, definitions) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return _plain({**definitions[name], **{key: value for key, value in schema.items() if key != "$ref"}}, definitions)
    plain = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            plain[key] = {name: _plain(inner, definitions) for name, inner in value.items()}
        elif not (key == "title" and isinstance(value, str)):
            plain[key] = _plain(value, definitions)
    if "patternProperties" not in plain:
        return plain
    # a single pattern for all keys becomes one for their names, so references to the values need no pattern
    [(pattern, values)] = plain.pop("patternProperties").items()
    return {**plain, "propertyNames": {**plain.get("propertyNames", {}), "pattern": pattern}, "additionalProperties": values}


def tables(schema: Schema) -> list[str]:
    """Return the Markdown tables of a schema, one for each section, each under the path of its keys."""
    return [
        f"### {_markdown(heading)}\n\n{_markdown(section['description'])}\n\n{_keys(section)}"
        for heading, section in sections(schema)
    ]


def unrepeated(texts: Sequence[str]) -> list[str]:
    """Replace a repeated table with a link to the first one, and drop it if it has the same heading."""
    headings: dict[str, str] = {}
    result = []
    for text in dict.fromkeys(texts):
        heading, description, table = text.split("\n\n", 2)
        first = headings.setdefault(table, heading)
        link = f"The keys of {_link(first.removeprefix('### '))}."
        result.append(text if first == heading else f"{heading}\n\n{description}\n\n{link}")
    return result


def contents(text: str) -> str:
    """List the headings of a document as links; third-level headings follow on the line of their parent."""
    lines = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading = part.partition("\n")[0]
        inner = [_link(name) for name in re.findall(r"^### (`.+)$", part, re.MULTILINE)]
        lines.append(f"- {_link(heading)}" + (f": {', '.join(inner)}" if inner else ""))
    return "\n".join(lines[1:])


def _link(heading: str) -> str:
    """Link to a heading of the same document."""
    shown = heading.replace("&lt;", "<").replace("&gt;", ">")
    return f"[{heading}](#{anchor(shown)})"


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading, from its displayed text."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def names() -> list[str]:
    """Return Markdown tables of the names that config may use, from the registers."""
    mechanisms = [(*_described(name, entry), entry.kind) for name, entry in sorted(MECHANISMS.items())]
    studies = [_described(name, entry) for name, entry in sorted(STUDIES.items())]
    populations = [_described(name, entry) for name, entry in sorted(POPULATIONS.items())]
    arms = [
        (f"`{study.name}`", f"`{name}`", arm.meaning, _parameters(arm.parameters), arm.guarantee)
        for _, study in sorted(STUDIES.items())
        for name, arm in study.arms.items()
    ]
    families = [(f"`{name}`", _defaults(entry.priors)) for name, entry in sorted(FAMILIES.items())]
    data = [(f"`{name}`", f"`{entry.file}`", entry.holds, entry.source) for name, entry in sorted(FILES.items())]
    return [
        _table(("mechanism", "what", "parameters", "kind of guarantee"), mechanisms),
        _table(("study", "what", "parameters"), studies),
        _table(("study", "arm", "what", "parameters", "kind of guarantee"), arms),
        _table(("population", "what", "parameters"), populations),
        _table(("family", "priors"), families),
        _table(("data file", "file", "holds", "source"), data),
    ]


def _described(name: str, entry: Mechanism | Study | Population) -> tuple[str, str, str]:
    """Return name, first paragraph of the docstring and parameters of a registered function."""
    paragraph = (inspect.getdoc(entry.function) or "").split("\n\n")[0]
    return f"`{name}`", " ".join(paragraph.split()), _parameters(entry.settings if isinstance(entry, Study) else entry.parameters)


def _parameters(model: type[Parameters]) -> str:
    """Return names of parameters, each with its default if it has one."""
    fields = model.model_fields.items()
    return ", ".join(f"`{name}`" if field.is_required() else f"`{name}={field.default}`" for name, field in fields)


def _defaults(values: Mapping[str, float]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in values.items())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    """Return text as a cell of a Markdown table: on one line, with escaped pipes."""
    return " ".join(_markdown(text).split()).replace("|", "\\|")


def _markdown(text: str) -> str:
    """Return the text of a docstring or description with angle brackets outside code escaped."""
    parts = text.replace("``", "`").split("`")
    return "`".join(part if k % 2 else part.replace("<", "&lt;") for k, part in enumerate(parts))


def sections(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield the sections of a schema with their headings, outer ones first; shared keys of variants come before their own."""
    if "oneOf" in schema:
        yield from _variants_of(schema["oneOf"], path)
        return
    if "properties" in schema:
        yield f"`{path}`" if path else "Top level", schema
    for key, inner in schema.get("properties", {}).items():
        for variant in _variants(inner):
            yield from sections(variant, f"{path}.{key}".lstrip("."))
            yield from sections(variant.get("items", {}), f"{path}.{key}.<each>".lstrip("."))
    for inner in _values(schema):
        for variant in _variants(inner):
            yield from sections(variant, f"{path}.<name>")


def _variants_of(variants: Sequence[Schema], path: str) -> Iterator[tuple[str, Schema]]:
    """Yield the keys that a section's variants share, then the keys of each; variants with the same keys form one section."""
    variants = [variant for variant in variants if "properties" in variant]
    if all("name" in variant["properties"] for variant in variants):  # registered names have their own tables
        return
    most = [variant for variant in variants if len(variant["properties"]) > 1]
    shared = {key: inner for key, inner in most[0]["properties"].items() if _is_shared(key, most)}
    if shared:
        properties = shared | _names(most, shared)
        described = {"description": "Keys of all variants.", "properties": properties}
        yield from sections(described | {"required": variants[0].get("required", [])}, path)
    groups = _by_own_keys(variants, shared)
    for own, members in groups.items():
        others = {key for keys in groups if keys != own for key in keys}
        if own:
            yield from _own(own, members, others, path)


def _by_own_keys(variants: Iterable[Schema], shared: Collection[str]) -> dict[tuple[str, ...], list[Schema]]:
    """Group variants by their keys that are not shared."""
    groups: dict[tuple[str, ...], list[Schema]] = {}
    for variant in variants:
        groups.setdefault(tuple(key for key in variant["properties"] if key not in shared), []).append(variant)
    return groups


def _own(own: Sequence[str], members: Sequence[Schema], others: Collection[str], path: str) -> Iterator[tuple[str, Schema]]:
    """Yield the section for the keys specific to some variants; ``others`` are the keys specific to the other variants."""
    kinds = [member["properties"]["kind"]["const"] for member in members if "kind" in member["properties"]]
    named = "` or `".join(kinds) or next(key for key in own if key not in others)
    properties = {key: members[0]["properties"][key] for key in own} | _names(members, dict.fromkeys(own))
    section = {"description": members[0]["description"], "properties": properties}
    for heading, inner in sections(section | {"required": members[0].get("required", [])}, path):
        yield f"{heading} with `{named}`" if inner["properties"] is properties else heading, inner


def _is_shared(key: str, variants: Sequence[Schema]) -> bool:
    """Return True if a key means the same in all variants, or is the key that distinguishes them."""
    schemas = [variant["properties"].get(key, {}) for variant in variants]
    if all("const" in schema for schema in schemas):
        return True
    return all(schema and _allowed(schema) == _allowed(schemas[0]) for schema in schemas)


def _names(variants: Sequence[Schema], keys: Mapping[str, Any]) -> dict[str, Schema]:
    """Return the keys that distinguish the variants, each with all its possible names."""
    properties: dict[str, Schema] = {}
    for key in keys:
        schemas = [variant["properties"][key] for variant in variants]
        names = [name for schema in schemas for name in schema.get("enum", [schema["const"]] if "const" in schema else [])]
        if names and len(schemas) > 1:
            properties[key] = {"description": schemas[0].get("description", "Kind."), "enum": list(dict.fromkeys(names))}
        if key == "parameters":
            properties[key] = {"description": schemas[0]["description"], "type": "object"}
    return properties


def _keys(section: Schema) -> str:
    required = section.get("required", ())
    rows = [
        (
            f"`{key}`",
            inner.get("description", "Kind."),
            _allowed(inner),
            "required" if key in required else _default(inner.get("default")),
        )
        for key, inner in section["properties"].items()
    ]
    return _table(("key", "what", "allowed", "default"), rows)


def _default(value: Any) -> str:
    if value in (None, "", [], {}):
        return "not set"
    return "see its table" if isinstance(value, dict) else f"`{json.dumps(value, ensure_ascii=False)}`"


def _allowed(schema: Schema) -> str:
    """Describe a schema in words."""
    variants = [variant for variant in _variants(schema) if variant.get("type") != "null"]
    if any("oneOf" in variant for variant in variants):
        registered = all("name" in variant.get("properties", ()) for variant in variants[0].get("oneOf", [{}]))
        return "name and parameters, see Names" if registered else "see its table"
    if len(variants) > 1:
        return ", or ".join(map(_allowed, variants))
    return _one_kind(variants[0])


def _one_kind(schema: Schema) -> str:
    """Describe a schema of one kind of value in words."""
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{value}`" if value != "" else '`""`' for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return _list_of(schema["items"])
    if "properties" in schema:
        return "see its table"
    if schema.get("type") == "object":
        values = _values(schema)
        return f"by name: {_allowed(values[0])}" if values else "keys and values"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema]
    return " ".join([words[schema["type"]], ", ".join(limits)]).strip()


def _list_of(items: Schema) -> str:
    """Describe a list of values of a schema in words."""
    if "properties" in items:
        return "list, see its table"
    allowed = _allowed(items)
    return f"list of ({allowed})" if " or " in allowed else f"list of {allowed}"


def _variants(schema: Schema) -> list[Schema]:
    return schema.get("anyOf") or [schema]


def _values(schema: Schema) -> list[Schema]:
    """Return the schemas of the values of a map with arbitrary keys."""
    free = schema.get("additionalProperties")
    return [free] if isinstance(free, dict) else []


if __name__ == "__main__":
    sys.exit(main())
