"""Synthesis of normal data with known variance, and inference with the combining rules T_f, T_s and T_PPD.

The confidential data are n values clamped to ``[-d, d]`` with mean ``mean``. A synthesizer makes m data sets of n_syn values; the
analyst knows the mean q of each data set and its estimated variance u, and a combining rule gives an interval for the population
mean. Replicates are always the first axis and have their own generators, so results do not depend on how they are grouped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from formalsynth.core.arrays import Array
from formalsynth_workflow.papers.zcdp.accounting import Setting

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Synthesis:
    """Source of the mean of the synthetic records."""

    label: str
    draw_for_set: bool = False
    """True if the mean is drawn from the posterior ``N(mean, sigma^2 / n)`` once for each data set."""
    draw_for_record: bool = False
    """True if the mean is drawn for each record, which makes records independent given the confidential data."""

    def record_variance(self, setting: Setting) -> float:
        """Variance of the records within a data set."""
        return setting.variance * (1 + self.draw_for_record / setting.n)

    def between_variance(self, setting: Setting, n_syn: int) -> float:
        """Variance of a data set's mean around the confidential mean."""
        return self.record_variance(setting) / n_syn + self.draw_for_set * setting.variance / setting.n


SYNTHESES: dict[str, Synthesis] = {
    "plugin": Synthesis("plug-in"),
    "bayes": Synthesis("Bayes, one draw of the mean for each data set", draw_for_set=True),
    "bayes_one_step": Synthesis("Bayes in one step, a draw of the mean for each record", draw_for_record=True),
}
"""Synthesizers of the zcdp paper, Sections 4.1 and 4.2, by id.

Section 4.2 describes ``bayes`` and then, for the privacy loss, replaces it by ``bayes_one_step`` (erratum E11). The distribution
of a record is the same under both, but that of a data set is not: the combining rules of Section 3 hold for ``bayes`` only.
"""


# Data ----------------------------------------------------------------------------------------------------------------


def confidential_means(setting: Setting, generators: Sequence[np.random.Generator], mean: float = 0.0) -> Array:
    """Means (R,) of n normal values clamped to ``[-d, d]``, one confidential data set for each generator."""
    sd = math.sqrt(setting.variance)
    return np.array([np.clip(generator.normal(mean, sd, setting.n), -setting.d, setting.d).mean() for generator in generators])


def synthetic_records(generator: np.random.Generator, setting: Setting, n_syn: int, synthesis: str, mean: float) -> Array:
    """Draw the synthetic data (m, n_syn) of one replicate, record by record.

    Args:
        generator: random numbers.
        setting: the release.
        n_syn: records in each data set.
        synthesis: id in :data:`SYNTHESES`.
        mean: mean of the clamped confidential data.
    """
    how = SYNTHESES[synthesis]
    posterior_sd = math.sqrt(setting.variance / setting.n)
    records = mean + math.sqrt(setting.variance) * generator.standard_normal((setting.m, n_syn))
    if how.draw_for_set:
        records += posterior_sd * generator.standard_normal((setting.m, 1))
    if how.draw_for_record:
        records += posterior_sd * generator.standard_normal((setting.m, n_syn))
    return records


def synthetic_moments(
    generator: np.random.Generator, setting: Setting, n_syn: int, synthesis: str, mean: float
) -> tuple[Array, Array]:
    """Draw the mean and variance (m,) of each synthetic data set of one replicate, without drawing records.

    For normal records, the two are independent, with normal and chi-square distributions, and they are the only input of the
    combining rules. Their distribution is that of the moments of :func:`synthetic_records`, but the cost does not grow with
    n_syn. Arguments as in that function.
    """
    how = SYNTHESES[synthesis]
    noise = generator.standard_normal(setting.m)
    chi_square = generator.chisquare(n_syn - 1, setting.m)
    means = mean + math.sqrt(how.between_variance(setting, n_syn)) * noise
    return means, how.record_variance(setting) * chi_square / (n_syn - 1)


# Combining rules -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimates:
    """An analyst's estimates from m synthetic data sets, for R replicates (zcdp paper, Section 3.1)."""

    n: int
    n_syn: int
    m: int
    q: Array
    """(R,) mean of the m point estimates, which is the point estimate under every rule."""
    b: Array
    """(R,) sample variance of the m point estimates; NaN for m = 1."""
    u: Array
    """(R,) mean of the m variance estimates."""

    @classmethod
    def of(cls, n: int, n_syn: int, q: Array, u: Array) -> Estimates:
        """Combine the point and variance estimates (R, m) of the data sets."""
        m = q.shape[1]
        between = q.var(axis=1, ddof=1) if m > 1 else np.full(len(q), np.nan)
        return cls(n, n_syn, m, q.mean(axis=1), between, u.mean(axis=1))


def t_f(estimates: Estimates) -> tuple[Array, Array]:
    """Variance ``T_f = (1 + 1/m) b - u`` and degrees of freedom ``(m-1) (1 - u / ((1 + 1/m) b))^2``, (R,) each.

    Intended for Bayesian synthesis with one draw of the parameters for each data set. May be negative.

    Source: zcdp paper, Section 3.1; Raghunathan et al. (2003), Reiter (2002).
    """
    m, between = estimates.m, (1 + 1 / estimates.m) * estimates.b
    return between - estimates.u, (m - 1) * np.square(1 - estimates.u / between)


