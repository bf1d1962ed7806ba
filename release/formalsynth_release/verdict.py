"""Verdict on a release from its declarations alone: errors that its noise causes, and pairs that are too noisy to keep."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.text import DataError, counted
from formalsynth_release.analyses import counted_in, mean_name, quantile_name
from formalsynth_release.intervals import undeclared, without_interval
from formalsynth_release.layout import TENTH, Layout, Pair, error_and_factor, noise_of_pairs, weakness
from formalsynth_release.levels import Levels
from formalsynth_release.schema import SCHEMA, Analyses
from formalsynth_release.study import Schema

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array

DOUBTFUL, WORSE = 0.1, 0.3  # median standard errors above which pairs may be, or are, worse than independent columns
USEFUL = 2.0  # largest error of a useful analysis, in sampling errors
RARE, COMMON, LEAST = 0.1, 0.5, 1e-3
"""Assumed shares of 0, of missing values and of values below 0; the larger one of 0 is assumed, too. Smallest assumed density."""


def assumed(levels: Levels, zero: float = RARE) -> Array:
    """Return cautious shares (width,) of the levels of a column: falling with its categories, or a bell with a long tail."""
    shares = np.full(levels.width, RARE)
    if levels.column.type == "category":
        shares[: len(levels)] = 1 / np.arange(1, len(levels) + 1) ** 2
    for run in [] if levels.column.type == "category" else levels.runs:
        place = np.arange(run.stop - run.start) / (run.stop - run.start)
        density = np.exp(-(((place - 0.35) / 0.12) ** 2) / 2) + 0.1 * np.exp(-place / 0.3) + LEAST
        part = 1.0 if run.stop == len(levels) else zero if run.start == levels.below else RARE
        shares[run] = part * density / density.sum()
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class Verdict:
    """Errors of a release with the declared pairs and the ceiling, for assumed shares of levels."""

    schema: Schema
    epsilon: float

    @functools.cached_property
    def layout(self) -> Layout:
        """Columns and declared pairs."""
        return Layout(self.schema)

    def shares(self, zero: float = RARE) -> dict[str, Array]:
        """Return assumed shares (levels,) of each column."""
        return {name: assumed(levels, zero) for name, levels in self.layout.columns.items()}

    @property
    def weakness(self) -> dict[Pair, float]:
        """Factor by which each pair is too noisy, for a rare or a common 0, whichever is worse."""
        both = [self.layout.variables(self.shares(zero)) for zero in (RARE, COMMON)]
        rare, common = (weakness(self.layout, of, self.schema.rows, self.epsilon, self.layout.in_order) for of in both)
        return {pair: max(factor, common[pair]) for pair, factor in rare.items()}

    @property
    def carried(self) -> int:
        """Number of pairs, the first declared ones, that can be kept without a weak one."""
        factors = np.array(list(self.weakness.values()))
        worst = np.maximum.accumulate(factors) * np.arange(1, len(factors) + 1) / max(len(factors), 1)
        return int(np.flatnonzero(worst <= 1).max(initial=-1)) + 1

    @property
    def first(self) -> str:
        """What can be kept without a weak pair, in words."""
        return f"the first {self.carried} of the {len(self.layout.in_order)} pairs" if self.carried else "single columns"

    @property
    def levels(self) -> dict[str, float]:
        """Standard error of the share of each level, by column."""
        epsilons = self.layout.epsilons_of_margins(self.epsilon)
        return {name: math.sqrt(2) * self.schema.change / (epsilon * self.schema.rows) for name, epsilon in epsilons.items()}

    def factors(self, analyses: Analyses) -> dict[str, float]:
        """Compute the standard error of each analysis relative to that of sampling alone; infinite if a pair is not declared."""
        outcome, layout = self.schema.outcome, self.layout
        means = dict.fromkeys([outcome, *analyses.means] if self.schema.target.type != "category" else analyses.means)
        found = {mean_name(name): self._of_mean(name) for name in means}
        for share in analyses.shares:
            inside = counted_in(share, layout.columns[share.column].examples(0.5))
            found[share.name] = self._of_share(share.column, inside)
        for level in analyses.quantiles:
            below = np.cumsum(self.shares()[outcome][: len(layout.columns[outcome])])
            found[quantile_name(level, outcome)] = self._of_share(outcome, below < level * below[-1], level)
        errors = {frozenset(pair): error for pair, error in self._errors().items()}
        for regression in analyses.regressions:
            worst = max(errors.get(frozenset((outcome, name)), math.inf) for name in regression.predictors)
            found[regression.label(outcome)] = math.sqrt(1 + self.schema.rows * worst**2)
        return found

    def _errors(self) -> dict[Pair, float]:
        """Compute the standard error of the correlation of each pair that is due to its noise alone."""
        layout, variables = self.layout, self.layout.variables(self.shares())
        noise = noise_of_pairs(layout, self.schema.rows, self.epsilon, len(self.layout.in_order))
        return {pair: error_and_factor(variables[pair[0]], variables[pair[1]], noise)[0] for pair in self.layout.in_order}

    def _of_mean(self, name: str) -> float:
        levels = self.layout.columns[name]
        shares, values = (of[: len(levels)] for of in (self.shares()[name], levels.examples(0.5).to_numpy(dtype=float)))
        squares = (values - shares @ values / shares.sum()) ** 2
        noise = self.schema.rows * self._variances(name)[: len(levels)] @ squares
        return math.sqrt(1 + noise / max(float(shares @ squares), LEAST**2))

    def _of_share(self, name: str, inside: Array, share: float | None = None) -> float:
        variances = self._variances(name)[: len(inside)]
        share = float(self.shares()[name] @ inside) if share is None else share
        noise = self.schema.rows * min(float(variances @ inside), float(variances @ (1 - inside)))
        return math.sqrt(1 + noise / max(share * (1 - share), LEAST))

    def _variances(self, name: str) -> Array:
        """Return the variances (levels,) of the shares of levels; smoothing leaves noise at most as large as a rare share."""
        return np.minimum(self.levels[name], self.shares()[name]) ** 2

    def lines(self, analyses: Analyses) -> list[str]:
        """Write the verdict: columns, pairs, analyses, and what would help."""
        weak = {pair: factor for pair, factor in self.weakness.items() if factor > 1}
        lines, errors = list(self._of_columns()), self._errors()
        margins = "kept, unless it is weak by the noisy margins and not accepted"
        for pair in self.layout.in_order:
            kept = f"weak: needs {_up(weak[pair])} times the rows or epsilon" if pair in weak else margins
            lines.append(f"Pair {' by '.join(pair)}: standard error {errors[pair]:.2g} of a correlation, {kept}.")
        if errors:
            middle = float(np.median(list(errors.values())))
            rank = "worse than" if middle > WORSE else "perhaps no better than" if middle > DOUBTFUL else "better than"
            lines.append(f"Relations in the release will be {rank} those of independent columns.")
        if implied := self.layout.implied:
            listed = "; ".join(f"{a} by {b} through {' or '.join(through)}" for (a, b), through in implied.items())
            lines.append(f"Not declared, but implied by other pairs, so the release can invent their relations: {listed}.")
        factors = self.factors(analyses)
        reasons = {name: without_interval(self.schema, analyses, name, self.schema.rows, self.epsilon) for name in factors}
        for name, factor in factors.items():
            lost, why = undeclared(self.schema, analyses, name), f"; no interval, since {reasons[name]}" if reasons[name] else ""
            lines.append(f"{name}: {'lost' if lost else f'error {factor:.2g} times that of sampling alone'}{why}.")
        free = [factor for name, factor in factors.items() if not reasons[name]]
        useful, of_all = sum(factor <= USEFUL for factor in free), counted(len(factors), "analysis", "analyses")
        needs = [f"pair {first} by {second} needs {_up(factor)} times the rows" for (first, second), factor in weak.items()]
        few = f"{len(free)} of {of_all} may have an interval, {useful} of them with an error of at most twice that of sampling"
        return [*lines, f"Verdict: {'; '.join([few, *needs])}.", *self._help(weak, factors)]

    def _of_columns(self) -> Iterator[str]:
        """Write a line for all columns with the same error."""
        for error in dict.fromkeys(self.levels.values()):
            names = [name for name, own in self.levels.items() if own == error]
            group = f"groups of fewer than {math.ceil(TENTH * error * self.schema.rows):,} rows by over a tenth"
            column = f"Column{'s' if len(names) > 1 else ''} {', '.join(names)}"
            yield f"{column}: each share has a standard error of {error:.2g}; noise alone changes {group}."

    def _help(self, weak: Mapping[Pair, float], factors: Mapping[str, float]) -> list[str]:
        """State what would help."""
        least = _up(self.epsilon * max(weak.values(), default=1.0))
        ways = [f"only {self.first}", f"an epsilon of at least {least} for all of them"] if weak else []
        if any(factor > USEFUL and not math.isinf(factor) and ": " not in name for name, factor in factors.items()):
            ways.append("fewer and wider bins, or a larger weight, for columns whose mean, share or quantile has a large error")
        return [f"What would help: {'; '.join(ways)}."] if ways else []


def _up(factor: float) -> str:
    """Write what is needed at least, to two digits: 1.1 for 1.004."""
    unit = 10.0 ** (math.floor(math.log10(factor)) - 1)
    return f"{math.ceil(factor / unit - 1e-9) * unit:.6g}"


def refuse_weak(schema: Schema, epsilon: float) -> None:
    """Refuse declarations with a weak pair that is not accepted.

    Raises:
        DataError: there is one, with a line for each.
    """
    verdict, accepted = Verdict(schema, epsilon), {frozenset(pair) for pair in schema.accept_noise}
    weak = {f"{SCHEMA}: pairs: {' with '.join(pair)}": factor for pair, factor in verdict.weakness.items()
            if factor > 1 and frozenset(pair) not in accepted}  # fmt: skip
    if weak:
        why, ways = "its noise can look like an association; it needs", f"allowed: {verdict.first}, or this one in accept_noise"
        raise DataError("\n".join(f"{of}: {why} {_up(by)} times the rows or epsilon; {ways}" for of, by in weak.items()))
