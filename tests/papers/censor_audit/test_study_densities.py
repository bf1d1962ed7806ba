"""The exact densities of Figure 1, against scipy's densities summed record by record."""

import numpy as np
import pytest
from formalsynth.core.job import ArmChoice, ScenarioKey, StudyJob
from formalsynth.core.streams import Address
from formalsynth.families.beta import BetaFamily
from formalsynth.papers.censor_audit import study_densities  # noqa: F401  (registers the study)
from formalsynth.steps.study import run_study
from scipy.stats import beta

N = 150
KEY = ScenarioKey(paper="censor", paper_id=2, scenario=f"densities_n{N}", number=6, n=N, root=1)
ARMS = [
    ArmChoice(id="prior", arm="prior", parameters={}),
    ArmChoice(id="plain", arm="posterior", parameters={}),
    ArmChoice(id="censored", arm="censored", parameters={"epsilon": 1.6}),
]


@pytest.fixture(scope="module")
def outcome():
    job = StudyJob(
        key=KEY, modules=(), study="densities", settings={"shape1": 0.5, "shape2": 2}, arms=tuple(ARMS), data_folder="",
        files={}, replicates=(0,),
    )  # fmt: skip
    return run_study(job)


@pytest.mark.parametrize(("id", "threshold"), [("plain", np.inf), ("censored", 0.8)])
def test_a_density_is_that_of_a_direct_computation(outcome, id, threshold):
    curve = outcome.details[outcome.details["synthesizer"] == id]
    x = Address.of(KEY, 0).generator("data").beta(0.5, 2, N)
    log_precision = np.linspace(np.log(0.5), np.log(20), 3001)
    precision, prior = np.exp(log_precision), -BetaFamily().priors["lambda_shape"] * log_precision
    places = [60, 80, 100, 120, 140]
    points = curve["x"].to_numpy()[places]
    masses = []
    for phi in points:
        terms = beta.logpdf(x[:, None], precision * phi, precision * (1 - phi))
        masses.append(np.exp(np.clip(terms, -threshold, threshold).sum(axis=0) + prior - N).sum())
    direct = np.array(masses) / masses[2]
    ours = curve["density"].to_numpy()[places]
    np.testing.assert_allclose(ours / ours[2], direct, rtol=1e-3)


def test_densities_have_the_area_1_and_the_moments_of_the_rows(outcome):
    for row in outcome.rows.itertuples():
        curve = outcome.details[outcome.details["synthesizer"] == row.synthesizer]
        x, density = curve["x"].to_numpy(), curve["density"].to_numpy()
        mean = np.trapezoid(x * density, x)
        assert np.trapezoid(density, x) == pytest.approx(1)
        assert mean == pytest.approx(row.phi_mean, abs=1e-9)
        assert np.sqrt(np.trapezoid((x - mean) ** 2 * density, x)) == pytest.approx(row.phi_sd, rel=1e-4)
    x = Address.of(KEY, 0).generator("data").beta(0.5, 2, N)
    assert outcome.rows.set_index("synthesizer").loc["plain", "phi_mean"] == pytest.approx(x.mean(), abs=0.03)
    sds = outcome.rows.set_index("synthesizer")["phi_sd"]
    assert sds["plain"] < sds["censored"] < sds["prior"]
