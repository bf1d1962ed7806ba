"""Several columns under one budget: what it costs, what is counted, and what synthetic rows keep."""

import dataclasses
import functools
import itertools
import math
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import households
import numpy as np
import pandas as pd
import pytest
import small_release
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from conftest import REPOSITORY
from formalsynth_release import layout
from formalsynth_release.analyses import estimates
from formalsynth_release.command import main
from formalsynth_release.crossing import Part, read_crossing
from formalsynth_release.intervals import Way, simulated_noise, values
from formalsynth_release.levels import MISSING, levels_of
from formalsynth_release.margins import inside, shares_of, smoothed
from formalsynth_release.model import Model
from formalsynth_release.public import fill
from formalsynth_release.schema import Analyses, Column
from formalsynth_release.tables import knots_for, measured, part_with_wrong_scores
from formalsynth_release.tables_check import drawn_again
from formalsynth_release.variables import STEPS

a_schema = functools.partial(small_release.a_schema, **households.DECLARED, columns=households.COLUMNS)


def typed(text):
    """Rows of households with their types."""
    return small_release.typed(a_schema(), text.replace("", np.nan))


SMALL = {
    "kind": {"type": "category", "categories": ["a", "b", "c"], "release": "synthesized"},
    "group": {"type": "category", "categories": ["x", "y", "z"], "release": "synthesized"},
    "size": {"type": "whole", "lower": 0, "upper": 3, "bins": 4, "own_zero": True, "may_be_missing": True},
    "age": {"type": "number", "lower": 0, "upper": 10, "bins": 3, "release": "synthesized"},
}
VALUES = [["a", "b", "c"], ["x", "y", "z"], [math.nan, 0.0, 1.0, 3.0], [0.0, 5.0, 10.0, 1e9]]
ROWS = list(itertools.product(*VALUES))


def small(neighbours):
    return a_schema(columns=SMALL, outcome="size", rows=4, neighbours=neighbours, accept_noise=households.all_pairs(SMALL))


@pytest.mark.parametrize(("neighbours", "sensitivity"), [("replace", 2), ("add_remove", 1)])
def test_each_part_has_the_noise_that_its_epsilon_asks_for(neighbours, sensitivity):
    rows = pd.DataFrame(ROWS[:40], columns=list(SMALL))
    parts = measured(small(neighbours), rows, 1.5)
    assert math.fsum(part.epsilon for part in parts) == pytest.approx(1.5, abs=1e-12)
    assert {part.largest for part in parts} == {1, STEPS, STEPS**2}
    for part in parts:
        assert part.scale == pytest.approx(sensitivity * part.largest / part.epsilon)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1e12, 1e12) | st.just(math.nan) | st.sampled_from([0.0, -0.0, 1e-300]), min_size=1, max_size=30))
def test_every_number_has_a_level_and_comes_back_inside_it(values):
    column = Column.model_validate({"type": "number", "lower": -50, "upper": 500, "decimals": 2, "scale": "signed_log", "unit": 1,
                                    "bins": 9, "own_zero": True, "may_be_missing": True})  # fmt: skip
    levels = levels_of(column)
    places = levels.of(pd.Series(values, dtype=float))
    there = ~np.isnan(values)
    assert ((places == MISSING) == ~there).all()
    again = levels.of(pd.Series(levels.values(places[there], np.full(there.sum(), 0.5))))
    assert (again == places[there]).all()
    assert (np.sign(np.array(values)[there]) == np.sign(places[there] - levels.below)).all()


