"""Simulated confidential data, by the name that config uses.

A population is what the records are drawn from; it need not be the family that is fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from formalsynth.allowed import Finite, NotNegative, Positive, Share
from formalsynth.datasets import salary_records
from formalsynth.families import Array, Records

Counts = Mapping[str, tuple[Array, Array]]
"""Published margins: values and counts of each variable."""


def lognormal_on_normal(
    generator: np.random.Generator,
    n: int,
    *,
    predictor_mean: Finite,
    predictor_sd: NotNegative,
    intercept: Finite,
    sigma: NotNegative,
) -> Records:
    """``z ~ normal(predictor_mean, predictor_sd)``, ``x ~ lognormal(z + intercept, sigma)`` (range paper, Section 4.1)."""
    z = generator.normal(predictor_mean, predictor_sd, n)
    x = np.exp(z + intercept + sigma * generator.standard_normal(n))
    return {"x": x, "design": np.column_stack([np.ones(n), z])}


def beta(generator: np.random.Generator, n: int, *, shape1: Positive, shape2: Positive) -> Records:
    """``x ~ Beta(shape1, shape2)`` (censor paper, Section 4.1)."""
    return {"x": generator.beta(shape1, shape2, n), "design": np.ones((n, 1))}


def sdr_stand_in(
    generator: np.random.Generator,
    n: int,
    *,
    male: Finite,
    age: Finite,
    weeks: Finite,
    noise: NotNegative,
    counts: Counts | None = None,
) -> Records:
    """A stand-in for the salary records of the censor paper, Section 5, which are not distributable.

    Predictors are independent draws from their published margins, salaries a draw from theirs; the two are joined by rank,
    salaries in the order of ``male * gender + age * age rank + weeks * weeks / 52 + noise * normal``. Without the published
    counts the margins are rough ones of our own.
    """
    counts = dict(counts or ROUGH_MARGINS)
    # The paper's sample has nine age groups: the youngest of the ten in the codebook is not among them.
    groups, number = counts["AGEGRP"]
    counts["AGEGRP"] = groups[groups >= 30], number[groups >= 30]
    columns = {name: generator.choice(values, n, p=number / number.sum()) for name, (values, number) in counts.items()
               if name in ROUGH_MARGINS}  # fmt: skip
    age_rank = (columns["AGEGRP"] - columns["AGEGRP"].min()) / 50
    score = male * columns["GENDER"] + age * age_rank + weeks * columns["WKSWK"] / 52 + noise * generator.standard_normal(n)
    salary = np.sort(columns["SALARYP"])[np.argsort(np.argsort(score))]
    return salary_records(salary, columns["GENDER"] == 1, columns["AGEGRP"], columns["WKSWK"])


ROUGH_MARGINS: Counts = {
    "AGEGRP": (np.arange(30.0, 75.0, 5.0), np.full(9, 1)),
    "GENDER": (np.array([0.0, 1.0]), np.array([40, 60])),
    "SALARYP": (np.arange(10_000.0, 310_000.0, 10_000.0), np.exp(-0.5 * ((np.arange(30) - 8) / 5) ** 2)),
    "WKSWK": (np.array([36.0, 40.0, 52.0]), np.array([5, 10, 85])),
}


def poisson(generator: np.random.Generator, n: int, *, mu: Positive) -> Records:
    """``x ~ Poisson(mu)`` (reweight paper, Supplement 5)."""
    return _intercept_only(generator.poisson(mu, n))


def negative_binomial_mixture(
    generator: np.random.Generator, n: int, *, share: Share, mu1: Positive, phi1: Positive, mu2: Positive, phi2: Positive
) -> Records:
    """``x ~ share NB(mu1, phi1) + (1 - share) NB(mu2, phi2)``, variances ``mu + mu^2 / phi`` (reweight paper, Section 3.1)."""
    first = generator.random(n) < share
    mu, phi = np.where(first, mu1, mu2), np.where(first, phi1, phi2)
    return _intercept_only(generator.negative_binomial(phi, phi / (phi + mu)))


def published_salaries(generator: np.random.Generator, n: int, *, unit: Positive, counts: Counts | None = None) -> Records:
    """Salaries in ``unit`` dollars, without replacement from their published counts (reweight paper, Section 4).

    Without the published counts the salaries are a stand-in, drawn from rough ones of our own.

    Raises:
        ValueError: there are fewer than n salaries, or one of them is no multiple of the unit.
    """
    values, number = counts["SALARYP"] if counts else ROUGH_MARGINS["SALARYP"]
    if not counts:
        number = np.rint(10_000 * number).astype(int)
    if (values % unit).any():
        raise ValueError(f"published_salaries: the salaries are not all multiples of the unit {unit:g}")
    return _intercept_only(without_replacement(generator, n, values / unit, number))


def without_replacement(generator: np.random.Generator, n: int, values: Array, number: Array) -> Array:
    """Values of n records drawn without replacement from a table of value counts, in random order.

    Args:
        generator: random numbers.
        n: records to draw.
        values: (k,) the values.
        number: (k,) whole numbers, how many records have each value.

    Raises:
        ValueError: there are fewer than n records.
    """
    if n > number.sum():
        raise ValueError(f"cannot draw {n} records without replacement from {number.sum()}")
    return generator.permutation(np.repeat(values, generator.multivariate_hypergeometric(number, n, method="marginals")))


def _intercept_only(x: Array) -> Records:
    return {"x": np.asarray(x, dtype=float), "design": np.ones((len(x), 1))}


POPULATIONS: dict[str, Callable[..., Records]] = {
    "beta": beta,
    "lognormal_on_normal": lognormal_on_normal,
    "sdr_stand_in": sdr_stand_in,
    "poisson": poisson,
    "negative_binomial_mixture": negative_binomial_mixture,
    "published_salaries": published_salaries,
}


QUANTILES = {"median": 0.5, "q15": 0.15, "q90": 0.9}
CLOSED_FORMS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "beta": lambda population: _frozen_beta(population["shape1"], population["shape2"])
}
"""Populations whose distribution is known in closed form."""


def _frozen_beta(shape1: float, shape2: float) -> Any:
    from scipy.stats import beta

    return beta(shape1, shape2)


def has_truth(population: Mapping[str, Any], statistic: str) -> bool:
    """Whether the value of a statistic in a population is known."""
    return population["name"] in CLOSED_FORMS and (statistic == "mean" or statistic in QUANTILES)


def truth(population: Mapping[str, Any], statistic: str) -> float:
    """The value of a statistic in a population, for those with a distribution in closed form.

    Args:
        population: name and parameters, as in config.
        statistic: a name of :data:`formalsynth.utility.STATISTICS`.

    Raises:
        KeyError: no closed form is known.
    """
    frozen = CLOSED_FORMS[population["name"]](population)
    return float(frozen.mean() if statistic == "mean" else frozen.ppf(QUANTILES[statistic]))
