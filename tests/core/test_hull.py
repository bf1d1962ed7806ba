"""The convex hull of the draws, and bounds from its corners against the same from all draws."""

from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import posterior

from formalsynth.core import bounds, hull
from formalsynth.core.arrays import Records, count, intercept_only
from formalsynth.core.bounds import Sensitive, maximum_mcse, record_bounds
from formalsynth.core.family import FAMILIES, concave
from formalsynth.core.hull import hull_of
from formalsynth.core.weights import sensitive_range

FAMILIES.find()
CONCAVE = sorted(name for name, family in FAMILIES.items() if concave(family))
FAMILY = FAMILIES["lognormal_regression"]
EXACT = 5e-14


def data(seed, n, p=2, scale=1.0):
    """Records of a lognormal regression with p coefficients; a small scale makes densities above 1."""
    generator = np.random.default_rng(seed)
    design = np.column_stack([np.ones(n), generator.normal(2, 1, (n, p - 1))])
    return Records(scale * np.exp(design @ np.full(p, 0.7) + generator.standard_normal(n)), design)


def draws_of(seed, records, n_draws, weight=0.5):
    generator = np.random.default_rng(seed + 100)
    return posterior(records.design, np.log(records.x), np.full(len(records), weight)).draws(generator, n_draws)


@contextmanager
def always(reach=None):
    """Take the corners whether or not they pay, with mirrored corners at one distance or at those of the package."""
    reaches = hull.REACHES if reach is None else (reach,)
    with patch.multiple(bounds, LEAST_WORK=0, LARGEST_OPEN_SHARE=1), patch.multiple(hull, LARGEST_SHARE=1, REACHES=reaches):
        yield


def over_all_draws(*arguments):
    with patch.object(bounds, "LEAST_WORK", np.inf):
        return record_bounds(*arguments)


def assert_same(result, expected):
    """Bounds and Monte Carlo error from corners are those from all draws."""
    assert result.by_record == pytest.approx(expected.by_record, rel=EXACT, abs=0)
    assert result.beyond == expected.beyond
    tail = max(2, round(0.05 * len(expected.by_draw))) + 1
    largest = np.argsort(-expected.by_draw, kind="stable")[:tail]
    assert result.by_draw[largest] == pytest.approx(expected.by_draw[largest], rel=EXACT, abs=0)
    assert (result.by_draw <= expected.by_draw * (1 + EXACT)).all()
    assert result.delta == result.by_record.max() == result.by_draw.max()
    assert result.delta_mcse == pytest.approx(expected.delta_mcse, rel=1e-9, abs=EXACT * expected.delta)


CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "n": st.integers(8, 60),
        "p": st.integers(1, 3),
        "scale": st.sampled_from([1e-4, 0.03, 1.0, 100.0]),
        "n_draws": st.integers(60, 300),
        "weight": st.floats(0.05, 1),
        "a": st.floats(0, 0.9) | st.just(-np.inf),
        "b": st.floats(1.1, 10) | st.just(np.inf),
        "threshold": st.none() | st.floats(0.1, 20),
        "repeats": st.booleans(),
        "reach": st.sampled_from([1.0, 0.5, 0.125]),
    }
)


