"""Long-run properties of the combining rules, computed without simulation."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import integrate, optimize, special, stats

from formalsynth_workflow.papers.zcdp.combining import RULES, SYNTHESES, Estimates

Z = 4.5
"""Band of the simulated checks in standard errors: a correct program leaves it once in 150,000 runs."""
P = 1e-5
"""Smallest p-value that a check of a distribution accepts: a correct program goes below it once in 100,000 runs."""


def generators(word, count, start=0):
    return [np.random.default_rng([5, word, k]) for k in range(start, start + count)]


@dataclass(frozen=True)
class Exact:
    """Long-run properties of a rule, for data without clamping and an analyst who knows sigma^2."""

    variance: float
    """Variance of the point estimate over data and synthesis."""
    expected: float
    """Expectation of the rule's variance."""
    coverage: float
    """Coverage of the interval; replicates without an interval count as not covered."""
    negative: float
    """Probability of no interval."""


def exact_performance(setting, n_syn, synthesis, rule, level=0.95):
    """Exact coverage of a rule: q is normal, b an independent multiple of a chi-square, u is ``sigma^2 / n_syn``.

    Arguments as in ``coverage_rows``. Source: derived from the sampling model of the zcdp paper, Sections 3 and 4.
    """
    between = SYNTHESES[synthesis].between_variance(setting, n_syn)
    variance = setting.variance / setting.n + between / setting.m
    u = setting.variance / n_syn

    def at(b):
        """The rule's variance and its coverage given b."""
        estimates = Estimates(setting.n, n_syn, setting.m, np.zeros(1), np.array([b]), np.array([u]))
        estimated, df = (float(values[0]) for values in RULES[rule].variance(estimates))
        if estimated <= 0:
            return estimated, 0.0
        half = special.stdtrit(df, (1 + level) / 2) * math.sqrt(estimated / variance)
        return estimated, 2 * float(special.ndtr(half)) - 1

    if RULES[rule].sets == 1:  # no use of b
        expected, coverage = at(between)
        return Exact(variance, expected, coverage, 0.0)
    b = stats.chi2(setting.m - 1, scale=between / (setting.m - 1))
    edge = optimize.brentq(lambda value: at(value)[0], 1e-12 * u, u)  # the variance grows with b
    coverage = integrate.quad(lambda p: at(b.ppf(p))[1], b.cdf(edge), 1.0, limit=200, epsabs=1e-7)[0]
    return Exact(variance, at(between)[0], coverage, float(b.cdf(edge)))
