"""A mechanism of a user's own that would change the input of others, or understate epsilon, is refused when it runs."""

import numpy as np
import pytest
from small_study import fit_one

from formalsynth import posteriors
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, Form, mechanism
from formalsynth.stan.fit import Fit
from formalsynth_workflow.steps.fits import Fitted

X = np.array([-3.0, 0.5, 2.0])
RISK = np.array([5.0, 1.0, 3.0])


def form_of(weights, sensitive=None) -> Form:
    weights = np.asarray(weights, dtype=float)
    return Form(weights, Sensitive(weights if sensitive is None else np.asarray(sensitive, dtype=float)))


@pytest.fixture
def run(monkeypatch):
    """A function that runs a mechanism on three records, with the arrays that other synthesizers use; CmdStan is replaced."""
    monkeypatch.setattr(posteriors, "sample", lambda *_: Fit("ok", draws={"beta": np.zeros((1, 1)), "sigma": np.ones(1)}))

    def run(body, **registered):
        def own(context) -> Form:
            return body(context)

        draws, by_record, records = {"beta": np.full((2, 1), 0.5), "sigma": np.ones(2)}, RISK.copy(), intercept_only(X.copy())
        parent = Fitted("ok", draws=draws, by_record=by_record, sensitive=np.ones(3), weights=np.ones(3))
        with MECHANISMS.trial():
            mechanism(**{"guarantee": ASYMPTOTIC} | registered)(own)
            fit = fit_one("own", records, {"parent": parent})
        np.testing.assert_array_equal(records.x, X)
        np.testing.assert_array_equal(by_record, RISK)
        np.testing.assert_array_equal(draws["beta"], np.full((2, 1), 0.5))
        return fit

    return run


@pytest.mark.parametrize(
    "write",
    [
        lambda context: context.parents[0].by_record.fill(2),
        lambda context: context.records.x.sort(),
        lambda context: context.records.design.fill(2),
        lambda context: context.parents[0].draws["beta"].fill(1),
        lambda context: context.parents[0].weights.fill(0),
    ],
)
def test_writing_into_an_input_fails_with_a_reason_and_changes_nothing(run, write):
    fit = run(lambda context: form_of(np.ones(3)) if write(context) is None else None)
    assert not fit.ok
    assert fit.reason.startswith("mechanism own writes into an array that it was given")
    assert fit.reason.endswith("work on a copy")


def test_a_mechanism_that_replaces_its_records_does_not_replace_those_of_the_fit(run, monkeypatch):
    fitted = []
    monkeypatch.setattr(posteriors, "sample", lambda _, data, *more: fitted.append(data) or Fit("failed"))

    def other_records(context):
        context.records, context.parents = Records(np.zeros(3), np.ones((3, 1))), []
        return form_of(np.ones(3))

    for body in (other_records, lambda context: form_of(np.ones(3))):
        run(body)
    assert len(fitted) == 2
    for name in fitted[0]:
        np.testing.assert_array_equal(fitted[0][name], fitted[1][name])


def test_a_family_cannot_change_the_weights_whose_bounds_are_computed():
    form = form_of([0.5, 1.0, 0.25])
    for weights in (form.weights, form.sensitive.weights):
        with pytest.raises(ValueError, match="read-only"):
            weights[:] *= 0.5


@pytest.mark.parametrize("stage", ["data", "stan", "synthesize", "centre", "bootstrap", "prior"])
def test_the_random_streams_of_others_are_refused(run, stage):
    fit = run(lambda context: form_of(context.address.generator(stage).random(3)))
    assert not fit.ok
    assert f"uses the random stream '{stage}'" in fit.reason
    assert 'use context.address.generator("mechanism")' in fit.reason


def test_the_seed_of_the_sampler_is_refused(run):
    assert "uses the random stream 'stan'" in run(lambda context: form_of(np.full(3, 1 / context.address.stan_seed()))).reason


@pytest.mark.parametrize("stage", ["mechanism", "predict"])
def test_the_random_streams_of_mechanisms_may_be_used(run, stage):
    assert run(lambda context: form_of(context.address.generator(stage).random(3))).ok


def test_smaller_sensitive_weights_are_allowed_only_where_a_range_is_what_is_protected(run):
    smaller = form_of([1.0, 1, 1], [0.1, 0.1, 0.1])
    assert run(lambda context: smaller, guarantee="range-averaged | R").ok
    fit = run(lambda context: smaller)
    assert not fit.ok
    assert fit.reason.startswith("mechanism own ") and "sensitive weights below the weights of the fit" in fit.reason
