"""The words around synthetic data: for machines, for analysts, for the registry of deployments and for the legal team.

Nothing here is told more than what was declared: no function takes the confidential rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from formalsynth import __version__
from formalsynth.core.words import counted
from formalsynth.custodian.budget import Spent, spent
from formalsynth.custodian.deployment import (
    Accounting,
    Administrative,
    Basic,
    Card,
    Deployment,
    DeploymentModel,
    Implementation,
    PrivacyLoss,
    PrivacyParameters,
    Variant,
)
from formalsynth.custodian.guarantees import AUDIT, Audit, ledger_kind, sentences
from formalsynth.custodian.internal_audit import DELTA
from formalsynth.custodian.metadata import CONTEXT, CSVW
from formalsynth.custodian.schema import Declared, ReleaseConfig

DATA_PACKAGE = "https://datapackage.org/profiles/2.0/datapackage.json"
"""Profile of the second version of the Data Package standard."""
FRICTIONLESS = {"number": "number", "whole": "integer", "category": "string"}


@dataclass(frozen=True)
class Telling:
    """What a release says of itself: all of it was declared."""

    name: str
    declared: Declared
    config: ReleaseConfig
    mechanism: str
    guarantee: str
    pure: bool
    parameters: Mapping[str, float]
    rows: int
    date: str
    direct: bool
    """Whether all sets come from one noisy table of counts, and not from posterior draws."""
    audit: Audit
    uses_predictors: bool
    """Whether outcomes were drawn given the predictors."""
    compared: bool
    """Whether there is an internal report, which compared candidates on the file."""
    earlier: tuple[Spent, ...] = ()
    """Entries of the ledger before this release."""

    @property
    def files(self) -> list[str]:
        """Names of the synthetic data sets."""
        return [f"synthetic_{k + 1}.csv" for k in range(self.config.sets)]

    @property
    def protected(self) -> list[str]:
        """Columns that the guarantee covers."""
        return [name for name in self.declared.schema.released if name not in self.as_is]

    @property
    def as_is(self) -> list[str]:
        """Columns that are those of the file."""
        return [name for name, column in self.declared.schema.columns.items() if column.release == "as_is"]

    @property
    def kind(self) -> str:
        """The guarantee in words, with what an audit found."""
        if self.pure and self.audit == "refuted":
            return f"It was claimed as {self.guarantee}. {AUDIT[self.audit]}"
        words = sentences(self.guarantee, self.declared.schema.neighbours, self.direct)
        delta = "" if self.pure or self.audit == "none" else f" The audit was made at δ = {DELTA:g}."
        return f"{words if self.pure else f'{self.guarantee}: {words}'} {AUDIT[self.audit]}{delta}"

    @property
    def promise(self) -> str:
        """The epsilon of the columns that are protected, in words."""
        if self.audit == "refuted":
            return f"No epsilon: {self.config.ceiling:g} was claimed, and it does not hold for this file."
        sets = "the synthetic data set" if self.config.sets == 1 else f"all {self.config.sets} synthetic data sets together"
        promise = f"Epsilon at most {self.config.ceiling:g} for {_columns(self.protected)} in {sets}."
        return promise + (f" Nothing is promised for {_columns(self.as_is)}." if self.as_is else "")

    @property
    def neighbours(self) -> str:
        """The relation in words."""
        whom = self.declared.schema.protected
        if self.declared.schema.neighbours == "replace":
            return f"Two files are neighbours when they differ in {_columns(self.protected)} of one {whom}."
        return f"Two files are neighbours when one has one {whom} more than the other."

    @property
    def extent(self) -> str:
        """Number and size of the data sets."""
        return f"{counted(self.config.sets, 'synthetic data set')} of {self.rows} rows{' each' if self.config.sets > 1 else ''}."

    @property
    def relations(self) -> str:
        """Relations between columns that the release keeps or loses."""
        schema = self.declared.schema
        if not schema.predictors:
            return f"{schema.outcome} is the only column: relations with others cannot be studied."
        others = _columns(list(schema.predictors))
        if self.uses_predictors:
            return f"Relations between {schema.outcome} and {others} are those of the synthesizer's model, no others."
        return (
            f"{schema.outcome} was drawn without regard to {others}: no relation between them is kept, and a regression of "
            f"{schema.outcome} finds about none, whatever the file has."
        )

    @property
    def unprotected(self) -> str:
        """Quantities that the guarantee does not cover."""
        parts = []
        if self.as_is:
            parts.append(
                f"Values of {_columns(self.as_is)} are those of the file, unchanged but for the order of rows. Together they can "
                "identify rows, and so show who is in the file."
            )
        parts += self._left_out
        if self.refused:
            parts.append(f"That the file has {self.refused} is known: otherwise there would be no release.")
        if not self.pure:
            parts.append(
                "That the claimed epsilon came out at or below the declared ceiling is known from there being a release."
            )
        if self.audit != "none" and not self.direct:
            parts.append("The outcome of the audit depends on the file.")
        return " ".join([*parts, self.settings])

    @property
    def prepared(self) -> str:
        """Steps before the synthesis that change what an analysis finds, in words."""
        clipped = "Numbers of the file outside the declared bounds were set to the nearest bound."
        return " ".join([self._dropped] * bool(self._dropped) + [clipped] * (self.declared.schema.outside_bounds == "clip"))

    @property
    def _causes(self) -> str:
        """Reasons for which rows were left out; empty where none were."""
        schema = self.declared.schema
        return " or ".join(
            ["a missing value"] * (schema.missing == "drop_rows") + ["an outcome of 0"] * (schema.zeros == "drop_rows")
        )

    @property
    def _dropped(self) -> str:
        return f"Rows with {self._causes} were left out." if self._causes else ""

    @property
    def _left_out(self) -> list[str]:
        """Sentences about rows that were left out, and about the number of rows."""
        schema = self.declared.schema
        causes = self._causes
        if schema.neighbours == "add_remove":
            return [f"{self._dropped} For the guarantee they are rows that are not in the file."] if causes else []
        rows = f"The number of rows, {self.rows}, is that of the file{' without them' if causes else ''} and not protected."
        if not causes:
            return [rows]
        shown = f"{schema.rows - self.rows} of {schema.rows} rows were"
        whose = f" The rows that are absent from {_columns(self.as_is)} show whose they are." if self.as_is else ""
        return [f"{self._dropped} Having {causes} is not protected: {shown} left out.{whose} {rows}"]

    @property
    def refused(self) -> str:
        """Values that the file does not have, since it would have been refused."""
        schema = self.declared.schema
        parts = {
            "no missing value in these columns": schema.missing,
            "no outcome of 0": schema.zeros,
            "no number outside the declared bounds": schema.outside_bounds,
        }
        return " and ".join(words for words, rule in parts.items() if rule == "refuse")

    @property
    def settings(self) -> str:
        """Origin of what was declared."""
        return "Bounds, categories and settings were declared by the publisher. " + (
            "Candidates were compared on the file before this release, so the choice among them and their settings may depend on "
            "it. No epsilon accounts for that."
            if self.compared
            else "That they do not depend on the file cannot be checked."
        )

    @property
    def earlier_releases(self) -> str:
        """Entries of the ledger before this release, in words."""
        if not self.earlier:
            return "The ledger of this study has no earlier release from the file."
        total = spent(self.earlier)
        others = {(ledger_kind(entry.guarantee), entry.neighbours) for entry in self.earlier}
        mixed = others != {(ledger_kind(self.guarantee), self.declared.schema.neighbours)}
        return (
            f"The ledger of this study has {counted(len(self.earlier), 'earlier entry', 'earlier entries')} for the file, each a "
            f"release or an attempt at one. Together they may claim epsilon {total:g}, with this release "
            f"{total + self.config.ceiling:g}, of a budget of {self.config.budget:g}."
            + (" Their kinds of guarantee or neighbours differ, so the sum is not one guarantee." if mixed else "")
        )


def _columns(names: Sequence[str]) -> str:
    """Names of columns in a sentence."""
    return f"the column {names[0]}" if len(names) == 1 else f"the columns {', '.join(names)}"


def dictionary(telling: Telling) -> str:
    """The data dictionary: CSVW."""
    columns = [
        {"name": name, "titles": name, "datatype": _datatype(column.type, column.lower, column.upper, column.categories),
         "required": True}
        for name, column in telling.declared.schema.released.items()
    ]  # fmt: skip
    tables = [{"url": name, "tableSchema": {"columns": columns}} for name in telling.files]
    head = {"dc:title": telling.config.title, "dc:description": f"{telling.relations} {telling.promise} {telling.kind}"}
    return _json({"@context": [CONTEXT, {"@language": "en"}], **head, "tables": tables})


def _datatype(kind: str, lower: float | None, upper: float | None, categories: Sequence[str] | None) -> dict[str, object]:
    if categories:
        escaped = "|".join("".join(c if c.isalnum() or c == " " else f"\\{c}" for c in category) for category in categories)
        return {"base": "string", "format": escaped}
    return {"base": CSVW[kind], "minimum": lower, "maximum": upper}


def datapackage(telling: Telling) -> str:
    """The descriptor of a Data Package."""
    fields = []
    for name, column in telling.declared.schema.released.items():
        limits = {"enum": column.categories} if column.categories else {"minimum": column.lower, "maximum": column.upper}
        fields.append({"name": name, "type": FRICTIONLESS[column.type], "constraints": {"required": True, **limits}})
    resources = [
        {"name": name.removesuffix(".csv").replace("_", "-"), "type": "table", "path": name, "format": "csv",
         "mediatype": "text/csv", "encoding": "utf-8", "schema": {"fields": fields}}
        for name in telling.files
    ]  # fmt: skip
    licence = re.sub(r"[^-\w.]+", "-", telling.config.licence, flags=re.ASCII)
    description = f"{telling.relations} {telling.promise} Made for {telling.config.intended_use}."
    return _json({
        "$schema": DATA_PACKAGE, "name": _slug(telling.name), "title": telling.config.title,
        "description": description, "created": f"{telling.date}T00:00:00Z",
        "licenses": [{"name": licence, "title": telling.config.licence}],
        "contributors": [{"title": telling.config.curator.name, "roles": ["publisher"]}], "resources": resources,
    })  # fmt: skip


def _json(tree: object) -> str:
    return json.dumps(tree, indent=2, ensure_ascii=False).replace("<", r"\u003c") + "\n"


def _without_html(text: str) -> str:
    """Markdown in which what a person declared is no HTML; a block of code stays as it is."""
    prose, start, rest = text.partition("\n```python\n")
    code, end, after = rest.partition("\n```\n")
    return f"{prose.replace('<', '&lt;')}{start}{code}{end}{after.replace('<', '&lt;')}"


def card(telling: Telling) -> str:
    """The deployment card, in the form of OpenDP's registry of deployments."""
    tree = Card(url_slug=_slug(telling.name), deployment=_deployment(telling)).model_dump(exclude_none=True)
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=110)


