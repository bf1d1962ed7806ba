"""Texts of a release: README, LEGAL, the Data Package with its dictionary, and the programs that combine the sets.

They follow from declarations and the crossing; no function here reads the confidential rows.
"""

from __future__ import annotations

import csv
import functools
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from formalsynth.core.text import counted
from formalsynth_release.crossing import Crossing, Declarations
from formalsynth_release.intervals import Analysed
from formalsynth_release.layout import Reading
from formalsynth_release.model import level_error, pair_errors
from formalsynth_release.schema import KIND, Column, PublicSchema, ReleaseConfig
from formalsynth_release.weakness import TENTH, Marks, marks

DATA_PACKAGE = "https://datapackage.org/profiles/2.0/datapackage.json"
"""Profile of the second version of the Data Package standard."""
FRICTIONLESS = {"number": "number", "whole": "integer", "category": "string"}
PAGES = "README.md", "LEGAL.md"
CODE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
"""Block of code in a page."""
PROGRAMS = "combine.py", "combine.R"
"""Programs that combine estimates from the sets, the same in every release."""
ANALYSES = "analyses.csv"
"""Table of the declared analyses, which the programs read."""


@dataclass(frozen=True)
class ReleaseFacts:
    """Facts stated in the texts of a release; all of them follow from the crossing and from public declarations."""

    crossing: Crossing
    declarations: Declarations
    results: Mapping[str, Analysed]
    """Results of the declared analyses, by name."""

    @property
    def schema(self) -> PublicSchema:
        """Public schema."""
        return self.declarations.schema_

    @property
    def config(self) -> ReleaseConfig:
        """Settings of the release."""
        return self.declarations.release

    @property
    def files(self) -> list[str]:
        """Names of the synthetic data sets."""
        return [f"synthetic_{k + 1}.csv" for k in range(self.config.sets)]

    @functools.cached_property
    def pairs(self) -> dict[str, float]:
        """Pairs of columns whose relation is kept, with the standard error of a correlation from the noise, at most 1."""
        return {pair: min(error, 1.0) for pair, error in pair_errors(self.schema, self.crossing.tables).items()}

    @property
    def rows_error(self) -> int:
        """Largest standard deviation of the noise in the number of rows of a level."""
        return round(level_error(self.crossing.tables))

    @property
    def unpaired(self) -> list[str]:
        """Columns that are in no pair."""
        paired = {name for part in self.crossing.tables if len(part.columns) == 2 for name in part.columns}
        return [name for name in self.schema.released if name not in paired]

    @property
    def fit(self) -> list[str]:
        """Sentences on what the data are fit for."""
        columns = f"the distribution of each column. {self._noise}"
        sound = len(self.pairs) - len(self.marks.weak)
        kept = f"the relations of {counted(sound, 'pair')} of columns, with the errors in README.md."
        tests = "tests of programs, which need no true values."
        return [sentence for sentence, where in ((columns, not self.lost), (kept, sound)) if where] or [tests]

    @functools.cached_property
    def number(self) -> float:
        """Number of rows of the file, which is estimated if it is confidential."""
        return Reading.of(self.schema, self.crossing.tables).number

    @property
    def lost(self) -> bool:
        """True if the noise changes even a group of all rows by more than a tenth."""
        return self.number < TENTH * self.rows_error

    @property
    def _noise(self) -> str:
        return f"The noise alone changes the number of rows with a certain value by about {self.rows_error:,}."

    @property
    def unfit(self) -> list[str]:
        """Sentences on what the data are not fit for."""
        most = f"{TENTH * self.rows_error:,}"
        groups = f"groups of fewer than {most} rows, which noise alone changes by more than a tenth, or makes vanish."
        columns = f"the distribution of any column: the file has about {self.number:,.0f} rows. {self._noise}"
        alone = f"relations with {_columns(self.unpaired)}: no pair is kept."
        weak, left_out, implied = map(", ".join, marked := self.marks)
        noisy = f"the relations of {weak}: the noise alone can look like one, and the publisher accepted it."
        hidden = f"the relations of {left_out}: these pairs were left out, since noise would hide them."
        invented = f"the relations of {implied}: not declared, they follow from others, and can be invented."
        others = "relations of other pairs, which can be lost, and of three or more columns together."
        of_all = [(others, True), (alone, self.unpaired)] if self.pairs else [("relations of columns: none is kept.", True)]
        of_pairs = zip((noisy, hidden, invented), marked, strict=True)
        listed = [(columns, self.lost), (groups, not self.lost), *of_pairs, *of_all]
        return [*(sentence for sentence, where in listed if where), "any statement about a single person."]

    @functools.cached_property
    def marks(self) -> Marks:
        """Pairs whose relation is not kept well."""
        return marks(self.schema, self.crossing.tables)

    @property
    def kinds(self) -> list[str]:
        """Names of the kinds that are in a pair."""
        return sorted({name for pair in self.schema.pairs or [] for name in pair if name.endswith(KIND)})

    @property
    def codes(self) -> list[str]:
        """Codes of missing values of the outcome, as they are in the sets."""
        return _codes(self.schema.target)

    @property
    def above_zero(self) -> list[str]:
        """Columns whose relations describe only rows with a value above 0."""
        return [name for name, column in self.schema.released.items() if column.own_zero and name not in self.unpaired]

    @property
    def total(self) -> str:
        """Epsilon of all releases from the source, with this one."""
        epsilons = [earlier.epsilon for earlier in self.crossing.earlier.releases]
        return f"{math.fsum([*epsilons, self.config.ceiling]):.12g}"

    @property
    def promise(self) -> str:
        """Sentence with epsilon and the columns that it covers."""
        epsilon, names = f"{self.config.ceiling:g}", _columns(list(self.schema.released))
        return f"Epsilon is at most {epsilon} for {names}, for all files of this folder together."

    @property
    def certainty(self) -> str:
        """Largest probability of guessing right after the release, for someone who would have bet evenly, rounded up."""
        probability = 1 / (1 + math.exp(-min(self.config.ceiling, 700.0)))
        decimals = 1 if probability < 0.999 else 3
        return f"{math.ceil(probability * 100 * 10**decimals) / 10**decimals:g} %"

    @property
    def factor(self) -> str:
        """Largest factor by which one row changes the probability of a release, rounded up to three digits."""
        factor = math.exp(min(self.config.ceiling, 700.0))
        digits = 10.0 ** (math.floor(math.log10(factor)) - 2)
        return f"{math.ceil(factor / digits) * digits:.3g}"