@given(CASES)
def test_corners_tell_what_all_draws_tell(case):
    records = data(case["seed"], case["n"], case["p"], case["scale"])
    draws = draws_of(case["seed"], records, case["n_draws"], case["weight"])
    if case["repeats"]:
        draws = {name: values[np.arange(case["n_draws"]) // 3] for name, values in draws.items()}
    alpha = np.random.default_rng(case["seed"]).choice([0, 0.2, 0.7, 1], case["n"])
    inside = (case["a"], case["b"])
    forms = [Sensitive(alpha), Sensitive(alpha, inside, alpha), Sensitive(np.ones(case["n"]), inside, np.ones(case["n"]))]
    forms = [Sensitive(form.weights, form.range, form.range_weights, case["threshold"]) for form in forms]
    with always(case["reach"]):
        results = record_bounds(FAMILY, records, draws, forms)
    for result, expected in zip(results, over_all_draws(FAMILY, records, draws, forms), strict=True):
        assert_same(result, expected)


@pytest.mark.parametrize(("scale", "share"), [(1.0, 0.2), (100.0, 0.2), (1e-4, 1.2)])
def test_most_records_need_the_corners_only(scale, share):
    """Unless most densities are above 1: there all draws are taken, after about one in ten to no avail."""
    records = data(1, 1000, scale=scale)
    draws = draws_of(1, records, 1000)
    alpha = np.random.default_rng(2).uniform(size=1000)
    counting = Counting()
    result = record_bounds(counting, records, draws, [Sensitive(alpha, (0.4, 1.8), alpha)])[0]
    assert share / 2 < counting.computed / 1000**2 < share
    expected = over_all_draws(FAMILY, records, draws, [Sensitive(alpha, (0.4, 1.8), alpha)])[0]
    assert_same(result, expected)
    assert result.delta_mcse == maximum_mcse(result.by_draw) > 0


@pytest.mark.parametrize("n_draws", [1, 2, 3])
def test_bounds_from_few_draws(n_draws):
    records, draws = data(7, 50), draws_of(7, data(7, 50), n_draws)
    form = Sensitive(np.ones(50))
    with patch.object(bounds, "LEAST_WORK", 0):
        result = record_bounds(FAMILIES["gamma_regression"], records, {"beta": draws["beta"], "shape": draws["sigma"]}, [form])[0]
    assert result.delta == result.by_draw.max()


class Counting:
    """A family that counts the probabilities it computes."""

    computed = 0

    def __getattr__(self, name):
        return getattr(FAMILY, name)

    def log_interval_probability(self, records, draws, lower, upper):
        self.computed += count(draws) * len(records)
        return FAMILY.log_interval_probability(records, draws, lower, upper)


class Stub:
    """A family whose parameters are given, with the log-likelihood ``values[s] * x`` of which some are not finite."""

    def __init__(self, values, natural):
        self.values, self.given = np.asarray(values, dtype=float), np.asarray(natural, dtype=float)

    def natural(self, draws):
        return self.given[draws["s"].astype(int)]

    def of_natural(self, natural):
        return {"s": np.zeros(len(natural))}

    def factors(self, records, draws):
        return self.values[draws["s"].astype(int)][:, None], records.x[:, None]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["corner", "centre"])
def test_a_corner_that_is_no_number_has_no_finite_bound(value, place):
    """The first draw is the centre, to which the stub maps every mirrored corner too."""
    natural = np.random.default_rng(1).uniform(-1, 1, (50, 1))
    natural[0] = natural[1:].mean()
    values = -3 - np.abs(natural[:, 0])
    values[int(natural.argmax()) if place == "corner" else 0] = value
    records = Records(np.arange(1.0, 6.0), np.ones((5, 1)))
    arguments = Stub(values, natural), records, {"s": np.arange(50.0)}, [Sensitive(np.array([0, 1, 1, 0.5, 1.0]), threshold=1e3)]
    with always():
        result = record_bounds(*arguments)[0]
    expected = over_all_draws(*arguments)[0]
    assert result.by_record.tolist() == expected.by_record.tolist()
    assert result.beyond == expected.beyond == 4
    np.testing.assert_equal(result.delta_mcse, expected.delta_mcse)


def test_what_is_not_concave_is_taken_over_all_draws():
    """Other weights on the range than on the likelihood, as in the printed Equation 15, and weights below 0."""
    records = data(3, 30)
    draws = draws_of(3, records, 200)
    alpha = np.linspace(0.1, 1, 30)
    forms = [Sensitive(alpha, (0.6, 1.2), np.ones(30)), Sensitive(-alpha), Sensitive(alpha, (0.6, 1.2), alpha)]
    with always():
        results = record_bounds(FAMILY, records, draws, forms)
    expected = over_all_draws(FAMILY, records, draws, forms)
    for result, other in zip(results[:2], expected[:2], strict=True):
        assert result.by_draw.tolist() == other.by_draw.tolist()
    assert_same(results[2], expected[2])


def test_where_nothing_is_sensitive_the_bounds_are_zero():
    records = data(3, 30)
    with always():
        result = record_bounds(FAMILY, records, draws_of(3, records, 200), [Sensitive(np.zeros(30), (0.4, 1.8), np.zeros(30))])[0]
    assert result.delta == 0


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(60, 200))
def test_every_linear_function_is_largest_at_a_corner(seed, p, n_draws):
    records = data(seed, 20, p)
    draws = draws_of(seed, records, n_draws)
    with always():
        hull = hull_of(FAMILY, draws)
    natural = FAMILY.natural(draws)
    direction = np.random.default_rng(seed).standard_normal((natural.shape[1], 50)) / natural.std(axis=0)[:, None]
    assert (natural @ direction)[hull.corners].max(axis=0) == pytest.approx((natural @ direction).max(axis=0), rel=1e-12)
    assert len(hull.mirrored["sigma"]) == len(hull.corners) + 1
    centre, *mirrored = FAMILY.natural(hull.mirrored)
    assert centre == pytest.approx(natural.mean(axis=0))
    assert np.array(mirrored) == pytest.approx(centre - hull.reach * (natural[hull.corners] - centre))
    assert 0 < hull.reach <= 1


