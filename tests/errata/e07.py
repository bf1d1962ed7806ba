"""E7: settings and scripts of the reweight paper's supplement."""

import math

from check import Interval, Row, numeric_check
from scipy import optimize, stats

SHARE, MEAN = 0.2, 100.0
"""Share of the first component, and mean of both components, as in Section 3.1 and Supplement 5."""
DISPERSIONS = (5.0, 5.0), (5.0, 20.0)
"""Values of φ as printed, and as derived."""


@numeric_check(
    "E7",
    printed="φ = 5 and 5; 1/φ ~ Cauchy(0, 5) without a lower bound",
    derived="φ = 5 and 20; 1/φ ~ Cauchy(0, 5) above 0",
)
def settings_of_the_supplement():
    """Quantiles of the mixture, and the mass of the prior on valid dispersions."""
    above, how = float(stats.cauchy(0.0, 5.0).sf(0.0)), "printed in Table 1: interval of the data"
    low, high = ([quantile(share, phi) for phi in DISPERSIONS] for share in (0.15, 0.9))
    return [
        Row("15 % quantile of the mixture", *low, Interval(70.0, 75.0), how),
        Row("90 % quantile of the mixture", *high, Interval(132.0, 140.0), how),
        Row("prior mass of 1/φ above 0", above, above / above, 1.0, "a dispersion must be positive"),
    ]


def quantile(share, phi):
    """Quantile of the mixture, from its distribution function, interpolated linearly between whole numbers."""
    first, second = (stats.nbinom(size, size / (size + MEAN)) for size in phi)

    def mixture(x):
        return SHARE * first.cdf(x) + (1 - SHARE) * second.cdf(x)

    def distribution(x):
        low = math.floor(x)
        return mixture(low - 1) * (low + 1 - x) + mixture(low) * (x - low)

    return optimize.bisect(lambda x: distribution(x) - share, 0.0, 20 * MEAN, xtol=1e-6)
