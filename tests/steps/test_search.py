"""The search over refits, from job to fit, with fits whose epsilon is known exactly."""

import numpy as np
import pytest
from small_study import fit_one

from formalsynth import posteriors
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.mechanism import MECHANISMS, Form, mechanism
from formalsynth.core.synthesizer import Search
from formalsynth.stan.fit import Fit
from formalsynth_workflow.steps.fits import Fitted

RECORDS = intercept_only(np.array([-3.0, 0.5, 2.0]))
DRAWS = {"beta": np.zeros((1, 1)), "sigma": np.ones(1)}
RISK = np.log(np.sqrt(2 * np.pi)) + RECORDS.x**2 / 2
# one that has half the log-likelihood
PARENT = Fitted("ok", draws=DRAWS, by_record=0.5 * RISK, sensitive=np.full(3, 0.5), weights=np.full(3, 0.5))


@pytest.fixture
def sampled(monkeypatch):
    """In place of CmdStan: draws that do not depend on the weights; the list has the seed and the summed weights of each fit."""
    fits = []

    def sample(executable, data, inits, parameters, seed, settings):
        fits.append((seed, data["weight_total"]))
        return Fit("ok", draws=DRAWS, seed=seed, attempts=1)

    monkeypatch.setattr(posteriors, "sample", sample)
    with MECHANISMS.trial():

        @mechanism("none")
        def flat(context, *, c: float) -> Form:
            weights = np.full(len(context.records), c)
            return Form(weights, Sensitive(weights))

        yield fits


def epsilon(c):
    """The budget of a fit in which every weight is c."""
    return 2 * c * RISK.max()


def searched(**search):
    """The result of one replicate after a search."""
    return fit_one("flat", RECORDS, {"half": PARENT}, search=Search(**{"parameter": "c", "target": 3.0} | search))


def test_bisection_reaches_the_target(sampled):
    fit = searched()
    assert fit.ok
    assert epsilon(fit.searched) == pytest.approx(3.0, rel=0.01)
    assert 1 < fit.search_steps <= 12
    assert sampled[-1][1] == 3 * fit.searched


def test_every_refit_has_the_same_seed(sampled):
    fit = searched()
    assert len(sampled) == fit.search_steps
    assert {seed for seed, _ in sampled} == {fit.diagnostics["seed"]}


def test_upper_end_is_taken_when_it_is_below_the_target(sampled):
    fit = searched(target=1000.0)
    assert (fit.ok, fit.searched, fit.search_steps) == (True, 1.0, 1)


def test_a_target_out_of_reach_is_a_failure_with_its_reason(sampled):
    fit = searched(steps=2, tolerance=1e-6)
    assert fit.status == "failed"
    assert not fit.draws
    assert "after 2 refits" in fit.reason


def test_a_fit_that_fails_ends_the_search(sampled, monkeypatch):
    monkeypatch.setattr(
        posteriors, "sample", lambda *given: sampled.append(given[4]) or Fit("failed", "gate: R-hat", seed=given[4])
    )
    assert searched().reason == "gate: R-hat"
    assert len(sampled) == 1


def test_even_steps_end_at_the_first_value_below_the_parent(sampled):
    fit = searched(target="parent", high=0.55, lower_by=0.02)
    # 0.55, 0.53, 0.51, 0.49: the parent's weight is 0.5
    assert fit.ok
    assert fit.searched == pytest.approx(0.49)
    assert fit.search_steps == 4
