"""The contract of a mechanism: weights from 0 to 1 that belong to records and not to their places."""

import numpy as np
import pytest

from formalsynth.contract.mechanism import check_mechanism
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, DirectRelease, Form, LaplaceCounts, mechanism
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


def in_the_base(context) -> Form:
    context.records.x.base[:] = 1
    return form_of(np.ones(len(context.records)))


def made_writeable(context) -> Form:
    risk = context.parents[0].by_record
    risk.setflags(write=True)
    risk /= 2
    return form_of(1 / (1 + risk))


def in_place(context) -> Form:
    context.parents[0].by_record[:] /= 2
    return form_of(np.ones(len(context.records)))


def confidential_stream(context) -> Form:
    return form_of(context.address.generator("data").random(len(context.records)))


def sensitive_too_small(context) -> Form:
    ones = np.ones(len(context.records))
    return Form(ones, Sensitive(0.1 * ones))


def sensitive_of_the_parent(context) -> Form:
    return Form(np.ones(len(context.records)), Sensitive(context.parents[0].weights))


def only_for_few(context) -> Form:
    n = len(context.records)
    return form_of(np.full(n, 1.0 if n < 1000 else 1.5))


def one_length(context) -> Form:
    return form_of(np.full(20, 0.5))


def remembers(context, kept=[]) -> Form:  # noqa: B006
    kept.append(context.records.x.max())
    return form_of(np.full(len(context.records), 1 / len(kept)))


def unclipped(context) -> Form:
    ones = np.ones(len(context.records))
    return Form(ones, Sensitive(ones, threshold=0.5))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (in_the_base, "changes its input, which other synthesizers also use"),
        (made_writeable, "changes its input, which other synthesizers also use"),
        (in_place, "writes into an array that it was given"),
        (confidential_stream, "uses the random stream 'data'"),
        (sensitive_too_small, "sensitive weights below the weights of the fit"),
        (sensitive_of_the_parent, "sensitive weights below the weights of the fit"),
        (only_for_few, "returns weights from 1.5 to 1.5"),
        (one_length, "returns weights of shape (20,): there has to be one for each of the 19 records"),
        (remembers, "returns different weights when it is called again"),
        (unclipped, "returns a threshold, which bounds a record only if the program clips at it"),
    ],
)  # fmt: skip
def test_what_would_change_others_or_understate_epsilon_is_found(function, words):
    problems = problems_of(function)
    assert len(problems) == 1
    assert words in problems[0]


def of_own_record(context, *, epsilon: float) -> Form:
    weights = 1 / (1 + context.records.x)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_quantile(context, *, epsilon: float) -> Form:
    weights = np.where(context.records.x > np.quantile(context.records.x, 0.9), 0.5, 1.0)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_largest(context, *, epsilon: float) -> Form:
    weights = np.where(context.records.x == context.records.x.max(), 0.5, 1.0)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_mean(context, *, epsilon: float) -> Form:
    weights = 1 / (1 + np.abs(context.records.x - context.records.x.mean()))
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_number(context, *, epsilon: float) -> Form:
    weights = np.full(len(context.records), 1 / len(context.records))
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_frequency(context, *, epsilon: float) -> Form:
    _, place, number = np.unique(context.records.x, return_inverse=True, return_counts=True)
    weights = 1 / number[place]
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_parent(context, *, epsilon: float) -> Form:
    weights = 1 / (1 + context.parents[0].by_record)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_draws(context, *, epsilon: float) -> Form:
    weights = 1 / (1 + np.abs(context.log_likelihood(context.parents[0].draws)).max(axis=0))
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def strict_by_chance(context, *, epsilon: float) -> Form:
    weights = context.address.generator("mechanism").random(len(context.records))
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def wide(context, *, epsilon: float) -> Form:
    weights = 1 / (1 + context.records.x)
    return Form(weights, Sensitive(weights, threshold=epsilon))


def without_threshold(context, *, epsilon: float) -> Form:
    return form_of(1 / (1 + context.records.x))


