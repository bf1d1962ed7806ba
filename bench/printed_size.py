"""Number of simulated records that the printed advantages of REPS imply: python bench/printed_size.py.

The paper does not print it. Its distance attack finds about nothing, so a printed advantage is taken as the absolute value of
chance: 2 AUC - 1 of m members, 56 % of n, and k others, 30 % of n, is then nearly normal with variance (m + k) / (3 m k). The
data sets of known size show how well this works. Output: bench/tables/printed_size.csv.
"""

import math
from pathlib import Path
from statistics import mean

import yaml
from page import show

PAPER = Path(__file__).parents[1] / "config" / "papers" / "reps.yaml"
TABLES = {"1": "simulated", "2": "breast_cancer", "3": "adult", "4": "german"}
"""Scenarios of the printed tables."""
MEMBERS, OTHERS = 0.56, 0.3


CHANCE = 2 / math.pi * (MEMBERS + OTHERS) / (3 * MEMBERS * OTHERS)
"""Square of the mean absolute advantage of chance, times n."""


def main() -> None:
    """Compute the table."""
    paper = yaml.safe_load(PAPER.read_text(encoding="utf-8"))
    rows = []
    for number, name in TABLES.items():
        scenario, printed = paper["scenarios"][name], paper["tables"][int(number)]["printed"].values()
        shown = mean(row["distance_all_advantage"] for row in printed)
        n = f"{scenario['n']:,}{' (chosen)' * (name == 'simulated')}"
        rows.append(
            [
                scenario["label"],
                n,
                f"{shown:.4f}",
                f"{math.sqrt(CHANCE / scenario['n']):.4f}",
                f"{float(f'{CHANCE / shown**2:.2g}'):,.0f}",
            ]
        )
    show("printed_size", ["data", "n", "mean printed advantage", "mean of chance at this n", "n by chance"], rows)


if __name__ == "__main__":
    main()