def _deployment(telling: Telling) -> Deployment:
    config, schema, refuted = telling.config, telling.declared.schema, telling.audit == "refuted"
    return Deployment(
        basic=Basic(
            name=config.title, data_curators=[config.curator.name], intended_use=config.intended_use,
            data_product_region=config.region, data_product_sector=config.sector, publication_date=telling.date,
            description=f"{telling.relations} {telling.extent}",
        ),
        dp_variant=Variant(
            variant_name="Pure DP" if telling.pure and telling.direct and not refuted else "Custom",
            unprotected_quantities=telling.unprotected,
            data_domain=f"Files with the columns {', '.join(schema.released)} and the declared bounds and categories.",
        ),
        privacy_loss=PrivacyLoss(
            privacy_unit=schema.protected, privacy_unit_details=telling.neighbours,
            privacy_parameters=None if refuted else PrivacyParameters(epsilon=config.ceiling),
            privacy_parameters_details=f"{telling.promise} {telling.kind}",
        ),
        deployment_model=DeploymentModel(
            release_type="Many releases" if telling.earlier else "One release",
            release_type_details=f"{telling.earlier_releases} {LATER}",
        ),
        accounting=Accounting(
            post_processing=(THRESHOLD if telling.direct else "") + "Values are rounded, and clipped to the declared bounds.",
            composition=("One noisy table serves all sets." if telling.direct else "Sequential: the sets add up.")
            + (" The noisy table of the predictors is added." if schema.synthesized else ""),
        ),
        implementation=_implementation(telling),
        administrative=Administrative(registry_authors=[config.curator.name]),
    )  # fmt: skip


