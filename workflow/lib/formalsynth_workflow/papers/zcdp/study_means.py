"""Means of synthetic data compared with the Gaussian mechanism (zcdp paper, Figure 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.constraints import Count, Finite, PositiveNumber
from formalsynth_workflow.papers.zcdp._outcomes import ids_by_arm
from formalsynth_workflow.papers.zcdp.accounting import ZCDP, Setting
from formalsynth_workflow.papers.zcdp.means import SOURCES, exact_means, simulated_means
from formalsynth_workflow.study import Arm, Outcome, Run, study

if TYPE_CHECKING:
    import pandas as pd


@study(arms={id: Arm(ZCDP, f"Means of {source.label}.") for id, source in SOURCES.items()})
def means(
    run: Run,
    *,
    d: PositiveNumber,
    rho: PositiveNumber,
    variance: PositiveNumber = 1.0,
    m: Count = 1,
    mean: Finite = 0.0,
) -> Outcome:
    """Means and privacy losses of releases of one mean (zcdp paper, Figure 1), with their exact densities as details."""
    import pandas as pd

    setting, ids = Setting(run.n, d, variance, int(m)), ids_by_arm(run)
    addresses = [run.address(replicate) for replicate in run.replicates]
    parts = []
    for source in ids:
        generators = [address.generator("synthesize", [list(SOURCES).index(source)]) for address in addresses]
        parts.append(simulated_means(setting, rho, source, generators, mean))
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(replicate=np.asarray(run.replicates)[rows["replicate"]], synthesizer=rows["source"].map(ids))
    if 0 not in run.replicates:
        return Outcome(rows)
    exact = exact_means(setting, rho, ids, mean)
    laws = zip(exact["source"].map(ids), exact["mean"].astype(float), exact["sd"].astype(float), strict=True)
    curves = [_density(id, centre, sd) for id, centre, sd in laws]
    return Outcome(rows, pd.concat(curves, ignore_index=True))


def _density(id: str, mean: float, sd: float) -> pd.DataFrame:
    """Return a normal density as a curve that extends four standard deviations to either side."""
    import pandas as pd

    x = np.linspace(mean - 4 * sd, mean + 4 * sd, 161)
    density = np.exp(-(((x - mean) / sd) ** 2) / 2) / np.sqrt(2 * np.pi) / sd
    return pd.DataFrame({"replicate": 0, "synthesizer": id, "x": x, "density": density})