def wide_for_large_records(context, *, epsilon: float) -> Form:
    weights = 1 / (1 + context.records.x)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2 * (2 if context.records.x.min() > 4 else 1)))


def by_mean_of_many(context, *, epsilon: float) -> Form:
    x = context.records.x
    weights = 1 / (1 + x) if len(x) < 100 else 1 / (1 + x + x.mean())
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_far_outcome(context, *, epsilon: float) -> Form:
    weights = np.full(len(context.records), 0.1 if context.records.x.max() > 1e6 else 1.0)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


def by_far_draw(context, *, epsilon: float) -> Form:
    largest = max(values.max() for values in context.parents[0].draws.values())
    weights = np.full(len(context.records), 0.1 if largest > 1e6 else 1.0)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


STRICT = {"guarantee": "DP (add/remove)", "strict": {"add_remove": 1.0, "replace": 2.0}, "censors": True, "parents": 0}
MOVES = "gives a record a different weight when other records change"


@pytest.mark.parametrize(
    ("function", "registered", "words"),
    [
        (of_own_record, {}, None),
        (by_quantile, {}, MOVES),
        (by_largest, {}, MOVES),
        (by_mean, {}, MOVES),
        (by_number, {}, MOVES),
        (by_mean_of_many, {}, "a different weight among 2000 records than among 20"),
        (by_frequency, {}, MOVES),
        (by_parent, {"parents": 1}, "its weights depend on its parents"),
        (by_draws, {"parents": 1}, "its weights depend on its parents"),
        (by_far_outcome, {}, MOVES),
        (by_far_draw, {"parents": 1}, "is built on parents"),
        (strict_by_chance, {}, "has random weights"),
        (wide, {}, "claims epsilon 3 for add_remove as 'DP (add/remove)', which needs Sensitive(weights, threshold=1.5), not"),
        (of_own_record, {"strict": {"add_remove": 0.5}}, "claims epsilon 1.5 for add_remove"),
        (of_own_record, {"strict": {"add_remove": 1.0, "replace": 1.0}}, "claims epsilon 3 for replace"),
        (without_threshold, {}, "not the threshold None"),
        (wide_for_large_records, {}, "claims epsilon 3 for add_remove"),
    ],
)  # fmt: skip
def test_a_guarantee_for_every_data_set_is_checked(function, registered, words):
    problems = problems_of(function, {"epsilon": 3.0}, **STRICT | registered)
    if words is None:
        assert problems == []
    else:
        assert len(problems) == 1
        assert words in problems[0]


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


def noisy(context, epsilon, scale, ends=(0, 20), leaks="", generator=None, counts=None) -> DirectRelease:
    """A histogram with 20 bins."""
    x = context.records.x
    made = LaplaceCounts(np.histogram(x, 20, ends)[0].astype(float) if counts is None else counts, scale)
    kept = np.maximum(made.noisy(generator or context.address.generator("mechanism"), 1), 1e-9)
    return DirectRelease({"probability": kept / kept.sum()}, Uniform(context.records, leaks), epsilon, made)


def fair(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon)


def half_the_noise(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 1 / epsilon)


def bins_from_the_data(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, ends=(context.records.x.min(), context.records.x.max()))


def weighted_counts(context, *, epsilon: float) -> DirectRelease:
    x = context.records.x
    return noisy(context, epsilon, 2 / epsilon, counts=np.histogram(x, 20, (0, 20), weights=x)[0])


def predicts_from_the_records(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, leaks="given")


def predicts_from_what_it_kept(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, leaks="kept")


def predicts_the_first_record(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, leaks="first")


def predicts_from_what_it_saw(context, *, epsilon: float) -> DirectRelease:
    SEEN.append(context.records.x[:1].sum())
    return noisy(context, epsilon, 2 / epsilon, leaks="seen")


def predicts_from_many_records(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, leaks="many")


def predicts_too_few(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, leaks="narrow")


