"""JSON schemas of config for editors, tables of its keys and names, and the description of resources/.

Run as ``python -m formalsynth_workflow.plan.schemas``. ``make setup`` runs it after each change of the packages. Only the
description of resources/ is in the repository.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from formalsynth.core.data_files import FILES, Dataset, shipped
from formalsynth.core.family import FAMILIES
from formalsynth.core.kinds import models_in
from formalsynth.core.mechanism import MECHANISMS, Mechanism
from formalsynth.core.parameters import Parameters
from formalsynth.core.population import POPULATIONS, Population
from formalsynth.runtime.files import write_text
from formalsynth_workflow import REPOSITORY
from formalsynth_workflow.ledger.errata import ErrataConfig
from formalsynth_workflow.plan.model import Choice, ClaimsConfig, PaperConfig, RunConfig, find_all
from formalsynth_workflow.plan.studies import StudyKeys
from formalsynth_workflow.study import STUDIES, Study

SCHEMAS: dict[str, type[BaseModel]] = {
    "config": RunConfig, "paper": PaperConfig, "claims": ClaimsConfig, "errata": ErrataConfig, "study": StudyKeys,
}  # fmt: skip
"""Models by the name of their schema file."""
HEAD = ("key", "what", "allowed", "default")
Schema = dict[str, Any]


def main() -> int:
    """Write the files that are out of date."""
    for path, text in rendered(REPOSITORY).items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)
    return 0


def rendered(repository: Path) -> dict[Path, str]:
    """Contents of the generated files of a repository, by path."""
    find_all()
    schemas = {name: schema_of(model) for name, model in SCHEMAS.items()}
    tables = dict.fromkeys(table for model in SCHEMAS.values() for table in tables_of(model))
    keys = ["# Keys and names of the configuration", *tables, "## Names", *names()]
    schemas["study"] = study_schema(schemas["study"], schemas["paper"])
    files = {f"workflow/schemas/{name}.schema.json": _json(schema) for name, schema in schemas.items()}
    files |= {"config/KEYS.md": "\n\n".join(keys) + "\n", "resources/datapackage.json": _json(data_package())}
    return {repository / name: text for name, text in files.items()}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


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


class _WithDefaults(GenerateJsonSchema):
    """Schema generator that also shows defaults made by a factory."""

    def get_default_value(self, schema: Any) -> Any:
        factory = schema.get("default_factory")
        return factory() if factory else super().get_default_value(schema)


def schema_of(model: type[BaseModel]) -> Schema:
    """Return the JSON schema of a model."""
    schema = model.model_json_schema(schema_generator=_WithDefaults)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def study_schema(study: Schema, paper: Schema) -> Schema:
    """Return the schema of study files: their own keys, and those of a paper, whose sections may name own code or be null."""
    references = {key: {"$ref": f"paper.schema.json#/properties/{key}"} for key in paper["properties"]}
    free = {"synthesizers", "scenarios", "figures", "tables"}
    sections = {key: {"anyOf": [ref, {"type": ["object", "null"]}]} if key in free else ref for key, ref in references.items()}
    line = {"type": "string", "description": "This schema, for editors."}
    return {**study, "properties": {"$schema": line, **study["properties"], **sections}}


# Tables of keys and names ------------------------------------------------------------------------------------------------


def models_of(part: Any, known: dict[type[BaseModel], None] | None = None) -> dict[type[BaseModel], None]:
    """Return the models of an annotation, of the sections in them, and those that they inherit keys from, in this order."""
    known = {} if known is None else known
    for model in models_in(part):
        lineage = [kind for kind in reversed(model.__mro__) if issubclass(kind, BaseModel) and kind.model_fields]
        for new in [kind for kind in lineage if kind not in known]:
            known[new] = None
            for field in new.model_fields.values():
                models_of((field.annotation, *field.metadata), known)
    return known


def tables_of(model: type[BaseModel]) -> Iterator[str]:
    """Yield a Markdown table for each section below a model, of the keys that it does not inherit."""
    for section in models_of(model):
        if issubclass(section, Parameters | Choice) or section.__name__ == section.__bases__[0].__name__:
            continue  # made from a registered name: the tables of names list them
        schema = section.model_json_schema(schema_generator=_WithDefaults, ref_template="{model}")
        own, required = inspect.get_annotations(section), schema.get("required", ())
        bases = [f"`{base.__name__}`" for base in section.__bases__ if issubclass(base, BaseModel) and base.model_fields]
        rows = [
            (f"`{key}`", _meaning(section, key), _words(inner), _default(inner, key in required))
            for key, inner in schema["properties"].items()
            if key in own
        ]
        inherits = f" It has all keys of {' and '.join(bases)}, and:" if bases else ""
        yield f"### `{section.__name__}`\n\n{_cell(schema['description'])}{inherits}\n\n{_table(HEAD, rows)}"


def _meaning(section: type[BaseModel], key: str) -> str:
    """Return the description of a key, or that of the key that it replaces."""
    fields = [kind.model_fields[key] for kind in section.__mro__ if issubclass(kind, BaseModel) and key in kind.model_fields]
    return next(filter(None, (field.description for field in fields)), "Kind.")


def _default(schema: Schema, required: bool) -> str:
    value = schema.get("default")
    if required or value in (None, "", [], {}):
        return "required" if required else "not set"
    return "see its table" if isinstance(value, dict) else f"`{json.dumps(value, ensure_ascii=False)}`"


def _words(schema: Schema) -> str:
    """Describe the values that a schema allows; a section is named by its table."""
    kinds = [kind for kind in schema.get("anyOf") or schema.get("oneOf") or [schema] if kind.get("type") != "null"]
    if any("name" in kind.get("properties", ()) for kind in kinds if "$ref" not in kind):
        return "name and parameters, see Names"
    if kinds != [schema]:
        return " or ".join(dict.fromkeys(map(_words, kinds)))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{value}`" if value != "" else '`""`' for value in schema.get("enum", [schema.get("const")]))
    if "$ref" in schema or "properties" in schema:
        return f"`{schema.get('$ref', schema.get('title'))}`"
    if schema["type"] == "array":
        return f"list of ({_words(schema['items'])})"
    if schema["type"] == "object":
        values = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")][0]
        return f"by name: {_words(values)}" if isinstance(values, dict) else "keys and values"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema]
    return " ".join([words[schema["type"]], ", ".join(limits)]).strip()


def names() -> Iterator[str]:
    """Yield Markdown tables of the names that config may use, from the registers."""
    what = ("what", "parameters")
    mechanisms = [(*_described(name, entry), entry.kind) for name, entry in sorted(MECHANISMS.items())]
    yield _table(("mechanism", *what, "kind of guarantee"), mechanisms)
    yield _table(("study", *what), [_described(name, entry) for name, entry in sorted(STUDIES.items())])
    arms = [(study, name, arm) for study in sorted(STUDIES) for name, arm in STUDIES[study].arms.items()]
    rows = [(f"`{study}`", f"`{name}`", arm.meaning, _parameters(arm.parameters), arm.guarantee) for study, name, arm in arms]
    yield _table(("study", "arm", *what, "kind of guarantee"), rows)
    yield _table(("population", *what), [_described(name, entry) for name, entry in sorted(POPULATIONS.items())])
    priors = {name: ", ".join(f"`{key}={value}`" for key, value in entry.priors.items()) for name, entry in FAMILIES.items()}
    yield _table(("family", "priors"), [(f"`{name}`", priors[name]) for name in sorted(priors)])
    files = [(f"`{name}`", f"`{entry.file}`", entry.holds, entry.source) for name, entry in sorted(FILES.items())]
    yield _table(("data file", "file", "holds", "source"), files)


def _described(name: str, entry: Mechanism | Study | Population) -> tuple[str, str, str]:
    """Return name, first paragraph of the docstring and parameters of a registered function."""
    paragraph = (inspect.getdoc(entry.function) or "").split("\n\n")[0]
    return f"`{name}`", paragraph, _parameters(entry.settings if isinstance(entry, Study) else entry.parameters)


def _parameters(model: type[Parameters]) -> str:
    """Return names of parameters, each with its default if it has one."""
    fields = model.model_fields.items()
    return ", ".join(f"`{name}`" if field.is_required() else f"`{name}={field.default}`" for name, field in fields)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return text as a cell of a Markdown table: on one line, with escaped pipes, and angle brackets outside code."""
    parts = text.replace("``", "`").split("`")
    escaped = "`".join(part if k % 2 else part.replace("<", "&lt;") for k, part in enumerate(parts))
    return " ".join(escaped.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
