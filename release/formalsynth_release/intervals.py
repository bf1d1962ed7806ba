"""Intervals for declared analyses of noisy tables, by simulating the whole procedure from the published model.

A replicate draws a file from the model, counts it with noise of the published scale, fits the model to the noisy numbers and
analyses rows drawn from it: a parametric bootstrap, whose errors include those of sampling, noise, fit and drawing. All of it
follows from the crossing alone, and spends no epsilon.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from formalsynth.core.progress import in_turn
from formalsynth_release.analyses import estimates, mean_name, names, quantile_name
from formalsynth_release.joint import Target
from formalsynth_release.layout import Layout, Names, Pair, weakness
from formalsynth_release.levels import levels_of
from formalsynth_release.model import Model
from formalsynth_release.schema import KIND, Analyses, PublicSchema
from formalsynth_release.tables import measured
from formalsynth_release.variables import HEAVY

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array

LARGEST, LARGEST_OF_HATS = 20_000, 50_000
"""Maximum number of rows of a simulated file, and the same for intervals of releases with hats: fits to fewer rows vary less."""
TASK = "Simulating a release for the intervals,"  # start of lines that report progress
SETS = 5  # maximum number of synthetic sets in a replicate; more would hardly make an estimate more precise
FEW = 10  # number below which a quantile of whole numbers has no interval: noise moves it by a whole value
MOST_ROWS, MOST_OF_PAIR = 5_000, 1_500
"""Rows, and rows times epsilon for each pair, above which slopes have no interval; bench/release_coverage.py is below both."""
MOST_BIAS = 2.0  # largest bias that is subtracted from an estimate, in standard errors


@dataclass(frozen=True)
class Way:
    """Procedure from a file to estimates from its synthetic sets.

    A file of more than :attr:`largest` rows is simulated with fewer, but with the penalties of the release. The variance due to
    sampling is of order 1 / n, that due to noise of order 1 / (n epsilon)^2. So epsilon is multiplied by the root of n over the
    simulated rows: both errors are larger by that same factor.
    """

    schema: PublicSchema
    analyses: Analyses
    epsilon: float
    rows: int  # rows of the file
    drawn: int  # rows of all sets together
    knots: int  # largest number of knots of the release, which has more rows than a simulated file may have
    largest: int = LARGEST  # maximum number of rows of a simulated file

    @property
    def fraction(self) -> float:
        """Number of simulated rows as a share of the file's rows."""
        return min(1.0, self.largest / self.rows)

    def file(self, model: Model, generator: np.random.Generator) -> pd.DataFrame:
        """Draw the rows of a file from its model."""
        return model.rows(round(self.rows * self.fraction), generator, sample=True)

    def fitted(self, rows: pd.DataFrame, generator: np.random.Generator, drawn_from: Model | None = None) -> Model:
        """Fit the model of a release to the noisy numbers of a file, which is ``drawn_from`` the model of the simulated release.

        Its sums are shrunk, so the noise leaves their posterior standard deviation uncertain: they are not shrunk again.
        """
        epsilon = self.epsilon / math.sqrt(self.fraction)
        schema = self.schema.model_copy(update={"rows": len(rows)})
        noise = functools.partial(simulated_noise, generator, drawn_from.targets if drawn_from else {})
        parts = measured(schema, rows, epsilon, noise, self.knots, drawn_from.pairs if drawn_from else None)
        return Model.of(schema, parts, drawn_from is None, self.rows)

    def released(self, model: Model, generator: np.random.Generator) -> Array:
        """Return estimates (analyses,) from synthetic sets."""
        return values(self.schema, self.analyses, model.rows(max(round(self.drawn * self.fraction), 2), generator))

    def errors(self, model: Model, replicates: int, generator: np.random.Generator) -> tuple[Array, Array]:
        """Return the bias and standard error (analyses,) of a release, if the model is the population."""
        files, releases = [], []
        for _ in in_turn(range(replicates), TASK):
            rows = self.file(model, generator)
            files.append(values(self.schema, self.analyses, rows))
            releases.append(self.released(self.fitted(rows, generator, model), generator))
        bias = np.mean(releases, axis=0) - np.mean(files, axis=0)
        return bias * self.fraction, np.std(releases, axis=0, ddof=1) * math.sqrt(self.fraction)


