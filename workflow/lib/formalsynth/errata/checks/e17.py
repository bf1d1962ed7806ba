"""E17: condition for cutting a weight in Weighted-e."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.errata.beta_risks import Sample, samples
from formalsynth.errata.check import Comparison, Reading, at_most, exactly, numeric_check, simulated_mean

EPSILON, NUMBER, PRINTED = 3.0, 60, 573.0
"""The ε at which the counts vary least, the number of data sets, and the mean count in Table 1."""


@numeric_check(
    "E17",
    printed=Reading("α f > ε/2", lambda sample: sample.log_likelihood.max(axis=0)),
    derived=Reading("α |f| > ε/2", lambda sample: sample.risk),
)
def cut_records(size: Callable[[Sample], Array]) -> Sequence[Comparison]:
    """Mean number of records cut by Weighted-e at ε = 3, and the largest weighted log-likelihood among the others."""
    counts, kept = [], []
    for sample in samples(NUMBER):
        cut = sample.min_max * size(sample) > EPSILON / 2
        counts.append(float(cut.sum()))
        kept.append(float((sample.min_max * sample.risk)[~cut].max()))
    method = f"{NUMBER} simulated data sets, 1000 draws of exact posteriors"
    return [
        Comparison("mean number of cut records", simulated_mean(np.array(counts)), exactly(PRINTED), f"printed; {method}"),
        Comparison("largest |α f| of a record that is kept", exactly(max(kept)), at_most(EPSILON / 2), f"ε/2; {method}"),
    ]
