"""A made-up income.csv: 3,000 rows, some values missing, a few extreme incomes, one rare region. No row is real.

``python tests/incomes.py income.csv`` writes it.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

REGIONS = ["North", "East", "South", "West", "Islands"]
SECTORS = ["public", "private"]


def incomes(n=3000, seed=1):
    """The rows: income, age, region, sector and a number for each person."""
    generator = np.random.default_rng(seed)
    age = generator.integers(18, 80, n)
    region = generator.choice(REGIONS, n, p=[0.3, 0.25, 0.25, 0.19, 0.01])
    sector = generator.choice(SECTORS, n, p=[0.3, 0.7])
    log_income = 9.6 + 0.012 * age + 0.1 * (region == "North") + 0.05 * (sector == "private") + 0.5 * generator.standard_normal(n)
    income = np.round(np.exp(log_income))
    income[generator.choice(n, 6, replace=False)] *= 25
    table = pd.DataFrame(
        {"person": [f"P{k:06d}" for k in range(n)], "income": income.astype(int).astype(str), "age": age.astype(str)}
    )
    table["region"], table["sector"] = region, sector
    table.loc[generator.choice(n, 40, replace=False), "income"] = ""
    table.loc[generator.choice(n, 25, replace=False), "sector"] = ""
    return table


DECLARED = {
    "schema.yaml": {
        "rows": 3000,
        "source": "people",
        "protected": "person",
        "rows_each": 1,
        "neighbours": "replace",
        "outside_bounds": "clip",
        "missing": "drop_rows",
        "zeros": "refuse",
        "pairs": [["age", "income"]],
        "columns.person.categories": ...,
        "columns.person.release": "suppressed",
        "columns.income.lower": 1000,
        "columns.income.upper": 500_000,
        "columns.age.lower": 18,
        "columns.age.upper": 80,
        "columns.region.categories": REGIONS,
        "columns.sector.categories": SECTORS,
    },
    "release.yaml": {
        "rows": 2900,
        "ceiling": 1,
        "budget": 3,
        "title": "Incomes",
        "intended_use": "teaching",
        "licence": "CC-BY-4.0",
        "curator.name": "Office of Examples",
        "curator.contact": "data@office.example",
        "analyses.replicates": 20,
    },
}
"""Declarations of a person in the files that ``formalsynth inspect`` writes; an ellipsis takes a key away."""


def declare(folder, changes=DECLARED):
    """Fill in a study's files."""
    import yaml

    for name, keys in changes.items():
        path = Path(folder) / name
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
        for key, value in keys.items():
            *above, last = key.split(".")
            inner = tree
            for part in above:
                inner = inner[part]
            if value is ...:
                inner.pop(last, None)
            else:
                inner[last] = value
        path.write_text(yaml.safe_dump(tree, sort_keys=False, allow_unicode=True), encoding="utf-8")


def declared_study(rows=3000):
    """The folder, seen from here, of a study of income.csv in which everything is declared; both are made."""
    from formalsynth_release.command import main

    incomes(rows).to_csv("income.csv", index=False)
    assert main(["inspect", "income.csv", "--outcome", "income"]) == 0
    folder = Path("studies/income")
    declare(folder)
    declare(folder, {"schema.yaml": {"rows": rows}})
    return folder


if __name__ == "__main__":
    incomes().to_csv(sys.argv[1], index=False)
