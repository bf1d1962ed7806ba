"""The words around synthetic data: for machines, for analysts, for the registry of deployments and for the legal team.

Nothing here is told more than what was declared: no function takes the confidential rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from formalsynth import __version__
from formalsynth.core.words import guarantee
from formalsynth.custody.formats import CONTEXT, CSVW
from formalsynth.custody.schema import Declared, ReleaseConfig

PURE_KINDS = {
    "replace": "Pure epsilon-DP; neighbours have one record exchanged.",
    "add_remove": "Pure epsilon-DP; neighbours have one record more or less.",
}
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

    @property
    def files(self) -> list[str]:
        """Names of the synthetic data sets."""
        return [f"synthetic_{k + 1}.csv" for k in range(self.config.sets)]

    @property
    def kind(self) -> str:
        """The kind of guarantee in words."""
        if self.pure:
            return PURE_KINDS[self.declared.schema.neighbours]
        return f"{self.guarantee}: {guarantee(self.guarantee).meaning}"

    @property
    def neighbours(self) -> str:
        """The relation in words."""
        whom = self.declared.schema.protected
        if self.declared.schema.neighbours == "replace":
            return f"Two files are neighbours when the confidential values of one {whom} differ."
        return f"Two files are neighbours when one has one {whom} more than the other."

    @property
    def unprotected(self) -> str:
        """What the guarantee does not cover."""
        schema = self.declared.schema
        kept = [name for name in schema.predictors if name not in schema.synthesized]
        parts = [f"The columns {', '.join(kept)} are those of the file, unchanged but for their order."] if kept else []
        if schema.neighbours == "replace":
            parts.append("The number of rows, and so how many rows were left out for a missing value, is that of the file.")
        if not self.pure:
            parts.append(
                "That the claimed epsilon came out at or below the declared ceiling is known from there being a release."
            )
        return " ".join([*parts, "Declared bounds, categories and settings were chosen without the file."])


def dictionary(telling: Telling) -> str:
    """The data dictionary: CSVW."""
    columns = [
        {"name": name, "titles": name, "datatype": _datatype(column.type, column.lower, column.upper, column.categories),
         "required": True}
        for name, column in telling.declared.schema.released.items()
    ]  # fmt: skip
    tables = [{"url": name, "tableSchema": {"columns": columns}} for name in telling.files]
    return _json({"@context": [CONTEXT, {"@language": "en"}], "dc:title": telling.config.title, "tables": tables})


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
        {"name": name.removesuffix(".csv").replace("_", "-"), "path": name, "format": "csv", "mediatype": "text/csv",
         "encoding": "utf-8", "profile": "tabular-data-resource", "schema": {"fields": fields}}
        for name in telling.files
    ]  # fmt: skip
    return _json({
        "profile": "tabular-data-package", "name": telling.name.lower().replace("_", "-").replace(".", "-"),
        "title": telling.config.title, "description": f"Synthetic data for {telling.config.intended_use}.",
        "created": f"{telling.date}T00:00:00Z", "licenses": [{"name": telling.config.licence}],
        "contributors": [{"title": telling.config.curator.name, "role": "publisher"}], "resources": resources,
    })  # fmt: skip


def _json(tree: object) -> str:
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def card(telling: Telling) -> str:
    """The deployment card, in the form of OpenDP's registry of deployments."""
    config, schema = telling.config, telling.declared.schema
    variant: dict[str, object] = {"variant_name": "Pure DP" if telling.pure else "Custom"}
    if not telling.pure:
        variant |= {
            "input_metric": telling.neighbours, "bound_on_input_distance": "1",
            "output_measure": "The largest absolute log ratio of the densities of what is released.",
            "bound_on_output_distance": f"{config.ceiling:g}, of this kind: {telling.kind}",
        }  # fmt: skip
    tree = {
        "url_slug": telling.name.lower().replace("_", "-"),
        "deployment": {
            "basic": {
                "name": config.title, "description": f"{config.sets} synthetic data sets of {telling.rows} rows each.",
                "data_curators": [{"data_curator_name": config.curator.name, "data_curator_type": config.curator.type}],
                "intended_use": config.intended_use, "data_product_type": "Dataset", "data_product_region": config.region,
                "data_product_sector": config.sector, "publication_date": telling.date,
            },
            "dp_variant": variant | {
                "data_domain": f"Files with the columns {', '.join(schema.released)} and the declared bounds and categories.",
                "unprotected_quantities": telling.unprotected,
            },
            "privacy_loss": {
                "privacy_unit": schema.protected, "privacy_unit_details": telling.neighbours, "number_of_privacy_units": 1,
                "privacy_parameters": {"epsilon": float(config.ceiling)},
                "privacy_parameters_details": "At most this much for all synthetic data sets together, declared beforehand.",
            },
            "deployment_model": {
                "model_name": "Central", "release_type": "One release", "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": _implementation(telling),
            "administrative": {"status": "Draft", "registry_authors": [config.curator.name], "tier": 3},
        },
    }  # fmt: skip
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, width=110)


