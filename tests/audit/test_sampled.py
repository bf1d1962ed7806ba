"""Tests of audits from a sampler's draws against the exact posteriors of the same family."""

import numpy as np
import pytest
from small_audit import LW, PLAIN, N, linear

from formalsynth.audit.audit import audit
from formalsynth.audit.replay import Replay
from formalsynth.audit.sampled import SampledPosteriors
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import AuditSearch, SamplerSettings
from formalsynth_workflow.steps.sampling import cmdstan_sampler

SAMPLER = SamplerSettings(warmup=500, draws=1000, ess_min=200)
SEARCH = AuditSearch(deltas=(0.01,), each=1, random=1, refined=1)
pytestmark = pytest.mark.stan


class Complete:
    """A family with a complete log-likelihood, as from a user's Stan program, that counts its evaluations."""

    def __init__(self, family):
        self._family, self.evaluations = family, 0

    def __getattr__(self, name):
        return getattr(self._family, name)

    def log_likelihood(self, records, draws):
        self.evaluations += 1
        left, right = self._family.factors(records, draws)
        return left @ right.T


def replays(program, complete=False, synthesizers=(PLAIN, LW), sampler=SAMPLER):
    """The same replicate with exact and with sampled posteriors."""
    exact = linear(synthesizers, draws=1000, outcomes=(0.5, 200.0))
    family = Complete(exact.family) if complete else exact.family
    posteriors = SampledPosteriors(family, exact.universe, exact.family.priors, cmdstan_sampler(family, program, sampler), 7)
    address = Address(1, 2, 3, N, 1)
    return exact, Replay(family, exact.family.priors, exact.universe, synthesizers, address, 1000, posteriors)


@pytest.mark.parametrize("complete", [False, True])
def test_the_losses_are_those_of_the_exact_posteriors_within_their_error(program, complete):
    exact, sampled = replays(program, complete, (PLAIN,))
    for index in (np.arange(1, N), np.append(np.arange(N), N)):
        ours, theirs = (
            replay.losses(*([replay.outcomes_on(some)["plain"]] for some in (np.arange(N), index))) for replay in (sampled, exact)
        )
        assert ours.note == ""
        # the draws of a chain are correlated, and the tail of the loss depends on few draws
        assert ours.epsilon(0.01) == pytest.approx(theirs.epsilon(0.01), abs=6 * ours.error(0.01) + 0.1)


def test_an_audit_from_draws_agrees_with_the_exact_audit(program):
    exact, sampled = replays(program)
    ours, theirs = (audit(replay, N, ["plain", "lw"], SEARCH, 3) for replay in (sampled, exact))
    largest = [
        {(row.synthesizer, row.neighbour): row for row in rows if row.worst and row.releases == 1} for rows in (ours, theirs)
    ]
    assert list(largest[0]) == list(largest[1])
    for (id, kind), worst in largest[0].items():
        if kind != "replace":  # the two audits may try different pairs
            # weights are maxima over draws, which differ between the two audits
            assert worst.audited == pytest.approx(largest[1][id, kind].audited, rel=0.5, abs=0.5)


def test_ranking_does_not_sample_a_neighbour_that_the_draws_cover(program, monkeypatch):
    import formalsynth_workflow.steps.sampling as module

    _, sampled = replays(program, synthesizers=(PLAIN,))
    base = sampled.outcomes_on(np.arange(N), bounds=True)
    fits = []
    plain_sample = module.sample
    monkeypatch.setattr(module, "sample", lambda *given: fits.append(1) or plain_sample(*given))
    near = sampled.outcomes_on(np.arange(1, N), near=base)
    divergence = sampled.divergence(base["plain"], near["plain"])
    assert not fits
    full = sampled.outcomes_on(np.arange(1, N))
    assert fits == [1]
    assert divergence == pytest.approx(sampled.divergence(base["plain"], full["plain"]), abs=0.1)


def test_a_posterior_that_cannot_be_sampled_is_left_out_with_the_reason(program):
    _, sampled = replays(program, sampler=SAMPLER.model_copy(update={"rhat_max": 1.0000001, "attempts": 1, "ess_min": 10**6}))
    rows = audit(sampled, N, ["plain"], SEARCH, 3)
    assert [row.audited for row in rows] == [pytest.approx(float("nan"), nan_ok=True)]
    assert "could not be sampled (gate:" in rows[0].candidate


def test_mixtures_are_refused(program):
    _, sampled = replays(program, synthesizers=(PLAIN,))
    base = sampled.outcomes_on(np.arange(N))["plain"]
    with pytest.raises(ValueError, match="exact"):
        sampled.losses([base, base], [base])
