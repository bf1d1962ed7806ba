"""Attacks that know the class of the generator."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from formalsynth.reps.attacks import class_densities, normal_ratios, shadow_ratios
from formalsynth.reps.stages import LEARNERS, Budget

from .small_records import DOMAIN, small_records

LEARNERS.find()


def auc(scores, members):
    """Probability that a member, one of the first records, scores above another record."""
    ranks = rankdata(scores)[:members].sum()
    return (ranks - members * (members + 1) / 2) / (members * (len(scores) - members))


def test_normal_ratios_are_those_of_densities(generator):
    inside = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1], [1, 0, 1]], dtype=bool)
    scores, observed = generator.normal(size=inside.shape), generator.normal(size=3)
    result = normal_ratios(observed, scores, inside)
    for j in range(2):
        ours, theirs = (scores[side, j] for side in (inside[:, j], ~inside[:, j]))
        sd = np.sqrt((((ours - ours.mean()) ** 2).sum() + ((theirs - theirs.mean()) ** 2).sum()) / 3)
        assert result[j] == pytest.approx(norm.logpdf(observed[j], ours.mean(), sd) - norm.logpdf(observed[j], theirs.mean(), sd))
    assert result[2] == 0  # it was never outside


@pytest.mark.parametrize("name", ["naive_bayes", "graphical"])
def test_attacks_find_members_without_noise_and_nothing_in_a_release_of_other_records(name, generator):
    learner, pool = LEARNERS[name](), small_records(generator, 60)
    members, reference = pool.take(np.arange(30)), small_records(generator, 200)

    def release(records, source, epsilon=np.inf):
        learned = learner.fit(DOMAIN, records, np.ones(len(records)), Budget(epsilon, 1e-3), source)
        return learned.model.sample(source, 400)

    def score(synthetic):
        return class_densities(learner, DOMAIN, synthetic, pool, generator)

    known = score(reference)
    for records, informative in ((members, True), (small_records(generator, 30), False)):
        synthetic = release(records, generator)
        by_class = auc(score(synthetic) - known, 30)
        by_shadows = auc(shadow_ratios(release, score, synthetic, pool, 30, 40, generator), 30)
        if informative:
            assert by_class > 0.6 and by_shadows > 0.7
        else:
            assert abs(by_class - 0.5) < 0.2 and abs(by_shadows - 0.5) < 0.2
