"""Intervals for declared analyses of noisy tables, by simulating the whole procedure from the published model.

A replicate draws a file from the model, counts it with noise of the published scale, fits the model to the noisy numbers and
analyses rows drawn from it: a parametric bootstrap, whose errors include those of sampling, noise, fit and drawing. A release
shrinks noisy sums of pairs towards independent columns; replicates give them noise of the size of their posterior standard
deviation instead, since shrunk sums that are shrunk again vary too little. It is computed from the crossing alone, and spends
no epsilon.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from formalsynth.core.arrays import Array
from formalsynth.core.progress import in_turn
from formalsynth.inference.intervals import Interval
from formalsynth_release.analyses import correlations, estimates, mean_name, names, quantile_name, slope_names
from formalsynth_release.joint import Target
from formalsynth_release.layout import Names
from formalsynth_release.levels import levels_of
from formalsynth_release.model import Model
from formalsynth_release.schema import Analyses, PublicSchema
from formalsynth_release.tables import measured

if TYPE_CHECKING:
    import pandas as pd

LARGEST, LARGEST_OF_HATS = 20_000, 50_000
"""Maximum number of rows of a simulated file, and the same for intervals of releases with hats: fits to fewer rows vary less."""
TASK = "Simulating a release for the intervals,"
"""Start of lines that report progress."""
SETS = 5
"""Maximum number of synthetic sets in a replicate; more would hardly make an estimate more precise."""
STRONGEST = 0.6
"""Largest correlation for which a slope has an interval, if a pair has one sum of scores."""
MOST_BIAS = 2.0
"""Largest bias that is subtracted from an estimate, in standard errors."""


@dataclass(frozen=True)
class Way:
    """Procedure from a file to estimates from its synthetic sets.

    A file of more than :attr:`largest` rows is simulated with fewer, and its model with a pool smaller to the same degree, but
    with the penalties of the release.
    The variance due to sampling is of order 1 / n, that due to noise of order 1 / (n epsilon)^2. With fewer rows, epsilon is
    multiplied by the root of n over the simulated rows, so these errors are larger by that same factor.
    """

    schema: PublicSchema
    analyses: Analyses
    epsilon: float
    rows: int
    """Rows of the file."""
    drawn: int
    """Rows of all sets together."""
    knots: int
    """Largest number of knots of the release, which has more rows than a simulated file may have."""
    largest: int = LARGEST
    """Maximum number of rows of a simulated file."""

    @property
    def fraction(self) -> float:
        """Number of simulated rows as a share of the file's rows."""
        return min(1.0, self.largest / self.rows)

    def file(self, model: Model, generator: np.random.Generator, replicate: bool = False) -> tuple[Array, Model]:
        """Draw a file; return its estimates (analyses,) and the model fitted to its noisy numbers.

        Args:
            model: distribution of the file's rows.
            generator: source of randomness.
            replicate: True if the model was fitted to noisy sums, which are shrunk. What the noise leaves uncertain is their
                posterior standard deviation; shrinking them again would hide a part of it.
        """
        rows = model.rows(round(self.rows * self.fraction), generator, sample=True)
        epsilon = self.epsilon / math.sqrt(self.fraction)
        schema = self.schema.model_copy(update={"rows": len(rows)})
        noise = functools.partial(simulated_noise, generator, model.targets if replicate else {})
        parts = measured(schema, rows, epsilon, noise, self.knots)
        return values(schema, self.analyses, rows), Model.of(schema, parts, not replicate, self.rows)

    def released(self, model: Model, generator: np.random.Generator) -> Array:
        """Return estimates (analyses,) from synthetic sets."""
        return values(self.schema, self.analyses, model.rows(max(round(self.drawn * self.fraction), 2), generator))

    def errors(self, model: Model, replicates: int, generator: np.random.Generator) -> tuple[Array, Array]:
        """Return the bias and standard error (analyses,) of a release, if the model is the population."""
        files, releases = [], []
        for _ in in_turn(range(replicates), TASK):
            of_file, again = self.file(model, generator, replicate=True)
            files.append(of_file)
            releases.append(self.released(again, generator))
        bias = np.mean(releases, axis=0) - np.mean(files, axis=0)
        return bias * self.fraction, np.std(releases, axis=0, ddof=1) * math.sqrt(self.fraction)


def largest(hats: bool) -> int:
    """Return the maximum number of rows of a file that is simulated for the intervals of a release."""
    return LARGEST_OF_HATS if hats else LARGEST


def values(schema: PublicSchema, analyses: Analyses, rows: pd.DataFrame) -> Array:
    """Return estimates (analyses,) without their standard errors."""
    return np.array([estimate for estimate, _ in estimates(schema, analyses, rows).values()])


def simulated_noise(
    generator: np.random.Generator, targets: Mapping[Names, Target], names: Names, counts: Sequence[int], epsilon: float,
    sensitivity: float,
) -> list[int]:  # fmt: skip
    """Add discrete Laplace noise for simulations only, as the difference of two geometric numbers; it protects no one.

    Args:
        generator: source of randomness.
        targets: estimates of pairs whose noise is reduced to what it leaves uncertain; that of columns and other pairs is not.
        names: the column or pair that the counts belong to.
        counts: the counts.
        epsilon: cost of a release of the counts.
        sensitivity: their largest total change between neighbours.
    """
    more, less = generator.geometric(-math.expm1(-epsilon / sensitivity), (2, len(counts)))
    noise = np.rint(targets[names].uncertain(more - less)) if names in targets else more - less
    return [int(number) for number in np.asarray(counts) + noise]


