"""Centred clipping in the run: each source of posteriors takes the reference that the mechanism declares."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_audit import CENTRED

from formalsynth import posteriors
from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.replay import STAGE
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.centring import Centred, Reference
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Form
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.engine.chain import Request, form_of, sharing
from formalsynth.stan.fit import Fit
from formalsynth_workflow.steps import fit
from formalsynth_workflow.steps.exact_draws import ExactDraws

BETA = FAMILIES["beta"]
REFERENCE = Reference((("phi", 0.2), ("lambda", 3.0)))


@pytest.fixture
def request_of_centred():
    records = intercept_only(np.random.default_rng(1).beta(0.5, 3, 80))
    context = Context(BETA, records, Address(1, 2, 3, 80, 0))
    return Request(CENTRED, context, form_of(CENTRED, context))


def test_the_form_declares_the_reference(request_of_centred):
    assert request_of_centred.form.sensitive.reference == REFERENCE
    assert MECHANISMS["censored_centred"].claim(CENTRED.parameters) == 1.0


def test_stan_gets_the_coefficients_at_the_reference(request_of_centred, monkeypatch):
    seen = {}

    def sample(executable, data, inits, parameters, seed, settings):
        seen.update(data)
        return Fit("ok")

    monkeypatch.setattr(posteriors, "sample", sample)
    fit.StanPosteriors(Path("beta"), BETA.priors, SamplerSettings()).posterior(request_of_centred)
    # the shapes are 0.6 and 2.4, and 1 / B(0.6, 2.4) is Gamma(3) / (Gamma(0.6) Gamma(2.4)) = 2 / (1.48919 x 1.24217)
    np.testing.assert_allclose(seen["centre"], [-0.4, 1.4, np.log(2 / (1.48919 * 1.24217))], atol=1e-4)
    assert seen["threshold"] == 0.5


def test_exact_draws_are_those_of_the_centred_posterior(request_of_centred):
    context, form = request_of_centred.context, request_of_centred.form
    job = SimpleNamespace(priors=BETA.priors, sampler=SamplerSettings(draws=200))
    drawn = ExactDraws(job).posterior(request_of_centred).draws
    around, plain = (
        exact.draws(exact.posterior(form.weights, 0.5), context.address.generator(STAGE, CENTRED.words).random((200, 2)))
        for exact in (exact_posteriors(family, context.records, BETA.priors) for family in (Centred(BETA, REFERENCE), BETA))
    )
    np.testing.assert_array_equal(drawn["phi"], around["phi"])
    assert np.abs(drawn["phi"] - plain["phi"]).max() > 0.01


def test_a_fit_is_not_shared_by_another_reference(request_of_centred):
    form = request_of_centred.form
    other = Reference((("phi", 0.3), ("lambda", 3.0)))
    assert sharing("centred", form, Form(form.weights, Sensitive(form.weights, threshold=0.5, reference=REFERENCE))) is not None
    for reference in (None, other):
        with pytest.raises(ValueError, match="a different threshold or reference"):
            sharing("centred", form, Form(form.weights, Sensitive(form.weights, threshold=0.5, reference=reference)))
