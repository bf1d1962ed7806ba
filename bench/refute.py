"""Attempts to refute noisy tables: python bench/refute.py [--simulations 450] [--names NAME ...].

Two findings would refute them: a population for which intervals are given but do not cover the truth, or a pair of neighbours
with a larger loss than claimed. The populations are extreme, or violate a declaration; bench/outside.py has more. Intervals are
those of its family's rule. The output is the share of simulations with an interval and the coverage among these. An outcome is
"covers", "no interval" (in 95 % of simulations) or "refuted". Attempts to refute privacy print the largest loss. All of them are
written to bench/tables/attempts.csv.
"""

import argparse
import math
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from outside import POSITIVE, Cell, Population, alone, counts, either, line, nb, normal
from page import show

from formalsynth.audit.attack import attack_bound
from formalsynth.core.arrays import Array, Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.private import Bins, PrivateFit
from formalsynth.core.streams import Address
from formalsynth.inference.table_intervals import Limits
from formalsynth.mechanisms.noisy_tables import ratio

MECHANISMS.find()
ENOUGH = 0.93
"""Target coverage; an attempt refutes the intervals if coverage is more than three standard errors below it."""


shares = partial(alone, "beta", Bins(0, 1, 10), Limits(0, 1))


def in_first_bin(g: np.random.Generator, n: int) -> Array:
    """Draw shares from Beta(0.5, 3), and move those below 0.1 to one of two points in the first bin."""
    x = g.beta(0.5, 3, n)
    return np.where(x < 0.1, either(g, 0.5, np.full(n, 0.001), np.full(n, 0.099)), x)


FITTING = shares(lambda g, n: g.beta(0.5, 3, n))
ATTEMPTS: Mapping[str, tuple[str, Population, str, int, float]] = {
    "family": ("the family fits", FITTING, "mean", 2000, 1),
    "edge": (
        "a fifth of the records at the edge of two bins",
        shares(lambda g, n: either(g, 0.2, np.full(n, 0.3), g.beta(0.5, 3, n))), "mean", 2000, 1,
    ),
    "inside": ("two modes inside one bin", shares(in_first_bin), "mean", 2000, 1),
    "spread": ("all records in one bin of ten", shares(lambda g, n: g.beta(450, 2550, n)), "mean", 2000, 1),
    "ends": ("shares at both ends, Beta(0.05, 0.05)", shares(lambda g, n: g.beta(0.05, 0.05, n)), "mean", 2000, 1),
    "ten": ("ten records", shares(lambda g, n: g.beta(2, 4, n)), "mean", 10, 1),
    "small": ("epsilon 0.05", FITTING, "mean", 2000, 0.05),
    "large": ("20,000 records and epsilon 5, mostly sampling error", FITTING, "mean", 20_000, 5),
    "outside": (
        "counts, 30 % of them beyond the bounds",
        counts(Bins(0, 120, 8), POSITIVE, lambda g, n: nb(g, n, 100, 5)), "mean", 1000, 1,
    ),
    "far": (
        "amounts that are all beyond the bounds",
        alone("lognormal", Bins(math.exp(-3), 1, 12, True), POSITIVE, lambda g, n: np.exp(g.normal(6, 1, n))), "median", 2000, 1,
    ),
    "uniform": ("a uniform predictor", line(normal, lambda g, n: g.uniform(0, 4, n)), "slope", 2000, 1),
}  # fmt: skip
"""Attempts with the quantity of their intervals, n and epsilon."""


def intervals(simulations: int, name: str) -> list[str]:
    """Format the share of intervals, their coverage, and the outcome of an attempt."""
    what, population, quantity, n, epsilon = ATTEMPTS[name]
    runs = math.ceil(simulations / 3) if quantity == "slope" else simulations
    cell = Cell(population, n, epsilon, 1000 + list(ATTEMPTS).index(name))
    (row,) = (row for row in cell.covering("family", runs) if row["quantity"] == quantity)
    given = int(row["given"])
    coverage = int(row["covered"]) / max(given, 1)
    least = ENOUGH - 3 * math.sqrt(ENOUGH * (1 - ENOUGH) / max(given, 1))
    outcome = "no interval" if given <= 0.05 * runs else "covers" if coverage >= least else "refuted"
    return [what, f"`{name}`", f"{100 * given / runs:.0f} %", "" if outcome == "no interval" else f"{coverage:.2f}", outcome]


def release(x: Array, number: int, epsilon: float, high: float = 1.0) -> PrivateFit:
    """Make noisy tables of shares."""
    context = Context(FAMILIES["beta"], intercept_only(x), Address(1, 1, 1, len(x), number))
    made = MECHANISMS["noisy_tables"].apply(context, {"low": 0, "high": high, "bins": 10, "epsilon": epsilon})
    assert isinstance(made, PrivateFit)
    return made


def guess_who(runs: int) -> str:
    """Attack as someone who knows the mechanism and all other records, using the count in the unknown record's bin."""
    generator = np.random.default_rng(1)
    x = generator.beta(0.5, 3, 2000)
    ours, theirs = (release(values, 0, 1.0).counts for values in (x, x[1:]))
    at = int(np.flatnonzero(ours.counts != theirs.counts)[0])
    scores = [side.noisy(generator, max(runs, 40) * 500)[:, at] for side in (ours, theirs)]
    return _against(attack_bound(scores[0], scores[1], 0.0).epsilon, 1.0)


def extreme_record(runs: int) -> str:
    """Add or replace one record among many, with a value that is NaN, infinite, or the largest possible number."""
    generator, epsilon = np.random.default_rng(2), 0.7
    z = generator.standard_normal(50 * max(runs, 40))
    many = Records(generator.beta(0.5, 3, len(z)), np.column_stack([np.ones(len(z)), z]))
    odd = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 1.0]
    sides = [Records(np.append(many.x, value), np.vstack([many.design, [1.0, predictor]])) for value in odd for predictor in odd]
    parameters = {"epsilon": epsilon, "low": 0, "high": 1, "bins": 10, "x_low": -1, "x_high": 1, "x_bins": 8}
    added = max(ratio(parameters, many, side) for side in sides)
    replaced = max(ratio(parameters, sides[0], side) for side in sides)
    return _against(max(added, replaced / 2), epsilon)


def shared_noise(runs: int) -> str:
    """Compare two declarations that hardly differ: with equal noise, the difference would reveal exact counts."""
    x, noises = np.random.default_rng(3).beta(0.5, 3, 500), []
    for epsilon, high in ((0.5, 1.0), (0.5 + 1e-9, 1.0), (0.5, 1.0 - 1e-9)):
        made = [release(x, number, epsilon, high) for number in range(max(runs, 40))]
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


def privacy(simulations: int, name: str) -> list[str]:
    """Attack the privacy of noisy tables."""
    what, attack = PRIVACY[name]
    return [what, f"`{name}`", "", "", attack(simulations)]


def main() -> None:
    """Run the named attempts, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=450)
    parser.add_argument("--names", nargs="+", choices=[*ATTEMPTS, *PRIVACY], default=[*ATTEMPTS, *PRIVACY])
    given = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(partial(intervals, given.simulations), [name for name in given.names if name in ATTEMPTS]))
    rows += [privacy(given.simulations, name) for name in given.names if name in PRIVACY]
    show("attempts", ["attempt", "name", "intervals given", "coverage", "outcome"], rows)


if __name__ == "__main__":
    main()