def _slug(name: str) -> str:
    """A name as a part of an address."""
    return name.lower().replace("_", "-").replace(".", "-")


def _implementation(telling: Telling) -> Implementation:
    schema = telling.declared.schema
    safe = "discrete Laplace noise of OpenDP's library" if telling.direct else "one posterior draw of Stan for each data set"
    settings = ", ".join(f"{name} = {value:g}" for name, value in telling.parameters.items())
    version = f"formalsynth {__version__}" + (f" ({settings})" if settings else "")
    return Implementation(
        preprocessing_and_hyperparameter_tuning=(
            f"Numbers outside the declared bounds: {schema.outside_bounds}. Rows with a missing value: {schema.missing}. "
            f"Outcomes of 0: {schema.zeros}. {telling.settings}"
        ),
        mechanisms=f"{telling.mechanism} of {version}: {safe}; randomness of the system.",
        justification=f"The ceiling of {telling.config.ceiling:g} was declared by the curator.",
    )


def legal(telling: Telling) -> str:
    """The page for the legal team, to be signed or refused on its own."""
    config, schema = telling.config, telling.declared.schema
    return _without_html(f"""# {config.title}: what is released and what is promised

**Who is protected**: each {schema.protected} in one row of the file. {telling.neighbours} That each {schema.protected} is in
one row only was declared by the publisher and cannot be checked.

**What is promised**: {telling.promise}
{telling.kind}

**What epsilon means**: {_meaning(telling)}

**What is not protected**: {telling.unprotected}

**What the data are good for**: {telling.relations}

**Other releases**: {telling.earlier_releases} {LATER}

**What was checked**: this folder holds only files of the kinds listed in the manifest; a program looked into each of them for
rows, values, weights, bounds, seeds, paths and names that have no place in it, and found none. This does not
prove that there are none.

- Published by: {config.curator.name} ({config.curator.type}), {config.curator.contact}
- Licence: {config.licence}
- Date: {telling.date}

Signed or refused by: ________________________
""")


