"""A mechanism of a user's own that would change the input of others, or understate epsilon, is refused when it runs."""

import numpy as np
import pytest

from formalsynth import posteriors
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, Form, mechanism
from formalsynth.core.registry import load
from formalsynth.core.synthesizer import SamplerSettings, ScenarioKey, Synthesizer
from formalsynth.stan.fit import Fit
from formalsynth_workflow.jobs.inputs import FitJob
from formalsynth_workflow.steps import fit as step
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.fits import Fitted

load(["formalsynth.families.linear"])

X = np.array([-3.0, 0.5, 2.0])
RISK = np.array([5.0, 1.0, 3.0])
KEY = ScenarioKey(paper="made_up", paper_id=1, scenario="three_n3", number=1, n=3, root=1)


def form_of(weights, sensitive=None, **more) -> Form:
    weights = np.asarray(weights, dtype=float)
    return Form(weights, Sensitive(weights if sensitive is None else np.asarray(sensitive, dtype=float), **more))


@pytest.fixture
def run(monkeypatch):
    """A function that runs a mechanism on three records, with the arrays that other synthesizers use; CmdStan is replaced."""
    monkeypatch.setattr(posteriors, "sample", lambda *_: Fit("ok", draws={"beta": np.zeros((1, 1)), "sigma": np.ones(1)}))

    def run(function, **registered):
        draws = {"beta": np.full((2, 1), 0.5), "sigma": np.ones(2)}
        data, by_record = DataBatch.of([0], [intercept_only(X.copy())]), RISK.copy()
        parent = Fitted("ok", draws=draws, by_record=by_record, sensitive=np.ones(3), weights=np.ones(3))
        words = {"id": "own", "mechanism": "own", "parameters": {}, "parents": ("parent",), "fit": "own", "words": (5,)}
        job = FitJob(
            key=KEY, modules=(), family="normal", priors={"sd": 100, "shape": 0.01, "scale": 0.01},
            synthesizer=Synthesizer(**words), sampler=SamplerSettings(),
        )  # fmt: skip
        function.__name__ = "own"
        with MECHANISMS.trial():
            mechanism(**{"guarantee": ASYMPTOTIC} | registered)(function)
            (fit,) = step.fit_batch(job, data, {"parent": [parent]})
        np.testing.assert_array_equal(data.x, [X])
        np.testing.assert_array_equal(by_record, RISK)
        np.testing.assert_array_equal(draws["beta"], np.full((2, 1), 0.5))
        return fit

    return run


def divides_the_risks(context) -> Form:
    context.parents[0].by_record[:] /= 2
    return form_of(np.ones(3))


def sorts_the_records(context) -> Form:
    context.records.x.sort()
    return form_of(np.ones(3))


def scales_the_predictors(context) -> Form:
    context.records.design[:] *= 2
    return form_of(np.ones(3))


def moves_the_draws(context) -> Form:
    context.parents[0].draws["beta"][:] += 1
    return form_of(np.ones(3))


def moves_the_weights(context) -> Form:
    context.parents[0].weights[0] = 0
    return form_of(np.ones(3))


@pytest.mark.parametrize(
    "function", [divides_the_risks, sorts_the_records, scales_the_predictors, moves_the_draws, moves_the_weights]
)
def test_writing_into_an_input_fails_with_a_reason_and_changes_nothing(run, function):
    fit = run(function)
    assert not fit.ok
    assert fit.reason.startswith("mechanism own writes into an array that it was given")
    assert fit.reason.endswith("work on a copy")


def test_a_mechanism_that_replaces_its_records_does_not_replace_those_of_the_fit(run, monkeypatch):
    fitted = []
    monkeypatch.setattr(posteriors, "sample", lambda _, data, *more: fitted.append(data) or Fit("failed"))

    def other_records(context) -> Form:
        context.records, context.parents = Records(np.zeros(3), np.ones((3, 1))), []
        return form_of(np.ones(3))

    run(other_records)

    def unchanged(context) -> Form:
        return form_of(np.ones(3))

    run(unchanged)
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
    def takes(context) -> Form:
        return form_of(context.address.generator(stage).random(3))

    fit = run(takes)
    assert not fit.ok
    assert f"uses the random stream '{stage}'" in fit.reason
    assert 'use context.address.generator("mechanism")' in fit.reason


def test_the_seed_of_the_sampler_is_refused(run):
    def takes(context) -> Form:
        return form_of(np.full(3, 1 / context.address.stan_seed()))

    assert "uses the random stream 'stan'" in run(takes).reason


@pytest.mark.parametrize("stage", ["mechanism", "predict"])
def test_the_random_streams_of_mechanisms_may_be_used(run, stage):
    def takes(context) -> Form:
        return form_of(context.address.generator(stage).random(3))

    assert run(takes).ok


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: form_of([0.5, 1.25, 0.5]), "returns weights from 0.5 to 1.25: they have to be from 0 to 1"),
        (lambda: form_of(RISK / RISK.mean()), "divide by the largest one, not by their mean"),
        (lambda: form_of([0.5, -0.1, 0.5]), "returns weights from -0.1 to 0.5: they have to be from 0 to 1"),
        (lambda: form_of([0.5, np.nan, 0.5]), "returns weights that are not finite"),
        (lambda: form_of([0.5, np.inf, 0.5]), "returns weights that are not finite"),
        (lambda: form_of([0.5]), "returns weights of shape (1,): there has to be one for each of the 3 records"),
        (lambda: form_of(np.ones((3, 1))), "returns weights of shape (3, 1)"),
        (lambda: form_of([1.0, 1, 1], [0.1, 0.1, 0.1]), "sensitive weights below the weights of the fit"),
        (lambda: form_of([1.0, 1, 1], [1.0, 1.0, 0.999]), "sensitive weights below the weights of the fit"),
        (lambda: form_of([1.0, 1, 1], [2.0, 2, 2]), "returns sensitive weights from 2 to 2"),
        (lambda: form_of([1.0, 1, 1], range=(0.5, 1.5), range_weights=np.ones(3)), "returns a sensitive range"),
        (lambda: form_of([1.0, 1, 1], threshold=1.0), "returns a threshold, which bounds a record only if the program clips"),
        (lambda: np.ones(3), "returns ndarray: it has to return a Form, a DirectRelease or a PrivateFit"),
    ],
)  # fmt: skip
def test_a_result_that_would_understate_epsilon_is_refused(run, made, words):
    def gives(context) -> Form:
        return made()

    fit = run(gives)
    assert not fit.ok
    assert fit.reason.startswith("mechanism own ")
    assert words in fit.reason


def test_smaller_sensitive_weights_are_allowed_where_a_range_is_what_is_protected(run):
    def gives(context) -> Form:
        return form_of([1.0, 1, 1], [0.1, 0.1, 0.1])

    assert run(gives, guarantee="range-averaged | R").ok
