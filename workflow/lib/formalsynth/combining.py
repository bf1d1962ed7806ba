"""Synthesis of normal data with known variance, and what an analyst can infer from it: T_f, T_s and T_PPD.

The confidential data are n values clamped to ``[-d, d]`` with mean ``mean``. A synthesizer makes m data sets of n_syn values;
the analyst sees the mean q and its estimated variance u of each, and a combining rule turns them into an interval for the
population mean. Replicates are the first axis everywhere, each with its own generator, so that no number depends on how they
are grouped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import pandas as pd
from scipy import integrate, optimize, special, stats

from formalsynth.families import Array
from formalsynth.gaussian import Setting, n_syn_plugin, whole_records, zcdp_sigma

SCENARIO = ("n", "d", "variance", "m", "n_syn", "synthesis", "known_variance", "level", "rule")
"""Columns that name a scenario of the coverage study."""


@dataclass(frozen=True)
class Synthesis:
    """Where the mean of the synthetic records comes from."""

    label: str
    draw_for_set: bool = False
    """A draw from the posterior ``N(mean, sigma^2 / n)`` for each data set."""
    draw_for_record: bool = False
    """A draw from it for each record, so that records are independent given the confidential data."""

    def record_variance(self, setting: Setting) -> float:
        """Variance of the records within a data set."""
        return setting.variance * (1 + self.draw_for_record / setting.n)

    def between_variance(self, setting: Setting, n_syn: int) -> float:
        """Variance of the mean of a data set around the confidential mean."""
        return self.record_variance(setting) / n_syn + self.draw_for_set * setting.variance / setting.n


SYNTHESES: dict[str, Synthesis] = {
    "plugin": Synthesis("plug-in"),
    "bayes": Synthesis("Bayes, one draw of the mean for each data set", draw_for_set=True),
    "bayes_one_step": Synthesis("Bayes in one step, a draw of the mean for each record", draw_for_record=True),
}
"""Synthesizers of the zcdp paper, Sections 4.1 and 4.2, by id.

Section 4.2 describes ``bayes`` and then, for the privacy loss, replaces it by ``bayes_one_step`` (erratum E11). One record is
the same under both, a data set is not: the combining rules of Section 3 for Bayesian synthesis hold for the first alone.
"""


# Data ----------------------------------------------------------------------------------------------------------------


def confidential_means(setting: Setting, generators: Sequence[np.random.Generator], mean: float = 0.0) -> Array:
    """Means (R,) of n normal values clamped to ``[-d, d]``, one confidential data set for each generator."""
    sd = math.sqrt(setting.variance)
    return np.array([np.clip(one.normal(mean, sd, setting.n), -setting.d, setting.d).mean() for one in generators])


def synthetic_records(generator: np.random.Generator, setting: Setting, n_syn: int, synthesis: str, mean: float) -> Array:
    """Synthetic data (m, n_syn) of one replicate, record by record.

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
    """Mean and variance (m,) of each synthetic data set of one replicate, drawn without the records.

    For normal records they are independent, normal and chi-square, and all that the combining rules look at; the distribution
    is that of the moments of :func:`synthetic_records`, at a cost that does not grow with n_syn. Arguments as there.
    """
    how = SYNTHESES[synthesis]
    noise = generator.standard_normal(setting.m)
    chi_square = generator.chisquare(n_syn - 1, setting.m)
    means = mean + math.sqrt(how.between_variance(setting, n_syn)) * noise
    return means, how.record_variance(setting) * chi_square / (n_syn - 1)


# Combining rules -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimates:
    """What an analyst has from m synthetic data sets, for R replicates (zcdp paper, Section 3.1)."""

    n: int
    n_syn: int
    m: int
    q: Array
    """(R,) mean of the m point estimates: the point estimate of every rule."""
    b: Array
    """(R,) their sample variance; NaN for m = 1."""
    u: Array
    """(R,) mean of the m variance estimates."""

    @classmethod
    def of(cls, n: int, n_syn: int, q: Array, u: Array) -> Estimates:
        """From the point and variance estimates (R, m) of the data sets."""
        m = q.shape[1]
        between = q.var(axis=1, ddof=1) if m > 1 else np.full(len(q), np.nan)
        return cls(n, n_syn, m, q.mean(axis=1), between, u.mean(axis=1))