def t_s(estimates: Estimates) -> tuple[Array, Array]:
    """Variance ``T_s = (n_syn / n + 1/m) u``, normal reference (chosen). Intended for plug-in synthesis.

    Source: zcdp paper, Section 3.2; Raab et al. (2016).
    """
    return _scaled(estimates, estimates.n_syn / estimates.n + 1 / estimates.m)


def t_ppd(estimates: Estimates) -> tuple[Array, Array]:
    """Variance ``T_PPD = (n_syn / n + (1 + n_syn / n) / m) u``, normal reference (chosen). Intended for Bayesian synthesis.

    Source: zcdp paper, Section 3.2; Raab et al. (2016).
    """
    ratio = estimates.n_syn / estimates.n
    return _scaled(estimates, ratio + (1 + ratio) / estimates.m)


def _scaled(estimates: Estimates, factor: float) -> tuple[Array, Array]:
    return factor * estimates.u, np.full_like(estimates.u, np.inf)


@dataclass(frozen=True)
class Rule:
    """A combining rule."""

    variance: Callable[[Estimates], tuple[Array, Array]]
    """Variance and degrees of freedom of the t reference distribution, infinite for a normal one."""
    sets: int = 1
    """Smallest number m of data sets for which the rule can be used."""


RULES: dict[str, Rule] = {"T_f": Rule(t_f, sets=2), "T_s": Rule(t_s), "T_PPD": Rule(t_ppd)}
"""The rules by id."""


def intervals(estimates: Estimates, rule: str, level: float = 0.95) -> pd.DataFrame:
    """Compute the point estimate, estimated variance and interval for each replicate.

    Returns:
        (R,) rows with columns point, estimated_variance, df, lower, upper, negative. If the estimated variance is not positive,
        there is no interval and its ends are NaN.

    Raises:
        ValueError: there are fewer data sets than the rule needs.
    """
    import pandas as pd

    if estimates.m < RULES[rule].sets:
        raise ValueError(f"{rule} needs m >= {RULES[rule].sets} synthetic data sets, got {estimates.m}")
    variance, df = RULES[rule].variance(estimates)
    negative = variance <= 0
    half = special.stdtrit(df, (1 + level) / 2) * np.sqrt(np.where(negative, np.nan, variance))
    return pd.DataFrame(
        {
            "point": estimates.q,
            "estimated_variance": variance,
            "df": df,
            "lower": estimates.q - half,
            "upper": estimates.q + half,
            "negative": negative,
        }
    )


# Coverage study ------------------------------------------------------------------------------------------------------


def coverage_rows(
    setting: Setting, n_syn: int, synthesis: str, confidential: Array, generators: Sequence[np.random.Generator],
    *, mean: float = 0.0, level: float = 0.95, known_variance: bool = False, rules: Iterable[str] = RULES,
) -> pd.DataFrame:  # fmt: skip
    """Compute the rows of one scenario, one for each replicate and rule.

    Args:
        setting: the release; its variance is that of both the population and the model.
        n_syn: number of synthetic records in each data set, at least 2.
        synthesis: id in :data:`SYNTHESES`.
        confidential: (R,) means of the confidential data, from :func:`confidential_means`; scenarios should share them.
        generators: R generators for the synthesis.
        mean: the population mean, which the intervals estimate.
        level: nominal coverage.
        known_variance: True if the analyst uses ``sigma^2 / n_syn`` as u instead of each data set's own variance.
        rules: ids in :data:`RULES`; a rule that needs more than m data sets is left out.

    Returns:
        Columns replicate (position in the batch), n, d, variance, m, n_syn, synthesis, known_variance, level, rule, those of
        :func:`intervals`, error, squared_error, width and covered. A replicate without an interval counts as not covered.
    """
    import pandas as pd

    moments = [
        synthetic_moments(generator, setting, n_syn, synthesis, center)
        for generator, center in zip(generators, confidential, strict=True)
    ]
    q, s2 = (np.stack(arrays) for arrays in zip(*moments, strict=True))
    u = (np.full_like(s2, setting.variance) if known_variance else s2) / n_syn
    estimates = Estimates.of(setting.n, n_syn, q, u)
    head = {"n_syn": n_syn, "synthesis": synthesis, "known_variance": known_variance, "level": level}
    parts = []
    for rule in rules:
        if setting.m < RULES[rule].sets:
            continue
        table = intervals(estimates, rule, level)
        error = table["point"] - mean
        table = table.assign(error=error, squared_error=error**2, width=table["upper"] - table["lower"])
        table = table.assign(covered=(table["lower"] <= mean) & (mean <= table["upper"]))
        scenario = pd.DataFrame({"replicate": range(len(table)), **asdict(setting), **head, "rule": rule})
        parts.append(pd.concat([scenario, table], axis=1))
    return pd.concat(parts, ignore_index=True)