@pytest.mark.parametrize("column", [
    {"type": "whole", "lower": 1, "upper": 7, "bins": 7},
    {"type": "whole", "lower": 18, "upper": 95, "bins": 16},
    {"type": "whole", "lower": 0, "upper": 80, "bins": 16, "own_zero": True},
    {"type": "whole", "lower": -9, "upper": 5, "bins": 40, "own_zero": True},
    {"type": "number", "lower": 1, "upper": 100, "scale": "log", "bins": 4, "decimals": 3},
    {"type": "whole", "lower": 1, "upper": 1000, "scale": "log", "bins": 30},
    {"type": "whole", "lower": -50_000, "upper": 500_000, "scale": "signed_log", "unit": 10, "bins": 300, "own_zero": True},
    {"type": "number", "lower": -1e9, "upper": 1e9, "bins": 1000, "decimals": 10},
    {"type": "category", "categories": ["x", "y"]},
])  # fmt: skip
def test_values_stay_in_their_levels(column):
    levels = levels_of(Column.model_validate(column))
    places = np.arange(len(levels))
    for share in (0.0, 1e-4, 0.4, 0.5, 1 - 1e-12):
        assert (levels.of(pd.Series(levels.values(places, np.full(len(levels), share)))) == places).all()


def test_ages_in_bins_of_four_or_five_years_keep_the_shares_of_their_bins():
    """Drawn between the ends of bins and then rounded, ages of a bin of four years would be a sixth too rare."""
    levels = levels_of(Column.model_validate({"type": "whole", "lower": 18, "upper": 95, "bins": 16}))
    ages = np.arange(18, 96)
    years = np.bincount(levels.of(pd.Series(ages)))
    assert set(years) == {4, 5}
    shares = shares_of(levels, 100.0 * years, 0.1, 7800.0)
    assert shares == pytest.approx(years / 78, rel=1e-3)
    within = (np.arange(1000) + 0.5) / 1000
    drawn = np.concatenate([levels.values(np.full(years[k] * 1000, k), np.repeat(within, years[k])) for k in range(16)])
    assert np.bincount(drawn.astype(int), minlength=96)[18:] == pytest.approx(1000, rel=0.02)


def test_smoothing_is_as_strong_as_the_noise_asks_for():
    generator, bins = np.random.default_rng(3), np.linspace(-3, 3, 30)
    true = 400 * np.exp(-(bins**2) / 2)
    noisy = true + generator.laplace(0, 30, 30)
    assert np.abs(smoothed(noisy, 1800.0, np.ones(30)) - true).mean() < 0.6 * np.abs(np.maximum(noisy, 0) - true).mean()
    sharp = np.where(np.arange(30) == 12, 5000.0, 100.0)
    assert smoothed(sharp, 0.5, np.ones(30))[12] > 4000


def test_noise_does_not_lengthen_the_tail_of_incomes():
    """The 99 % quantile is 5 % off on average; with a penalty on second differences, which goes on straight, it is 14 %."""
    generator, errors = np.random.default_rng(4), []
    levels = levels_of(Column.model_validate(households.COLUMNS["income"]))
    run = levels.runs[-1]
    for seed in range(30):
        incomes = typed(households.households(seed=seed))["income"].dropna()
        incomes = incomes[incomes > 0]
        noisy = np.bincount(levels.of(incomes) - run.start, minlength=run.stop - run.start) + generator.laplace(0, 8.3, 18)
        shares = smoothed(noisy, 2 * 8.3**2, levels.widths[run] / levels.widths[run].mean())
        places = generator.choice(18, 50_000, p=shares / shares.sum())
        within = inside(shares / shares.sum(), levels.widths[run], places, generator.random(50_000))
        drawn = np.quantile(levels.values(places + run.start, within), 0.99)
        errors.append(abs(drawn / np.quantile(incomes, 0.99) - 1))
    assert np.mean(errors) < 0.1