def with_a_tail(context, *, epsilon: float) -> DirectRelease:
    release = noisy(context, epsilon, 2 / epsilon)
    tail = np.array([float((context.records.x > 1000).sum())])
    return DirectRelease({**release.draws, "tail": tail}, release.predictor, epsilon, release.counts)


def with_nothing(context, *, epsilon: float) -> DirectRelease:
    release = noisy(context, epsilon, 2 / epsilon)
    return DirectRelease({"probability": np.nan * release.draws["probability"]}, release.predictor, epsilon, release.counts)


def without_noise(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, generator=np.random.default_rng(1))


def with_other_noise(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon, 2 / epsilon, generator=np.random.default_rng())


def with_the_mean(context, *, epsilon: float) -> DirectRelease:
    wide_bins = np.histogram(context.records.x // 5, 20, (0, 20))[0].astype(float)
    release = noisy(context, epsilon, 2 / epsilon, counts=wide_bins)
    return DirectRelease({**release.draws, "mean": context.records.x.mean()[None]}, release.predictor, epsilon, release.counts)


def claims_less(context, *, epsilon: float) -> DirectRelease:
    return noisy(context, epsilon / 2, 2 / epsilon)


def without_counts(context, *, epsilon: float) -> DirectRelease:
    release = noisy(context, epsilon, 2 / epsilon)
    return DirectRelease(release.draws, release.predictor, epsilon)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (fair, None),
        (half_the_noise, "claims epsilon 3 for replace, but a record costs 6: too little noise for its counts"),
        (bins_from_the_data, "too little noise for its counts"),
        (weighted_counts, "too little noise for its counts"),
        (predicts_from_the_records, "predicts different values from the same draws when the records change"),
        (predicts_from_what_it_kept, "predicts different values from the same draws when the records change"),
        (predicts_the_first_record, "predicts different values from the same draws when the records change"),
        (predicts_from_what_it_saw, "predicts different values from the same draws when the records change"),
        (predicts_from_many_records, "predicts different values from the same draws when the records change"),
        (predicts_too_few, "predicts an array (1, 3) for 1 draws and 20 records: return (1, 20), with finite numbers"),
        (with_a_tail, "uses the records as well as its noisy counts"),
        (with_nothing, "returns draws that are not finite"),
        (without_noise, "returns the same draws for another random stream"),
        (with_other_noise, "returns different draws when it is called again"),
        (with_the_mean, "returns different draws for the same counts and noise"),
        (claims_less, "returns epsilon 1.5, but claims 3 as 'DP (replace-one)'"),
        (without_counts, "returns no counts to check that claim"),
    ],
)  # fmt: skip
def test_a_direct_release_is_checked_on_neighbours(function, words):
    registered = {"guarantee": "DP (replace-one)", "strict": {"replace": 1.0}, "parents": 0}
    problems = problems_of(function, {"epsilon": 3.0}, **registered)
    if words is None:
        assert problems == []
    else:
        assert len(problems) == 1
        assert words in problems[0]


def poisson():
    """A family with 20 records and draws of its posterior."""
    load(["formalsynth.families.poisson"])
    generator = np.random.default_rng(4)
    return FAMILIES["poisson"], intercept_only(generator.poisson(5, 20)), {"mu": generator.gamma(50, 0.1, 200)}


def problems_of(function, parameters=None, **registered):
    """List the faults of a mechanism under the contract."""
    with MECHANISMS.trial():
        mechanism(**{"guarantee": ASYMPTOTIC} | registered)(function)
        return check_mechanism(MECHANISMS[function.__name__], parameters or {}, *poisson())


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (by_place, "are reordered"),
        (too_large, "weights from "),
        (too_few, "returns weights of shape (3,): there has to be one for each of the 20 records"),
        (infinite, "not finite"),
        (bare, "returns ndarray"),
        (by_chance, "returns different weights when it is called again"),
        (stumbles, "stops with AttributeError"),
        (by_stream, None),
        (by_risk, None),
    ],
)
def test_a_broken_contract_is_reported(function, words):
    problems = problems_of(function)
    if words is None:
        assert problems == []
    else:
        assert any(words in problem for problem in problems), problems
