"""Meaning of epsilon for an even bet on one person: python bench/meaning.py. It writes bench/tables/epsilon.csv."""

import math

from page import show

EPSILONS = 0.1, 0.5, 1, 2, 4, 8
HEAD = ("ε", "the release is at most this many times more likely if you are in the data", "and their certainty is at most")


def main() -> None:
    """Print and write the factor exp(epsilon) and the largest certainty, both rounded up."""
    rows = []
    for epsilon in EPSILONS:
        factor = math.exp(epsilon)
        rows.append([f"{epsilon:g}", f"{math.ceil(100 * factor) / 100:,}", f"{math.ceil(1e4 * factor / (1 + factor)) / 100} %"])
    show("epsilon", HEAD, rows)


if __name__ == "__main__":
    main()
