"""Texts of a release: for programs, for analysts, for the registry of deployments and for the legal team.

Their sentences are in ``templates`` and follow from declarations and the crossing; no function here reads the confidential rows.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from formalsynth.core.words import counted
from formalsynth.settings.yaml_file import parsed, yaml_text
from formalsynth_release.crossing import Crossing, Declarations
from formalsynth_release.intervals import Analysed, largest
from formalsynth_release.model import level_error, pair_errors
from formalsynth_release.schema import Column, PublicSchema, ReleaseConfig

CONTEXT = "http://www.w3.org/ns/csvw"
CSVW = {"number": "double", "whole": "integer", "category": "string"}
"""Namespace of CSVW, and its types."""
DATA_PACKAGE = "https://datapackage.org/profiles/2.0/datapackage.json"
"""Profile of the second version of the Data Package standard."""
NIST = "NIST-SP-800-226.md"
FRICTIONLESS = {"number": "number", "whole": "integer", "category": "string"}


@dataclass(frozen=True)
class ReleaseFacts:
    """Facts stated in the texts of a release; all of them follow from the crossing and from public declarations."""

    crossing: Crossing
    declarations: Declarations
    results: Mapping[str, Analysed]
    """Results of the declared analyses, by name."""

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.declarations.name

    @property
    def schema(self) -> PublicSchema:
        """Public schema."""
        return self.declarations.schema_

    @property
    def config(self) -> ReleaseConfig:
        """Settings of the release."""
        return self.declarations.release

    @property
    def interval_quantile(self) -> float:
        """Quantile of Student's t for the intervals of declared analyses."""
        return next(iter(self.results.values())).quantile

    @property
    def simulated(self) -> int:
        """Largest number of rows of the files that are simulated for the intervals."""
        return largest(any(part.knots for part in self.crossing.tables))

    @property
    def files(self) -> list[str]:
        """Names of the synthetic data sets."""
        return [f"synthetic_{k + 1}.csv" for k in range(self.config.sets)]

    @functools.cached_property
    def pairs(self) -> dict[str, float]:
        """Pairs of columns whose correlation is kept, with its largest standard error from the noise, at most 1."""
        return {pair: min(error, 1.0) for pair, error in pair_errors(self.schema, self.crossing.tables).items()}

    @property
    def rows_error(self) -> int:
        """Largest standard deviation of the noise in the number of rows of a level."""
        return round(level_error(self.crossing.tables))

    @property
    def shapes(self) -> bool:
        """True if the sums of pairs keep the shape of relations."""
        return any(part.knots for part in self.crossing.tables)

    @property
    def unpaired(self) -> list[str]:
        """Columns that are in no pair."""
        paired = {name for part in self.crossing.tables if len(part.columns) == 2 for name in part.columns}
        return [name for name in self.schema.released if name not in paired]

    @property
    def meaning(self) -> str:
        """Meaning of the guarantee."""
        return self.declarations.meaning

    @property
    def certainty(self) -> float:
        """Largest probability of guessing right after the release, for someone who would have bet evenly before it."""
        return 1 / (1 + math.exp(-min(self.config.ceiling, 700.0)))


class Sentences:
    """Shared sentences, each an attribute with a one-line text."""

    def __init__(self, facts: ReleaseFacts) -> None:
        self._macros = templates().get_template("sentences.j2").make_module(_variables(facts))

    def __getattr__(self, name: str) -> str:
        lines = map(str.strip, str(getattr(self._macros, name)()).splitlines())
        return " ".join(line for line in lines if line)


@functools.cache
def templates() -> Environment:
    """Return the environment of the templates, which are compiled once."""
    environment = Environment(
        loader=PackageLoader("formalsynth_release"), undefined=StrictUndefined, autoescape=False, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "cell": _cell, "columns": _columns, "counted": counted, "g": "{:g}".format, "total": "{:.12g}".format,
        "six": "{:.6g}".format, "two": lambda number: f"{float(f'{number:.2g}'):,g}", "repr": repr,
        "slug": _slug, "certainty": _certainty,
    }  # fmt: skip
    return environment


def _variables(facts: ReleaseFacts) -> dict[str, object]:
    return {
        "facts": facts, "crossing": facts.crossing, "declarations": facts.declarations, "config": facts.config,
        "schema": facts.schema, "pairs": facts.pairs, "version": facts.crossing.software["formalsynth"],
    }  # fmt: skip


