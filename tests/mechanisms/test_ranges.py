"""Ranges of every kind, with any weights, against bounds by scipy's lognormal distribution; clipping inside brackets."""

import numpy as np
import pytest
from oracles import posterior
from scipy import stats

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Range, Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.inputs import Ranges
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.streams import Address

for register in (FAMILIES, MECHANISMS):
    register.find()
FAMILY = FAMILIES["lognormal_regression"]
N, EDGES = 60, (0.0, 5.0, 20.0, 100.0)
GENERATOR = np.random.default_rng(11)
Z = GENERATOR.normal(2, 1, N)
X = np.exp(Z + 1 + GENERATOR.standard_normal(N))
RECORDS = Records(X, np.column_stack([np.ones(N), Z]))
DECLARED = Ranges(edges=EDGES).added_to(RECORDS)
ALPHA = GENERATOR.uniform(size=N)
DRAWS = posterior(RECORDS.design, np.log(X), np.ones(N)).draws(GENERATOR, 150)


def context(records, weights=(ALPHA,)):
    parents = [Parent(DRAWS, np.ones(N), alpha) for alpha in weights]
    return Context(FAMILY, records, Address(1, 1, 1, N, 0), parents)


def law():
    """Distribution of each record under each draw, by scipy."""
    return stats.lognorm(DRAWS["sigma"][:, None], scale=np.exp(DRAWS["beta"] @ RECORDS.design.T))


