"""E4, with E11 and E12: the records of a Bayesian synthetic data set share one draw of the mean."""

from dataclasses import replace

import numpy as np
from check import Interval, Row, near, numeric_check, simulated_mean

from formalsynth_workflow.papers.zcdp.accounting import Setting, rho_bayes_joint, rho_bayes_per_record
from formalsynth_workflow.papers.zcdp.combining import SYNTHESES, synthetic_records
from formalsynth_workflow.papers.zcdp.means import privacy_loss

SETTING, N_SYN, SETS = Setting(n=1000, d=4.0), 15_625, 5
"""Setting and number of records of the paper's Figure 1, and the number of data sets in its footnote 3."""
SMALL = 800
"""Number of records in the check that solves a linear system with the covariance matrix."""
REPEATS = 100


@numeric_check(
    "E4",
    also=("E11", "E12"),
    printed="rho = m n_syn (2d/n)² / (2 σ² (1 + 1/n)); records independent N(x̄, σ² (1 + 1/n))",
    derived="rho = m n_syn (2d/n)² / (2 σ² (1 + n_syn/n)); records with covariance σ²/n",
)
def cost_of_joint_records():
    """Rho of Bayesian synthesis at n = 1000, d = 4, σ = 1."""
    five = replace(SETTING, m=SETS)
    loss, means = simulated(SETTING, N_SYN)
    loss_of_five, _ = simulated(five, N_SYN // SETS)
    how = f"mean privacy loss of {REPEATS} simulated releases and their mirror images, record by record"
    variances = [SYNTHESES[name].between_variance(SETTING, N_SYN) for name in ("bayes_one_step", "bayes")]
    return [
        Row("rho for 800 records", *rhos(SETTING, SMALL), solved(SMALL), "from the covariance matrix"),
        Row("rho for a single set of 15,625 records", *rhos(SETTING, N_SYN), loss, how),
        Row("rho for the same records in five sets (E12)", *rhos(five, N_SYN // SETS), loss_of_five, how),
        Row("variance of the mean of one set (E11)", *variances, simulated_mean(np.square(means)), "the same simulation"),
    ]


def rhos(setting, n_syn):
    """Rho as printed and as derived."""
    return rho_bayes_per_record(setting, n_syn), rho_bayes_joint(setting, n_syn)


def solved(n_syn):
    """Half the squared distance of neighbouring means, in the metric of the records' joint covariance."""
    covariance = SETTING.variance * (np.eye(n_syn) + np.ones((n_syn, n_syn)) / SETTING.n)
    shift = np.full(n_syn, SETTING.mean_sensitivity)
    rho = 0.5 * float(shift @ np.linalg.solve(covariance, shift))
    return near(rho, 1e-9 * rho)


def simulated(setting, n_syn):
    """Mean privacy loss, and the means of the first data sets (R,)."""
    generator = np.random.default_rng([4, setting.m])
    losses, means = np.empty(REPEATS), np.empty(REPEATS)
    for k in range(REPEATS):
        records = synthetic_records(generator, setting, n_syn, "bayes", 0.0)
        # The loss is linear in the records, so its mean over a release and its mirror image has very little noise.
        losses[k] = np.mean([privacy_loss(x, setting, "bayes", 0.0, setting.mean_sensitivity) for x in (records, -records)])
        means[k] = records[0].mean()
    low, high = simulated_mean(losses)
    return Interval(low * (1 - 1e-9), high * (1 + 1e-9)), means
