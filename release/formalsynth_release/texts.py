"""Texts of a release, from its crossing: README, LEGAL, the dictionary, and the programs that combine the sets."""

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

from formalsynth_release.crossing import Crossing, Declarations
from formalsynth_release.intervals import Analysed
from formalsynth_release.layout import TENTH, Marks, Reading, marks
from formalsynth_release.model import level_error, pair_errors
from formalsynth_release.schema import KIND, Column, PublicSchema, ReleaseConfig

DATA_PACKAGE = "https://datapackage.org/profiles/2.0/datapackage.json"
"""Profile of the second version of the Data Package standard."""
FRICTIONLESS = {"number": "number", "whole": "integer", "category": "string"}
PAGES = "README.md", "LEGAL.md"
CODE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)  # block of code in a page
PROGRAMS = "combine.py", "combine.R"  # programs that combine estimates from the sets, the same in every release
ANALYSES = "analyses.csv"  # table of the declared analyses, which the programs read


@dataclass(frozen=True)
class ReleaseFacts:
    """Facts stated in the texts of a release; all of them follow from the crossing and from public declarations."""

    crossing: Crossing
    declarations: Declarations
    results: Mapping[str, Analysed]  # results of the declared analyses, by name

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
    def sound(self) -> int:
        """Number of pairs whose relation is kept well."""
        return len(self.pairs) - len(self.marks.weak)

    @functools.cached_property
    def number(self) -> float:
        """Number of rows of the file, which is estimated if it is confidential."""
        return Reading.of(self.schema, self.crossing.tables).number

    @property
    def small(self) -> int:
        """Number of rows of a group that noise alone changes by a tenth."""
        return TENTH * self.rows_error

    @property
    def lost(self) -> bool:
        """True if the noise changes even a group of all rows by more than a tenth."""
        return self.number < self.small

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
        return f"{math.fsum([*(of.epsilon for of in self.crossing.earlier.releases), self.config.ceiling]):.12g}"

    @property
    def promise(self) -> str:
        """Sentence with epsilon and the columns that it covers."""
        names = _columns(list(self.schema.released))
        return f"Epsilon is at most {self.config.ceiling:g} for {names}, for all files of this folder together."

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
    loader = PackageLoader("formalsynth_release")
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.filters |= {"columns": _columns, "two": "{:.2g}".format, "whole": "{:,.0f}".format}
    made.filters["g"] = lambda number: "none" if math.isnan(number) else f"{number:g}"
    made.filters["cell"] = lambda text: text.replace("\\", "\\\\").replace("|", "\\|")  # of a table in Markdown
    return made


def _columns(names: Sequence[str]) -> str:
    """Join names of columns for a sentence."""
    return f"the column{'s' * (len(names) != 1)} {', '.join(names)}"


def texts_of(facts: ReleaseFacts) -> dict[str, str]:
    """Write all texts of a release, keyed by file name."""
    given = {"facts": facts, "crossing": facts.crossing, "config": facts.config, "schema": facts.schema}
    texts = {name: templates().get_template(f"{name}.j2").render(given) for name in (*PAGES, *PROGRAMS)}
    for name in PAGES:  # HTML is escaped, but not in blocks of code
        texts[name] = "".join(part if k % 2 else part.replace("<", "&lt;") for k, part in enumerate(CODE.split(texts[name])))
    return {"datapackage.json": _data_package(facts), ANALYSES: _analyses(facts)} | texts


def _analyses(facts: ReleaseFacts) -> str:
    """Write the declared analyses as CSV: estimates, intervals, and the numbers with which others are combined."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    text.write("analysis,sets,estimate,standard_error,low,high,bias,least,most,quantile,no_interval\n")
    for name, result in facts.results.items():
        numbers = [result.estimate, *[""] * 7]
        if interval := result.interval:
            numbers = [result.corrected, result.error, *interval, result.bias, *result.limits, result.quantile]
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
    since = f"{column.date} since {column.since}.".capitalize()
    unit = {None: "", "year": "Year of a date."}.get(column.date, since)
    if described := " ".join(filter(None, [column.description, unit])):
        field["description"] = described
    if column.labels:
        field["categories"] = [{"value": value, "label": label} for value, label in column.labels.items()]
    if column.missing_codes:
        empty = [("", "missing")] if column.may_be_missing else []
        labels = [*empty, *zip(_codes(column), column.missing_codes.values(), strict=True)]
        field["missingValues"] = [{"value": value, "label": label} for value, label in labels]
    limits: dict[str, object] = {"enum": column.categories}
    if column.type != "category":
        low, high = column.ends
        limits = {"minimum": min(low, 0.0) if column.own_zero else low, "maximum": high}
    return field | {"constraints": {"required": not (column.may_be_missing or column.codes), **limits}}


def _codes(column: Column) -> list[str]:
    """Return the codes of missing values as they are in the sets."""
    return [f"{code:.{column.places}f}" for code in column.codes]
