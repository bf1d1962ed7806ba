"""Comparison of noisy tables with the file: declared analyses, tails and pairs, for the custodian only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.core.progress import in_turn
from formalsynth.core.words import counted
from formalsynth.inference.intervals import NORMAL_95
from formalsynth_release.analyses import estimates, names
from formalsynth_release.declarations import rows_of
from formalsynth_release.intervals import values
from formalsynth_release.layout import Layout
from formalsynth_release.model import Model
from formalsynth_release.report import CONFIDENTIAL, document, html_table
from formalsynth_release.schema import PublicSchema, ReleaseConfig, Schema
from formalsynth_release.tables import measured

NEAR = 0.1
"""Largest relative difference of an estimate that counts as kept, however many rows the file has."""
FACTORS = 0.5, 1.0, 2.0
"""Epsilons to try, relative to the ceiling."""
DRAWS = 10
"""Number of draws of the noise for each epsilon."""
MOST_ROWS = 1_000_000
"""Largest number of synthetic rows for each draw of the noise, unless one set has more."""
MOST = 0.9
"""Smallest share of draws in which an analysis has to be kept to count as kept."""
TAILS = 0.01, 0.05, 0.95, 0.99
"""Levels of the quantiles in the tails."""
GROUPS = 5
"""Number of rank groups into which a column of numbers is divided for Cramer's V."""


@dataclass(frozen=True)
class Tried:
    """Releases with the same epsilon and different noise, compared with the file."""

    epsilon: float
    cost: float
    """Epsilon of all parts, computed from the scales of their noise."""
    file: Mapping[str, tuple[float, float]]
    """Estimate and standard error of each analysis, tails included."""
    declared: Sequence[str]
    """Names of the declared analyses."""
    synthetic: Array
    """(draws, analyses) estimates."""
    pairs: Array
    """(draws, pairs) association in the synthetic data, minus that in the file."""

    @property
    def kept(self) -> dict[str, float]:
        """Share of draws in which the synthetic estimate is in the interval of the file, or within a tenth of its value."""
        estimate, error = np.array(list(self.file.values())).T
        near = np.abs(self.synthetic - estimate) <= np.maximum(NORMAL_95 * error, NEAR * np.abs(estimate))
        return dict(zip(self.file, near.mean(axis=0).tolist(), strict=True))

    @property
    def differences(self) -> Array:
        """Root mean square (analyses,) of the difference from the file, in standard errors of the file."""
        estimate, error = np.array(list(self.file.values())).T
        apart = np.sqrt(((self.synthetic - estimate) ** 2).mean(axis=0))
        return np.asarray(np.divide(apart, error, out=np.full_like(apart, np.nan), where=error > 0))


