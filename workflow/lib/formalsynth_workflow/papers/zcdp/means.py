"""Figure 1 of the zcdp paper: means of synthetic data and noisy confidential means, with their privacy losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth_workflow.papers.zcdp.accounting import Setting, n_syn_plugin, whole_records, zcdp_sigma
from formalsynth_workflow.papers.zcdp.combining import SYNTHESES, synthetic_records

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Source:
    """Source of a released mean: synthetic records, or the confidential mean with noise."""

    label: str
    synthesis: str = ""
    """Id in :data:`SYNTHESES`; empty for a mean with noise."""
    sets: int = 1
    """Number of data sets into which the records are divided."""
    noise: Callable[[Setting, float], float] | None = None
    """Standard deviation of the noise, from the release and rho."""

    def sd(self, setting: Setting, n_syn: int, rho: float) -> float:
        """Compute the standard deviation of the mean over the m data sets, or that of the noise."""
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
"""Releases by id: the two in Figure 1, and those that Sections 4.1 and 4.2 compare with them."""


def simulated_means(
    setting: Setting, rho: float, source: str, generators: Sequence[np.random.Generator], mean: float = 0.0
) -> pd.DataFrame:
    """Simulate means and privacy losses of one release over repetitions.

    Every synthetic record is drawn: as many as :func:`formalsynth_workflow.papers.zcdp.accounting.n_syn_plugin` allows.

    Args:
        setting: the release.
        rho: privacy loss of plug-in synthesis and of the Gaussian mechanism.
        source: id in :data:`SOURCES`.
        generators: one for each repetition.
        mean: mean of the confidential data in all repetitions; the mean of the neighbour's data is larger by ``2 d / n``.

    Returns:
        Columns replicate, source, records (0 for a mean with noise), value, loss (with expectation rho) and synthetic_variance
        (sample variance of all synthetic records; NaN for a mean with noise).
    """
    import pandas as pd

    release, setting, n_syn = _of_source(source, setting, rho)
    other, rows = mean + setting.mean_sensitivity, []
    for generator in generators:
        if release.noise is not None:
            sd = release.sd(setting, n_syn, rho)
            value = generator.normal(mean, sd)
            rows.append((value, ((value - other) ** 2 - (value - mean) ** 2) / (2 * sd**2), math.nan))
        else:
            records = synthetic_records(generator, setting, n_syn, release.synthesis, mean)
            loss = privacy_loss(records, setting, release.synthesis, mean, other)
            rows.append((records.mean(), loss, records.var(ddof=1)))
    table = pd.DataFrame(rows, columns=["value", "loss", "synthetic_variance"]).rename_axis("replicate").reset_index()
    return table.assign(source=source, records=setting.m * n_syn)


def privacy_loss(records: Array, setting: Setting, synthesis: str, mean: float, other: float) -> float:
    """Log density of synthetic data (m, n_syn) given one confidential mean, minus that given the other.

    The density of a data set is the product over its records, each given the previous ones, without sufficient statistics.

    Source: the definition in the zcdp paper, Section 4.3, for the syntheses of Sections 4.1 and 4.2.
    """
    how = SYNTHESES[synthesis]
    centres: list[float | Array] = [mean, other]
    variance: float | Array = how.record_variance(setting)
    if how.draw_for_set:  # previous synthetic records contain information about the draw of the mean
        counts = setting.n + np.arange(records.shape[1])
        previous = np.cumsum(records, axis=1) - records
        centres = [(setting.n * centre + previous) / counts for centre in centres]
        variance = setting.variance * (1 + 1 / counts)
    near, far = (np.square(records - centre) for centre in centres)
    return float(((far - near) / (2 * variance)).sum())


def exact_means(setting: Setting, rho: float, sources: Iterable[str] = SOURCES, mean: float = 0.0) -> pd.DataFrame:
    """Return the normal distributions that :func:`simulated_means` samples: columns source, mean, sd, records.

    Source: zcdp paper, Equations 1 and 2, Figure 1; Section 4.2.
    """
    import pandas as pd

    rows = []
    for source in sources:
        release, spread, n_syn = _of_source(source, setting, rho)
        rows.append({"source": source, "mean": mean, "sd": release.sd(spread, n_syn, rho), "records": spread.m * n_syn})
    return pd.DataFrame(rows)


def _of_source(source: str, setting: Setting, rho: float) -> tuple[Source, Setting, int]:
    """Return a source, its release with the number of data sets, and the number of records per data set (0 without records)."""
    release = SOURCES[source]
    setting = replace(setting, m=setting.m * release.sets)
    return release, setting, 0 if release.noise is not None else whole_records(float(n_syn_plugin(setting, rho)))
