"""Joint distribution of all columns, with given margins and sums of pairs."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from formalsynth_release.joint import Sum, consistent, estimated, joint_of, raked, shrunk
from formalsynth_release.model import conditions
from formalsynth_release.variables import Variable, knots_of, scores_of

CORRELATIONS = st.lists(st.floats(-0.97, 0.97), min_size=1, max_size=20)
TABLE = np.array([[0.40, 0.05, 0.0, 0.01], [0.02, 0.02, 0.25, 0.05], [0.01, 0.10, 0.02, 0.07]])
"""Shares of two related columns of categories."""


def a_variable(name, shares, ordered):
    scores = scores_of(np.arange(len(shares), dtype=float), np.asarray(shares)) if ordered else None
    return Variable(name, name, np.arange(len(shares)), scores, np.asarray(shares))


def flat(names, levels=12):
    """Ordered variables whose levels have the same shares."""
    return [a_variable(name, np.full(levels, 1 / levels), True) for name in names]


def of_levels(names, levels):
    """Ordered variables with the shares of rows of levels (n, d)."""
    return [a_variable(name, np.bincount(of) / len(of), True) for name, of in zip(names, levels.T, strict=True)]


def some_missing(name, values, levels):
    """Ordered variable whose values above all levels are missing."""
    shares = np.bincount(values) / len(values)
    places = np.where(np.arange(len(shares)) < levels, np.arange(len(shares)), -1)
    variable = Variable(name, name, places, None, shares, positions=np.arange(float(levels)))
    return replace(variable, scores=scores_of(variable.positions, variable.own))


def normal_levels(correlation, number=200_000, bins=12):
    """Levels (number, d) of normal variables with a correlation matrix, in bins with equal shares."""
    normal = np.random.default_rng(1).multivariate_normal(np.zeros(len(correlation)), correlation, number)
    return np.minimum((stats.norm.cdf(normal) * bins).astype(int), bins - 1)


def sums_of(variables, levels, pairs, error=1e-9):
    """Exact means of the products of pairs in rows of levels (n, d)."""
    values = [variable.function.values[variable.function.codes[levels[:, k]]] for k, variable in enumerate(variables)]
    means = {pair: (values[pair[0]].T @ values[pair[1]] / len(levels)).ravel() for pair in pairs}
    return [Sum(variables[first], variables[second], mean, error) for (first, second), mean in means.items()]


def fitted(variables, sums, rows=20_000, never=()):
    shares = {variable.column: variable.shares for variable in variables}
    return joint_of(shares, conditions(estimated(sums), never), rows)


def correlation(places, first, second):
    return np.corrcoef(places[first], places[second])[0, 1]


def test_without_pairs_columns_are_independent_and_have_their_shares():
    shares = {"a": np.array([0.7, 0.2, 0.1]), "b": np.full(5, 0.2)}
    drawn = joint_of(shares, [], 20_000).drawn(500_000, np.random.default_rng(1))
    for name, share in shares.items():
        assert np.bincount(drawn[name]) / 500_000 == pytest.approx(share, abs=0.005)
    assert abs(correlation(drawn, "a", "b")) < 0.01


def test_a_simulation_has_the_penalty_of_the_file_that_is_released():
    """Penalties decrease with the number of rows, so a smaller one is less in the way of a strong relation."""
    levels = normal_levels(np.array([[1, 0.97], [0.97, 1]]))
    variables = flat("ab")
    shares = {variable.name: variable.shares for variable in variables}
    targets = conditions(estimated(sums_of(variables, levels, [(0, 1)])))
    alone, same, larger = (joint_of(shares, targets, 20_000, released).strengths[0] for released in (None, 20_000, 2_000_000))
    assert same == alone
    assert larger[0] > 1.1 * alone[0]


def test_a_chain_of_strong_relations_is_kept_and_the_ends_are_independent_given_the_middle():
    """The pair of the ends is not measured: 0.9 * 0.8 follows."""
    truth = np.array([[1, 0.9, 0.72], [0.9, 1, 0.8], [0.72, 0.8, 1]])
    levels = normal_levels(truth)
    variables = flat("abc")
    drawn = fitted(variables, sums_of(variables, levels, [(0, 1), (1, 2)])).drawn(20_000, np.random.default_rng(2))
    for first, second in itertools.combinations(range(3), 2):
        expected = np.corrcoef(levels[:, first], levels[:, second])[0, 1]
        assert correlation(drawn, "abc"[first], "abc"[second]) == pytest.approx(expected, abs=0.04), (first, second)
    for name in "abc":
        assert np.bincount(drawn[name]) / 20_000 == pytest.approx(np.full(12, 1 / 12), abs=0.02)


def test_weights_of_combinations_are_those_of_their_rows():
    """Many rows have few combinations, whose weights are computed once; rows in small parts have weights of their own."""
    levels = normal_levels(np.array([[1, 0.7, 0.5], [0.7, 1, 0.2], [0.5, 0.2, 1]]), number=3000, bins=5)
    variables = [a_variable(name, np.full(5, 0.2), ordered) for name, ordered in (("a", True), ("b", True), ("c", False))]
    joint = fitted(variables, sums_of(variables, levels, [(0, 1), (0, 2)]))
    places = dict(zip("abc", levels.T, strict=True))
    together, index = joint.weights("a", places)
    assert together.shape == (5, 25)
    parts = [joint.weights("a", {name: place[k : k + 40] for name, place in places.items()}) for k in range(0, 3000, 40)]
    assert {of_part for _, of_part in parts} == {None}
    assert together[:, index] == pytest.approx(np.hstack([part for part, _ in parts]), rel=1e-4)
    assert np.ptp(together, axis=1).min() > 0.1


def test_a_table_of_categories_is_given_back_and_another_column_stays():
    status, role = (a_variable(name, TABLE.sum(axis=axis), False) for name, axis in (("status", 1), ("role", 0)))
    age = a_variable("age", np.full(10, 0.1), True)
    sums = [Sum(status, role, TABLE.ravel(), 1e-9)]
    drawn = fitted([status, role, age], sums).drawn(40_000, np.random.default_rng(1))
    table = np.zeros(TABLE.shape)
    np.add.at(table, (drawn["status"], drawn["role"]), 1 / 40_000)
    assert table == pytest.approx(TABLE, abs=0.015)
    assert np.bincount(drawn["age"]) / 40_000 == pytest.approx(np.full(10, 0.1), abs=0.015)


def test_shares_of_a_sample_vary_as_those_of_independent_rows():
    """Given the other column, the variance of a share would be a third of that; its error in 300 samples is 8 %."""
    table, generator = np.full((3, 3), 1 / 60) + np.eye(3) * 17 / 60, np.random.default_rng(1)
    first, second = (a_variable(name, np.full(3, 1 / 3), False) for name in "ab")
    joint = fitted([first, second], [Sum(first, second, table.ravel(), 1e-9)])
    shares = [np.bincount(joint.drawn(500, generator, True)["a"], minlength=3) / 500 for _ in range(300)]
    assert np.var(shares, axis=0) == pytest.approx(2 / 9 / 500, rel=0.3)
    assert np.mean(shares, axis=0) == pytest.approx(1 / 3, abs=0.01)


def test_rare_cells_of_a_table_stay_rare():
    """Most of 2,500 cells are in no row of the pool, and rows are drawn in four blocks."""
    generator = np.random.default_rng(3)
    table = np.outer(*(1 / np.arange(1, 51) for _ in range(2))) * generator.gamma(0.5, 1, (50, 50))
    table /= table.sum()
    first, second = (a_variable(name, table.sum(axis=axis), False) for name, axis in (("a", 1), ("b", 0)))
    drawn = fitted([first, second], [Sum(first, second, table.ravel(), 1e-9)]).drawn(200_000, generator)
    ours = np.zeros((50, 50))
    np.add.at(ours, (drawn["a"], drawn["b"]), 1 / 200_000)
    assert np.abs(ours - table).sum() / 2 < 0.12  # a sample of 10,000 rows has about 0.12
    rare = table < 2e-4
    assert ours[rare].sum() == pytest.approx(table[rare].sum(), abs=0.08)


def test_the_error_of_a_fit_decreases_with_the_number_of_rows():
    """Rows of a large file need a large pool: with 10,000 rows, shares are a fixed 0.005 off."""
    levels = normal_levels(np.array([[1, 0.6], [0.6, 1]]), 400_000)
    variables = of_levels("ab", levels)
    drawn = fitted(variables, sums_of(variables, levels, [(0, 1)]), 400_000).drawn(400_000, np.random.default_rng(1))
    for variable in variables:
        assert np.bincount(drawn[variable.column]) / 400_000 == pytest.approx(variable.shares, abs=0.004)
    assert correlation(drawn, "a", "b") == pytest.approx(np.corrcoef(levels.T)[0, 1], abs=0.01)


def test_scores_of_an_order_by_category_are_given_back():
    """A few rows of one category are far above the others."""
    generator = np.random.default_rng(1)
    category = generator.choice(3, 100_000, p=[0.5, 0.3, 0.2])
    level = np.digitize(generator.standard_normal(100_000) + 0.8 * (category == 1) - 1.5 * (category == 2), [-2, -1, 0, 1, 2])
    levels = np.column_stack([category, level])
    variables = [a_variable(of.name, of.shares, of.name == "v") for of in of_levels("cv", levels)]
    drawn = fitted(variables, sums_of(variables, levels, [(0, 1)])).drawn(40_000, generator)
    for k in range(3):
        assert drawn["v"][drawn["c"] == k].mean() == pytest.approx(level[category == k].mean(), abs=0.1)


def test_values_that_only_some_rows_have_keep_their_relation():
    """Only two thirds of the rows work; hours of those are related to the income, and whether somebody works, too."""
    generator = np.random.default_rng(1)
    income = generator.integers(0, 8, 100_000)
    works = generator.random(100_000) < 0.3 + 0.08 * income
    hours = np.where(works, 1 + np.clip(income + generator.integers(-3, 4, 100_000), 0, 7), 0)
    levels, places = np.column_stack([income, hours, hours]), np.arange(9)
    of_income, of_hours, _ = of_levels("abc", levels)
    variables = [
        of_income,
        Variable("b", "b", places - 1, scores_of(np.arange(8.0), of_hours.shares[1:]), of_hours.shares),
        Variable("b kind", "b", np.minimum(places, 1), np.array([-20, 20]), of_hours.shares),
    ]
    drawn = fitted(variables, sums_of(variables, levels, [(0, 1), (0, 2)])).drawn(40_000, generator)
    there = drawn["b"] > 0
    assert there.mean() == pytest.approx(works.mean(), abs=0.02)
    assert np.corrcoef(there, drawn["a"])[0, 1] == pytest.approx(np.corrcoef(works, income)[0, 1], abs=0.03)
    ours = np.corrcoef(drawn["b"][there], drawn["a"][there])[0, 1]
    assert ours == pytest.approx(np.corrcoef(hours[works], income[works])[0, 1], abs=0.09)


@pytest.mark.parametrize("correlated", [0.5, 0.9])
def test_many_strong_relations_with_hats_are_kept_and_change_no_margin(correlated):
    """With many strengths, a fit of all of them at once lets all columns shift together."""
    levels = normal_levels(np.full((6, 6), correlated) + np.eye(6) * (1 - correlated), 60_000, 15)
    variables = of_levels("abcdef", levels)
    with_hats = [replace(variable, knots=knots_of(variable.own, 9)) for variable in variables]
    sums = sums_of(with_hats, levels, list(itertools.combinations(range(6), 2)), 1e-5)
    drawn = fitted(variables, sums, 60_000).drawn(60_000, np.random.default_rng(2))
    for variable in variables:
        assert np.bincount(drawn[variable.column], minlength=15) / 60_000 == pytest.approx(variable.shares, abs=0.004)
    ours = np.corrcoef([drawn[name] for name in "abcdef"])
    assert ours == pytest.approx(np.corrcoef(levels.T), abs=0.04)


def test_raked_rows_have_the_shares_and_keep_their_relation():
    generator = np.random.default_rng(5)
    rows = generator.integers(0, 4, 10_000)
    places = {"a": rows, "b": np.where(generator.random(10_000) < 0.7, rows, generator.integers(0, 4, 10_000))}
    shares = {"a": np.array([0.4, 0.3, 0.2, 0.1]), "b": np.array([0.4, 0.3, 0.25, 0.05])}
    drawn = raked(places, shares, generator)
    for name, share in shares.items():
        assert np.bincount(drawn[name]) / 10_000 == pytest.approx(share, abs=0.01)
    assert correlation(drawn, "a", "b") == pytest.approx(correlation(places, "a", "b"), abs=0.07)
    assert len(raked({"a": np.zeros(5, dtype=int)}, {"a": np.array([0.5, 0.5])}, generator)["a"]) == 5


def test_noise_larger_than_any_relation_leaves_columns_independent():
    variables = flat("ab", 6)
    drawn = fitted(variables, [Sum(*variables, np.array([40.0]), 50.0)]).drawn(20_000, np.random.default_rng(1))
    assert abs(correlation(drawn, "a", "b")) < 0.1


def test_noise_of_a_margin_is_no_relation_with_categories():
    """The sums over all categories add up to the mean score; here its margin is 0.2 wrong, and there is no relation."""
    category, score = a_variable("c", np.array([0.5, 0.3, 0.2]), False), a_variable("v", np.full(6, 1 / 6), True)
    for first, second in ((category, score), (score, category)):
        sums = [Sum(first, second, 0.2 * category.shares, 1e-3)]
        assert sums[0].differences() == pytest.approx(np.zeros(3), abs=1e-12)
        drawn = fitted([category, score], sums).drawn(20_000, np.random.default_rng(1))
        assert np.bincount(drawn["v"]) / 20_000 == pytest.approx(np.full(6, 1 / 6), abs=0.02)
        assert abs(correlation(drawn, "c", "v")) < 0.05


def test_sums_that_no_rows_have_give_a_strong_relation_and_no_error():
    variables = flat("abc", 6)
    sums = [Sum(variables[first], variables[second], np.array([sign]), 1e-6) for first, second, sign in
            ((0, 1, 5.0), (1, 2, 5.0), (0, 2, -5.0))]  # fmt: skip
    drawn = fitted(variables, sums).drawn(5000, np.random.default_rng(1))
    assert correlation(drawn, "a", "b") > 0.3
    for name in "abc":
        assert np.bincount(drawn[name], minlength=6) / 5000 == pytest.approx(np.full(6, 1 / 6), abs=0.06)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.lists(st.floats(-2, 2), min_size=1, max_size=6), st.data())
def test_whatever_the_noisy_numbers_levels_are_drawn(shares, noisy, data):
    share = (np.array(shares) + 1e-9) / (sum(shares) + len(shares) * 1e-9)
    first, second = a_variable("a", share, data.draw(st.booleans())), a_variable("b", np.full(3, 1 / 3), data.draw(st.booleans()))
    size = first.function.values.shape[1] * second.function.values.shape[1]
    means = np.resize(np.array(noisy), size)
    drawn = fitted([first, second], [Sum(first, second, means, data.draw(st.floats(0, 10)))]).drawn(40, np.random.default_rng(1))
    assert all(drawn["a"] >= 0) and all(drawn["a"] < len(share))
    assert all(drawn["b"] >= 0) and all(drawn["b"] < 3)


def test_a_strong_relation_among_weak_ones_stays_strong():
    values = np.array([0.9, 0.05, 0.02, -0.03, 0.04, 0.01, 0.06, -0.05, 0.02, 0.01])
    result, _ = shrunk(values, np.full(10, 0.15))
    assert result[0] > 0.8
    assert np.abs(result[1:]).max() < 0.03
    assert shrunk(values, np.zeros(10))[0] == pytest.approx(values)  # without noise, estimates stay


def test_many_strong_relations_are_hardly_shrunk():
    generator = np.random.default_rng(1)
    truth = generator.normal(scale=0.6, size=2000)
    result, error = shrunk(truth + generator.normal(scale=0.3, size=2000), np.full(2000, 0.3))
    # the best linear factor is 0.36 / (0.36 + 0.09) = 0.8, with the error sqrt(0.36 * 0.2) = 0.268
    assert np.sqrt(((result - truth) ** 2).mean()) == pytest.approx(0.268, rel=0.1)
    assert error == pytest.approx(np.full(2000, 0.268), rel=0.1)


def test_the_stated_uncertainty_is_the_error_of_relations_few_of_which_are_strong():
    generator = np.random.default_rng(2)
    truth = generator.normal(size=4000) * np.where(generator.random(4000) < 0.2, 0.5, 0.02)
    noisy = truth + generator.normal(scale=0.1, size=4000)
    result, error = shrunk(noisy, np.full(4000, 0.1))
    weak = np.abs(noisy) < 0.15
    for part in (weak, ~weak):
        assert np.sqrt((error[part] ** 2).mean()) == pytest.approx(np.sqrt(((result - truth)[part] ** 2).mean()), rel=0.25)
    assert error[weak].mean() < 0.6 * 0.1


def test_estimated_sums_keep_the_means_of_independent_columns_and_state_what_is_uncertain():
    variables = flat("abc", 6)
    sums = [Sum(variables[k], variables[(k + 1) % 3], np.array([mean]), 0.02) for k, mean in enumerate((0.3, 0.001, -0.25))]
    strong, weak, opposite = estimated(sums)
    assert strong.means == pytest.approx([0.3], abs=0.02)
    assert opposite.means == pytest.approx([-0.25], abs=0.02)
    assert abs(weak.means[0]) < 0.001
    assert weak.kept < strong.kept == pytest.approx(1.0, rel=0.1)
    assert weak.uncertain(np.array([40.0])) == pytest.approx(40 * weak.kept)
    for after, before in zip(consistent(sums), sums, strict=True):
        assert after.means == pytest.approx(before.means)
    assert consistent(sums)[0].uncertain(np.array([40.0])) == 40
    assert estimated([]) == []


@given(CORRELATIONS, st.data())
def test_estimates_are_shrunk_towards_0_and_never_beyond(values, data):
    errors = data.draw(st.lists(st.floats(0, 1e6), min_size=len(values), max_size=len(values)))
    result, _ = shrunk(np.array(values), np.array(errors))
    assert (np.abs(result) <= np.abs(values) * (1 + 1e-12)).all()
    assert (result * np.array(values) >= 0).all()


def test_strengths_have_the_penalty_of_the_documentation():
    """The gradient of the penalized likelihood is 0: what a mean falls short of is the penalty times the strength.

    The pool has 10,000 rows, whose noise is a tenth of this difference.
    """
    levels = normal_levels(np.array([[1, 0.97], [0.97, 1]]))
    variables = flat("ab")
    (of_pair,) = sums_of(variables, levels, [(0, 1)])
    joint = fitted(variables, [of_pair])
    values = [variable.function.values[variable.function.codes][:, 0] for variable in variables]
    products, strength = np.outer(*values), joint.strengths[0][0]
    weights = np.exp(joint.fields["a"][:, None] + joint.fields["b"] + strength * products)
    short = of_pair.means[0] - (weights * products).sum() / weights.sum()
    assert short * 10_000 / (strength * of_pair.spreads[0] ** 2) == pytest.approx(30, rel=0.35)


def test_levels_that_no_row_has_together_are_hardly_drawn_and_shares_stay():
    shares = {"hours": np.array([0.3, 0.3, 0.4]), "pay": np.array([0.35, 0.35, 0.3])}
    unpaid, paid = np.array([True, False, False]), np.array([False, True, True])
    never = conditions([], [("hours", unpaid, "pay", paid)])
    drawn = joint_of(shares, never, 20_000).drawn(20_000, np.random.default_rng(1))
    assert ((drawn["hours"] == 0) & (drawn["pay"] > 0)).mean() < 0.01
    assert np.bincount(drawn["pay"]) / 20_000 == pytest.approx([0.35, 0.35, 0.3], abs=0.015)


def test_values_that_a_rule_excludes_are_all_of_the_missing_ones():
    """Who does not work has no pay and is old; age and pay alone would have missing pay at all ages, on top of the rule."""
    generator = np.random.default_rng(1)
    age = generator.integers(0, 12, 100_000)
    works = (generator.random(100_000) < 1 / (1 + np.exp(age - 8))).astype(int)
    pay = np.where(works == 1, np.clip(age // 2 + generator.integers(0, 5, 100_000), 0, 9), 10)
    variables = [some_missing(name, of, levels) for name, of, levels in (("age", age, 12), ("works", works, 2), ("pay", pay, 10))]
    sums = sums_of(variables, np.column_stack([age, works, pay]), [(0, 1), (0, 2)])
    rule = "works", np.array([True, False]), "pay", np.arange(11) < 10
    drawn = fitted(variables, sums, 100_000, [rule]).drawn(100_000, generator)
    missing = drawn["pay"] == 10
    assert (missing | (drawn["works"] == 0)).mean() == pytest.approx((pay == 10).mean(), abs=0.003)
    assert drawn["age"][missing].mean() == pytest.approx(age[works == 0].mean(), abs=0.2)


def test_missing_values_stay_where_they_are():
    """A tenth of y is missing, wherever x is; largest entropy alone would move it to the middle of x."""
    generator = np.random.default_rng(1)
    x = np.clip(np.rint(generator.normal(5, 2, 100_000)), 0, 10).astype(int)
    y = np.where(generator.random(100_000) < 0.1, 11, np.clip(x + generator.integers(-1, 2, 100_000), 0, 10))
    variables = [some_missing(name, values, 11) for name, values in (("x", x), ("y", y))]
    drawn = fitted(variables, sums_of(variables, np.column_stack([x, y]), [(0, 1)]), 100_000).drawn(100_000, generator)
    for low, high in ((0, 3), (3, 7), (7, 11)):
        there = (drawn["x"] >= low) & (drawn["x"] < high)
        assert (drawn["y"][there] == 11).mean() == pytest.approx(0.1, abs=0.02)
    there, of_file = drawn["y"] < 11, y < 11
    ours = np.corrcoef(drawn["x"][there], drawn["y"][there])[0, 1]
    assert ours == pytest.approx(np.corrcoef(x[of_file], y[of_file])[0, 1], abs=0.015)
