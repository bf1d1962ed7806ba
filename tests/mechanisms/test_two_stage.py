"""Centred clipping around a reference from a private first stage."""

import numpy as np
import pytest
from small_audit import TWO_STAGE, N, shares

from formalsynth.audit.audit import audit
from formalsynth.audit.losses import loss_of_counts
from formalsynth.contract.noise import noise_replaced
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, FitCache
from formalsynth.core.private import DiscreteLaplaceCounts
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import AuditSearch

GIVEN = {"epsilon": 2.0, "share": 0.6, "low": 0.0, "high": 1.0, "bins": 10}


def form(records, family="beta", cache=None, replicate=0, **given):
    context = Context(FAMILIES[family], records, Address(1, 1, 1, 1, replicate), cache=cache or FitCache())
    return MECHANISMS["censored_two_stage"].apply(context, GIVEN | given)


def sample(n=2000, seed=1):
    return intercept_only(np.random.default_rng(seed).beta(0.5, 3, n))


def test_the_parts_of_epsilon_are_those_of_noise_and_threshold():
    """A share of 0.6 of epsilon 2 is 1.2 for the table, and 0.8 is left: a threshold of 0.4."""
    made = form(sample())
    assert made.counts.scale == pytest.approx(1 / 1.2)
    assert made.sensitive.threshold == pytest.approx(0.4)
    assert set(made.weights) == {2 / 3}
    assert made.counts.counts.sum() == 2000


def test_several_tables_share_the_epsilon_of_the_first_stage():
    """Two predictors have two tables and one of the pair: a scale of 3 / 1.2."""
    generator = np.random.default_rng(1)
    design = np.column_stack([np.ones(200), generator.normal(size=(200, 2))])
    made = form(Records(generator.beta(0.5, 3, 200), design), "normal", x_low=-2.0, x_high=2.0, x_bins=3)
    assert made.counts.scale == pytest.approx(3 / 1.2)
    assert made.counts.counts.sum() == 600


def test_the_reference_is_near_the_population():
    """Beta(0.5, 3) has the mean 1 / 7 and the precision 3.5; the error of the mean is 0.004, of the precision 0.2 at n = 2000."""
    reference = form(sample()).sensitive.reference.draws
    assert reference["phi"][0] == pytest.approx(1 / 7, abs=0.03)
    assert reference["lambda"][0] == pytest.approx(3.5, abs=1.2)


def test_the_reference_follows_the_noisy_counts_and_nothing_else():
    noisy = np.array([700.0, 300, 250, 200, 150, 120, 100, 80, 60, 40])
    with noise_replaced(noisy):
        ours, theirs = form(sample()), form(sample(30, seed=2))
    other = form(sample(), replicate=1)
    assert ours.sensitive.reference == theirs.sensitive.reference
    assert other.sensitive.reference not in (ours.sensitive.reference, form(sample()).sensitive.reference)


def test_published_counts_are_used_again():
    noisy = np.array([700.0, 300, 250, 200, 150, 120, 100, 80, 60, 40])
    given = form(sample(), cache=FitCache(noisy=noisy))
    with noise_replaced(noisy):
        assert given.sensitive.reference == form(sample(30)).sensitive.reference
    cache = FitCache()
    first = form(sample(), cache=cache)
    assert len(cache.noisy) == 10
    assert form(sample(), cache=cache, replicate=1).sensitive.reference == first.sensitive.reference


@pytest.mark.parametrize("noisy", [np.zeros(10), -np.arange(10.0), np.full(10, 1e9), np.eye(10)[0] * 1e6])
def test_odd_noisy_counts_give_a_reference_with_a_density(noisy):
    with noise_replaced(noisy):
        made = form(intercept_only(np.array([0.2, 0.7])))
    assert all(np.isfinite(values).all() for values in made.sensitive.reference.draws.values())
    assert made.affected == 0


def test_the_loss_of_the_first_stage_is_that_of_its_counts():
    ours, theirs = (DiscreteLaplaceCounts(np.array(counts), 2.0) for counts in ([3.0, 1, 4], [2.0, 2, 4]))
    assert loss_of_counts(ours, theirs).epsilon(0) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="changes a count by 2"):
        loss_of_counts(ours, DiscreteLaplaceCounts(np.array([1.0, 1, 4]), 2.0))


def test_an_audit_adds_the_losses_of_both_stages_given_the_published_counts():
    """A changed cell costs 0.6, and clipping at most 0.4; a replaced record may be in the cell of the one before."""
    replay = shares((TWO_STAGE,))
    rows = audit(replay, N, ["two_stage"], AuditSearch(deltas=(1e-3, 0.0), refined=1), 1)
    pure = {row.neighbour: row for row in rows if row.worst and row.delta == 0}
    for kind, first, claim in (("remove", 0.6, 1.0), ("add", 0.6, 1.0), ("replace", 0.0, 2.0)):
        assert pure[kind].claimed == claim
        assert first + 0.1 < pure[kind].audited <= claim + 1e-9
        # a loss of the first stage has a probability far above delta
        near = next(row for row in rows if row.worst and row.neighbour == kind and row.delta == 1e-3 and row.releases == 1)
        assert first - 0.05 < near.audited <= pure[kind].audited
    assert all(row.audited == 0 for row in rows if row.neighbour == "same")
