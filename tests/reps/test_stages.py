"""Contracts of scorers and learners, tried on all that are registered."""

import numpy as np
import pytest
from scipy.stats import norm

from formalsynth.core.gaussian import gaussian_delta
from formalsynth.reps.domain import MixedRecords
from formalsynth.reps.stages import LEARNERS, SCORERS, Budget, GaussianCost, score, sigma_of

from .small_records import DOMAIN, small_records

SCORERS.find()
LEARNERS.find()
BUDGET, NO_NOISE = Budget(1.0, 1e-3), Budget(np.inf, 0.0)


@pytest.mark.parametrize("name", list(SCORERS))
def test_a_record_moves_each_round_of_a_scorer_by_at_most_its_parts(name, generator):
    """Enumeration of all records of small data sets, given the same tables of the round before."""
    scorer = SCORERS[name]()
    allowed = np.sqrt(scorer.parts(DOMAIN) / scorer.rounds)
    for _ in range(5):
        records, before = small_records(generator, 40), None
        for _ in range(scorer.rounds):
            whole = scorer.statistic(DOMAIN, records, before)
            for i in range(40):
                less = scorer.statistic(DOMAIN, records.take(np.delete(np.arange(40), i)), before)
                assert np.linalg.norm(whole - less) <= allowed * (1 + 1e-9)
            before = scorer.tables(DOMAIN, whole + generator.standard_normal(whole.shape), before)


@pytest.mark.parametrize("name", list(SCORERS))
def test_a_score_depends_on_the_tables_and_on_its_own_record(name, generator):
    records = small_records(generator)
    scored = score(SCORERS[name](), DOMAIN, records, BUDGET, generator)
    scores = scored.tables.score(records)
    assert scores.shape == (60,) and (scores >= 0).all() and np.isfinite(scores).all()
    assert np.array_equal(scored.tables.score(records.take(np.array([7]))), scores[[7]])
    drawn = scored.tables.draw_scores(generator, 500)
    assert drawn.shape == (500,) and (drawn >= 0).all() and np.isfinite(drawn).all()


@pytest.mark.parametrize("composition", ["joint", "classical", "per_part", "renyi"])
@pytest.mark.parametrize("parts", [1, 9, 36])
def test_noise_of_each_composition_meets_its_budget(composition, parts):
    for epsilon in (0.1, 0.8, 4.0):
        sigma = sigma_of(parts, Budget(epsilon, 1e-4), composition)
        assert gaussian_delta(sigma, np.sqrt(parts), epsilon) <= 1e-4
        assert sigma >= sigma_of(parts, Budget(epsilon, 1e-4)) * (1 - 1e-9)
        assert GaussianCost(np.sqrt(parts) / sigma).epsilon(1e-4) <= epsilon


def test_renyi_composition_is_the_printed_conversion():
    sigma = sigma_of(5, Budget(2.0, 1e-5), "renyi")
    rho = 5 / (2 * sigma**2)
    assert rho + 2 * np.sqrt(rho * np.log(1e5)) == pytest.approx(2.0)


def test_a_cost_adds_squares_of_weighted_sensitivities():
    cost = GaussianCost(2.0)
    assert cost.epsilon(1e-5, 0.3, before=0.8) == pytest.approx(GaussianCost(1.0).epsilon(1e-5))
    assert cost.epsilon(1e-5, 0.0) == 0 and GaussianCost(np.inf).epsilon(1e-5) == np.inf


@pytest.mark.parametrize("name", list(LEARNERS))
def test_contract_of_learners(name, generator):
    """Equal seeds give equal models, samples are in the domain, densities are finite, and epsilon increases with the weight."""
    learner, records = LEARNERS[name](), small_records(generator)
    influence = learner.influence(DOMAIN, records)
    assert ((influence >= 0) & (influence <= 1 + 1e-9)).all()
    models = [learner.fit(DOMAIN, records, np.ones(60), BUDGET, np.random.default_rng(4)) for _ in range(2)]
    drawn, again = (learned.model.sample(np.random.default_rng(5), 200) for learned in models)
    assert np.array_equal(drawn.z, again.z) and np.array_equal(drawn.label, again.label)
    assert np.abs(drawn.z).max() <= DOMAIN.clip and (drawn.categories < DOMAIN.levels).all() and set(drawn.label) <= {0, 1}
    assert np.isfinite(models[0].model.log_density(records)).all()
    epsilons = [models[0].cost.epsilon(1e-3, weight) for weight in (0.25, 0.5, 1.0)]
    assert (np.diff(epsilons) > 0).all() and epsilons[-1] <= BUDGET.epsilon * (1 + 1e-3)


def test_log_density_of_naive_bayes_is_that_of_its_samples(generator):
    records = small_records(generator)
    model = LEARNERS["naive_bayes"]().fit(DOMAIN, records, np.ones(60), NO_NOISE, generator).model
    expected = np.log(np.where(records.label == 1, model.prior, 1 - model.prior))
    for j in range(2):
        mean, sd = model.mean[records.label, j], model.sd[records.label, j]
        ends = np.where(records.z[:, j] > 0, norm.logsf(4, mean, sd), norm.logcdf(-4, mean, sd))
        expected = expected + np.where(np.abs(records.z[:, j]) >= 4, ends, norm.logpdf(records.z[:, j], mean, sd))
        expected = expected + np.log(model.probabilities[j][records.label, records.categories[:, j]])
    assert model.log_density(records) == pytest.approx(expected)


def test_norms_that_bind_shorten_numbers_and_nothing_else(generator):
    records = small_records(generator)
    bound, free = (LEARNERS["naive_bayes"](norm_share=share) for share in (0.4, 1.0))
    assert (bound.influence(DOMAIN, records) >= free.influence(DOMAIN, records)).all()
    models = [learner.fit(DOMAIN, records, np.ones(60), NO_NOISE, generator).model for learner in (bound, free)]
    assert (models[0].sd < models[1].sd).all()
    assert np.array_equal(models[0].probabilities[0], models[1].probabilities[0])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_an_extreme_number_changes_its_own_contribution_only(value, generator):
    """Without noise, all statistics stay finite, and one record moves them by at most the parts of the scorer."""
    records = small_records(generator)
    extreme = MixedRecords(np.where(np.arange(60)[:, None] == 7, value, records.z), records.categories, records.label)
    for name in ("one_way", "pairwise"):
        statistics = [SCORERS[name]().statistic(DOMAIN, part, None) for part in (records, extreme)]
        assert np.linalg.norm(statistics[0] - statistics[1]) <= np.sqrt(2 * SCORERS[name]().parts(DOMAIN))
    for name in LEARNERS:
        model = LEARNERS[name]().fit(DOMAIN, extreme, np.ones(60), NO_NOISE, np.random.default_rng(1)).model
        assert np.isfinite(model.log_density(records)).all()
