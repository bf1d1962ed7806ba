"""A made-up households.csv: 4,000 rows with incomes of 0, losses and missing incomes. No row is real.

``python tests/households.py households.csv`` writes it.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from incomes import declare

REGIONS = ["North", "East", "South", "West", "Islands"]
EDUCATION = ["primary", "secondary", "college", "university"]


def _table(generator, region, size, age, sex, degree, hours, income):
    """The columns as text, with ids and weights."""
    n = len(region)
    weight = (400 + 300 * (region == "Islands") + 60 * (age < 30)) * generator.gamma(25.0, 1 / 25.0, n)
    return pd.DataFrame({
        "id": generator.permutation(np.arange(100_000, 100_000 + n)), "region": region, "size": size, "age": age.astype(int),
        "sex": sex, "education": np.array(EDUCATION)[degree], "hours": hours.astype(int), "weight": weight.round(1),
        "income": income.astype(int),
    }).astype(str)  # fmt: skip


def households(n=4000, seed=1):
    """The rows: ids, region with a rare level, size, age, sex, education, hours, weight, income of two modes, zeros, losses."""
    generator = np.random.default_rng(seed)
    region = generator.choice(REGIONS, n, p=[0.33, 0.27, 0.22, 0.17, 0.01])
    age = np.clip(generator.normal(48 + 4 * (region == "South") - 3 * (region == "North"), 16, n), 18, 95).round()
    sex = generator.choice(["female", "male"], n)
    degree = np.clip((generator.normal(1.9 - 0.018 * (age - 48) + 0.25 * (region == "North"), 1.0, n)).round(), 0, 3).astype(int)
    size = 1 + np.minimum(generator.poisson(np.where(age > 65, 0.6, 1.7)), 6)
    hours = np.where(age > 67, 0, np.clip(generator.normal(33 + 5 * (sex == "male") - 2 * (size > 3), 11, n), 0, 80)).round()
    lower_mode = generator.random(n) < np.where(hours < 10, 0.6, 0.15)
    amount = np.exp(np.where(lower_mode, 8.6, 10.0) + 0.16 * degree + 0.006 * (age - 48) + 0.5 * generator.standard_normal(n))
    kind = generator.random(n)
    income = np.where(
        kind < 0.09 + 0.05 * (hours == 0), 0.0, np.where(kind < 0.16, -generator.gamma(2.0, 2000.0, n), amount)
    ).round()
    table = _table(generator, region, size, age, sex, degree, hours, income)
    table.loc[generator.random(n) < np.where(age < 30, 0.09, 0.05), "income"] = ""
    return table


def workers(n=4000, seed=1):
    """The same columns, with relations that are common in surveys: most people stop working from 58 to 67, those who work have an
    income of another mode that depends on their hours, and most hours are multiples of 5."""
    generator = np.random.default_rng(seed)
    region = generator.choice(REGIONS, n, p=[0.33, 0.27, 0.22, 0.17, 0.01])
    age = np.where(generator.random(n) < 0.22, generator.normal(73, 8, n), generator.normal(43, 13, n)).clip(18, 95).round()
    sex = generator.choice(["female", "male"], n)
    degree = np.clip((generator.normal(1.6 - 0.022 * (age - 48), 1.0, n)).round(), 0, 3).astype(int)
    size = 1 + np.minimum(generator.poisson(np.select([age < 28, age < 55, age < 68], [1.1, 2.1, 1.1], 0.55)), 6)
    share = np.select([age < 23, age < 58, age < 63, age < 67], [0.62, 0.86, 0.66, 0.38], 0.06) + 0.03 * (degree - 1.5)
    works = generator.random(n) < share.clip(0.02, 0.97)
    exact = generator.normal(38 + 4 * (sex == "male") - 0.12 * np.maximum(age - 55, 0), 8, n).clip(3, 78)
    hours = np.where(works, np.where(generator.random(n) < 0.85, 5 * (exact / 5).round(), exact.round()), 0)
    wage = 10.25 + 0.17 * (degree - 1.5) + 0.022 * (np.minimum(age, 57) - 42) + 0.75 * np.log(np.maximum(hours, 1) / 40)
    transfer = 9.15 + 0.10 * (degree - 1.5) + 0.006 * (age - 60)
    amount = np.exp(np.where(works, wage, transfer) + np.where(works, 0.42, 0.28) * generator.standard_normal(n))
    kind = generator.random(n)
    income = np.where(
        kind < np.select([works, age < 60], [0.02, 0.40], 0.11), 0.0,
        np.where(works & (kind > 0.97), -np.exp(generator.normal(8.3, 1.0, n)), amount),
    ).round()  # fmt: skip
    table = _table(generator, region, size, age, sex, degree, hours, income)
    table.loc[generator.random(n) < 0.04 + 0.05 * (degree > 2), "income"] = ""
    return table


COLUMNS = {
    "id": {"type": "whole", "release": "suppressed"},
    "region": {"type": "category", "categories": REGIONS, "release": "synthesized"},
    "size": {"type": "whole", "lower": 1, "upper": 7, "bins": 7, "release": "synthesized"},
    "age": {"type": "whole", "lower": 18, "upper": 95, "bins": 16, "release": "synthesized"},
    "sex": {"type": "category", "categories": ["female", "male"], "release": "synthesized"},
    "education": {"type": "category", "categories": EDUCATION, "ordered": True, "release": "synthesized"},
    "hours": {"type": "whole", "lower": 0, "upper": 80, "bins": 16, "own_zero": True, "release": "synthesized"},
    "weight": {"type": "number", "lower": 100, "upper": 2000, "decimals": 1, "scale": "log", "bins": 16,
               "release": "synthesized"},
    "income": {"type": "whole", "lower": -50_000, "upper": 500_000, "scale": "signed_log", "unit": 1000, "bins": 30,
               "own_zero": True, "may_be_missing": True, "weight": 3},
}  # fmt: skip
"""Declarations of the columns."""

PAIRS = [
    ["region", "age"], ["region", "income"], ["size", "age"], ["size", "income"], ["age", "education"], ["age", "hours"],
    ["age", "hours kind"], ["age", "income"], ["age", "income kind"], ["sex", "hours"], ["sex", "income"],
    ["education", "income"], ["hours", "income"], ["hours kind", "income"],
]  # fmt: skip
"""Pairs whose association is declared."""
DECLARED = {
    "file": "households.csv", "rows": 4000, "source": "households", "protected": "household", "rows_each": 1,
    "neighbours": "replace",
    "outside_bounds": "clip", "missing": "refuse", "zeros": "keep", "outcome": "income",
}  # fmt: skip
"""Declarations of the file without its columns."""
ANALYSES = {
    "means": ["hours"], "shares": [{"column": "income", "value": 0}, {"column": "income", "above": 30_000}],
    "quantiles": [0.5, 0.9], "regressions": [{"predictors": ["age", "education"], "log": True}, {"predictors": ["weight"]}],
    "replicates": 20,
}  # fmt: skip
"""Declared analyses; the pair of income and weight is not declared."""
RELEASE = {
    "sets": 2, "ceiling": 2, "budget": 4, "title": "Households", "intended_use": "teaching",
    "licence": "CC-BY-4.0", "curator.name": "Office of Examples",
    "curator.contact": "data@office.example", "analyses": ANALYSES,
}  # fmt: skip


def all_pairs(columns):
    """All pairs of released columns and of the kinds of their values."""
    kinds = {name: bool({"own_zero", "may_be_missing"} & column.keys()) for name, column in columns.items()}
    members = [(n, m) for n in columns if columns[n].get("release") != "suppressed" for m in [n, f"{n} kind"][: 1 + kinds[n]]]
    return [[a, b] for (first, a), (second, b) in itertools.combinations(members, 2) if first != second]


def declared_study(rows=4000):
    """The folder, seen from here, of a study of households.csv in which everything is declared; both are made."""
    from formalsynth_release.command import main

    households(rows).to_csv("households.csv", index=False)
    assert main(["inspect", "households.csv", "--outcome", "income"]) == 0
    folder = Path("studies/households").resolve()
    schema = DECLARED | {"file": "../../households.csv", "rows": rows, "pairs": PAIRS, "columns": COLUMNS}
    declare(folder, {"schema.yaml": schema | {"accept_noise": PAIRS[1::11]}, "release.yaml": RELEASE})
    return folder


if __name__ == "__main__":
    households().to_csv(sys.argv[1], index=False)
