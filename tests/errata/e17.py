"""E17: condition for cutting a weight in Weighted-e."""

import numpy as np
from beta_risks import samples
from check import Row, at_most, numeric_check, simulated_mean

EPSILON, NUMBER, PRINTED = 3.0, 60, 573.0
"""The ε at which the counts vary least, the number of data sets, and the mean count in Table 1."""


@numeric_check("E17", printed="α f > ε/2", derived="α |f| > ε/2")
def cut_records():
    """Mean number of records cut by Weighted-e at ε = 3, and the largest weighted log-likelihood among the others."""
    printed = [cut(sample, sample.log_likelihood.max(axis=0)) for sample in samples(NUMBER)]
    derived = [cut(sample, sample.risk) for sample in samples(NUMBER)]
    counts, largest = zip(*(np.array(reading).T for reading in (printed, derived)), strict=True)
    method = f"{NUMBER} simulated data sets, 1000 draws of exact posteriors"
    return [
        Row("mean number of cut records", *map(simulated_mean, counts), PRINTED, f"printed; {method}"),
        Row("largest |α f| of a record that is kept", *map(max, largest), at_most(EPSILON / 2), f"ε/2; {method}"),
    ]


def cut(sample, size):
    """Count the records that are cut, given the size of their log-likelihoods (n,); and the largest |α f| of the others."""
    above = sample.min_max * size > EPSILON / 2
    return above.sum(), (sample.min_max * sample.risk)[~above].max()