@functools.cache
def templates() -> Environment:
    """Return the environment of the templates, which are compiled once."""
    environment = Environment(
        loader=PackageLoader("formalsynth_release"), undefined=StrictUndefined, autoescape=False, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"cell": _cell, "columns": _columns, "g": _number, "two": "{:.2g}".format}
    return environment


def _number(number: float) -> str:
    return "none" if math.isnan(number) else f"{number:g}"


def _columns(names: Sequence[str]) -> str:
    """Join names of columns for a sentence."""
    return f"the column {names[0]}" if len(names) == 1 else f"the columns {', '.join(names)}"


def _cell(text: str) -> str:
    """Write a text as a cell of a table in Markdown."""
    return text.replace("\\", "\\\\").replace("|", "\\|")


def texts_of(facts: ReleaseFacts) -> dict[str, str]:
    """Write all texts of a release, keyed by file name."""
    given = {"facts": facts, "crossing": facts.crossing, "config": facts.config, "schema": facts.schema}
    texts = {name: templates().get_template(f"{name}.j2").render(given) for name in (*PAGES, *PROGRAMS)}
    pages = {name: _without_html(texts[name]) for name in PAGES}
    return {"datapackage.json": _data_package(facts), ANALYSES: _analyses(facts)} | texts | pages


def _without_html(text: str) -> str:
    """Escape HTML in Markdown, but not in its blocks of code."""
    return "".join(part if place % 2 else part.replace("<", "&lt;") for place, part in enumerate(CODE.split(text)))


def _analyses(facts: ReleaseFacts) -> str:
    """Write the declared analyses as CSV: estimates, intervals, and the numbers with which others are combined."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    columns = "estimate", "standard_error", "low", "high", "bias", "least", "most", "quantile"
    table.writerow(["analysis", "sets", *columns, "no_interval"])
    for name, result in facts.results.items():
        numbers = [result.estimate, *[""] * 7]
        if interval := result.interval:
            quantile = round(result.quantile, 6)
            numbers = [result.corrected, result.error, *interval, result.bias, *result.limits, quantile]
        written = [f"{number:.6g}".replace("nan", "") if isinstance(number, float) else number for number in numbers]
        table.writerow([name, facts.config.sets, *written, result.reason or ""])
    return text.getvalue()


def _data_package(facts: ReleaseFacts) -> str:
    """Describe the sets and their columns as a Data Package."""
    config, fields = facts.config, [_field(name, column) for name, column in facts.schema.released.items()]
    sets = [
        {"name": name.removesuffix(".csv").replace("_", "-"), "type": "table", "path": name, "format": "csv",
         "mediatype": "text/csv", "encoding": "utf-8", "schema": {"fields": fields}}
        for name in facts.files
    ]  # fmt: skip
    tree = {
        "$schema": DATA_PACKAGE, "name": facts.declarations.name.lower().replace("_", "-"), "title": config.title,
        "description": f"Synthetic data, made for {config.intended_use}. {facts.promise}",
        "created": f"{facts.crossing.date}T00:00:00Z",
        "licenses": [{"name": re.sub(r"[^-\w.]+", "-", config.licence, flags=re.ASCII), "title": config.licence}],
        "contributors": [{"title": config.curator.name, "roles": ["publisher"]}], "resources": sets,
    }  # fmt: skip
    return json.dumps(tree, indent=2, ensure_ascii=False).replace("<", r"\u003c") + "\n"


def _field(name: str, column: Column) -> dict[str, object]:
    """Describe a column."""
    field: dict[str, object] = {"name": name, "type": FRICTIONLESS[column.type]}
    if described := " ".join(filter(None, [column.description, _unit_of_date(column)])):
        field["description"] = described
    if column.labels:
        field["categories"] = [{"value": value, "label": label} for value, label in column.labels.items()]
    if column.missing_codes:
        empty = [{"value": "", "label": "missing"}] if column.may_be_missing else []
        labels = zip(_codes(column), column.missing_codes.values(), strict=True)
        field["missingValues"] = [*empty, *({"value": value, "label": label} for value, label in labels)]
    limits: dict[str, object] = {"enum": column.categories}
    if column.type != "category":
        low, high = column.ends
        limits = {"minimum": min(low, 0.0) if column.own_zero else low, "maximum": high}
    return field | {"constraints": {"required": not (column.may_be_missing or column.codes), **limits}}


def _unit_of_date(column: Column) -> str:
    """Describe how a date became a number; empty for other columns."""
    if column.date == "year":
        return "Year of a date."
    return f"{column.date.capitalize()} since {column.since}." if column.date else ""


def _codes(column: Column) -> list[str]:
    """Return the codes of missing values as they are in the sets."""
    return [f"{code:.{column.places}f}" for code in column.codes]