def student(replicates: int) -> float:
    """Return the quantile of Student's t for a 95 % interval from so many simulated releases."""
    return round(float(stdtrit(replicates - 1, 0.975)), 6)


def values(schema: PublicSchema, analyses: Analyses, rows: pd.DataFrame) -> Array:
    """Return estimates (analyses,) without their standard errors."""
    return np.array([estimate for estimate, _ in estimates(schema, analyses, rows).values()])


def simulated_noise(
    generator: np.random.Generator, targets: Mapping[Names, Target], names: Names, counts: Sequence[int], epsilon: float,
    sensitivity: float,
) -> list[int]:  # fmt: skip
    """Add discrete Laplace noise for simulations only, as the difference of two geometric numbers; it protects no one.

    That of pairs with an estimate is reduced to what it leaves uncertain.
    """
    more, less = generator.geometric(-math.expm1(-epsilon / sensitivity), (2, len(counts)))
    noise = np.rint(targets[names].uncertain(more - less)) if names in targets else more - less
    return [int(number) for number in np.asarray(counts) + noise]


@dataclass(frozen=True)
class Analysed:
    """A declared analysis of the synthetic sets, with its error."""

    estimate: float  # mean over the sets
    bias: float
    error: float
    quantile: float  # quantile of Student's t for a 95 % interval
    limits: tuple[float, float] = (-math.inf, math.inf)  # limits of the possible values, at which the interval ends
    reason: str = ""  # reason why there is no interval; empty if there is one

    @property
    def corrected(self) -> float:
        """Estimate without its bias."""
        return self.estimate - self.bias

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval for the population from which the file is a random sample; None if there is a reason."""
        half, (least, most) = self.quantile * self.error, self.limits
        return None if self.reason else (max(self.corrected - half, least), min(self.corrected + half, most))


def analysed(way: Way, model: Model, sets: Sequence[pd.DataFrame], generator: np.random.Generator) -> dict[str, Analysed]:
    """Analyse synthetic sets of a release."""
    estimate = np.mean([values(way.schema, way.analyses, rows) for rows in sets], axis=0)
    bias = error = np.full(len(estimate), math.nan)
    if not all(_beforehand(way, model, name) for name in names(way.schema, way.analyses)):
        bias, error = way.errors(model, way.analyses.replicates, generator)
    return judged(way, model, estimate, bias, error, student(way.analyses.replicates))


def judged(way: Way, model: Model, estimate: Array, bias: Array, error: Array, quantile: float) -> dict[str, Analysed]:
    """Return the analyses with estimates, biases and errors (analyses,), each with an interval or a reason for none."""
    results = {}
    for k, name in enumerate(names(way.schema, way.analyses)):
        # rounded as in analyses.csv, so combine.py gives the intervals of README.md to the last digit
        biased, spread = (float(f"{number:.6g}") for number in (bias[k], error[k]))
        result = Analysed(float(estimate[k]), biased, spread, quantile, _limits(way, name))
        estimated = math.nan if undeclared(way.schema, way.analyses, name) else result.estimate
        results[name] = replace(result, estimate=estimated, reason=_reason(way, model, name, result))
    return results


def _reason(way: Way, model: Model, name: str, result: Analysed) -> str:
    if known := _beforehand(way, model, name):
        return known
    if not all(map(math.isfinite, (result.estimate, result.bias, result.error))):
        return "in some simulations, it has too few rows"
    if abs(result.bias) > MOST_BIAS * result.error:
        return "the bias is larger than the noise can explain"
    low, high = result.limits
    large = name in _quantiles(way.schema, way.analyses) and abs(result.bias) > abs(result.estimate) / 2
    return "too few rows for the noise" if large or not low <= result.corrected <= high else _inside_bin(way, name, result)


def _beforehand(way: Way, model: Model, name: str) -> str:
    """Explain, without a simulation, why an analysis has no interval; empty if it may have one."""
    reading = model.reading
    if known := without_interval(way.schema, way.analyses, name, reading.number, way.epsilon):
        return known
    factors = weakness(Layout(way.schema), reading.variables, reading.number, way.epsilon, model.pairs)
    if noisy := _without(way.schema, way.analyses, name, (pair for pair, factor in factors.items() if factor <= 1)):
        return f"the pair {noisy} has too much noise"
    # few rows or the noise alone decide about heavy tails
    heavy = [column for column in _columns(way.schema, way.analyses, name) if reading.variables[column].kurtosis > HEAVY]
    return f"the noisy counts of {heavy[0]} have heavy tails" if heavy else ""


def without_interval(schema: PublicSchema, analyses: Analyses, name: str, rows: float, epsilon: float) -> str:
    """Explain, from declarations and the number of rows, why an analysis gets no interval; empty if it may have one."""
    if schema.rows_each > 1:
        return f"several rows describe the same {schema.protected}"
    if pair := undeclared(schema, analyses, name):
        return f"the pair {pair} is not declared"
    if rows > MOST_ROWS and rows * epsilon > MOST_OF_PAIR * len(schema.pairs) and len(_columns(schema, analyses, name)) > 1:
        return "with so many rows and so large an epsilon, the model is its largest error"
    for share in analyses.shares:
        column = schema.columns[share.column]
        if share.name == name and not all(map(levels_of(column).parted_at, share.edges(column))):
            return "its limit is inside a bin"
    if name in _quantiles(schema, analyses):
        levels = levels_of(schema.target)
        single = levels.examples(0.5)[: len(levels)][levels.single]
        if single.empty or (schema.target.type == "whole" and single.max() < FEW):
            return "it is inside a bin" if single.empty else "it is inside a bin or a small whole number"
    return ""


def undeclared(schema: PublicSchema, analyses: Analyses, name: str) -> str:
    """Name a pair of columns that a regression needs, and that is not declared; empty if there is none."""
    return _without(schema, analyses, name, schema.pairs)


def _without(schema: PublicSchema, analyses: Analyses, name: str, pairs: Iterable[Pair]) -> str:
    """Name a pair of columns that an analysis needs, and that is not one of these; empty if there is none."""
    known, logged = {frozenset(pair) for pair in pairs}, name.startswith(f"log {schema.outcome} on ")
    needed = list(itertools.permutations(_columns(schema, analyses, name), 2))  # a logarithm leaves out zeros of the outcome
    zeros = [(a + KIND, b) for a, b in needed if schema.columns[a].own_zero and not (logged and a == schema.outcome)]
    return next((" and ".join(pair) for pair in [*needed, *zeros] if frozenset(pair) not in known), "")


def _inside_bin(way: Way, name: str, result: Analysed) -> str:
    """Explain that a quantile depends on where values are within a bin, which noisy tables do not show; empty if it does not."""
    if name in _quantiles(way.schema, way.analyses) and (interval := result.interval):
        if way.schema.target.type == "whole" and interval[0] < FEW:
            return "it is a small whole number"
        levels = levels_of(way.schema.target)
        first, last = levels.of(pd.Series(interval)).tolist()
        if not levels.single[first : last + 1].all():
            return "it is inside a bin"
    return ""


def _limits(way: Way, name: str) -> tuple[float, float]:
    """Limits of the possible values of an analysis."""
    if name in {share.name for share in way.analyses.shares}:
        return 0.0, 1.0
    columns = {mean_name(column): column for column in way.schema.released}
    columns |= dict.fromkeys(_quantiles(way.schema, way.analyses), way.schema.outcome)
    return way.schema.columns[columns[name]].ends if name in columns else (-math.inf, math.inf)


def _quantiles(schema: PublicSchema, analyses: Analyses) -> list[str]:
    return [quantile_name(level, schema.outcome) for level in analyses.quantiles]


def _columns(schema: PublicSchema, analyses: Analyses, name: str) -> list[str]:
    """Columns of a mean, or of a regression or its slope with the outcome first; none for another analysis."""
    columns = {mean_name(column): [column] for column in schema.released}
    labels = {regression.label(schema.outcome): [schema.outcome, *regression.predictors] for regression in analyses.regressions}
    return columns.get(name) or next((named for label, named in labels.items() if f"{name}: ".startswith(f"{label}: ")), [])
