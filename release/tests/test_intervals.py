"""Intervals of noisy tables of all columns: errors of a file with fewer simulated rows, and analyses without an interval."""

import math
from types import MappingProxyType

import households
import numpy as np
import pandas as pd
import pytest
import small_release

from formalsynth_release import intervals
from formalsynth_release.intervals import Analysed, Way, analysed, without_interval
from formalsynth_release.levels import levels_of
from formalsynth_release.model import Model
from formalsynth_release.schema import Analyses, Column
from formalsynth_release.tables import measured

COLUMNS = {
    "score": {"type": "whole", "lower": 0, "upper": 100, "bins": 10},
    "absent": {"type": "whole", "lower": 0, "upper": 20, "bins": 21, "release": "synthesized"},
    "school": {"type": "category", "categories": ["a", "b", "c"], "release": "synthesized"},
}


def a_schema(rows, **score):
    columns = COLUMNS | {"score": COLUMNS["score"] | score}
    declared = {"rows": rows, "protected": "pupil", "outcome": "score", "columns": columns}
    return small_release.a_schema(**households.DECLARED | declared).public


def pupils(rows, slope, seed=1):
    """Scores that fall with the number of absences."""
    generator = np.random.default_rng(seed)
    absent = generator.binomial(20, generator.beta(2, 4, rows))
    score = np.clip(np.rint(80 + slope * (absent - 7) + 6 * generator.standard_normal(rows)), 0, 100)
    return pd.DataFrame({"score": score, "absent": absent.astype(float), "school": generator.choice(["a", "b", "c"], rows)})


def reasons(rows, analyses, epsilon=20.0, **score):
    """Reasons for no interval, by analysis; empty for those with one."""
    schema, generator = a_schema(len(rows), **score), np.random.default_rng(1)
    model = Model.of(schema, measured(schema, rows, epsilon))
    way = Way(schema, Analyses.model_validate(analyses | {"replicates": 20}), epsilon, len(rows), len(rows), model.knots)
    return {name: of.reason for name, of in analysed(way, model, [model.rows(len(rows), generator)], generator).items()}


@pytest.mark.usefixtures("small_pool")
def test_limits_inside_a_bin_have_no_interval():
    """Bins of the score are about ten wide: 0 to 9, 10 to 19, and so on."""
    shares = [{"column": "score", key: value} for key, value in (("below", 65), ("above", 64), ("value", 70), ("above", 59))]
    shares += [{"column": "absent", "above": 8}, {"column": "absent", "value": 3}, {"column": "school", "value": "a"}]
    by_name = reasons(pupils(600, -1), {"means": ["absent"], "shares": shares, "quantiles": [0.5]})
    inside = "its limit is inside a bin"
    assert [by_name[f"share of score {which}"] for which in ("below 65", "above 64", "equal to 70")] == [inside] * 3
    assert [by_name[f"share of {of}"] for of in ("absent above 8", "absent equal to 3", "school equal to a")] == [""] * 3
    assert by_name["0.5 quantile of score"] == "it is inside a bin"
    assert by_name["mean of absent"] == ""


@pytest.mark.parametrize(
    ("rows", "epsilon", "pairs", "reason"),
    [
        (600, 20, [], "the pair absent kind and score is not declared"),
        (600, 20, [["absent kind", "score"]], ""),
        (5001, 20, [["absent kind", "score"]], "with so many rows and so large an epsilon, the model is its largest error"),
        (5001, 1, [["absent kind", "score"]], ""),
    ],
)
def test_slopes_need_pairs_of_zeros_and_errors_above_those_of_the_model(rows, epsilon, pairs, reason):
    schema = a_schema(rows)
    zeros = {**schema.columns, "absent": schema.columns["absent"].model_copy(update={"own_zero": True})}
    schema = schema.model_copy(update={"pairs": [*schema.pairs, *map(tuple, pairs)], "columns": zeros})
    analyses = Analyses.model_validate({"means": ["absent"], "regressions": [{"predictors": ["absent"]}]})
    assert without_interval(schema, analyses, "score on absent: absent", rows, epsilon) == reason
    assert without_interval(schema, analyses, "mean of absent", rows, epsilon) == ""


@pytest.mark.usefixtures("small_pool")
def test_limits_between_single_values_have_an_interval():
    declared = {"shares": [{"column": "score", "below": 65}, {"column": "score", "value": 80}], "quantiles": [0.5]}
    assert set(reasons(pupils(600, -1), declared, lower=50, bins=51).values()) == {""}