def _implementation(telling: Telling) -> dict[str, object]:
    schema = telling.declared.schema
    safe = "discrete Laplace noise of OpenDP's library" if telling.pure else "one posterior draw of Stan for each data set"
    settings = ", ".join(f"{name} = {value:g}" for name, value in telling.parameters.items())
    version = f"formalsynth {__version__}" + (f" ({settings})" if settings else "")
    return {
        "preprocessing_and_hyperparameter_tuning": (
            f"Outcomes outside the declared bounds: {schema.outside_bounds}. Rows with a missing value: {schema.missing}. The "
            "choice of the mechanism after an internal comparison is not accounted for."
        ),
        "mechanisms": f"{telling.mechanism} of {version}: {safe}; randomness of the system.",
        "composition": (
            "One noisy table serves all sets." if telling.pure else "Sequential: the sets add up."
        ) + (" The noisy table of the predictors is added." if schema.synthesized else ""),
        "post_processing": "Values are rounded, and clipped to the declared bounds.",
        "justification": f"The ceiling of {telling.config.ceiling:g} was declared by the curator.",
    }  # fmt: skip


def legal(telling: Telling) -> str:
    """The page for the legal team, to be signed or refused on its own."""
    config, schema = telling.config, telling.declared.schema
    kind = "holds for every file as it stands" if telling.pure else "does not hold as it stands for every file"
    return f"""# {config.title}: what is released and what is promised

**Who is protected**: each {schema.protected} in one row of the file. {telling.neighbours}

**What is promised**: epsilon at most {config.ceiling:g} for everything in this folder together. The kind of the guarantee is:
{telling.kind} This kind {kind}.

**What epsilon means**: somebody who knows all other rows and would bet evenly on one of two values of a {schema.protected} is, as
far as the guarantee holds, at most {_sure(config.ceiling):.0%} sure after seeing this folder.

**What is not protected**: {telling.unprotected}

**What else could be published later**: each further release from the same file adds its epsilon to this one.

**What was checked**: this folder holds only files of the kinds listed in the manifest; a program looked into each of them for
rows, values, weights, bounds, seeds, paths and names that have no place in it, and found none. That it found none is no proof.

- Published by: {config.curator.name} ({config.curator.contact})
- Licence: {config.licence}
- Date: {telling.date}

Signed or refused by: ________________________
"""


def _sure(epsilon: float) -> float:
    import math

    return 1 / (1 + math.exp(-min(epsilon, 700.0)))


def readme(telling: Telling) -> str:
    """What analysts have to know."""
    config, schema = telling.config, telling.declared.schema
    columns = "\n".join(f"| {name} | {column.type} | {_how(telling, name)} |" for name, column in schema.released.items())
    noise = (
        "All sets come from one noisy table of counts. The interval below does not know of that noise: it is too short for "
        "estimates that the noise moves. Simulate it where it matters; how it was made is in deployment.yaml."
        if telling.pure
        else "Each set comes from a posterior draw of its own, so the spread between them tells how sure the synthesizer was."
    )
    return f"""# {config.title}

{config.sets} synthetic data sets of {telling.rows} rows each, for {config.intended_use}.
Values in synthetic columns were drawn, not collected. Licence: {config.licence}.
Published by {config.curator.name}; questions to {config.curator.contact}.

| column | type | how it was made |
| --- | --- | --- |
{columns}

The guarantee: epsilon at most {config.ceiling:g}. {telling.kind} See deployment.yaml and LEGAL.md.

## How to analyse them

Do the analysis on each set and combine the results; the mean of one set alone says nothing of how uncertain it is. {noise}

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
"""


def _how(telling: Telling, name: str) -> str:
    schema = telling.declared.schema
    if name == schema.outcome:
        return f"synthetic ({telling.mechanism})"
    return "synthetic (noisy table)" if name in schema.synthesized else "as in the file"


COMBINE = '''"""The combining rule for {what} synthetic data sets."""

import math


def combine(estimates, variances):
    """One estimate from those of m synthetic data sets.

    The variance is {formula} ({source}).

    Returns:
        The estimate, its variance, and a 95 % interval.
    """
    m = len(estimates)
    estimate = sum(estimates) / m
    within = sum(variances) / m
    between = sum((one - estimate) ** 2 for one in estimates) / (m - 1) if m > 1 else 0.0
    variance = {code}
    half = 1.96 * math.sqrt(variance)
    return estimate, variance, (estimate - half, estimate + half)
'''


def combine_code(telling: Telling) -> str:
    """The combining rule as code."""
    if telling.declared.schema.synthesized:
        formula, code = "the mean variance times 1 + 1 / m", "within * (1 + 1 / m)"
        source = "Raab, Nowok and Dibben 2016, Journal of Privacy and Confidentiality 7(3)"
        return COMBINE.format(what="fully", formula=formula, code=code, source=source)
    formula, source = "the mean variance plus that between the sets over m", "Reiter 2003, Survey Methodology 29, 181-188"
    return COMBINE.format(what="partially", formula=formula, code="within + between / m", source=source)
