"""Attempts to refute noisy tables: python bench/refute.py [--write] [simulations] [name ...].

Two findings would refute them: a population for which intervals are given but do not cover the truth, or a pair of neighbours
with a larger loss than claimed. Each population violates an assumption or a declaration. Each simulation makes a release and
computes its posterior by importance sampling. The output is the share of simulations with an interval
(``inference.intervals.contradicted``; a simulation with few effective draws has none), the coverage of 95 % intervals among
these, and the ratio of the root mean square error of the posterior mean to that of the usual estimate without privacy. An outcome
is "covers", "no interval" (in 95 % of simulations) or "refuted". Attempts to refute privacy print the largest loss. With
``--write``, all of them are written to bench/tables/attempts.csv.
"""

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from page import write_table
from scipy.special import expit

from formalsynth.audit.attack import attack_bound
from formalsynth.core.arrays import Array, Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.private import PrivateFit
from formalsynth.core.streams import Address
from formalsynth.inference.density import TablesDensity, importance_draws
from formalsynth.inference.goodness_of_fit import p_value
from formalsynth.inference.intervals import contradicted
from formalsynth.mechanisms.noisy_tables import ratio

for register in (FAMILIES, MECHANISMS):
    register.find()
SHARES: Mapping[str, float] = {"low": 0, "high": 1, "bins": 10}
COUNTS: Mapping[str, float] = {"low": 0, "high": 240, "bins": 12}
AMOUNTS: Mapping[str, float] = {"low": math.exp(-3), "high": math.exp(9), "bins": 12}
LINE: Mapping[str, float] = {**AMOUNTS, "x_low": -1, "x_high": 5, "x_bins": 8}
LEAST_DRAWS = 50
"""Minimum number of effective draws; a simulation with fewer has no posterior."""
ENOUGH = 0.93
"""Target coverage; an attempt refutes the intervals if coverage is more than three standard errors below it."""
Draw = Callable[[np.random.Generator, int], Records]


@dataclass(frozen=True)
class Population:
    """Attempt with data that violate an assumption or a declaration."""

    what: str
    family: str
    declared: Mapping[str, float]
    draw: Draw
    truth: float
    """True value: mean of the outcome (shares, counts) or of its logarithm (amounts), or the slope (with a predictor)."""
    n: int = 2000
    epsilon: float = 1.0


@dataclass
class Outcomes:
    """Outcomes of the simulations of one attempt."""

    covered: list[bool] = field(default_factory=list)
    """True for each interval that is given and covers the truth."""
    refused: int = 0
    failed: int = 0
    private: list[float] = field(default_factory=list)
    """Errors of the posterior mean."""
    usual: list[float] = field(default_factory=list)
    """Errors of the usual estimate without privacy."""

    def cells(self) -> list[str]:
        """Format the share of intervals, their coverage, the ratio of errors, and the outcome."""
        runs, given = len(self.covered) + self.refused + self.failed, len(self.covered)
        coverage = float(np.mean(self.covered)) if given else math.nan
        spread = 3 * math.sqrt(ENOUGH * (1 - ENOUGH) / max(given, 1))
        verdict = "no interval" if given <= 0.05 * runs else "covers" if coverage >= ENOUGH - spread else "refuted"
        squares = [float(np.mean(np.square(errors))) if errors else math.nan for errors in (self.private, self.usual)]
        shown = "" if verdict == "no interval" else f"{coverage:.2f}"
        return [
            f"{given / runs:.0%}".replace("%", " %"),
            shown,
            f"{float(f'{math.sqrt(squares[0] / squares[1]):.2g}'):g}",
            verdict,
        ]


def release(attempt: Population, records: Records, number: int) -> PrivateFit:
    """Make noisy tables of the records."""
    context = Context(FAMILIES[attempt.family], records, Address(1, 1, 1, attempt.n, number))
    made = MECHANISMS["noisy_tables"].apply(context, {**attempt.declared, "epsilon": attempt.epsilon})
    assert isinstance(made, PrivateFit)
    return made