def test_values_fall_inside_the_bins_of_a_tail():
    """The mean of an exponential distribution is that of its bins only if values inside a bin are not uniform."""
    ends = np.arange(13) / 2
    shares = -np.diff(np.exp(-ends))
    shares /= shares.sum()
    uniform = (np.arange(1000) + 0.5) / 1000
    means = [(k + inside(shares, np.full(12, 0.5), np.full(1000, k), uniform).mean()) / 2 for k in range(12)]
    assert shares @ means == pytest.approx(1 - 6 * np.exp(-6) / (1 - np.exp(-6)), abs=0.003)
    assert shares @ (ends[:-1] + 0.25) > 1.005
    assert inside(np.full(4, 0.25), np.ones(4), np.array([0, 3]), np.array([0.3, 0.6])) == pytest.approx([0.3, 0.6])


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Declared study of the households."""
    monkeypatch.chdir(tmp_path)
    return households.declared_study()


def test_means_that_bins_change_are_named(study, capsys):
    """Most hours of workers are multiples of five."""
    named = "mean of hours: noisy tables draw values anywhere in their bins, which would change it by -"
    for rows, says in ((households.households(), False), (households.workers(), True)):
        rows.to_csv("households.csv", index=False)
        assert main(["check", "studies/households"]) == 0
        assert (named in capsys.readouterr().out) == says


def test_numbers_that_are_drawn_again_stay_in_their_bins():
    rows, columns = typed(households.households(4000, 1)), a_schema().columns
    for name in ("age", "weight", "income", "hours"):
        column, values = columns[name], rows[name]
        again = drawn_again(column, values)
        assert np.array_equal(levels_of(column).of(again), levels_of(column).of(values))
        assert np.array_equal(again.isna(), values.isna())
        if name == "income":
            assert (again != values).mean() > 0.5
    assert drawn_again(columns["income"], pd.Series([np.nan, np.nan])).isna().all()


def test_households_are_released_and_their_sets_combined(study, small_pool, capsys, monkeypatch):
    """The code in README.md, combine.py, combine.R and the example give the same interval."""
    monkeypatch.setattr("formalsynth_release.publish.compute_release", fill)
    assert main(["release", "studies/households"]) == 0, capsys.readouterr().err
    monkeypatch.chdir("releases/households")
    crossing, _ = read_crossing(Path())
    assert math.fsum(part.epsilon for part in crossing.tables) == pytest.approx(2.0)
    assert len(Path("crossing.yaml").read_text().splitlines()) <= 300
    frame = pd.read_csv("synthetic_1.csv")
    assert list(frame) == [name for name in households.COLUMNS if name != "id"]
    assert len(frame) == 4000
    assert 0.02 < frame["income"].isna().mean() < 0.12
    assert frame.drop(columns="income").notna().all().all()
    readme = " ".join(Path("README.md").read_text().split())
    assert re.search(r"from the noise \| \| --- \| --- \| \| age and hours kind \| 0\.\d+ \| ", readme)
    assert "the relations of 14 pairs of columns" in Path("LEGAL.md").read_text()
    assert "The intervals are for the population, if the file is a simple random sample of it." in readme
    assert "none: the pair income and weight is not declared" in readme
    assert "relations with the column weight: no pair is kept" in readme
    assert "Relations with the columns hours, income describe only rows with a value above 0" in readme
    monkeypatch.syspath_prepend(Path.cwd())
    exec(Path("README.md").read_text().split("```python")[1].split("```")[0], {})
    combine = runpy.run_path("combine.py")["combine"]
    mean = float(np.mean([pd.read_csv(f"synthetic_{k}.csv")["income"].mean() for k in (1, 2)]))
    estimate, error, (low, high) = combine([mean, mean], "mean of income")
    assert capsys.readouterr().out.splitlines()[-1] == str((estimate, error, (low, high)))
    assert f"| mean of income | {estimate:g} | {error:g} | {low:g} to {high:g} |" in readme
    assert combine([3.0, 5.0]) == (4.0, None, None)
    for number, name, says in ((1, "mean of income", "1 estimates; needed: one"), (2, "the mean", "the mean is not declared")):
        with pytest.raises(ValueError, match=says):
            combine([mean] * number, name)
    share = "share of income equal to 0"
    assert (combine([0.0, 0.0], share)[2][0], combine([1.0, 1.0], share)[2][1]) == (0.0, 1.0)  # no share is below 0 or above 1
    if rscript := shutil.which("Rscript"):
        program = f'source("combine.R"); cat(unlist(combine(c({mean!r}, {mean!r}), "mean of income")))'
        ran = subprocess.run([rscript, "-e", program], capture_output=True, text=True, check=True)
        assert np.allclose([float(number) for number in ran.stdout.split()], [estimate, error, low, high], rtol=1e-4)
    monkeypatch.setattr(sys, "argv", ["read_release.py", ".", "income"])
    runpy.run_path(str(REPOSITORY / "examples" / "read_release.py"))
    assert capsys.readouterr().out.startswith(f"mean of income from 2 sets: {estimate:.4g}, standard error {error}, ")


WAY = {"age": households.COLUMNS["age"], "sex": households.COLUMNS["sex"], "income": households.COLUMNS["income"]}
ANALYSES = Analyses.model_validate({
    "shares": [{"column": "income", "above": 30_000}], "quantiles": [0.5], "regressions": [{"predictors": ["age"]}],
    "replicates": 40,
})  # fmt: skip


def test_simulated_errors_are_those_of_releases(small_pool):
    """Release 40 files of one population: their spread, and how many have the population inside their interval."""
    schema = a_schema(columns=WAY, pairs=[["age", "income"]], rows=1000)
    files = [typed(households.households(1000, seed))[list(WAY)] for seed in range(40)]
    way = Way(schema, ANALYSES, 4.0, 1000, 2000, 0)
    generator, truth = np.random.default_rng(1), values(schema, ANALYSES, typed(households.households(50_000, 61))[list(WAY)])
    noise = functools.partial(simulated_noise, generator, {})
    models = [Model.of(schema, measured(schema, rows, 4.0, noise)) for rows in files]
    released = np.array([way.released(model, generator) for model in models])
    bias, error = way.errors(models[0], 40, generator)
    # the standard error of a spread of 40 is 11 %
    assert error == pytest.approx(released.std(axis=0), rel=0.6)
    assert (np.abs(released - bias - truth) < 2 * error).mean(axis=0).min() > 0.6  # with the error of a single release
    fewer = dataclasses.replace(way, largest=400)
    assert fewer.fraction == 0.4
    assert fewer.errors(models[0], 30, generator)[1] == pytest.approx(error, rel=0.7)


def test_sums_are_read_with_the_scores_that_crossed():
    """Another machine may compute other scores where noise exceeds the counts."""
    schema, rows = small("replace"), pd.DataFrame(ROWS * 40, columns=list(SMALL))
    parts = measured(schema, rows, 200.0)
    assert set(parts[2].scores) == {"size"}  # its kinds, three with missing values, have no order
    assert parts[3].scores["age"] == (-20, 0, 20)
    reversed_age = tuple(
        part.model_copy(update={"scores": {name: scores[::-1] for name, scores in part.scores.items()}}) if k == 3 else part
        for k, part in enumerate(parts)
    )
    ours, theirs = (Model.of(schema, read).targets for read in (parts, reversed_age))
    for pair in (("kind", "age"), ("group", "age")):
        for targets, scores in ((ours, [-1, 0, 1]), (theirs, [1, 0, -1])):
            assert targets[pair].of_pair.term.second.of_levels.ravel().tolist() == scores


def test_the_shape_of_a_relation_is_kept_where_rows_and_epsilon_allow_it():
    """Most people stop working between 58 and 67, which the correlation with age does not say."""
    schema = a_schema(pairs=households.PAIRS, rows=100_000).public
    rows, works = typed(households.workers(100_000, 5)), []
    parts = measured(schema, rows, 2.0)
    assert {part.name: part.shape for part in parts}["hours by income"] == (9, 9)
    assert part_with_wrong_scores(schema, parts, 9) == ""
    drawn = Model.of(schema, parts).rows(100_000, np.random.default_rng(1))
    for frame in (rows, drawn):
        works.append((frame["hours"] > 0).groupby(pd.cut(frame["age"], [17, 22, 57, 66, 95]), observed=True).mean())
    assert works[1].to_numpy() == pytest.approx(works[0].to_numpy(), abs=0.06)
    ranks = [frame[["age", "size", "income"]].corr(method="spearman").to_numpy() for frame in (rows, drawn)]
    assert ranks[1] == pytest.approx(ranks[0], abs=0.03)


@pytest.mark.parametrize(("rows", "epsilon", "pairs", "knots"), [
    (4000, 2.0, households.PAIRS, 0), (4000, 200.0, households.PAIRS, 0), (100_000, 2.0, households.PAIRS, 9),
    (100_000, 0.2, households.PAIRS, 0), (1_000_000, 0.2, households.PAIRS, 9),
    (100_000, 2.0, households.all_pairs(households.COLUMNS), 0),
])  # fmt: skip
def test_hats_need_rows_and_epsilon(rows, epsilon, pairs, knots):
    declared = layout.Layout(a_schema(pairs=pairs).public)
    assert knots_for(declared, rows, declared.epsilon_of_pair(epsilon, len(pairs))) == knots


def test_knots_that_do_not_follow_from_the_counts_are_found():
    schema = a_schema(pairs=households.PAIRS, rows=100_000).public
    parts = measured(schema, typed(households.households(2000)), 2.0, knots=9)
    assert part_with_wrong_scores(schema, parts, 9) == ""
    age = parts[[part.name for part in parts].index("margin of age")]
    first, second, *others, last = age.knots["age"]
    wrong = [(0, *others, 14, 15), age.knots["age"][::-1], (first, second, *others, last + 1)]
    for knots in (*wrong, (first, second, second, *others[1:], last), (first + 1, second + 1, *others, last)):
        changed = [part.model_copy(update={"knots": {"age": knots}}) if part is age else part for part in parts]
        assert part_with_wrong_scores(schema, changed, 9) == "margin of age"


def test_noise_in_the_mean_of_hours_is_no_relation_with_income():
    """Those who work have higher incomes, which do not depend on their hours. The noisy margin makes long hours too frequent."""
    generator = np.random.default_rng(5)
    works = generator.random(20_000) < 0.6
    rows = pd.DataFrame({
        "hours": np.where(works, generator.integers(1, 41, 20_000), 0).astype(float),
        "income": np.clip(generator.normal(40 + 25 * works, 10), 1, 99).round(),
    })  # fmt: skip
    schema = a_schema(
        columns={"hours": {"type": "whole", "lower": 0, "upper": 40, "bins": 8, "own_zero": True, "release": "synthesized"},
                 "income": {"type": "whole", "lower": 0, "upper": 100, "bins": 20}},
        pairs=[["hours", "income"], ["hours kind", "income"]], rows=20_000,
    ).public  # fmt: skip

    def noise(names, counts, epsilon, sensitivity):
        return [count + 250 * k for k, count in enumerate(counts)] if names == ("hours",) else list(counts)

    parts = measured(schema, rows, 1000.0, noise, knots=0)
    assert [part.name for part in parts[2:]] == ["hours kind by income", "hours by income"]
    assert set(parts[3].scores) == {"income"}
    drawn = Model.of(schema, parts).rows(40_000, generator)
    at_work = drawn[drawn["hours"] > 0]
    assert abs(at_work.corr().loc["hours", "income"]) < 0.04  # 0.32 with scores that are not centred among those who work
    assert at_work["income"].mean() - drawn.loc[drawn["hours"] == 0, "income"].mean() == pytest.approx(25, abs=4)


def test_pairs_whose_parts_have_the_same_name_stay_separate():
    """ "a by b" with the kind of c, and a with the kind of "b by c"."""
    whole = {"type": "whole", "lower": 0, "upper": 9, "bins": 10, "release": "synthesized"}
    missing = {"own_zero": True, "may_be_missing": True}
    columns = {"a by b": whole, "a": whole, "c": whole | {"may_be_missing": True}, "b by c": whole | missing | {"release": None}}
    schema = a_schema(columns=columns, outcome="b by c", rows=200, accept_noise=households.all_pairs(columns)).public
    generator = np.random.default_rng(1)
    rows = pd.DataFrame({name: generator.integers(0, 10, 200).astype(float) for name in columns})
    parts = measured(schema, rows, 4.0)
    assert len({part.name for part in parts}) < len(parts)
    assert part_with_wrong_scores(schema, parts, 0) == ""
    model = Model.of(schema, parts)
    assert len(model.targets) == len(parts) - 4
    one = {"a", "b by c"}
    pairs = layout.Reading.of(schema, [part for part in parts if set(part.columns) != one]).layout.pairs
    assert one not in [{name.removesuffix(" kind") for name in pair} for pair in pairs]
    assert len(model.rows(50, generator)) == 50


@pytest.mark.parametrize("score", [21, -21])
def test_scores_that_would_cost_more_are_refused(score):
    part = measured(small("replace"), pd.DataFrame(ROWS, columns=list(SMALL)), 1.5)[3]
    with pytest.raises(ValueError, match="20"):
        Part.model_validate(part.model_dump() | {"scores": {"age": [score, 0, 20]}})


def test_simulated_noise_is_that_of_a_release():
    """Discrete Laplace noise of scale 4: its variance, and the probability of 0."""
    noise = np.array(simulated_noise(np.random.default_rng(1), {}, ("a",), [7] * 40_000, 0.5, 2.0)) - 7
    ratio = math.exp(-1 / 4)
    assert noise.var() == pytest.approx(2 * ratio / (1 - ratio) ** 2, rel=0.06)
    assert (noise == 0).mean() == pytest.approx((1 - ratio) / (1 + ratio), abs=0.008)


def test_analyses_are_those_of_the_rows():
    schema = a_schema(columns=SMALL, outcome="size", rows=4)
    rows = pd.DataFrame({
        "kind": ["a", "b", "c", "a", "b", "c"], "group": ["x", "x", "y", "y", "z", "z"],
        "size": [0, 1, 2, 3, 1, math.nan], "age": [1.0, 2.0, 4.0, 9.0, 3.0, 5.0],
    })  # fmt: skip
    given = {
        "means": ["age"], "quantiles": [0.5], "regressions": [{"predictors": ["kind"]}, {"predictors": ["age"], "log": True}],
        "shares": [{"column": "size", "missing": True}, {"column": "size", "above": 1}, {"column": "kind", "value": "a"}],
    }  # fmt: skip
    results = estimates(schema, Analyses.model_validate(given), rows)
    assert results["mean of size"] == pytest.approx((1.4, math.sqrt(1.3 / 5)))
    assert results["mean of age"][0] == 4.0
    assert [results[f"share of {name}"][0] for name in ("size missing", "size above 1", "kind equal to a")] == pytest.approx(
        [1 / 6, 1 / 3, 1 / 3]
    )
    assert results["0.5 quantile of size"][0] == 1.0
    assert results["size on kind: kind b"][0] == pytest.approx(-0.5)
    fit = stats.linregress([2.0, 4.0, 9.0, 3.0], np.log([1.0, 2.0, 3.0, 1.0]))
    assert results["log size on age: age"] == pytest.approx((fit.slope, fit.stderr))


def test_a_public_number_of_rows_is_not_declared_again(study, capsys):
    households.declare(study, {"release.yaml": {"rows": 100}})
    assert main(["release", "studies/households"]) == 1
    error = capsys.readouterr().err
    assert "release.yaml: rows: given 100; allowed: 4000, or leave it out: the number of rows of this file is public" in error
    assert error.splitlines()[-1] == "No epsilon is spent."
