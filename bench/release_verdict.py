"""Marks of weak pairs in releases of ten declared populations: python bench/release_verdict.py.

Each draw makes a file and releases it twice: as declared, where weak pairs are left out after the noisy margins are drawn, and
with all pairs accepted. A pair is invented if the file has an association below 0.15 and the release one above 0.3. A
pair is good if its error in releases with all pairs is below half of its association. All numbers are in results.
"""

import argparse
import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from page import show
from scipy.stats import norm

from formalsynth_release.associations import associations
from formalsynth_release.intervals import simulated_noise
from formalsynth_release.layout import Layout, weakness
from formalsynth_release.model import Model
from formalsynth_release.schema import PublicSchema
from formalsynth_release.study import Schema
from formalsynth_release.tables import measured
from formalsynth_release.verdict import Verdict

RESULTS = Path(__file__).parents[1] / "results"
EPSILON = 2.0
SMALL, LARGE = 0.15, 0.3
"""Largest association of the file, and smallest one of a release, that count as invented."""
KINDS = {
    "number": {"type": "number", "decimals": 2, "lower": -5, "upper": 5, "bins": 20},
    "amount": {"type": "number", "decimals": 1, "lower": 1, "upper": 100_000, "scale": "log", "bins": 30},
    "zeros": {"type": "number", "decimals": 1, "lower": 0, "upper": 100_000, "scale": "signed_log", "unit": 50, "bins": 30,
              "own_zero": True},
    "count": {"type": "whole", "lower": 0, "upper": 20, "bins": 21},
    "scale": {"type": "category", "categories": list("12345"), "ordered": True},
    "yes": {"type": "category", "categories": ["no", "yes"]},
    "rare": {"type": "category", "categories": ["no", "yes"]},
    "place": {"type": "category", "categories": list("abcdefgh")},
}  # fmt: skip
"""Declarations of columns by kind."""
SHARES = {
    "yes": [0.6, 0.4],
    "rare": [0.95, 0.05],
    "scale": [0.1, 0.2, 0.3, 0.25, 0.15],
    "place": list(0.3 * 0.72 ** np.arange(8)),
}


