"""The four data sets of the REPS paper (Section 7.2), by their names in config.

Each function makes the :class:`~formalsynth_workflow.papers.reps.tables.Table` of a replicate. The bounds are declared here,
from the meaning of each column; records outside them are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.data_files import load_columns
from formalsynth_workflow.papers.reps.files import ADULT_COLUMNS, GERMAN_COLUMNS, NEEDED
from formalsynth_workflow.papers.reps.settings import DatasetName
from formalsynth_workflow.papers.reps.tables import Categorical, Continuous, Schema, Table, table_of

# ---------------------------------------------------------------------------------------------------------------- simulated

SIMULATED_SCHEMA = Schema(
    tuple(Continuous(f"x{j + 1}", -10.0, 10.0) for j in range(6)),
    (Categorical("c1", ("A", "B", "C", "Z")), Categorical("c2", ("K", "L", "M", "Q")), Categorical("c3", ("U", "V", "R"))),
    Categorical("y", ("0", "1")),
)
"""Columns of the simulated data; the last value of each categorical column occurs in injected outliers only."""

_OUTLIERS = 0.02
"""Share of outliers among the records; their number is rounded."""
_INLIER_SHARES = ((0.5, 0.3, 0.2), (0.4, 0.35, 0.25), (0.6, 0.4))
_SLOPES = np.array([0.8, -0.2, 0.4, 0.0, 0.2, -0.2])
_CATEGORY_EFFECTS = ((0.0, 0.6, -0.6, 0.0), (0.0, 0.4, -0.4, 0.0), (0.0, 0.5, 0.0))


def simulated(generator: np.random.Generator, folder: str | Path = "", *, n: int = 5000) -> Table:
    """Two Gaussian components and three categorical features, with injected outliers and a logistic label.

    Inliers: unit-variance components at plus and minus 1 in every feature. Outliers: unit variance at 4 and a category that no
    inlier has. Six continuous and three categorical features and the share of
    outliers are the paper's (Section 7.2). The other numbers are missing from its text and were chosen; the effects on the label
    give the non-private synthesizer a TSTR AUROC near the printed 0.772.

    Args:
        generator: source of randomness.
        folder: not used; all data sets have this argument.
        n: number of records.
    """
    outlier = generator.permutation(n) < round(n * _OUTLIERS)
    component = np.where(generator.random(n) < 0.5, -1.0, 1.0)
    numbers = generator.standard_normal((n, 6)) + np.where(outlier, 4.0, component)[:, None]
    categories = np.column_stack([
        np.where(outlier, len(shares), generator.choice(len(shares), size=n, p=shares)) for shares in _INLIER_SHARES
    ])  # fmt: skip
    effects = [np.array(effect)[categories[:, j]] for j, effect in enumerate(_CATEGORY_EFFECTS)]
    label = generator.random(n) < 1 / (1 + np.exp(-(numbers @ _SLOPES + np.sum(effects, axis=0))))
    bounds = [(column.low, column.high) for column in SIMULATED_SCHEMA.continuous]
    return Table(SIMULATED_SCHEMA, np.clip(numbers, *np.transpose(bounds)), categories, label.astype(np.int64))


# ------------------------------------------------------------------------------------------------------------ breast cancer

_NUCLEUS = {
    "radius": (0, 60), "texture": (0, 60), "perimeter": (0, 400), "area": (0, 6000), "smoothness": (0, 0.3),
    "compactness": (0, 2), "concavity": (0, 2), "concave points": (0, 0.5), "symmetry": (0, 1), "fractal dimension": (0, 0.3),
}  # fmt: skip
"""Declared bounds of a nucleus measurement; a standard error is declared to lie below a fifth of the upper bound."""


def _nucleus_columns() -> dict[str, Continuous]:
    columns = [Continuous(f"{kind} {name}", low, high) for kind in ("mean", "worst") for name, (low, high) in _NUCLEUS.items()]
    columns += [Continuous(f"{name} error", low, high / 5) for name, (low, high) in _NUCLEUS.items()]
    return {column.name: column for column in columns}


def breast_cancer(generator: np.random.Generator, folder: str | Path = "", *, binned: int = 3, bins: int = 5) -> Table:
    """Breast Cancer Wisconsin from scikit-learn: 569 records, 30 features, some of them binned into categories.

    Args:
        generator: chooses which features are binned.
        folder: not used; all data sets have this argument.
        binned: number of features that become categorical (3 in the paper).
        bins: number of categories of each, equally frequent (5 in the paper). Their edges are quantiles of the whole file, so
            they are outside any privacy budget.
    """
    from sklearn.datasets import load_breast_cancer

    file = load_breast_cancer()
    names = [str(name) for name in file.feature_names]
    declared = _nucleus_columns()
    chosen = sorted(generator.choice(len(names), size=binned, replace=False))
    columns: dict[str, NDArray[Any]] = {name: file.data[:, j] for j, name in enumerate(names)}
    values = tuple(str(k) for k in range(bins))
    for j in chosen:
        edges = np.quantile(file.data[:, j], np.arange(1, bins) / bins)
        columns[names[j]] = np.searchsorted(edges, file.data[:, j], side="right").astype(str)
    schema = Schema(
        tuple(declared[name] for j, name in enumerate(names) if j not in chosen),
        tuple(Categorical(names[j], values) for j in chosen),
        Categorical("diagnosis", tuple(str(name) for name in file.target_names)),
    )
    columns["diagnosis"] = np.array(schema.label.values)[file.target]
    return table_of(schema, columns, "Breast Cancer Wisconsin")


# -------------------------------------------------------------------------------------------------------------------- Adult

ADULT_SCHEMA = Schema.of(ADULT_COLUMNS)
"""Six continuous and eight categorical features."""


def adult(generator: np.random.Generator, folder: str | Path) -> Table:
    """UCI Adult: the 45,222 complete records of the published training and test parts.

    A question mark is a missing value; the number of records without one is the paper's.

    Raises:
        DataError: a file is absent, is not the published one, or contains a value outside the schema.
    """
    parts = [load_columns(name, folder) for name in NEEDED["adult"]]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in ADULT_COLUMNS}
    complete = np.all([values != "?" for values in columns.values()], axis=0)
    columns = {name: values[complete] for name, values in columns.items()}
    # The labels of the published test part end in a full stop.
    columns["income"] = np.char.rstrip(columns["income"], ".")
    return table_of(ADULT_SCHEMA, columns, "Adult")


# ------------------------------------------------------------------------------------------------------------ German Credit


GERMAN_SCHEMA = Schema.of(GERMAN_COLUMNS)
"""Seven continuous and thirteen categorical features."""


def german(generator: np.random.Generator, folder: str | Path) -> Table:
    """UCI Statlog German Credit: 1,000 records.

    Raises:
        DataError: the file is absent, is not the published one, or contains a value outside the schema.
    """
    return table_of(GERMAN_SCHEMA, load_columns("german_credit", folder), "German Credit")


MakeTable = Callable[[np.random.Generator, str | Path], Table]
DATASETS: Mapping[DatasetName, MakeTable] = {
    "simulated": simulated,
    "breast_cancer": breast_cancer,
    "adult": adult,
    "german": german,
}
"""Functions that make the table of a replicate from a generator and the folder of real data files."""