def simulated(attempt: Population, number: int, outcomes: Outcomes) -> None:
    """Simulate one release and its interval."""
    generator = np.random.default_rng([attempt.n, number])
    records = attempt.draw(generator, attempt.n)
    made, priors = release(attempt, records, number), FAMILIES[attempt.family].priors
    data = made.model.stan_data(made.public, priors)
    density = TablesDensity(data)
    try:
        sample = importance_draws(density, density.point(made.model.inits(made.public, data)), generator)
        effective = sample.effective
    except (ValueError, np.linalg.LinAlgError):
        effective = 0.0
    if effective < LEAST_DRAWS:
        outcomes.failed += 1
        return
    draws = made.model.draws(density.sampled(sample.points), made.public)
    values, estimate = quantity(draws), usual(attempt.family, records)
    outcomes.private.append(float(values.mean()) - attempt.truth)
    outcomes.usual.append(estimate - attempt.truth)
    if contradicted(p_value(made.model, made.public, data, draws)):
        outcomes.refused += 1
        return
    low, high = np.quantile(values, [0.025, 0.975])
    outcomes.covered.append(bool(low <= attempt.truth <= high))


def quantity(draws: Mapping[str, Array]) -> Array:
    """Compute draws (S,) of the estimated quantity: the last coefficient, or the mean."""
    if "coefficient" in draws:
        return draws["coefficient"][:, -1]
    return draws["beta"][:, -1] if "beta" in draws else draws["phi"] if "lambda" in draws else draws["mu"]


def usual(family: str, records: Records) -> float:
    """Estimate the quantity without privacy, by least squares."""
    x = np.log(records.x) if family.startswith("lognormal") else records.x
    return float(np.linalg.lstsq(records.design, x, rcond=None)[0][-1])


def alone(values: Array) -> Records:
    """Make records without predictors."""
    return Records(values.astype(float), np.ones((len(values), 1)))


def along(x: Array, errors: Array) -> Records:
    """Make amounts with the slope 1 on a predictor."""
    return Records(np.exp(1 + x + errors), np.column_stack([np.ones(len(x)), x]))


def mixed(generator: np.random.Generator, share: float, first: Array, second: Array) -> Array:
    """Select each value from ``first`` with probability ``share``, otherwise from ``second``."""
    return np.where(generator.random(len(first)) < share, first, second)


def in_first_bin(generator: np.random.Generator, n: int) -> Records:
    """Draw shares from Beta(0.5, 3), and move those below 0.1 to one of two points in the first bin."""
    x = generator.beta(0.5, 3, n)
    return alone(np.where(x < 0.1, mixed(generator, 0.5, np.full(n, 0.001), np.full(n, 0.099)), x))