def _meaning(telling: Telling) -> str:
    """What somebody can learn of one row."""
    if telling.audit == "refuted":
        return "nothing can be said, since the claim does not hold for this file."
    schema = telling.declared.schema
    if schema.neighbours == "add_remove":
        bet = f"on whether one {schema.protected} is in the file"
    else:
        bet = f"on one of two values of {_columns(telling.protected)} for one {schema.protected}"
    return (
        f"somebody who knows everything else in the file and would bet evenly {bet} is, as far as the guarantee holds, at most "
        f"{_sure(telling.config.ceiling):.0%} sure after seeing the synthetic columns."
    )


def _sure(epsilon: float) -> float:
    import math

    return 1 / (1 + math.exp(-min(epsilon, 700.0)))


LATER = "Each further release from the file adds its epsilon to this one."
THRESHOLD = (
    "Noisy counts of bins below the scale of the noise times the log of the number of bins count as 0, so rare values, the "
    "largest among them, can be absent. "
)
NO_INTERVAL = (
    "All sets come from one noisy table of counts, and combine.py gives no interval for that reason. The usual one (Reiter 2003) "
    "knows neither the noise nor the bins. In 400 simulated files of about three thousand incomes (epsilon 1, 50 bins, 5 sets) "
    "its 95 % interval covered the mean of the population in 73 % of files, with bins on a log scale in 82 %, and the slope of a "
    "predictor in none."
)


