"""The contract of a mechanism: weights from 0 to 1 that belong to records, and the guarantee that it claims."""

import numpy as np
import pytest

from formalsynth.contract.mechanism import check_mechanism
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, DirectRelease, Form, LaplaceCounts, mechanism
from formalsynth.core.registry import load

EPSILON = 3.0


def check(body, words, returns=Form, **registered):
    """Compare the fault of a mechanism with this body, a function of its context, with the words; None for no fault."""

    def own(context, *, epsilon: float):
        return body(context)

    own.__annotations__["return"] = returns
    load(["formalsynth.families.poisson"])
    generator = np.random.default_rng(4)
    records, draws = intercept_only(generator.poisson(5, 20)), {"mu": generator.gamma(50, 0.1, 200)}
    with MECHANISMS.trial():
        mechanism(**{"guarantee": ASYMPTOTIC} | registered)(own)
        problems = check_mechanism(MECHANISMS["own"], {"epsilon": EPSILON}, FAMILIES["poisson"], records, draws)
    assert len(problems) == (words is not None), problems
    assert words is None or words in problems[0]


def form_of(weights, sensitive=None, threshold=None):
    return Form(weights, Sensitive(weights if sensitive is None else sensitive, threshold=threshold))


def ones(context):
    return np.ones(len(context.records))


def in_the_base(context):
    context.records.x.base[:] = 1
    return form_of(ones(context))


def made_writeable(context):
    risk = context.parents[0].by_record
    risk.setflags(write=True)
    risk /= 2
    return form_of(1 / (1 + risk))


def in_place(context):
    context.parents[0].by_record[:] /= 2
    return form_of(ones(context))


def remembers(context, kept=[]):  # noqa: B006
    kept.append(context.records.x.max())
    return form_of(ones(context) / len(kept))


SHAPES = "returns weights of shape"
BELOW = "sensitive weights below the weights of the fit"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda c: form_of(c.address.generator("mechanism").random(len(c.records))), None),
        (lambda c: form_of(1 / (1 + c.parents[0].by_record)), None),
        (lambda c: form_of(np.linspace(0, 1, len(c.records))), "are reordered"),
        (lambda c: form_of(1 + c.parents[0].by_record), "weights from "),
        (lambda c: form_of(np.ones(3)), f"{SHAPES} (3,): there has to be one for each of the 20 records"),
        (lambda c: form_of(np.nan * ones(c)), "not finite"),
        (lambda c: form_of(np.inf * ones(c)), "not finite"),
        (lambda c: form_of(np.ones((len(c.records), 1))), f"{SHAPES} (20, 1)"),
        (lambda c: form_of(-0.1 * ones(c)), "returns weights from -0.1 to -0.1: they have to be from 0 to 1"),
        (lambda c: form_of(c.parents[0].by_record / c.parents[0].by_record.mean()), "divide by the largest one, not by their"),
        (ones, "returns ndarray: it has to return a Form, a DirectRelease or a PrivateFit"),
        (lambda c: form_of(np.random.default_rng().random(len(c.records))), "returns different weights when it is called again"),
        (lambda c: c.nothing, "stops with AttributeError"),
        (in_the_base, "changes its input, which other synthesizers also use"),
        (made_writeable, "changes its input, which other synthesizers also use"),
        (in_place, "writes into an array that it was given"),
        (lambda c: form_of(c.address.generator("data").random(len(c.records))), "uses the random stream 'data'"),
        (lambda c: form_of(ones(c), 0.1 * ones(c)), BELOW),
        (lambda c: form_of(ones(c), 0.999 * ones(c)), BELOW),
        (lambda c: form_of(ones(c), c.parents[0].weights), BELOW),
        (lambda c: form_of(ones(c), 2 * ones(c)), "returns sensitive weights from 2 to 2"),
        (lambda c: Form(ones(c), Sensitive(ones(c), range=(0.5, 1.5), range_weights=ones(c))), "returns a sensitive range"),
        (lambda c: form_of((1.0 if len(c.records) < 1000 else 1.5) * ones(c)), "returns weights from 1.5 to 1.5"),
        (lambda c: form_of(np.full(20, 0.5)), f"{SHAPES} (20,): there has to be one for each of the 19 records"),
        (remembers, "returns different weights when it is called again"),
        (lambda c: form_of(ones(c), threshold=0.5), "returns a threshold, which bounds a record only if the program clips at it"),
    ],
)  # fmt: skip
def test_what_would_change_others_or_understate_epsilon_is_found(body, words):
    check(body, words)


def frequencies(context):
    _, place, number = np.unique(context.records.x, return_inverse=True, return_counts=True)
    return number[place]


def far_draws(context):
    return max(values.max() for values in context.parents[0].draws.values()) > 1e6


STRICT = {"guarantee": "DP (add/remove)", "strict": {"add_remove": 1.0, "replace": 2.0}, "censors": True, "parents": 0}
MOVES = "gives a record a different weight when other records change"
PARENTS = "its weights depend on its parents"


def own_weight(context):
    return 1 / (1 + context.records.x)


