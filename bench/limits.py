"""Settings in which noisy tables lose little accuracy: python bench/limits.py.

It prints the ratio of the expected standard error to that without privacy (formalsynth.inference.expected_errors), by epsilon,
and the smallest n at which the ratio is at most 1.25 and at most 2. No data are simulated. The table is written to
bench/tables/limits.csv.
"""

import itertools
import math

import numpy as np
from page import table, write_table

from formalsynth.core.family import FAMILIES
from formalsynth.core.private import Bins
from formalsynth.core.tables import tabled
from formalsynth.inference.density import Guess
from formalsynth.inference.expected_errors import error_factor
from formalsynth.inference.tables_model import TablesModel

FAMILIES.find()
SIZE, FACTORS, EPSILONS = 2000, (1.25, 2.0), (0.2, 0.5, 1.0)
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


def smallest(name: str, epsilon: float, most: float) -> int | None:
    """Smallest n at which the factor is at most ``most``, to within a tenth; None if it is larger even at 10 million records."""
    sizes = np.geomspace(50, 1e7, 128)
    first, last = 0, len(sizes) - 1
    if factor(name, sizes[last], epsilon) > most:
        return None
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if factor(name, sizes[middle], epsilon) <= most else (middle + 1, last)
    return round(sizes[last])


def main() -> None:
    """Print and write the table."""
    head = ["what is estimated", "ε", f"factor at n = {SIZE}", *(f"n for a factor of {most:g}" for most in FACTORS)]
    rows = [
        [name, f"{epsilon:g}", f"{factor(name, SIZE, epsilon):.2f}", *(_size(smallest(name, epsilon, most)) for most in FACTORS)]
        for name, epsilon in itertools.product(CASES, EPSILONS)
    ]
    print(table(head, rows))
    write_table("limits", head, rows)


def _size(n: int | None) -> str:
    return f"{float(f'{n:.2g}'):,.0f}" if n else "not reached"


if __name__ == "__main__":
    main()