def _assumptions(telling: Telling) -> str:
    """Assumptions of the interval for posterior draws."""
    schema = telling.declared.schema
    parts = [
        "Each set comes from a posterior draw of its own. The interval of combine.py assumes that the model of the synthesizer "
        "fits the file, and that its posterior is not changed for privacy: weights or clipping of records can bias an estimate, "
        "and the interval is then too short."
    ]
    if schema.neighbours == "add_remove":
        parts.append("It assumes that the file has at least as many rows as a set; how many it has is not published.")
    if schema.synthesized:
        parts.append("It does not know the noise of the table from which the predictors were drawn.")
    return " ".join(parts)


def readme(telling: Telling) -> str:
    """What analysts have to know."""
    config, schema = telling.config, telling.declared.schema
    columns = "\n".join(f"| {name} | {column.type} | {_how(telling, name)} |" for name, column in schema.released.items())
    noise = THRESHOLD + NO_INTERVAL if telling.direct else _assumptions(telling)
    return _without_html(f"""# {config.title}

{telling.relations}

{telling.extent} Made for {config.intended_use}.
Values in synthetic columns were drawn, not collected. Licence: {config.licence}.
Published by {config.curator.name}; questions to {config.curator.contact}.
{telling.prepared}

| column | type | how it was made |
| --- | --- | --- |
{columns}

The guarantee: {telling.promise} {telling.kind} See deployment.yaml and LEGAL.md.

## How to analyse them

Do the analysis on each set and combine the results; one set alone does not show how uncertain an estimate is. {noise}

```python
import csv
from combine import combine

estimates, variances = [], []
for k in range(1, {config.sets} + 1):
    with open(f"synthetic_{{k}}.csv", newline="", encoding="utf-8") as file:
        values = [float(row[{schema.outcome!r}]) for row in csv.DictReader(file)]
    mean = sum(values) / len(values)
    estimates.append(mean)
    variances.append(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
print(combine(estimates, variances))
```

## What is in this folder

metadata.json (CSVW) and datapackage.json describe the columns; combine.py has the combining rule; deployment.yaml is the
deployment card; LEGAL.md is for lawyers; MANIFEST.sha256 has a checksum of each file (`sha256sum -c MANIFEST.sha256`).
""")


def _how(telling: Telling, name: str) -> str:
    schema = telling.declared.schema
    if name == schema.outcome:
        return f"synthetic ({telling.mechanism})"
    return "synthetic (noisy table)" if name in schema.synthesized else "as in the file"


COMBINE = '''"""The combining rule for the synthetic data sets of this release."""

import math


def combine(estimates, variances):
    """Combine the estimates from m synthetic data sets.

{about}

    Returns:
        {returns}
    """
    m = len(estimates)
    estimate = sum(estimates) / m
    within = sum(variances) / m
{code}
'''
COMBINE_DRAWS = COMBINE.format(
    about="""    The variance is the mean variance plus that between the sets over m, the latter taken as at least twice the mean
    variance: once for the posterior draw of a set, once for drawing its values (Raab, Nowok and Dibben 2016, Journal of
    Privacy and Confidentiality 7(3), in the form of Reiter 2003, Survey Methodology 29, 181-188). README.md states what it
    assumes.""",
    returns="The estimate, its variance, and a 95 % interval.",
    code="""    between = sum((value - estimate) ** 2 for value in estimates) / (m - 1) if m > 1 else 0.0
    variance = within + max(between, 2 * within) / m
    half = 1.96 * math.sqrt(variance)
    return estimate, variance, (estimate - half, estimate + half)""",
)
COMBINE_TABLE = COMBINE.format(
    about="""    There is no interval: all sets come from one noisy table, and no rule for combining them knows its noise and its
    bins. The standard error is that of drawing the sets from the table alone: the estimate is less certain than it says.""",
    returns="The estimate, and the standard error of drawing the sets.",
    code="    return estimate, math.sqrt(within / m)",
)


def combine_code(telling: Telling) -> str:
    """The combining rule as code."""
    return COMBINE_TABLE if telling.direct else COMBINE_DRAWS