TOP = np.quantile(X, 0.9) < X
PARTLY_BELOW = X + np.where(np.arange(N) < 9, -0.5, 2)
BRACKET = np.digitize(X, EDGES)
KINDS = {
    "radius": (RECORDS, {"radius": 4.0}, X - 4, X + 4),
    "multiples": (RECORDS, {"a": 0.4, "b": 1.8}, 0.4 * X, 1.8 * X),
    "wide tails": (
        RECORDS,
        {"a": 0.6, "b": 1.2, "top": 0.1, "wide_a": 0.2, "wide_b": 2.4},
        np.where(TOP, 0.2, 0.6) * X,
        np.where(TOP, 2.4, 1.2) * X,
    ),
    "brackets": (
        DECLARED,
        {},
        np.where(BRACKET == 4, 20, np.take(EDGES, np.minimum(BRACKET, 3) - 1)),
        np.take(EDGES, np.minimum(BRACKET, 3)),
    ),
    "columns": (
        Ranges(low="l", high="h").added_to(
            Records(X, RECORDS.design, {"l": X - 1, "h": X + np.where(np.arange(N) < 9, -0.5, 2)})
        ),
        {},
        X - 1,
        X + np.where(np.arange(N) < 9, -0.5, 2),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_bound_is_that_of_the_conditional_density_and_zero_outside(kind):
    records, parameters, low, high = KINDS[kind]
    form = MECHANISMS["any_truncated"].function(context(records), **parameters)
    (bounds,) = record_bounds(FAMILY, records, DRAWS, [form.sensitive])
    conditional = law().logpdf(X) - np.log(law().cdf(high) - law().cdf(low))
    inside = (low <= X) & (high >= X)
    assert bounds.by_record == pytest.approx(np.where(inside, ALPHA * np.abs(conditional).max(axis=0), 0), rel=1e-6)
    assert form.weights == pytest.approx(np.where(inside, ALPHA, 1))
    assert (kind in ("brackets", "columns")) == (not inside.all())


@pytest.mark.parametrize("kind", KINDS)
def test_averaged_weights_are_one_outside_and_the_mean_probability_inside(kind):
    """The share of 150 predicted values has a standard error of at most 0.041."""
    records, parameters, low, high = KINDS[kind]
    form = MECHANISMS["any_averaged"].function(context(records, (ALPHA, np.ones(N))), **parameters)
    share = 1 - (law().cdf(high) - law().cdf(low)).mean(axis=0)
    known = np.where((low <= X) & (high >= X), share, 1)
    assert np.abs(form.weights - (known + (1 - known) * ALPHA)).max() < 5 * 0.041
    assert np.mean(form.weights - (known + (1 - known) * ALPHA)) == pytest.approx(0, abs=0.015)
    assert form.weights - form.sensitive.weights == pytest.approx((form.weights - ALPHA) / (1 - ALPHA))


def test_with_an_unweighted_parent_both_are_the_posterior_mechanism():
    for name, parents in (("any_truncated", 1), ("any_averaged", 2)):
        form = MECHANISMS[name].function(context(RECORDS, (np.ones(N),) * parents), a=0.4, b=1.8)
        assert form.weights == pytest.approx(1)


def test_wide_tails_of_both_truncated_mechanisms_agree():
    settings = {"a": 0.6, "b": 1.2, "top": 0.1, "wide_a": 0.2, "wide_b": 2.4}
    lw = MECHANISMS["range_truncated"].function(context(RECORDS), **settings)
    same = MECHANISMS["any_truncated"].function(context(RECORDS, (lw.weights,)), **settings)
    first, second = record_bounds(FAMILY, RECORDS, DRAWS, [lw.sensitive, same.sensitive])
    np.testing.assert_array_equal(first.by_record, second.by_record)


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [({"a": 0.5}, "both a and b"), ({"a": 0.5, "b": 2, "radius": 1.0}, "both a and b"), ({}, "no declared")],
)
def test_ranges_need_one_declaration(parameters, problem):
    with pytest.raises(ValueError, match=problem):
        MECHANISMS["any_truncated"].function(context(RECORDS), **parameters)


@pytest.mark.parametrize(
    "given", [{}, {"edges": (1.0,)}, {"edges": (2.0, 1.0)}, {"low": "l"}, {"edges": (0.0, 1.0), "low": "l", "high": "h"}]
)
def test_a_scenario_declares_increasing_edges_or_two_columns(given):
    with pytest.raises(ValueError, match="edges"):
        Ranges(**given)


def test_a_missing_column_or_an_empty_range_is_refused():
    with pytest.raises(ValueError, match="no column l"):
        Ranges(low="l", high="h").added_to(RECORDS)
    with pytest.raises(ValueError, match="in 60 records"):
        Ranges(low="l", high="l").added_to(Records(X, RECORDS.design, {"l": X}))


class Halved(Range):
    """Own public part: the square root of the probability of the range."""

    def log_gamma(self, family, records, draws):
        return 0.5 * super().log_gamma(family, records, draws)


def test_an_own_mechanism_may_have_a_public_part_of_its_own():
    low, high = 0.5 * X, 2 * X
    (bounds,) = record_bounds(FAMILY, RECORDS, DRAWS, [Sensitive(ALPHA, Halved(low, high), ALPHA)])
    expected = ALPHA * (law().logpdf(X) - 0.5 * np.log(law().cdf(high) - law().cdf(low)))
    assert bounds.by_record == pytest.approx(np.abs(expected).max(axis=0), rel=1e-6)


@pytest.mark.parametrize("theta", [{}, {"theta1": 0.8, "theta2": 1.1, "theta3": 1.2}])
def test_a_record_in_a_bracket_has_at_most_a_quarter_of_epsilon(theta):
    form = MECHANISMS["bracket_clipped"].function(context(DECLARED), epsilon=3.0, **theta)
    (bounds,) = record_bounds(FAMILY, DECLARED, DRAWS, [form.sensitive])
    _, _, low, high = KINDS["brackets"]
    values = law().logpdf(X) - np.log(law().cdf(high) - law().cdf(low))
    if theta:
        declared = stats.lognorm(1.2, scale=np.exp(0.8 + 1.1 * Z))
        values = values - (declared.logpdf(X) - np.log(declared.cdf(high) - declared.cdf(low)))
    expected = np.where(X <= 100, np.minimum(np.abs(values).max(axis=0), 0.75), 0)
    assert bounds.by_record == pytest.approx(expected, rel=1e-6)
    assert 0 < bounds.beyond < N