MEAN = 1 / 7
BELOW = 0.5545845
"""Probability that a Beta(0.5, 3) value is below 0.1; the mean of such values is 0.0315141."""
POPULATIONS: Mapping[str, Population] = {
    "family": Population("the family fits", "beta", SHARES, lambda g, n: alone(g.beta(0.5, 3, n)), MEAN),
    "edge": Population(
        "a fifth of the records at the edge of two bins", "beta", SHARES,
        lambda g, n: alone(mixed(g, 0.2, np.full(n, 0.3), g.beta(0.5, 3, n))), 0.2 * 0.3 + 0.8 * MEAN,
    ),
    "inside": Population(
        "two modes inside one bin", "beta", SHARES, in_first_bin, MEAN + BELOW * (0.05 - 0.0315141),
    ),
    "ties": Population(
        "shares rounded to tenths, which are the edges", "beta", SHARES, lambda g, n: alone(np.round(g.beta(2, 4, n), 1)), 1 / 3,
    ),
    "spread": Population(
        "all records in one bin of ten", "beta", SHARES, lambda g, n: alone(g.beta(450, 2550, n)), 0.15,
    ),
    "ends": Population("shares at both ends, Beta(0.05, 0.05)", "beta", SHARES, lambda g, n: alone(g.beta(0.05, 0.05, n)), 0.5),
    "ten": Population("ten records", "beta", SHARES, lambda g, n: alone(g.beta(2, 4, n)), 1 / 3, 10),
    "small": Population("epsilon 0.05", "beta", SHARES, lambda g, n: alone(g.beta(0.5, 3, n)), MEAN, 2000, 0.05),
    "large": Population(
        "20,000 records and epsilon 5, mostly sampling error", "beta", SHARES, lambda g, n: alone(g.beta(0.5, 3, n)), MEAN,
        20_000, 5.0,
    ),
    "excess": Population(
        "counts with a tenth of zeros", "negative_binomial", COUNTS,
        lambda g, n: alone(mixed(g, 0.1, np.zeros(n), g.negative_binomial(5, 5 / 105, n))), 90.0, 1000,
    ),
    "outside": Population(
        "counts, 30 % of them beyond the bounds", "negative_binomial", {"low": 0, "high": 120, "bins": 8},
        lambda g, n: alone(g.negative_binomial(5, 5 / 105, n)), 100.0, 1000,
    ),
    "far": Population(
        "amounts that are all beyond the bounds", "lognormal", AMOUNTS | {"low": math.exp(-3), "high": 1.0},
        lambda g, n: alone(np.exp(g.normal(6, 1, n))), 6.0,
    ),
    "two": Population(
        "a predictor with two values", "lognormal_regression", LINE,
        lambda g, n: along(2.0 * (g.random(n) < 0.5) + 1, g.standard_normal(n)), 1.0,
    ),
    "skewed": Population(
        "an exponential predictor", "lognormal_regression", LINE,
        lambda g, n: along(g.exponential(1, n), g.standard_normal(n)), 1.0,
    ),
    "uniform": Population(
        "a uniform predictor", "lognormal_regression", LINE, lambda g, n: along(g.uniform(0, 4, n), g.standard_normal(n)), 1.0,
    ),
    "t2": Population(
        "errors of Student's t with 2 degrees of freedom", "lognormal_regression", LINE,
        lambda g, n: along(g.normal(2, 1, n), np.clip(g.standard_t(2, n), -500, 500)), 1.0,
    ),
    "uneven": Population(
        "errors three times as wide at large values of the predictor", "lognormal_regression", LINE,
        lambda g, n: _uneven(g, n), 1.0,
    ),
    "curved": Population(
        "a relation that is not a line", "lognormal_regression", LINE, lambda g, n: _curved(g, n), 1.0,
    ),
}  # fmt: skip


def _uneven(generator: np.random.Generator, n: int) -> Records:
    x = generator.normal(2, 1, n)
    return along(x, (0.5 + expit(2 * (x - 2))) * generator.standard_normal(n))


def _curved(generator: np.random.Generator, n: int) -> Records:
    """Draw amounts whose best line has slope 1: x + (x - 2)^2 / 2 has the covariance of x with x, and the square has none."""
    x = generator.normal(2, 1, n)
    return along(x, ((x - 2) ** 2 - 1) / 2 + generator.standard_normal(n))


def guess_who(runs: int) -> str:
    """Attack as someone who knows the mechanism and all other records, using the count in the unknown record's bin."""
    generator, attempt = np.random.default_rng(1), POPULATIONS["family"]
    x = generator.beta(0.5, 3, attempt.n)
    ours, theirs = (release(attempt, alone(values), 0).counts for values in (x, x[1:]))
    at = int(np.flatnonzero(ours.counts != theirs.counts)[0])
    scores = [side.noisy(generator, max(runs, 40) * 500)[:, at] for side in (ours, theirs)]
    return _against(attack_bound(scores[0], scores[1], 0.0).epsilon, attempt.epsilon)


