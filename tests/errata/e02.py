"""E2: cost of drawing the mean, with synthesis as post-processing."""

import math

from check import Row, near, numeric_check
from scipy import integrate, optimize, stats

from formalsynth_workflow.papers.zcdp.accounting import (
    Setting,
    rho_bayes_per_record,
    rho_postprocessing,
    rho_postprocessing_printed,
)

SETTING = Setting(n=1000, d=4.0)
"""Setting of the paper's Figure 1."""
ORDER = 3.0
"""Order of the Rényi divergence that is integrated; for equal variances the divergence is rho times the order."""


@numeric_check(
    "E2",
    printed="rho = 4 d² n / (2 σ²); cheaper above m n_syn = n² (n + 1)",
    derived="rho = (2d/n)² / (2 σ²/n) = 4 d² / (2 n σ²); cheaper above m n_syn = n + 1",
)
def cost_of_the_draw():
    """Rho of one draw of the mean from N(x̄, σ²/n), at n = 1000, d = 4, σ = 1."""
    n, rho = SETTING.n, integrated_rho(SETTING)
    even = optimize.brentq(lambda n_syn: float(rho_bayes_per_record(SETTING, n_syn)) - rho, 1.0, 1e12)
    printed, derived = rho_postprocessing_printed(SETTING), rho_postprocessing(SETTING)
    return [
        Row("rho", printed, derived, near(rho, 1e-6 * rho), "integral of p³ / q² over the draw"),
        Row(
            "number of records at which both routes cost the same", n**2 * (n + 1), n + 1, near(even, 1e-4 * even),
            "root in m n_syn, with the records composed as printed",
        ),
    ]  # fmt: skip


def integrated_rho(setting):
    """Rényi divergence between the draws of two neighbours divided by its order, by quadrature."""
    sd = math.sqrt(setting.variance / setting.n)
    base, other = stats.norm(0.0, sd), stats.norm(setting.mean_sensitivity, sd)
    centre = (1 - ORDER) * setting.mean_sensitivity
    mass = integrate.quad(
        lambda x: math.exp(ORDER * base.logpdf(x) + (1 - ORDER) * other.logpdf(x)), centre - 12 * sd, centre + 12 * sd,
        epsabs=0, epsrel=1e-12,
    )[0]  # fmt: skip
    return math.log(mass) / (ORDER - 1) / ORDER
