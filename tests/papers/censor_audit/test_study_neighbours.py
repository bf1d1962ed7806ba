"""Tests of the study of neighbours under censoring, against a computation record by record with scipy's densities."""

import itertools

import numpy as np
import pytest
from oracles import BetaPosterior
from papers.studies import arms_of, key_of, run
from scipy.special import expit

from formalsynth.core.streams import Address
from formalsynth.core.words import METRICS
from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.papers.censor_audit.audit import beta_grid

KEY, EXTREMES = key_of("neighbours"), 3
N = KEY.n
GRID = beta_grid(0.2, 2.5, N, BetaFamily().priors)
ORACLE = BetaPosterior(GRID.phi, GRID.lambda_, GRID.log_prior)
WIDE = beta_grid(0.2, 2.5, N, BetaFamily().priors, reach=2.0)
WIDE_ORACLE = BetaPosterior(WIDE.phi, WIDE.lambda_, WIDE.log_prior)
UNWEIGHTED = "unweighted"
CENSORED = [arm for arm in arms_of("neighbours") if arm.arm != "posterior"]


def sample(replicate):
    return Address.of(KEY, replicate).generator("data").beta(0.5, 2, N - 1)


def risks_of(x, weights):
    """Risks where the weighted likelihood is highest and has 99.9 % of the mass."""
    log_mass = ORACLE.log_mass(x, weights, None)
    order = np.argsort(log_mass - ORACLE.log_prior)[::-1]
    inside = order[: np.searchsorted(np.exp(log_mass[order]).cumsum(), 0.999) + 1]
    return np.array([np.abs(ORACLE.logpdf(base, inside)).max() for base in x])


def min_max(x):
    """LW weights from the risks under the unweighted posterior."""
    risk = risks_of(x, np.ones(len(x)))
    return 1 - (risk - risk.min()) / (risk.max() - risk.min())


def weights_of(x):
    """LW weights moved toward the largest bound under their own posterior."""
    alpha = min_max(x)
    risk = risks_of(x, alpha)
    return np.minimum(1, 0.95 * (alpha * risk).max() / risk)


def printed(x):
    """Weights in proportion to 1 / risk, the largest of them 1 (censor paper, Section 2.1)."""
    risk = risks_of(x, np.ones(len(x)))
    return min(risk) / risk


def expected(kind, epsilon, x):
    """Largest log ratios for an added and for a replaced record."""
    data = [x, *(np.append(x, expit(t)) for t in np.linspace(-1, 1, EXTREMES) * np.log(999))]
    weights = {
        UNWEIGHTED: lambda y: np.ones(len(y)),
        "fixed_weights": lambda y: np.append(weights_of(x), np.ones(len(y) - len(x))),
        "recomputed_weights": weights_of,
        "recomputed_min_max_weights": min_max,
        "recomputed_printed_weights": printed,
    }[kind]
    oracle = WIDE_ORACLE if kind == "recomputed_printed_weights" else ORACLE
    first, *others = (oracle.log_mass(y, weights(y), epsilon / 2) for y in data)
    return (
        max(np.abs(first - base).max() for base in others),
        max(np.abs(base - other).max() for base, other in itertools.combinations(others, 2)),
    )


@pytest.mark.parametrize("kind", dict.fromkeys(arm.arm for arm in CENSORED))
def test_losses_are_those_of_a_direct_computation(kind):
    rows, x = run("neighbours", arms=CENSORED).rows, sample(0)
    for epsilon in (1.6, 5):
        row = rows.set_index("synthesizer").loc[f"{kind}_{epsilon}"]
        assert (row["add_remove"], row["replace_one"]) == pytest.approx(expected(kind, epsilon, x), abs=1e-8)


def test_moments_are_those_of_a_direct_computation():
    rows, x = run("neighbours").rows, sample(0)
    for id, threshold in (("posterior", None), ("unweighted_1.6", 0.8), ("unweighted_5", 2.5)):
        mass = np.exp(ORACLE.log_mass(x, np.ones(len(x)), threshold))
        mean = mass @ ORACLE.phi
        row = rows.set_index("synthesizer").loc[id]
        assert (row["phi_mean"], row["phi_sd"]) == pytest.approx((mean, np.sqrt(mass @ (ORACLE.phi - mean) ** 2)))


def test_only_recomputed_weights_cost_more_than_their_kind_of_neighbour_allows():
    rows = run("neighbours", range(3), CENSORED).rows
    epsilon = rows["synthesizer"].str.rpartition("_")[2].astype(float)
    kept = ~rows["synthesizer"].str.startswith("recomputed_")
    assert (rows["add_remove"] <= epsilon)[kept].all()
    assert (rows["replace_one"] <= 2 * epsilon)[kept].all()
    assert (rows["add_remove"] > epsilon)[~kept].any()


def test_every_loss_has_words():
    losses = [column for column in run("neighbours", arms=CENSORED).rows if column.startswith(("add_remove", "replace_one"))]
    assert len(losses) == 6
    assert set(losses) <= set(METRICS)