@pytest.mark.parametrize(("lower", "number", "parted"), [
    (0, 0.0, True), (0, 10.0, True), (0, 11.0, False), (0, 9.5, True), (0, 9.0, False), (0, 101.0, True), (-50, 0.0, False),
])  # fmt: skip
def test_bins_are_parted_at_their_edges_only(lower, number, parted):
    levels = levels_of(Column.model_validate({"type": "whole", "lower": lower, "upper": 100, "bins": 10}))
    assert levels.parted_at(number) is parted


@pytest.mark.usefixtures("small_pool")
def test_relations_that_the_noise_can_make_have_no_interval():
    """At epsilon 20 the noise of pairs is small; at 0.2, all are left out."""
    both = {"regressions": [{"predictors": ["absent"]}, {"predictors": ["school"]}]}
    precise, noisy = (reasons(pupils(600, -0.6), both, epsilon, lower=40) for epsilon in (20.0, 0.2))
    assert (precise["score on absent: absent"], precise["score on school: school b"]) == ("", "")
    assert noisy["score on absent: absent"] == "the pair score and absent has too much noise"
    assert noisy["score on school: school b"] == "the pair score and school has too much noise"


@pytest.mark.usefixtures("small_pool")
def test_a_slope_of_a_pair_that_is_not_declared_is_not_estimated(monkeypatch):
    schema, rows, generator = a_schema(600).model_copy(update={"pairs": []}), pupils(600, -1), np.random.default_rng(1)
    model = Model.of(schema, measured(schema, rows, 20.0))
    analyses = Analyses.model_validate({"regressions": [{"predictors": ["absent"]}], "quantiles": [0.5], "replicates": 20})
    way = Way(schema, analyses, 20.0, 600, 600, 0)
    by_name = analysed(way, model, [rows], generator)
    assert by_name["score on absent: absent"].reason == "the pair score and absent is not declared"
    assert math.isnan(by_name["score on absent: absent"].estimate)
    assert by_name["mean of score"].estimate == rows["score"].mean()
    several = Way(schema.model_copy(update={"rows_each": 4}), analyses, 20.0, 600, 600, 0)
    monkeypatch.setattr(Way, "errors", None)  # nothing is simulated if no interval can be given
    assert {of.reason for of in analysed(several, model, [rows], generator).values()} == {"several rows describe the same pupil"}


@pytest.mark.usefixtures("small_pool")
def test_heavy_tails_and_small_whole_numbers_have_no_interval():
    """One score in a hundred is 60 below the others, which are within 10 of their mean."""
    rows = pupils(3000, -0.2).assign(score=lambda table: np.where(np.arange(3000) % 100, table["score"].clip(75, 95), 20))
    by_name = reasons(rows, {"means": ["absent"], "regressions": [{"predictors": ["absent"]}], "quantiles": []}, bins=101)
    assert by_name["mean of score"] == by_name["score on absent: absent"] == "the noisy counts of score have heavy tails"
    assert by_name["mean of absent"] == ""
    few = rows.assign(score=rows["absent"] % 4)
    assert reasons(few, {"quantiles": [0.5]}, bins=101)["0.5 quantile of score"] == "it is a small whole number"


class Drawn:
    """Model whose rows are only counted."""

    targets, pairs = MappingProxyType({}), ()

    def rows(self, number, generator, sample=False):
        return pd.DataFrame({"score": np.zeros(number)})


@pytest.mark.parametrize("largest", [2000, 10_000, 50_000])
def test_errors_are_those_of_the_file_however_many_rows_are_simulated(largest, monkeypatch):
    """The error of a mean of 10,000 values of variance 1 is 0.01; five standard errors of 4,000 replicates are 6 %."""
    monkeypatch.setattr(intervals, "measured", lambda *_: ())
    monkeypatch.setattr(intervals.Model, "of", classmethod(lambda *_: Drawn()))
    generator = np.random.default_rng(1)
    monkeypatch.setattr(
        intervals, "values", lambda schema, analyses, rows: np.array([generator.standard_normal() / math.sqrt(len(rows))])
    )
    way = Way(a_schema(10_000), Analyses.model_validate({}), 1.0, 10_000, 10_000, 0, largest)
    _, error = way.errors(Drawn(), 4000, generator)
    assert error == pytest.approx([0.01], rel=0.06)


def test_an_analysis_with_a_reason_has_no_interval():
    assert Analysed(1.0, 0.0, 0.1, 2.0, reason="it is inside a bin").interval is None