@dataclass(frozen=True)
class Analysed:
    """A declared analysis of the synthetic sets, with its error."""

    estimate: float
    """Mean over the sets."""
    bias: float
    error: float
    quantile: float
    """Quantile of Student's t for a 95 % interval."""
    limits: tuple[float, float] = (-math.inf, math.inf)
    """Limits of the possible values, at which the interval ends."""
    reason: str = ""
    """Reason why there is no interval; empty if there is one."""

    @property
    def interval(self) -> Interval | None:
        """95 % interval for the population from which the file is a random sample."""
        return None if self.reason else Interval(self.estimate - self.bias, self.error, self.quantile, self.limits)


def analysed(way: Way, model: Model, sets: Sequence[pd.DataFrame], generator: np.random.Generator) -> dict[str, Analysed]:
    """Analyse synthetic sets.

    Args:
        way: the procedure of the release.
        model: the model of the release.
        sets: synthetic sets.
        generator: source of randomness.
    """
    estimate = np.mean([values(way.schema, way.analyses, rows) for rows in sets], axis=0)
    bias, error = way.errors(model, way.analyses.replicates, generator)
    quantile = round(float(stdtrit(way.analyses.replicates - 1, 0.975)), 6)
    weakened = {} if model.knots else _weakened(way, sets)
    results = {}
    for k, name in enumerate(names(way.schema, way.analyses)):
        result = Analysed(float(estimate[k]), _as_published(bias[k]), _as_published(error[k]), quantile, _limits(way, name))
        results[name] = replace(result, reason=weakened.get(name) or _reason(way, name, result))
    return results


def _weakened(way: Way, sets: Sequence[pd.DataFrame]) -> dict[str, str]:
    """Explain for which slopes sums of scores are not enough: they weaken strong relations, and no replicate shows that."""
    weakened: dict[str, str] = {}
    for regression in way.analyses.regressions:
        pairs = [correlations(way.schema.columns, way.schema.outcome, regression, rows) for rows in sets]
        for pair in pairs[0]:
            if np.mean([of_set[pair] for of_set in pairs]) > STRONGEST:
                reason = f"the relation of {pair[0]} and {pair[1]} is too strong for one correlation"
                weakened |= dict.fromkeys(slope_names(way.schema.columns, way.schema.outcome, regression, sets[0]), reason)
    return weakened


def _as_published(number: float) -> float:
    """Round to the digits of combine.py, so that it gives the intervals of README.md to the last digit."""
    return float(f"{number:.6g}")


def _reason(way: Way, name: str, result: Analysed) -> str:
    if not all(map(math.isfinite, (result.estimate, result.bias, result.error))):
        return "in some simulations, it has too few rows"
    if abs(result.bias) > MOST_BIAS * result.error:
        return "the bias is larger than the noise can explain"
    corrected, (low, high) = result.estimate - result.bias, result.limits
    if not low <= corrected <= high or (name in _quantiles(way) and abs(result.bias) > abs(result.estimate) / 2):
        return "too few rows for the noise"
    return lost_relation(way.schema, way.analyses, name) or _inside_bin(way, name, result)


def _inside_bin(way: Way, name: str, result: Analysed) -> str:
    """Explain that an analysis depends on where values are within a bin, which noisy tables do not show; empty if it does not."""
    for share in way.analyses.shares:
        column = way.schema.columns[share.column]
        if share.name == name and not all(map(levels_of(column).parted_at, share.edges(column))):
            return "its limit is inside a bin"
    if name in _quantiles(way) and (interval := result.interval):
        import pandas as pd

        levels = levels_of(way.schema.target)
        first, last = levels.of(pd.Series([interval.low, interval.high])).tolist()
        if not levels.single[first : last + 1].all():
            return "it is inside a bin"
    return ""


def _limits(way: Way, name: str) -> tuple[float, float]:
    """Limits of the possible values of an analysis."""
    if name in {share.name for share in way.analyses.shares}:
        return 0.0, 1.0
    columns = {mean_name(column): column for column in way.schema.released}
    columns |= dict.fromkeys(_quantiles(way), way.schema.outcome)
    return way.schema.columns[columns[name]].ends if name in columns else (-math.inf, math.inf)


def _quantiles(way: Way) -> list[str]:
    return [quantile_name(level, way.schema.outcome) for level in way.analyses.quantiles]


def lost_relation(schema: PublicSchema, analyses: Analyses, name: str) -> str:
    """Explain that an analysis needs a pair of columns that is not declared; empty if it does not."""
    declared = {frozenset(pair) for pair in schema.pairs}
    for regression in analyses.regressions:
        if name.startswith(f"{regression.label(schema.outcome)}: "):
            needed = itertools.combinations([schema.outcome, *regression.predictors], 2)
            if lost := [" and ".join(pair) for pair in needed if frozenset(pair) not in declared]:
                return (
                    f"the pair {lost[0]} is not declared" if len(lost) == 1 else f"the pairs {', '.join(lost)} are not declared"
                )
    return ""