@dataclass(frozen=True)
class Population:
    """Population whose columns depend on two common factors."""

    rows: int
    kinds: str
    """Kinds of its columns."""
    strength: float
    """Mean loading of the first factor; every third column has none."""
    pairs: int | None = None
    """Number of declared pairs, the first ones; None for all."""

    @functools.cached_property
    def schema(self) -> PublicSchema:
        """Its declarations."""
        names = {f"{kind}{k}": KINDS[kind] for k, kind in enumerate(self.kinds.split())}
        outcome = next(name for name, column in names.items() if column["type"] != "category")
        columns = {name: column if name == outcome else column | {"release": "synthesized"} for name, column in names.items()}
        return PublicSchema.model_validate({
            "source": "made_up", "protected": "person", "rows_each": 1, "neighbours": "replace",
            "outside_bounds": "clip", "missing": "refuse",
            "zeros": "keep", "outcome": outcome, "rows": self.rows, "columns": columns,
            "pairs": list(itertools.combinations(columns, 2))[: self.pairs],
        })  # fmt: skip

    def file(self, generator: np.random.Generator) -> pd.DataFrame:
        """Draw the rows of a file."""
        factors, columns = generator.normal(size=(2, self.rows)), {}
        for k, (name, kind) in enumerate(zip(self.schema.columns, self.kinds.split(), strict=True)):
            loads = self.strength * np.array([(k % 3 > 0) * (-1) ** (k // 3), 0.6 * (k % 4 == 0)])
            own = generator.normal(size=self.rows)
            columns[name] = _values(kind, (loads @ factors + own) / np.sqrt(1 + loads @ loads), generator)
        return pd.DataFrame(columns)


def _values(kind: str, normal: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Transform normal variables (n,) to the values of a kind of column."""
    if kind in SHARES:
        shares, categories = np.cumsum(SHARES[kind]) / np.sum(SHARES[kind]), KINDS[kind]["categories"]
        place = np.minimum(np.searchsorted(shares, norm.cdf(normal)), len(shares) - 1)
        if kind == "place":  # categories without an order
            place = (3 * place) % len(shares)
        return np.array(categories, dtype=object)[place]
    if kind == "count":
        return generator.poisson(np.exp(1 + 0.5 * normal)).clip(0, 20).astype(float)
    if kind == "number":
        return normal.clip(-5, 5).round(2)
    amounts = np.exp(7 + 0.8 * normal).clip(1, 100_000).round(1)
    return np.where(generator.random(len(normal)) < 0.2, 0.0, amounts) if kind == "zeros" else amounts


POPULATIONS = {
    "trial": Population(60, "number scale yes number yes", 0.8),
    "clinic": Population(600, "place number rare count yes scale", 0.7),
    "hospital": Population(2500, "place count rare number amount yes scale number", 0.7),
    "hospital, 8 pairs": Population(2500, "place count rare number amount yes scale number", 0.7, 8),
    "survey": Population(3000, "number scale scale yes yes number count rare place amount", 0.5),
    "households": Population(4000, "zeros number scale place yes count", 0.8, 10),
    "payroll": Population(6000, "amount number scale yes place", 1.5),
    "registry": Population(12_000, "count rare rare rare yes place place number", 0.4),
    "school": Population(30_000, "number number scale place zeros", 1.8),
    "unrelated": Population(5000, "number amount count scale yes rare place", 0.0),
}


@dataclass(frozen=True)
class Draw:
    """Associations (pairs,) of a file and of two releases, and marks."""

    file: np.ndarray
    released: np.ndarray
    accepted: np.ndarray
    """Associations with all pairs accepted."""
    kept: np.ndarray
    weak: np.ndarray
    """True for pairs that are weak if all are accepted."""


def draws(population: Population, number: int) -> Iterator[Draw]:
    """Release files of a population."""
    schema, layout = population.schema, Layout(population.schema)
    accepted = schema.model_copy(update={"accept_noise": schema.pairs})
    for seed in range(number):
        generator = np.random.default_rng(seed)
        file, noise = population.file(generator), functools.partial(simulated_noise, generator, {})
        models = [Model.of(declared, measured(declared, file, EPSILON, noise)) for declared in (schema, accepted)]
        rows = max(population.rows, 5000)
        measures = [
            associations(layout, table, schema.pairs) for table in (file, *(model.rows(rows, generator) for model in models))
        ]
        kept = {frozenset(pair) for pair in models[0].targets}
        factors = weakness(layout, models[1].reading.variables, models[1].reading.number, EPSILON, layout.pairs)
        weak = {frozenset(pair) for pair, factor in factors.items() if factor > 1}
        yield Draw(*measures, *(np.array([frozenset(pair) in which for pair in schema.pairs]) for which in (kept, weak)))


def summary(name: str, number: int) -> dict[str, object]:
    """Summarize the draws of a population."""
    population = POPULATIONS[name]
    of_draws = [(draw.file, draw.released, draw.accepted, draw.kept, draw.weak) for draw in draws(population, number)]
    file, released, accepted, kept, weak = map(np.array, zip(*of_draws, strict=True))
    schema = population.schema
    declared = Schema.model_construct(**{key: getattr(schema, key) for key in PublicSchema.model_fields})
    before = {frozenset(pair): factor > 1 for pair, factor in Verdict(declared, EPSILON).weakness.items()}
    marked = np.array([before[frozenset(pair)] for pair in schema.pairs])
    invented = (np.abs(file) < SMALL) & (np.abs(released) > LARGE)
    today = (np.abs(file) < SMALL) & (np.abs(accepted) > LARGE)
    error = np.sqrt(((accepted - file) ** 2).mean(axis=0))
    good = error < np.abs(file).mean(axis=0) / 2
    unmarked = kept.all(axis=1)
    errors, independent = np.abs(released - file).mean(axis=1), np.abs(file).mean(axis=1)
    return {
        "population": name, "rows": population.rows, "pairs": len(schema.pairs), "draws": number,
        "weak before": int(marked.sum()), "kept": kept.sum(axis=1).mean(), "invented": int((invented & kept).sum()),
        "invented, left out": int((invented & ~kept).sum()), "invented, accepted": int(today.any(axis=1).sum()),
        "error": errors.mean(), "error, accepted": np.abs(accepted - file).mean(), "independent": independent.mean(),
        "unmarked": int(unmarked.sum()), "unmarked and worse": int((unmarked & (errors > independent)).sum()),
        "good": int(good.sum()), "good, left out": int((good & (kept.mean(axis=0) < 0.5)).sum()),
        "good, weak": int((good & (weak.mean(axis=0) > 0.5)).sum()),
        "good, before": int((good & marked).sum()),
    }  # fmt: skip


def main(number: int, populations: list[str]) -> None:
    """Simulate all populations, and write the table."""
    RESULTS.mkdir(exist_ok=True)
    rows = []
    for name in populations:
        rows.append(summary(name, number))
        print(rows[-1], flush=True)
        pd.DataFrame(rows).to_csv(RESULTS / "release_verdict.csv", index=False)
    head = ["population", "rows", "pairs", "kept", "invented", "draws with invented pairs if all are kept", "error of pairs",
            "if all are kept", "independent columns", "good pairs", "of them left out"]  # fmt: skip
    lines = [
        [row["population"], f"{row['rows']:,}", row["pairs"], f"{row['kept']:.1f}", row["invented"],
         f"{row['invented, accepted']} of {row['draws']}",
         *(f"{row[key]:.3f}" for key in ("error", "error, accepted", "independent")),
         row["good"], row["good, left out"]]
        for row in rows
    ]  # fmt: skip
    show("release_verdict", head, lines)
    total = pd.DataFrame(rows).sum(numeric_only=True)
    print(f"Invented in unmarked pairs: {total['invented']:g}.")
    print(f"Worse than independent columns: {total['unmarked and worse']:g} of {total['unmarked']:g} releases without marks.")
    print(f"Good pairs: {total['good']:g}; left out of most releases: {total['good, left out']:g}.")
    print(f"Weak if all are kept: {total['good, weak']:g}; weak before: {total['good, before']:g}.")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--draws", type=int, default=30, help="files of each population (default: %(default)s)")
    arguments.add_argument("--populations", nargs="+", choices=POPULATIONS, default=list(POPULATIONS), help="names")
    options = arguments.parse_args()
    main(options.draws, options.populations)
