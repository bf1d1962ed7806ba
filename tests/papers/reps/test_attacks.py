import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from formalsynth_workflow.papers.reps.attacks import (
    DECILES,
    Targets,
    advantage_limit,
    attack_scores,
    attack_table,
    bootstrap_comparisons,
    deciles_of,
    mean_distance,
    prepare_targets,
    resampled_counts,
    summarise,
    weighted_auc,
)

K = 5


def auc_error(members: int, others: int) -> float:
    """Standard deviation of an AUC whose members and non-members are exchangeable."""
    return np.sqrt((members + others + 1) / (12 * members * others))


def population(generator, n):
    """A skewed cloud with a few far records, so that outlier deciles differ."""
    return generator.normal(size=(n, 4)) * np.exp(generator.normal(size=(n, 1)) / 2)


@pytest.fixture
def targets(generator) -> Targets:
    return prepare_targets(population(generator, 1200), population(generator, 600), np.arange(1800), K, generator)


def test_mean_distance_by_brute_force(generator):
    queries, pool = generator.normal(size=(30, 3)), generator.normal(size=(50, 3))
    distances = np.linalg.norm(queries[:, None] - pool, axis=2)
    assert mean_distance(queries, pool, K) == pytest.approx(np.sort(distances, axis=1)[:, :K].mean(axis=1))
    out = generator.integers(50, size=30)
    out[:10] = distances[:10].argmin(axis=1)
    distances[np.arange(30), out] = np.inf
    assert mean_distance(queries, pool, K, out) == pytest.approx(np.sort(distances, axis=1)[:, :K].mean(axis=1))


def test_mean_distance_leaves_a_record_itself_out(generator):
    pool = np.repeat(generator.normal(size=(20, 3)), 2, axis=0)  # every record has a twin
    result = mean_distance(pool, pool, 1, np.arange(40))
    assert result == pytest.approx(np.zeros(40), abs=1e-6)
    assert (mean_distance(pool, pool, 2, np.arange(40)) > 1e-3).all()


def test_deciles_are_tenths_by_rank(generator):
    values = generator.normal(size=1000)
    result = deciles_of(values)
    assert np.bincount(result).tolist() == [0] + [100] * 10
    assert values[result == 10].min() > values[result == 9].max()


def test_exchangeable_members_cannot_be_distinguished(targets, generator):
    """Synthetic records that know nothing of membership: every fair attack is a coin, overall and in the top decile."""
    scores = attack_scores(targets, population(generator, 1000), K)
    top = targets.decile == DECILES
    for attack in ("distance", "domias"):
        for chosen in (np.ones(1800, dtype=bool), top):
            member = targets.member[chosen]
            auc = roc_auc_score(member, scores[attack][chosen])
            assert abs(auc - 0.5) < 4.5 * auc_error(member.sum(), (~member).sum())


def test_the_reference_as_printed_tells_members_without_any_synthetic_data(targets, generator):
    """A non-member that meets itself in the reference is recognised although the release knows nothing of membership."""
    scores = attack_scores(targets, population(generator, 1000), K)
    error = auc_error(1200, 600)
    assert roc_auc_score(targets.member, scores["domias_printed"]) > 0.5 + 10 * error


def test_a_copying_synthesizer_is_caught(targets, generator):
    copy = targets.features[targets.member] + 1e-3 * generator.normal(size=(1200, 4))
    scores = attack_scores(targets, copy, 1)
    assert roc_auc_score(targets.member, scores["distance"]) > 0.99
    assert roc_auc_score(targets.member, scores["domias"]) > 0.99
    comparisons = bootstrap_comparisons(targets, 100, generator)
    result = summarise(attack_table(targets, comparisons, attack_scores(targets, copy, K), 0.95))
    assert result["domias_all_auc_low"] > 0.6 and result["domias_top_advantage"] > 0.3


def test_weighted_auc_agrees_with_scikit_learn(generator):
    scores = np.round(generator.normal(size=300), 1)  # with ties
    member = generator.random(300) < 0.4
    weights = generator.random((300, 20)) * generator.integers(2, size=(300, 20))
    result = weighted_auc(scores, member, weights)
    assert result == pytest.approx([roc_auc_score(member, scores, sample_weight=weight) for weight in weights.T])


def test_weighted_auc_without_a_class_is_nan():
    for member in (np.ones(3, dtype=bool), np.zeros(3, dtype=bool)):
        assert np.isnan(weighted_auc(np.arange(3.0), member, np.ones((3, 1)))[0])