def t_f(estimates: Estimates) -> tuple[Array, Array]:
    """Variance ``T_f = (1 + 1/m) b - u`` and degrees of freedom ``(m-1) (1 - u / ((1 + 1/m) b))^2``, (R,) each.

    Made for Bayesian synthesis with a draw of the parameters for each data set. May be negative.

    Source: zcdp paper, Section 3.1; Raghunathan et al. (2003), Reiter (2002).
    """
    m, between = estimates.m, (1 + 1 / estimates.m) * estimates.b
    return between - estimates.u, (m - 1) * np.square(1 - estimates.u / between)


def t_s(estimates: Estimates) -> tuple[Array, Array]:
    """Variance ``T_s = (n_syn / n + 1/m) u``, normal reference (chosen). Made for plug-in synthesis.

    Source: zcdp paper, Section 3.2; Raab et al. (2016).
    """
    return _scaled(estimates, estimates.n_syn / estimates.n + 1 / estimates.m)


def t_ppd(estimates: Estimates) -> tuple[Array, Array]:
    """Variance ``T_PPD = (n_syn / n + (1 + n_syn / n) / m) u``, normal reference (chosen). Made for Bayesian synthesis.

    Source: zcdp paper, Section 3.2; Raab et al. (2016).
    """
    ratio = estimates.n_syn / estimates.n
    return _scaled(estimates, ratio + (1 + ratio) / estimates.m)


def _scaled(estimates: Estimates, factor: float) -> tuple[Array, Array]:
    return factor * estimates.u, np.full_like(estimates.u, np.inf)


@dataclass(frozen=True)
class Rule:
    """A combining rule."""

    label: str
    variance: Callable[[Estimates], tuple[Array, Array]]
    """Variance and degrees of freedom of the t reference distribution, infinite for a normal one."""
    sets: int = 1
    """The smallest m that it can be used with."""


RULES: dict[str, Rule] = {"T_f": Rule("$T_f$", t_f, sets=2), "T_s": Rule("$T_s$", t_s), "T_PPD": Rule("$T_{PPD}$", t_ppd)}
"""The rules by id."""


def intervals(estimates: Estimates, rule: str, level: float = 0.95) -> pd.DataFrame:
    """Point estimate, estimated variance and interval of each replicate.

    Returns:
        (R,) rows with columns point, estimated_variance, df, lower, upper, negative. Where the estimated variance is not
        positive there is no interval: its ends are NaN.

    Raises:
        ValueError: fewer data sets than the rule needs.
    """
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
    """One row for each replicate and rule of one scenario.

    Args:
        setting: the release; its variance is both the population's and the model's.
        n_syn: synthetic records in each data set, at least 2.
        synthesis: id in :data:`SYNTHESES`.
        confidential: (R,) means of the confidential data, from :func:`confidential_means`; to be shared by scenarios.
        generators: R generators for the synthesis.
        mean: the population mean, which the intervals are for.
        level: nominal coverage.
        known_variance: the analyst uses ``sigma^2 / n_syn`` as u instead of each data set's own variance.
        rules: ids in :data:`RULES`; a rule that needs more than m data sets is left out.

    Returns:
        Columns replicate (position in the batch), those of :data:`SCENARIO`, those of :func:`intervals`, error, width and
        covered. A replicate without an interval counts as not covered.
    """
    moments = [
        synthetic_moments(generator, setting, n_syn, synthesis, center)
        for generator, center in zip(generators, confidential, strict=True)
    ]
    q, s2 = np.stack([one[0] for one in moments]), np.stack([one[1] for one in moments])
    u = (np.full_like(s2, setting.variance) if known_variance else s2) / n_syn
    estimates = Estimates.of(setting.n, n_syn, q, u)
    head = {"n_syn": n_syn, "synthesis": synthesis, "known_variance": known_variance, "level": level}
    parts = []
    for rule in rules:
        if setting.m < RULES[rule].sets:
            continue
        one = intervals(estimates, rule, level)
        one = one.assign(error=one["point"] - mean, width=one["upper"] - one["lower"])
        one = one.assign(covered=(one["lower"] <= mean) & (mean <= one["upper"]))
        scenario = pd.DataFrame({"replicate": range(len(one)), **asdict(setting), **head, "rule": rule})
        parts.append(pd.concat([scenario, one], axis=1))
    return pd.concat(parts, ignore_index=True)