def compare_tables(schema: Schema, config: ReleaseConfig, table: pd.DataFrame) -> str:
    """Try noisy tables on the file, made as in a release but with different noise, and write the internal report."""
    analyses = config.analyses.model_copy(update={"quantiles": sorted({*config.analyses.quantiles, *TAILS})})
    pairs, generator, rows = schema.pairs, np.random.default_rng(), rows_of(schema, config, len(table))
    file, of_file = estimates(schema, analyses, table), associations(schema, table, pairs)
    sets, declared, tried = min(config.sets, max(MOST_ROWS // rows, 1)), names(schema, config.analyses), []
    for epsilon in (factor * config.ceiling for factor in FACTORS):
        releases, differences, cost = [], [], 0.0
        for _ in in_turn(range(DRAWS), f"Epsilon {epsilon:g}: drawing noisy tables,"):
            parts = measured(schema, table, epsilon)
            cost = sum(SENSITIVITY[schema.neighbours] * part.largest / part.scale for part in parts)
            model = Model.of(schema, parts)
            drawn = [model.rows(rows, generator) for _ in range(sets)]
            releases.append(np.mean([values(schema, analyses, synthetic) for synthetic in drawn], axis=0))
            differences.append(np.mean([associations(schema, synthetic, pairs) for synthetic in drawn], axis=0) - of_file)
        tried.append(Tried(epsilon, cost, file, declared, np.array(releases), np.array(differences)))
    return _page(config, tried, pairs, sets)


def associations(schema: PublicSchema, rows: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Array:
    """Compute the association (pairs,) of each pair: rank correlation of columns with an order, otherwise Cramer's V."""
    places = Layout(schema).variable_places(rows)
    return np.array([_association(places[first], places[second]) for first, second in pairs])


def _association(ours: tuple[Integers, bool], theirs: tuple[Integers, bool]) -> float:
    """Compute the association of two columns, given as levels and True if these have an order; 0 if one is constant."""
    from scipy.stats.contingency import association  # takes as long to load as a third of the package

    (first, first_ordered), (second, second_ordered) = ours, theirs
    counts = _counts(first, second)
    if not (first_ordered and second_ordered):
        counts = _grouped(counts) if first_ordered else counts
        counts = _grouped(counts.T) if second_ordered else counts
    if min(counts.shape) < 2:
        return 0.0
    return _rank_correlation(counts) if first_ordered and second_ordered else float(association(counts, method="cramer"))


def _counts(first: Integers, second: Integers) -> Integers:
    """Count the rows with each pair of levels; levels that no row has are left out."""
    there = (first >= 0) & (second >= 0)
    shape = int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1
    counts = np.bincount(first[there] * shape[1] + second[there], minlength=shape[0] * shape[1]).reshape(shape)
    return counts[np.ix_(counts.any(axis=1), counts.any(axis=0))]


def _grouped(counts: Integers) -> Integers:
    """Sum the rows of a table by groups of ranks."""
    group = np.minimum(_ranks(counts.sum(axis=1)) * GROUPS // counts.sum(), GROUPS - 1)
    return np.add.reduceat(counts, np.flatnonzero(np.diff(group, prepend=-1)))


def _ranks(counts: Integers) -> Array:
    """Return the mean rank (levels,) of the rows of each level."""
    return np.asarray(np.cumsum(counts) - (counts - 1) / 2)


def _rank_correlation(counts: Integers) -> float:
    ours, theirs = counts.sum(axis=1), counts.sum(axis=0)
    middle = (counts.sum() + 1) / 2
    first, second = _ranks(ours) - middle, _ranks(theirs) - middle
    return float(first @ counts @ second / np.sqrt((ours @ first**2) * (theirs @ second**2)))


def _page(config: ReleaseConfig, tried: Sequence[Tried], pairs: Sequence[tuple[str, str]], sets: int) -> str:
    rows = [
        (result.epsilon, name, *result.file[name], float(result.synthetic[:, k].mean()), float(result.differences[k]),
         result.kept[name], "tail" if name not in result.declared else "kept" if result.kept[name] >= MOST else "lost")
        for result in tried
        for k, name in enumerate(result.file)
    ]  # fmt: skip
    head = ["epsilon", "analysis", "file", "its standard error", "synthetic, mean", "difference, in errors", "kept in", ""]
    of_pairs = [
        (result.epsilon, f"{first} and {second}", float(differences.mean()), float(differences.max()))
        for result in tried
        for (first, second), differences in zip(pairs, np.abs(result.pairs).T, strict=True)
    ]
    claims = [
        (result.epsilon, result.cost, "none: it follows from how the noise is drawn, as docs/proofs/tables.md proves")
        for result in tried
    ]
    return document(f"{config.title}: internal report", CONFIDENTIAL, [
        f"<h1>{escape(config.title)}: noisy tables and the file</h1>",
        f"<p>{DRAWS} draws of the noise for each epsilon, with {counted(sets, 'set')} each (a release has {config.sets}), made "
        "like a release, which draws its own noise. Choosing an epsilon or pairs from this report uses the data, and no epsilon "
        "covers that; the ledger records it, and the texts of the release state it.</p>",
        *(f"<p><strong>{escape(sentence)}</strong></p>" for sentence in verdicts(tried)),
        "<h2>Claim</h2>", html_table(["claimed epsilon", "epsilon from the scales of all noise", "audit"], claims),
        "<h2>Declared analyses and tails</h2>",
        "<p>An analysis is kept if the synthetic estimate is in the 95 % interval of the file or within a tenth of its value, "
        f"in at least {MOST:.0%} of the draws. The difference is a root mean square.</p>",
        html_table(head, rows),
        "<h2>Pairs</h2><p>Rank correlation, or Cramér's V if a column has no order: absolute difference from the file.</p>",
        html_table(["epsilon", "pair", "mean", "largest"], of_pairs),
    ])  # fmt: skip


def verdicts(tried: Sequence[Tried]) -> list[str]:
    """State which declared analyses are kept at each epsilon, and where no declared regression is kept."""
    sentences = []
    for result in tried:
        kept, level = result.kept, f"epsilon {result.epsilon:g}"
        lost = [name for name in result.declared if kept[name] < MOST]
        regressions = [name for name in result.declared if ": " in name]
        if regressions and all(name in lost for name in regressions):
            sentences.append(f"Noisy tables keep no declared regression at {level}.")
        sentences.append(f"Lost at {level}: {'; '.join(lost)}." if lost else f"All declared analyses are kept at {level}.")
    return sentences
