"""Settings in which noisy tables lose little accuracy: python bench/limits.py.

It prints the ratio of the expected standard error to that without privacy (formalsynth.inference.expected_errors), by epsilon,
and the smallest n at which the ratio is at most 1.25 and at most 2. No data are simulated. The table is written to
bench/tables/limits.csv.
"""

import bisect
import itertools
import math

import numpy as np
from page import show

from formalsynth.core.family import FAMILIES
from formalsynth.core.private import Bins
from formalsynth.core.tables import tabled
from formalsynth.inference.density import Guess
from formalsynth.inference.expected_errors import error_factor
from formalsynth.inference.tables_model import TablesModel

FAMILIES.find()
SIZE, FACTORS, EPSILONS = 2000, (1.25, 2.0), (0.2, 0.5, 1.0)
SIZES = np.geomspace(50, 1e7, 128)
"""Numbers of records to try."""
CASES = {
    "mean of Beta(0.5, 3), 10 bins": ("beta", (Bins(0, 1, 10),), Guess((math.log(1 / 6),), 3.5)),
    "mean of a negative binomial, 12 bins": ("negative_binomial", (Bins(0, 240, 12),), Guess((math.log(100),), 0.2)),
    "slope of a lognormal regression, 8 × 8 bins": (
        "lognormal_regression", (Bins(math.exp(-1), math.exp(7), 8, True), Bins(0, 4, 8)), Guess((1.0, 1.0), 1.0, 2.0, 1.0),
    ),
    "slope of a lognormal regression, 4 × 4 bins": (
        "lognormal_regression", (Bins(math.exp(-1), math.exp(7), 4, True), Bins(0, 4, 4)), Guess((1.0, 1.0), 1.0, 2.0, 1.0),
    ),
}  # fmt: skip


def factor(name: str, n: float, epsilon: float) -> float:
    """Compute the ratio of the expected error to that without privacy."""
    family, bins, guess = CASES[name]
    declared = tabled(FAMILIES[family])
    assert declared is not None
    return error_factor(TablesModel(declared), FAMILIES[family].priors, bins, guess, round(n), epsilon)


def smallest(name: str, epsilon: float, most: float) -> str:
    """Format the smallest n at which the factor is at most ``most``, to within a tenth."""
    place = bisect.bisect_left(SIZES, True, key=lambda n: factor(name, n, epsilon) <= most)
    return f"{float(f'{SIZES[place]:.2g}'):,.0f}" if place < len(SIZES) else "not reached"


def main() -> None:
    """Print and write the table."""
    head = ["what is estimated", "ε", f"factor at n = {SIZE}", *(f"n for a factor of {most:g}" for most in FACTORS)]
    rows = [
        [name, f"{epsilon:g}", f"{factor(name, SIZE, epsilon):.2f}", *(smallest(name, epsilon, most) for most in FACTORS)]
        for name, epsilon in itertools.product(CASES, EPSILONS)
    ]
    show("limits", head, rows)


if __name__ == "__main__":
    main()