def coverage_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Bias, variance ratio, coverage, width and share of negative variances with Monte Carlo errors, tidy.

    Args:
        rows: of :func:`coverage_rows`, any scenarios.

    Returns:
        Columns of :data:`SCENARIO`, then measure, estimate, mcse, replicates. Measures: ``bias`` of the point estimate;
        ``variance_ratio``, mean estimated variance over the variance of the point estimate; ``coverage``, replicates without
        an interval counted as missed; ``coverage_defined``, among those with one; ``width``, the median length of the
        intervals (the degrees of freedom of T_f come close to 0, so its mean length is not finite); ``negative``, the share
        without an interval.
    """
    parts = []
    for keys, group in rows.groupby(list(SCENARIO), sort=False):
        measures = pd.DataFrame(_measures(group), columns=["measure", "estimate", "mcse", "replicates"])
        parts.append(pd.concat([pd.DataFrame([keys] * len(measures), columns=list(SCENARIO)), measures], axis=1))
    return pd.concat(parts, ignore_index=True)


def _measures(group: pd.DataFrame) -> list[tuple[str, float, float, int]]:
    defined = group[~group["negative"]]
    return [
        ("bias", *_mean(group["error"])),
        ("variance_ratio", *_variance_ratio(group["estimated_variance"], group["point"])),
        ("coverage", *_share(group["covered"])),
        ("coverage_defined", *_share(defined["covered"])),
        ("width", *_median(defined["width"])),
        ("negative", *_share(group["negative"])),
    ]


def _mean(values: pd.Series) -> tuple[float, float, int]:
    return float(values.mean()), float(values.sem()), len(values)


def _share(values: pd.Series) -> tuple[float, float, int]:
    """A share; its error has one more success and one more failure, so that it is not 0 where all agree."""
    count, successes = len(values), int(values.sum())
    if count == 0:
        return math.nan, math.nan, 0
    shrunk = (successes + 1) / (count + 2)
    return successes / count, math.sqrt(shrunk * (1 - shrunk) / (count + 2)), count


def _median(values: pd.Series) -> tuple[float, float, int]:
    """A median; its error is half the distance of the quantiles one standard deviation of rank above and below."""
    half = min(0.5, 0.5 / math.sqrt(max(len(values), 1)))
    return float(values.median()), float(values.quantile(0.5 + half) - values.quantile(0.5 - half)) / 2, len(values)


def _variance_ratio(estimated: pd.Series, point: pd.Series) -> tuple[float, float, int]:
    """Mean of independent variance estimates over the variance of normal point estimates, the error by the delta method."""
    ratio, count = float(estimated.mean() / point.var()), len(point)
    relative = (estimated.sem() / estimated.mean()) ** 2 + 2 / (count - 1)
    return ratio, abs(ratio) * math.sqrt(relative), count


@dataclass(frozen=True)
class Exact:
    """What a rule does in the long run, for data that no clamp touches and an analyst who knows sigma^2."""

    variance: float
    """Variance of the point estimate over data and synthesis."""
    expected: float
    """Expectation of the rule's variance."""
    coverage: float
    """Of the interval, replicates without one counted as missed."""
    negative: float
    """Probability of no interval."""


def exact_performance(setting: Setting, n_syn: int, synthesis: str, rule: str, level: float = 0.95) -> Exact:
    """Exact coverage of a rule: q is normal, b an independent multiple of a chi-square, u is ``sigma^2 / n_syn``.

    Arguments as in :func:`coverage_rows`. Source: derived from the sampling model of the zcdp paper, Sections 3 and 4.
    """
    between = SYNTHESES[synthesis].between_variance(setting, n_syn)
    variance = setting.variance / setting.n + between / setting.m
    u = setting.variance / n_syn

    def at(b: float) -> tuple[float, float]:
        """The rule's variance and its coverage given b."""
        one = Estimates(setting.n, n_syn, setting.m, np.zeros(1), np.array([b]), np.array([u]))
        estimated, df = (float(values[0]) for values in RULES[rule].variance(one))
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


# Figure 1 ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A release whose mean is looked at: synthetic records, or the confidential mean with noise."""

    label: str
    synthesis: str = ""
    """Id in :data:`SYNTHESES`; empty for a mean with noise."""
    sets: int = 1
    """Data sets that the records are spread over."""
    noise: Callable[[Setting, float], float] | None = None
    """Standard deviation of the noise, from the release and rho."""

    def sd(self, setting: Setting, n_syn: int, rho: float) -> float:
        """Standard deviation of the mean of the m data sets, or of the noise."""
        if self.noise is not None:
            return self.noise(setting, rho)
        return math.sqrt(SYNTHESES[self.synthesis].between_variance(setting, n_syn) / setting.m)


