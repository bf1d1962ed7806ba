"""Salaries of the 2017 Survey of Doctorate Recipients, drawn from its published counts."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array, Integers, Records, intercept_only
from formalsynth.core.constraints import Finite, NonNegative, PositiveNumber
from formalsynth.core.population import PublishedCounts, population
from formalsynth.data.sdr import salary_records

VARIABLES = ("AGEGRP", "GENDER", "SALARYP", "WKSWK")
"""Variables of the salary records, in the order in which they are drawn."""


@population()
def sdr_stand_in(
    generator: np.random.Generator,
    n: int,
    *,
    male: Finite,
    age: Finite,
    weeks: Finite,
    noise: NonNegative,
    counts: PublishedCounts,
) -> Records:
    """Stand-in for the salary records of the censor paper, Section 5, which cannot be distributed.

    Predictors are independent draws from their published margins, and salaries are drawn from theirs. The two are joined by
    rank: salaries follow the order of ``male * gender + age * age rank + weeks * weeks / 52 + noise * normal``.
    """
    margins = dict(counts)
    # The paper's sample has nine age groups: the youngest of the ten in the codebook is not among them.
    groups, number = margins["AGEGRP"]
    margins["AGEGRP"] = groups[groups >= 30], number[groups >= 30]
    columns = {
        name: generator.choice(values, n, p=number / number.sum()) for name in VARIABLES for values, number in [margins[name]]
    }
    age_rank = (columns["AGEGRP"] - columns["AGEGRP"].min()) / 50
    score = male * columns["GENDER"] + age * age_rank + weeks * columns["WKSWK"] / 52 + noise * generator.standard_normal(n)
    salary = np.sort(columns["SALARYP"])[np.argsort(np.argsort(score))]
    return salary_records(salary, columns["GENDER"] == 1, columns["AGEGRP"], columns["WKSWK"])


@population()
def published_salaries(generator: np.random.Generator, n: int, *, unit: PositiveNumber, counts: PublishedCounts) -> Records:
    """Salaries in ``unit`` dollars, drawn without replacement from their published counts (reweight paper, Section 4).

    Raises:
        ValueError: there are fewer than n salaries, or one of them is not a multiple of the unit.
    """
    values, number = counts["SALARYP"]
    if (values % unit).any():
        raise ValueError(f"published_salaries: the salaries are not all multiples of the unit {unit:g}")
    return intercept_only(without_replacement(generator, n, values / unit, number))


def without_replacement(generator: np.random.Generator, n: int, values: Array, number: Array | Integers) -> Array:
    """Draw the values of n records without replacement from a table of value counts, in random order.

    Args:
        generator: random numbers.
        n: number of records to draw.
        values: (k,) the values.
        number: (k,) number of records with each value.

    Raises:
        ValueError: there are fewer than n records.
    """
    if n > number.sum():
        raise ValueError(f"cannot draw {n} records without replacement from {number.sum()}")
    drawn = generator.multivariate_hypergeometric(number.astype(int), n, method="marginals")
    return generator.permutation(np.repeat(values, drawn))
