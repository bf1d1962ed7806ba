"""What the neighbours of a data set show of censoring, against the same computed record by record with scipy's densities."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from formalsynth.audit import beta_grid
from formalsynth.design import read_plan
from formalsynth.families import FAMILIES
from formalsynth.steps.study import run_study
from formalsynth.streams import Address
from oracles import BetaPosterior
from scipy.special import expit

CONFIG = Path(__file__).parents[2] / "config"
N = 6
GRID = beta_grid(0.2, 2.5, N, FAMILIES["beta"].priors)
ORACLE = BetaPosterior(GRID.phi, GRID.lambda_, GRID.log_prior)
EXTREMES = 3


@pytest.fixture(scope="module")
def plan():
    run = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"scale": "smoke", "papers": ["censor"]}
    return read_plan(run, CONFIG)


def small(plan, name):
    """A scenario of the paper with so few records and neighbours that a test can compute it."""
    (found,) = plan.papers["censor"].of(name)
    return replace(found, n=N, study=found.study | {"extremes": EXTREMES, "closest": 0.001})


@pytest.fixture(scope="module")
def scenario(plan):
    return small(plan, "neighbours")


def weights_of(x):
    """LW weights from the risks where the unweighted likelihood is highest and has 99.9 % of the mass."""
    log_mass = ORACLE.log_mass(x, np.ones(len(x)), None)
    order = np.argsort(log_mass - ORACLE.log_prior)[::-1]
    inside = order[: np.searchsorted(np.exp(log_mass[order]).cumsum(), 0.999) + 1]
    risk = np.array([np.abs(ORACLE.logpdf(one, inside)).max() for one in x])
    return 1 - (risk - risk.min()) / (risk.max() - risk.min())


def expected(kind, epsilon, x):
    """Largest log ratios for an added and for a replaced record."""
    data = [x, *(np.append(x, expit(t)) for t in np.linspace(-1, 1, EXTREMES) * np.log(999))]
    weights = {
        "uw": lambda y: np.ones(len(y)),
        "fixed": lambda y: np.append(weights_of(x), np.ones(len(y) - len(x))),
        "w": weights_of,
    }[kind]
    first, *others = (ORACLE.log_mass(y, weights(y), epsilon / 2) for y in data)
    return (
        max(np.abs(first - one).max() for one in others),
        max(np.abs(one - other).max() for one, other in itertools.combinations(others, 2)),
    )


@pytest.mark.parametrize("kind", ["uw", "fixed", "w"])
def test_losses_are_those_of_a_direct_computation(scenario, kind):
    rows, _ = run_study(scenario, 1, [0], "")
    x = Address.of(scenario, 1, 0).generator("data").beta(0.5, 2, N - 1)
    for epsilon in (1.6, 5):
        row = rows.set_index("synthesizer").loc[f"audit_{kind}_{epsilon}"]
        assert (row["add_remove"], row["replace_one"]) == pytest.approx(expected(kind, epsilon, x), abs=1e-8)


def test_moments_are_those_of_a_direct_computation(plan):
    rows, _ = run_study(small(plan, "flattening"), 1, [0], "")
    x = Address.of(small(plan, "flattening"), 1, 0).generator("data").beta(0.5, 2, N - 1)
    for id, threshold in (("audit_posterior", None), ("audit_uw_1.6", 0.8), ("audit_uw_5", 2.5)):
        mass = np.exp(ORACLE.log_mass(x, np.ones(len(x)), threshold))
        mean = mass @ ORACLE.phi
        row = rows.set_index("synthesizer").loc[id]
        assert (row["phi_mean"], row["phi_sd"]) == pytest.approx((mean, np.sqrt(mass @ (ORACLE.phi - mean) ** 2)))


def test_only_recomputed_weights_cost_more_than_their_kind_of_neighbour_allows(scenario):
    rows, _ = run_study(scenario, 1, range(3), "")
    epsilon = rows["synthesizer"].str.rpartition("_")[2].astype(float)
    kept = ~rows["synthesizer"].str.startswith("audit_w_")
    assert (rows["add_remove"] <= epsilon)[kept].all()
    assert (rows["replace_one"] <= 2 * epsilon)[kept].all()
    assert (rows["add_remove"] > epsilon)[~kept].any()


def test_grouping_of_replicates_changes_no_number(scenario):
    together, _ = run_study(scenario, 1, [0, 1], "")
    apart = pd.concat([run_study(scenario, 1, [k], "")[0] for k in range(2)], ignore_index=True)
    pd.testing.assert_frame_equal(together, apart)