def test_draws_far_from_the_centre_are_mirrored_less_far():
    """One precision is a thousand times the others: mirrored at the centre it would be negative."""
    sigma = np.linspace(0.9, 1.1, 100)
    sigma[0] = 0.03
    hull = hull_of(FAMILY, {"beta": np.random.default_rng(1).standard_normal((100, 1)) / sigma[:, None], "sigma": sigma})
    assert hull is None or hull.reach < 1


def one_natural(natural):
    """Family with the given natural parameters."""
    natural = np.asarray(natural, dtype=float)
    return SimpleNamespace(natural=lambda draws: natural, of_natural=lambda points: {"s": points}), {"s": natural}


def test_the_corners_of_one_parameter_are_its_ends():
    hull = hull_of(*one_natural(np.arange(40.0)[:, None] % 17))
    assert hull.corners.tolist() == [0, 16]


CIRCLE = np.column_stack([np.cos(np.arange(100)), np.sin(np.arange(100))])
SPREAD = np.random.default_rng(4).standard_normal((100, 5))


@pytest.mark.parametrize(
    "natural",
    [np.zeros((100, 2)), CIRCLE, SPREAD, np.where(SPREAD[:, :2] > 2, np.nan, SPREAD[:, :2]), SPREAD[:3, :3]],
    ids=["one point", "all are corners", "too many parameters", "not numbers", "too few draws"],
)
def test_where_there_is_no_hull_of_use_there_is_none(natural):
    assert hull_of(*one_natural(natural)) is None


@pytest.mark.parametrize("name", CONCAVE)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 1))
def test_families_are_as_concave_as_they_say(name, seed, share):
    """The log-likelihood, truncated or not, is at least as large between two draws as between its values there."""
    family = FAMILIES[name]
    records = data(seed, 12)
    draws = draws_of(seed, records, 2, weight=0.3)
    natural = family.natural(draws)
    back = family.of_natural(natural)
    for parameter, values in draws.items():
        assert back[parameter] == pytest.approx(values, rel=1e-12)
    between = family.of_natural(share * natural[:1] + (1 - share) * natural[1:])
    interval = sensitive_range(records.x, 0.5, 1.5)
    truncated = [family.log_interval_probability(records, some, *interval) for some in (draws, between)]
    plain = [left @ right.T for left, right in (family.factors(records, some) for some in (draws, between))]
    for ends, middle in (plain, (plain[0] - truncated[0], plain[1] - truncated[1])):
        assert (middle[0] >= share * ends[0] + (1 - share) * ends[1] - 1e-9 * np.abs(ends).max(axis=0)).all()


def test_a_family_may_say_nothing():
    assert {"lognormal", "normal", "lognormal_regression"} <= set(CONCAVE)
    assert concave(FAMILIES["negative_binomial"]) is None


class Parabola:
    """A family with log-likelihood 1.15 - (theta - x)^2: above 0 at draws near x, and lowest at a corner."""

    def natural(self, draws):
        return draws["theta"][:, None]

    def of_natural(self, natural):
        return {"theta": natural[:, 0]}

    def factors(self, records, draws):
        theta, x = draws["theta"], records.x
        left = np.column_stack([np.ones(len(theta)), theta, theta**2])
        return left, np.column_stack([1.15 - x**2, 2 * x, -np.ones(len(x))])


@pytest.mark.parametrize("reach", [1.0, 0.5, 0.125])
def test_records_with_their_largest_value_inside_the_hull_are_taken_over_all_draws(reach):
    """At x = 0.5 it is 1.15, at the corners -1.1 and 0.9, at the centre 0.9."""
    records = intercept_only(np.linspace(-1, 1, 401))
    draws = {"theta": np.linspace(-1, 1, 201)}
    form = Sensitive(np.ones(len(records)))
    with always(reach):
        result = record_bounds(Parabola(), records, draws, [form])[0]
    expected = np.maximum(1.15, (1 + np.abs(records.x)) ** 2 - 1.15)
    assert result.by_record == pytest.approx(expected, rel=1e-4)
    assert_same(result, over_all_draws(Parabola(), records, draws, [form])[0])
