"""The contract of a mechanism: weights from 0 to 1 that belong to records and not to their places."""

import numpy as np
import pytest
from formalsynth.contract.mechanism import check_mechanism
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, Form, mechanism
from formalsynth.core.registry import load


def form_of(weights):
    return Form(weights, Sensitive(weights))


def by_place(context) -> Form:
    return form_of(np.linspace(0, 1, len(context.records)))


def too_large(context) -> Form:
    return form_of(1 + context.parents[0].by_record)


def too_few(context) -> Form:
    return form_of(np.ones(3))


def infinite(context) -> Form:
    return form_of(np.full(len(context.records), np.nan))


def bare(context) -> Form:
    return np.ones(len(context.records))


def by_chance(context) -> Form:
    return form_of(np.random.default_rng().random(len(context.records)))


def stumbles(context) -> Form:
    return context.nothing


def by_stream(context) -> Form:
    return form_of(context.address.generator("mechanism").random(len(context.records)))


def by_risk(context) -> Form:
    return form_of(1 / (1 + context.parents[0].by_record))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (by_place, "in another order"),
        (too_large, "weights from "),
        (too_few, "gives weights of shape (3,): there has to be one for each of the 20 records"),
        (infinite, "not finite"),
        (bare, "returns ndarray"),
        (by_chance, "gives other weights when it is called again"),
        (stumbles, "stops with AttributeError"),
        (by_stream, None),
        (by_risk, None),
    ],
)
def test_what_breaks_the_contract_is_told(function, words):
    load(["formalsynth.families.poisson"])
    generator = np.random.default_rng(4)
    records, draws = intercept_only(generator.poisson(5, 20)), {"mu": generator.gamma(50, 0.1, 200)}
    with MECHANISMS.trial():
        mechanism(ASYMPTOTIC)(function)
        problems = check_mechanism(MECHANISMS[function.__name__], {}, FAMILIES["poisson"], records, draws)
    if words is None:
        assert problems == []
    else:
        assert any(words in problem for problem in problems), problems
