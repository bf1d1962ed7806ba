"""Tests of the study of neighbours under censoring, against a computation record by record with scipy's densities."""

import itertools

import numpy as np
import pandas as pd
import pytest
from oracles import BetaPosterior
from pydantic import ValidationError
from scipy.special import expit

from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import ScenarioKey
from formalsynth.core.words import GUARANTEES, METRICS
from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.jobs.inputs import ArmChoice, StudyJob
from formalsynth_workflow.papers.censor_audit import study_neighbours, words  # noqa: F401  (register the study and its words)
from formalsynth_workflow.papers.censor_audit.audit import beta_grid
from formalsynth_workflow.steps.study import run_study
from formalsynth_workflow.study import STUDIES

N = 6
GRID = beta_grid(0.2, 2.5, N, BetaFamily().priors)
ORACLE = BetaPosterior(GRID.phi, GRID.lambda_, GRID.log_prior)
WIDE = beta_grid(0.2, 2.5, N, BetaFamily().priors, reach=2.0)
WIDE_ORACLE = BetaPosterior(WIDE.phi, WIDE.lambda_, WIDE.log_prior)
EXTREMES = 3


KEY = ScenarioKey(paper="censor", paper_id=2, scenario=f"neighbours_n{N}", number=4, n=N, root=1)
SETTINGS = {"shape1": 0.5, "shape2": 2, "extremes": EXTREMES, "closest": 0.001}
"""So few records and neighbours that a test can compute what they show."""


def censored(id, arm):
    return [ArmChoice(id=f"{id}_{epsilon:g}", arm=arm, parameters={"epsilon": epsilon}) for epsilon in (1.6, 5)]


UNWEIGHTED = censored("audit_uw", "unweighted")
NEIGHBOURS = [
    *UNWEIGHTED,
    *censored("audit_fixed", "fixed_weights"),
    *censored("audit_w", "recomputed_weights"),
    *censored("audit_minmax", "recomputed_min_max_weights"),
    *censored("audit_printed", "recomputed_printed_weights"),
]
FLATTENING = [ArmChoice(id="audit_posterior", arm="posterior", parameters={}), *UNWEIGHTED]


def run(replicates, arms=NEIGHBOURS):
    job = StudyJob(
        key=KEY,
        modules=(),
        study="neighbours",
        settings=SETTINGS,
        arms=tuple(arms),
        data_folder="",
        files={},
        replicates=tuple(replicates),
    )
    return run_study(job).rows


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
        "uw": lambda y: np.ones(len(y)),
        "fixed": lambda y: np.append(weights_of(x), np.ones(len(y) - len(x))),
        "w": weights_of,
        "minmax": min_max,
        "printed": printed,
    }[kind]
    oracle = WIDE_ORACLE if kind == "printed" else ORACLE
    first, *others = (oracle.log_mass(y, weights(y), epsilon / 2) for y in data)
    return (
        max(np.abs(first - base).max() for base in others),
        max(np.abs(base - other).max() for base, other in itertools.combinations(others, 2)),
    )


@pytest.mark.parametrize("kind", ["uw", "fixed", "w", "minmax", "printed"])
def test_losses_are_those_of_a_direct_computation(kind):
    rows, x = run([0]), sample(0)
    for epsilon in (1.6, 5):
        row = rows.set_index("synthesizer").loc[f"audit_{kind}_{epsilon}"]
        assert (row["add_remove"], row["replace_one"]) == pytest.approx(expected(kind, epsilon, x), abs=1e-8)


def test_moments_are_those_of_a_direct_computation():
    rows, x = run([0], FLATTENING), sample(0)
    for id, threshold in (("audit_posterior", None), ("audit_uw_1.6", 0.8), ("audit_uw_5", 2.5)):
        mass = np.exp(ORACLE.log_mass(x, np.ones(len(x)), threshold))
        mean = mass @ ORACLE.phi
        row = rows.set_index("synthesizer").loc[id]
        assert (row["phi_mean"], row["phi_sd"]) == pytest.approx((mean, np.sqrt(mass @ (ORACLE.phi - mean) ** 2)))


def test_only_recomputed_weights_cost_more_than_their_kind_of_neighbour_allows():
    rows = run(range(3))
    epsilon = rows["synthesizer"].str.rpartition("_")[2].astype(float)
    kept = ~rows["synthesizer"].str.startswith(("audit_w_", "audit_minmax_", "audit_printed_"))
    assert (rows["add_remove"] <= epsilon)[kept].all()
    assert (rows["replace_one"] <= 2 * epsilon)[kept].all()
    assert (rows["add_remove"] > epsilon)[~kept].any()


def test_grouping_of_replicates_changes_no_number():
    together = run([0, 1])
    apart = pd.concat([run([k]) for k in range(2)], ignore_index=True)
    pd.testing.assert_frame_equal(together, apart)


def test_arms_say_what_they_are():
    arms = STUDIES["neighbours"].arms
    kinds = ["min_max_weights", "printed_weights"]
    assert list(arms) == [
        "unweighted",
        "fixed_weights",
        "recomputed_weights",
        *(f"recomputed_{kind}" for kind in kinds),
        "posterior",
    ]
    for name, arm in arms.items():
        assert arm.meaning.endswith(".")
        assert arm.guarantee in GUARANTEES
        assert list(arm.parameters.model_fields) == ([] if name == "posterior" else ["epsilon"])
    with pytest.raises(ValidationError):
        arms["unweighted"].parameters(epsilon=0)


def test_every_loss_has_words():
    losses = [column for column in run([0]) if column.startswith(("add_remove", "replace_one"))]
    assert len(losses) == 6
    assert set(losses) <= set(METRICS)


@pytest.mark.parametrize("changes", [{"shape1": 0}, {"closest": 1}, {"extremes": 1}, {"share": 0}, {"other": 1}])
def test_settings_that_make_no_sense_are_refused(changes):
    with pytest.raises(ValidationError):
        STUDIES["neighbours"].settings.model_validate(SETTINGS | changes)
