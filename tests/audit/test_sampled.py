"""Audits from a sampler's draws alone, held against the exact posteriors of the same family."""

import numpy as np
import pytest
from formalsynth.audit.audit import audit
from formalsynth.audit.replay import Replay
from formalsynth.audit.sampled import SampledPosteriors
from formalsynth.core.job import AuditSearch, SamplerSettings
from formalsynth.core.streams import Address
from formalsynth.steps.sampling import cmdstan_sampler
from small_audit import LW, PLAIN, N, linear

SAMPLER = SamplerSettings(warmup=500, draws=1000, ess_min=200)
SEARCH = AuditSearch(deltas=(0.01,), each=1, random=1, refined=1)
pytestmark = pytest.mark.stan


class Whole:
    """A family that gives its log-likelihood as a whole, as a Stan program of a user's own does, and counts how often."""

    def __init__(self, family):
        self._family, self.asked = family, 0

    def __getattr__(self, name):
        return getattr(self._family, name)

    def log_likelihood(self, records, draws):
        self.asked += 1
        left, right = self._family.factors(records, draws)
        return left @ right.T


def replays(program, whole=False, synthesizers=(PLAIN, LW), sampler=SAMPLER):
    """The same replicate with exact posteriors and with sampled ones."""
    exact = linear(synthesizers, draws=1000, outcomes=(0.5, 200.0))
    family = Whole(exact.family) if whole else exact.family
    posteriors = SampledPosteriors(family, exact.universe, exact.family.priors, cmdstan_sampler(family, program, sampler), 7)
    address = Address(1, 2, 3, N, 1)
    return exact, Replay(family, exact.family.priors, exact.universe, synthesizers, address, 1000, posteriors)


@pytest.mark.parametrize("whole", [False, True])
def test_the_losses_are_those_of_the_exact_posteriors_within_their_error(program, whole):
    exact, sampled = replays(program, whole, (PLAIN,))
    for index in (np.arange(1, N), np.append(np.arange(N), N)):
        ours, theirs = (each.losses([each.run(np.arange(N))["plain"]], [each.run(index)["plain"]]) for each in (sampled, exact))
        assert ours.note == ""
        # draws of a chain are worth less than independent ones, and the tail of the loss is estimated from a few of them
        assert ours.epsilon(0.01) == pytest.approx(theirs.epsilon(0.01), abs=6 * ours.error(0.01) + 0.1)


def test_an_audit_from_draws_finds_what_the_exact_one_finds(program):
    exact, sampled = replays(program)
    ours, theirs = (audit(each, N, ["plain", "lw"], SEARCH, 3) for each in (sampled, exact))
    largest = [
        {(row.synthesizer, row.neighbour): row for row in rows if row.worst and row.releases == 1} for rows in (ours, theirs)
    ]
    assert list(largest[0]) == list(largest[1])
    for (id, kind), one in largest[0].items():
        assert one.tried > 0
        if kind != "replace":  # of which the two may take other pairs
            # weights are maxima over draws, which differ
            assert one.audited == pytest.approx(largest[1][id, kind].audited, rel=0.5, abs=0.5)


def test_a_first_look_samples_nothing_where_the_draws_cover_the_neighbour(program, monkeypatch):
    import formalsynth.steps.sampling as module

    _, sampled = replays(program, synthesizers=(PLAIN,))
    base = sampled.run(np.arange(N), bounds=True)
    fits = []
    plain_sample = module.sample
    monkeypatch.setattr(module, "sample", lambda *given: fits.append(1) or plain_sample(*given))
    near = sampled.run(np.arange(1, N), near=base)
    looked = sampled.divergence(base["plain"], near["plain"])
    assert not fits
    full = sampled.run(np.arange(1, N))
    assert fits == [1]
    assert looked == pytest.approx(sampled.divergence(base["plain"], full["plain"]), abs=0.1)


def test_a_posterior_that_cannot_be_sampled_is_left_out_with_the_reason(program):
    _, sampled = replays(program, sampler=SAMPLER.model_copy(update={"rhat_max": 1.0000001, "attempts": 1, "ess_min": 10**6}))
    rows = audit(sampled, N, ["plain"], SEARCH, 3)
    assert [row.audited for row in rows] == [pytest.approx(float("nan"), nan_ok=True)]
    assert "could not be sampled (gate:" in rows[0].candidate


def test_mixtures_are_refused(program):
    _, sampled = replays(program, synthesizers=(PLAIN,))
    base = sampled.run(np.arange(N))["plain"]
    with pytest.raises(ValueError, match="exact"):
        sampled.losses([base, base], [base])