@pytest.mark.parametrize(
    ("weights", "registered", "words"),
    [
        (own_weight, {}, None),
        (lambda c: np.where(c.records.x > np.quantile(c.records.x, 0.9), 0.5, 1.0), {}, MOVES),
        (lambda c: np.where(c.records.x == c.records.x.max(), 0.5, 1.0), {}, MOVES),
        (lambda c: 1 / (1 + np.abs(c.records.x - c.records.x.mean())), {}, MOVES),
        (lambda c: ones(c) / len(c.records), {}, MOVES),
        (lambda c: 1 / (1 + c.records.x + (0 if len(c.records) < 100 else c.records.x.mean())), {},
         "a different weight among 2000 records than among 20"),
        (lambda c: 1 / frequencies(c), {}, MOVES),
        (lambda c: 1 / (1 + c.parents[0].by_record), {"parents": 1}, PARENTS),
        (lambda c: 1 / (1 + np.abs(c.log_likelihood(c.parents[0].draws)).max(axis=0)), {"parents": 1}, PARENTS),
        (lambda c: (0.1 if c.records.x.max() > 1e6 else 1.0) * ones(c), {}, MOVES),
        (lambda c: (0.1 if far_draws(c) else 1.0) * ones(c), {"parents": 1}, "is built on parents"),
        (lambda c: c.address.generator("mechanism").random(len(c.records)), {}, "has random weights"),
        (own_weight, {"strict": {"add_remove": 0.5}}, "claims epsilon 1.5 for add_remove"),
        (own_weight, {"strict": {"add_remove": 1.0, "replace": 1.0}}, "claims epsilon 3 for replace"),
    ],
)  # fmt: skip
def test_a_guarantee_for_every_data_set_is_checked(weights, registered, words):
    check(lambda context: form_of(weights(context), threshold=EPSILON / 2), words, **STRICT | registered)


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (lambda c: EPSILON,
         "claims epsilon 3 for add_remove as 'DP (add/remove)', which needs Sensitive(weights, threshold=1.5), not"),
        (lambda c: None, "not the threshold None"),
        (lambda c: EPSILON / 2 * (2 if c.records.x.min() > 4 else 1), "claims epsilon 3 for add_remove"),
    ],
)  # fmt: skip
def test_a_threshold_above_the_claim_is_found(threshold, words):
    check(lambda context: form_of(own_weight(context), threshold=threshold(context)), words, **STRICT)


class Uniform:
    """Values between declared bounds, or what a faulty predictor makes of them."""

    def __init__(self, records=None, leaks=""):
        self.records, self.leaks = records, leaks

    def predict(self, generator, records, draws):
        bins = [generator.choice(20, size=len(records), p=probability) for probability in draws["probability"]]
        shift = {
            "": 0, "given": records.x.mean(), "kept": 0 if self.records is None else self.records.x.mean(), "first": records.x[0],
            "seen": SEEN[-1] if SEEN else 0, "many": records.x[0] if len(records) > 150 else 0, "narrow": 0,
        }[self.leaks]  # fmt: skip
        return (np.stack(bins) + shift)[:, : 3 if self.leaks == "narrow" else None]


SEEN = []
"""Outcomes that a predictor remembers between calls."""


def noisy(context, claim=EPSILON, scale=2 / EPSILON, ends=(0, 20), leaks="", generator=None, counts=None, stated=True, more=None):
    """Release a histogram with 20 bins; ``more`` returns further draws."""
    x = context.records.x
    SEEN.append(x[:1].sum())
    made = LaplaceCounts(np.histogram(x, 20, ends)[0].astype(float) if counts is None else counts(x), scale)
    kept = np.maximum(made.noisy(generator or context.address.generator("mechanism"), 1), 1e-9)
    draws = {"probability": kept / kept.sum()} | ({} if more is None else more(x))
    return DirectRelease(draws, Uniform(context.records, leaks), claim, made if stated else None)


CHANGES = "predicts different values from the same draws when the records change"
LITTLE = "too little noise for its counts"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (lambda c: {}, None),
        (lambda c: {"scale": 1 / EPSILON}, f"claims epsilon 3 for replace, but a record costs 6: {LITTLE}"),
        (lambda c: {"ends": (c.records.x.min(), c.records.x.max())}, LITTLE),
        (lambda c: {"counts": lambda x: np.histogram(x, 20, (0, 20), weights=x)[0]}, LITTLE),
        *((lambda c, leaks=leaks: {"leaks": leaks}, CHANGES) for leaks in ("given", "kept", "first", "seen", "many")),
        (lambda c: {"leaks": "narrow"}, "predicts an array (1, 3) for 1 draws and 20 records: return (1, 20), with finite"),
        (lambda c: {"more": lambda x: {"tail": np.array([float((x > 1000).sum())])}},
         "uses the records as well as its noisy counts"),
        (lambda c: {"more": lambda x: {"probability": np.full((1, 20), np.nan)}}, "returns draws that are not finite"),
        (lambda c: {"generator": np.random.default_rng(1)}, "returns the same draws for another random stream"),
        (lambda c: {"generator": np.random.default_rng()}, "returns different draws when it is called again"),
        (lambda c: {"counts": lambda x: np.histogram(x // 5, 20, (0, 20))[0] * 1.0, "more": lambda x: {"mean": x.mean()[None]}},
         "returns different draws for the same counts and noise"),
        (lambda c: {"claim": EPSILON / 2}, "returns epsilon 1.5, but claims 3 as 'DP (replace-one)'"),
        (lambda c: {"stated": False}, "returns no counts to check that claim"),
    ],
)  # fmt: skip
def test_a_direct_release_is_checked_on_neighbours(changes, words):
    registered = {"guarantee": "DP (replace-one)", "strict": {"replace": 1.0}, "parents": 0}
    check(lambda context: noisy(context, **changes(context)), words, DirectRelease, **registered)