def _columns(names: Sequence[str]) -> str:
    """Join names of columns for a sentence."""
    return f"the column {names[0]}" if len(names) == 1 else f"the columns {', '.join(names)}"


def _certainty(probability: float) -> str:
    """Write a probability in percent, rounded up because it is an upper limit."""
    decimals = 1 if probability < 0.999 else 3
    return f"{math.ceil(probability * 100 * 10**decimals) / 10**decimals:g} %"


def _cell(text: str) -> str:
    """Write a text as a cell of a table in Markdown."""
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _slug(name: str) -> str:
    """Write a name in the form used in URLs."""
    return name.lower().replace("_", "-").replace(".", "-")


def texts_of(facts: ReleaseFacts) -> dict[str, str]:
    """Write all texts of a release, keyed by file name."""
    shared = Sentences(facts)

    def rendered(name: str) -> str:
        return templates().get_template(f"{name}.j2").render(_variables(facts), sentences=shared)

    card = parsed(rendered("deployment.yaml"))
    return {
        "metadata.json": _json(_dictionary(facts, shared)), "datapackage.json": _json(_datapackage(facts, shared)),
        "README.md": _without_html(rendered("README.md")), "combine.py": rendered("combine.py"),
        "deployment.yaml": yaml_text(card, width=110),
        "LEGAL.md": _without_html(rendered("LEGAL.md")), NIST: _without_html(rendered(NIST)),
    }  # fmt: skip


def _dictionary(facts: ReleaseFacts, sentences: Sentences) -> dict[str, object]:
    """Describe the columns in CSVW."""
    columns = [
        {"name": name, "titles": name, "datatype": _datatype(column), "required": not column.may_be_missing}
        | ({"dc:description": column.description} if column.description else {})
        for name, column in facts.schema.released.items()
    ]
    description = f"{sentences.relations} {sentences.promise} {sentences.guarantee}"
    return {
        "@context": [CONTEXT, {"@language": "en"}], "dc:title": facts.config.title, "dc:description": description,
        "tables": [{"url": name, "tableSchema": {"columns": columns}} for name in facts.files],
    }  # fmt: skip


def _datatype(column: Column) -> dict[str, object]:
    if column.categories:
        escaped = ("".join(c if c.isalnum() or c == " " else f"\\{c}" for c in category) for category in column.categories)
        return {"base": "string", "format": "|".join(escaped)}
    return {"base": CSVW[column.type], "minimum": column.lower, "maximum": column.upper}


def _datapackage(facts: ReleaseFacts, sentences: Sentences) -> dict[str, object]:
    """Describe the sets as a Data Package."""
    config, fields = facts.config, []
    for name, column in facts.schema.released.items():
        limits = {"enum": column.categories} if column.categories else {"minimum": column.lower, "maximum": column.upper}
        described = {"description": column.description} if column.description else {}
        constraints = {"required": not column.may_be_missing, **limits}
        fields.append({"name": name, "type": FRICTIONLESS[column.type], **described, "constraints": constraints})
    resources = [
        {"name": name.removesuffix(".csv").replace("_", "-"), "type": "table", "path": name, "format": "csv",
         "mediatype": "text/csv", "encoding": "utf-8", "schema": {"fields": fields}}
        for name in facts.files
    ]  # fmt: skip
    return {
        "$schema": DATA_PACKAGE, "name": _slug(facts.name), "title": config.title,
        "description": f"{sentences.relations} {sentences.promise} Made for {config.intended_use}.",
        "created": f"{facts.crossing.date}T00:00:00Z",
        "licenses": [{"name": re.sub(r"[^-\w.]+", "-", config.licence, flags=re.ASCII), "title": config.licence}],
        "contributors": [{"title": config.curator.name, "roles": ["publisher"]}], "resources": resources,
    }  # fmt: skip


def _json(tree: object) -> str:
    return json.dumps(tree, indent=2, ensure_ascii=False).replace("<", r"\u003c") + "\n"


def _without_html(text: str) -> str:
    """Escape HTML in Markdown, but not in its block of code."""
    prose, start, rest = text.partition("\n```python\n")
    code, end, after = rest.partition("\n```\n")
    return f"{prose.replace('<', '&lt;')}{start}{code}{end}{after.replace('<', '&lt;')}"