def extreme_record(runs: int) -> str:
    """Add or replace one record among many, with a value that is NaN, infinite, or the largest possible number."""
    generator, epsilon = np.random.default_rng(2), 0.7
    z = generator.standard_normal(50 * max(runs, 40))
    many = Records(generator.beta(0.5, 3, len(z)), np.column_stack([np.ones(len(z)), z]))
    odd = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 1.0]
    sides = [Records(np.append(many.x, value), np.vstack([many.design, [1.0, predictor]])) for value in odd for predictor in odd]
    parameters = {"epsilon": epsilon, **SHARES, "x_low": -1, "x_high": 1, "x_bins": 8}
    added = max(ratio(parameters, many, side) for side in sides)
    replaced = max(ratio(parameters, sides[0], side) for side in sides)
    return _against(max(added, replaced / 2), epsilon)


def shared_noise(runs: int) -> str:
    """Compare two declarations that hardly differ: with equal noise, the difference would reveal exact counts."""
    declared, records = POPULATIONS["family"].declared, alone(np.random.default_rng(3).beta(0.5, 3, 500))
    noises = []
    for epsilon, high in ((0.5, 1.0), (0.5 + 1e-9, 1.0), (0.5, 1.0 - 1e-9)):
        attempt = Population("", "beta", {**declared, "high": high}, lambda g, n: records, 0.0, 500, epsilon)
        made = [release(attempt, records, number) for number in range(max(runs, 40))]
        noises.append(np.array([tables.public.noisy.flat - tables.counts.counts for tables in made]))
    same = max(float((noises[0] == other).mean()) for other in noises[1:])
    # two independent values of discrete noise of scale 2 agree with probability 0.130
    return f"equal in {100 * same:.1f} %, expected by chance in 13.0 %: {'refuted' if same > 0.2 else 'holds'}"


def _against(epsilon: float, claimed: float) -> str:
    return f"shows ε = {epsilon:.3f}, claimed {claimed:g}: {'refuted' if epsilon > claimed + 1e-9 else 'holds'}"


PRIVACY: Mapping[str, tuple[str, Callable[[int], str]]] = {
    "who": ("an attacker knows all records but one, and sees many noisy tables of each data set", guess_who),
    "extreme": ("one record that is not a number, infinite, or as large as a number can be", extreme_record),
    "noise": ("two declarations that hardly differ, whose noise could be the same", shared_noise),
}
HEAD = ("attempt", "name", "intervals given", "coverage", "error", "outcome")


def rows(names: Iterable[str], simulations: int) -> Iterator[list[str]]:
    """Yield the row of each attempt, with a third of the simulations for a regression."""
    for name in names:
        if name in PRIVACY:
            what, attack = PRIVACY[name]
            yield [what, f"`{name}`", "", "", "", attack(simulations)]
            continue
        attempt, outcomes = POPULATIONS[name], Outcomes()
        for number in range(math.ceil(simulations / 3) if "x_bins" in attempt.declared else simulations):
            simulated(attempt, number, outcomes)
        yield [attempt.what, f"`{name}`", *outcomes.cells()]


def main(words: list[str]) -> int:
    """Run the named attempts, or all."""
    write, words = "--write" in words, [word for word in words if word != "--write"]
    simulations = int(words[0]) if words and words[0].isdigit() else 450
    names = [word for word in words if not word.isdigit()] or [*POPULATIONS, *PRIVACY]
    if unknown := set(names) - {*POPULATIONS, *PRIVACY}:
        print(f"given {', '.join(sorted(unknown))}; allowed: {', '.join([*POPULATIONS, *PRIVACY])}")
        return 2
    table = []
    for row in rows(names, simulations):
        print(" | ".join(row), flush=True)
        table.append(row)
    if write:
        write_table("attempts", HEAD, table)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