def test_sampled_queries_stand_for_all(generator):
    train, test = population(generator, 4000), population(generator, 2000)
    full = prepare_targets(train, test, np.arange(6000), K, np.random.default_rng(1))
    part = prepare_targets(train, test, np.arange(6000), K, np.random.default_rng(1), queries=60)
    counts = pd.DataFrame({"decile": part.decile, "member": part.member, "weight": part.weight}).groupby(["decile", "member"])
    assert (counts.size() == 60).all()
    everyone = pd.DataFrame({"decile": full.decile, "member": full.member}).groupby(["decile", "member"]).size()
    assert np.allclose(counts["weight"].sum(), everyone)
    assert (full.weight == 1).all() and np.array_equal(full.train_decile, part.train_decile)
    # A synthesizer that leaks: estimates from the sample and from all records agree within the error of the sample.
    leaky = np.concatenate([train[:1000], population(generator, 2000)])
    aucs = [weighted_auc(attack_scores(t, leaky, K)["distance"], t.member, t.weight[:, None])[0] for t in (full, part)]
    assert abs(aucs[0] - aucs[1]) < 5 * auc_error(600, 600)


def of_scores(member: np.ndarray, decile: np.ndarray) -> Targets:
    empty = np.zeros(len(member))
    return Targets(empty[:, None], np.arange(len(member)), member, decile, np.ones(len(member)), empty, empty, empty, decile)


def test_bootstrap_keeps_every_stratum_at_its_size(targets, generator):
    counts = resampled_counts(targets, 50, generator)
    for decile in range(1, DECILES + 1):
        for member in (False, True):
            stratum = (targets.decile == decile) & (targets.member == member)
            assert (counts[:, stratum].sum(axis=1) == stratum.sum()).all()


def test_bootstrap_intervals_cover_the_true_auc():
    generator = np.random.default_rng(3)
    runs, size, shift = 300, 100, 0.5
    truth = norm.cdf(shift / np.sqrt(2))
    covered = 0
    for _ in range(runs):
        member = np.arange(2 * size) < size
        scores = generator.normal(size=2 * size) + shift * member
        attacked = of_scores(member, np.ones(2 * size, dtype=int))
        table = attack_table(attacked, bootstrap_comparisons(attacked, 200, generator), {"a": scores}, 0.95)
        covered += table.auc_low[0] <= truth <= table.auc_high[0]
    # Nominal 0.95, a little less for 100 of each and 200 resamples; four binomial standard deviations.
    assert abs(covered / runs - 0.94) < 4 * np.sqrt(0.94 * 0.06 / runs)


def test_table_has_every_decile_and_absolute_advantages(targets, generator):
    comparisons = bootstrap_comparisons(targets, 100, generator)
    table = attack_table(targets, comparisons, attack_scores(targets, population(generator, 500), K), 0.95)
    assert table.groupby("attack").decile.apply(list).map(lambda d: d == list(range(11))).all()
    assert np.allclose(table.advantage, np.abs(2 * table.auc - 1))
    assert ((table.auc_low <= table.auc) & (table.auc <= table.auc_high)).all()
    whole = table[table.decile == 0]
    assert (whole.members == 1200).all() and (whole.non_members == 600).all()


def test_summary_is_read_off_the_table():
    advantages = [0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.3, 0.4, 0.4, 0.5]
    table = pd.DataFrame({"attack": "a", "decile": range(11), "advantage": advantages})
    table = table.assign(auc=0.5, auc_low=0.4, auc_high=0.6)
    assert summarise(table)["a_top_median"] == pytest.approx(0.5 / 0.3)
    assert summarise(table)["a_all_advantage"] == 0


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
def test_no_attack_on_a_pure_mechanism_beats_the_limit(epsilon):
    """One randomised bit for each record tells whether it is in: the most that eps-DP add/remove allows for a record."""
    p = np.exp(epsilon) / (1 + np.exp(epsilon))
    auc = p * p + p * (1 - p)
    assert 2 * auc - 1 <= advantage_limit(epsilon, 0.0) < 1


def test_printed_advantages_beat_the_limit():
    """Top-decile values of DP Uniform (no scoring) at eps 0.5, as printed for the four data sets."""
    for printed, n in ((0.667, 2800), (0.572, 319), (0.683, 27_351), (0.924, 560)):
        assert printed > advantage_limit(0.5, 1 / n)