SOURCES: dict[str, Source] = {
    "synthetic": Source("plug-in synthetic data", "plugin"),
    "gaussian_mechanism": Source(
        "the Gaussian mechanism", noise=lambda setting, rho: float(zcdp_sigma(rho, setting.mean_sensitivity))
    ),
    "synthetic_sets": Source("plug-in synthetic data in five data sets", "plugin", sets=5),
    "bayes_synthetic": Source("Bayesian synthetic data", "bayes"),
    "bayes_synthetic_sets": Source("Bayesian synthetic data in five data sets", "bayes", sets=5),
    "bayes_synthetic_one_step": Source("Bayesian synthetic data in one step", "bayes_one_step"),
    "posterior_draw": Source("the draw of the mean alone", noise=lambda setting, rho: math.sqrt(setting.variance / setting.n)),
}
"""The two releases of Figure 1, and those that Sections 4.1 and 4.2 compare with them, by id."""


def simulated_means(
    setting: Setting, rho: float, source: str, generators: Sequence[np.random.Generator], mean: float = 0.0
) -> pd.DataFrame:
    """Means and privacy losses of one release over repetitions.

    Every synthetic record is drawn; there are as many as :func:`formalsynth.gaussian.n_syn_plugin` allows.

    Args:
        setting: the release.
        rho: privacy loss of plug-in synthesis and of the Gaussian mechanism.
        source: id in :data:`SOURCES`.
        generators: one for each repetition.
        mean: mean of the confidential data, the same throughout; that of the neighbour is ``2 d / n`` above it.

    Returns:
        Columns replicate, source, records (0 for a mean with noise), value and loss, whose expectation is rho.
    """
    one, setting, n_syn = _of_source(source, setting, rho)
    other, rows = mean + setting.mean_sensitivity, []
    for generator in generators:
        if one.noise is not None:
            sd = one.sd(setting, n_syn, rho)
            value = generator.normal(mean, sd)
            rows.append((value, ((value - other) ** 2 - (value - mean) ** 2) / (2 * sd**2)))
        else:
            records = synthetic_records(generator, setting, n_syn, one.synthesis, mean)
            rows.append((records.mean(), privacy_loss(records, setting, one.synthesis, mean, other)))
    found = pd.DataFrame(rows, columns=["value", "loss"]).rename_axis("replicate").reset_index()
    return found.assign(source=source, records=setting.m * n_syn)


def privacy_loss(records: Array, setting: Setting, synthesis: str, mean: float, other: float) -> float:
    """Log density of synthetic data (m, n_syn) given one confidential mean, less that given another.

    The density of a data set is that of its records, each given those before it; no sufficient statistic is used.

    Source: the definition in the zcdp paper, Section 4.3, for the syntheses of Sections 4.1 and 4.2.
    """
    how = SYNTHESES[synthesis]
    centres: list[float | Array] = [mean, other]
    variance: float | Array = how.record_variance(setting)
    if how.draw_for_set:  # what is known of the draw: n confidential records, and the synthetic ones so far
        known = setting.n + np.arange(records.shape[1])
        seen = np.cumsum(records, axis=1) - records
        centres = [(setting.n * centre + seen) / known for centre in centres]
        variance = setting.variance * (1 + 1 / known)
    near, far = (np.square(records - centre) for centre in centres)
    return float(((far - near) / (2 * variance)).sum())


def exact_means(setting: Setting, rho: float, sources: Iterable[str] = SOURCES, mean: float = 0.0) -> pd.DataFrame:
    """The normal distributions that :func:`simulated_means` draws from: columns source, mean, sd, records.

    Source: zcdp paper, Equations 1 and 2, Figure 1; Section 4.2.
    """
    rows = []
    for source in sources:
        one, spread, n_syn = _of_source(source, setting, rho)
        rows.append({"source": source, "mean": mean, "sd": one.sd(spread, n_syn, rho), "records": spread.m * n_syn})
    return pd.DataFrame(rows)


def _of_source(source: str, setting: Setting, rho: float) -> tuple[Source, Setting, int]:
    """A source, its release with its data sets, and the records of each of them; 0 for a mean with noise."""
    one = SOURCES[source]
    setting = replace(setting, m=setting.m * one.sets)
    return one, setting, 0 if one.noise is not None else whole_records(float(n_syn_plugin(setting, rho)))
