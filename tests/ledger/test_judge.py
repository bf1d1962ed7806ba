"""Tests of the verdicts of each test on tables with a known answer, and of the rows of the ledger."""

import itertools

import numpy as np
import pandas as pd
import pytest
from made_up_claims import SCENARIO, THRESHOLDS, claim_of, normal, row_of, table_of, verdict_of

from formalsynth_workflow.ledger.judge import COLUMNS, ledger
from formalsynth_workflow.ledger.notes import percent, rounded, share_of
from formalsynth_workflow.ledger.verdicts import (
    ABSENT,
    DIRECTION,
    MISPRINT,
    NO_ROWS,
    NOT_REPRODUCED,
    REFUTED,
    REPRODUCED,
    STAND_IN,
    TOO_FEW,
    UNDETERMINED,
)

ORDER, EQUAL, INSIDE = {"kind": "order"}, {"kind": "equal"}, {"kind": "within", "low": 30, "high": 70}
ALONE, THREE, FOUR, MEAN, SPREAD = {"of": ["A"]}, {"of": [*"ABC"]}, {"of": [*"ABCD"]}, {"statistic": "mean"}, {"statistic": "sd"}
TWINS, FALLING, NEAR = ORDER | {"pairs": "twins"}, ORDER | {"direction": "falling"}, EQUAL | {"tolerance": 0.01}
ZEROS, ONES, UNITS = np.zeros(100), np.ones(100), np.arange(100)
MIXED = np.roll(normal(5), 1)
"""The same values in other replicates."""
NOISY = np.array([0.0, 10.0] * 5)
LATER = np.where(UNITS < 39, 1.0, -1.0)
RISING = np.where(UNITS < 70, 1.0, -1.0)


def steps(*means):
    """Cells with these means."""
    return {name: np.roll(normal(0), k) + mean for k, (name, mean) in enumerate(zip("ABC", means, strict=True))}


VERDICTS = {
    "an order": (ORDER, {}, {"A": normal(5), "B": normal(9, seed=2)}, REPRODUCED),
    "the opposite": (ORDER, {}, {"A": normal(5), "B": normal(1, seed=2)}, NOT_REPRODUCED),
    "a rise within chance": (ORDER, {}, {"A": normal(5), "B": MIXED + 0.01}, UNDETERMINED),
    "a fall within chance": (ORDER, {}, {"A": normal(5), "B": MIXED - 0.01}, UNDETERMINED),
    "equal in every unit": (ORDER, {}, {"A": normal(5), "B": normal(5)}, NOT_REPRODUCED),
    "two steps": (ORDER, THREE, steps(1, 5, 9), REPRODUCED),
    "one of two steps": (ORDER, THREE, steps(1, 5, 5.01), DIRECTION),
    "one of two steps, and none the other way": (ORDER, THREE, steps(1, 5, 4.99), DIRECTION),
    "a step in the opposite direction": (ORDER, THREE, steps(5, 9, 1), NOT_REPRODUCED),
    # 39 of 100 units in order: fewer than half at confidence 0.95, perhaps half at 0.975, which two steps need
    "fewer than half": (ORDER, {}, {"A": ZEROS, "B": LATER}, NOT_REPRODUCED),
    "perhaps half in one of two steps": (
        ORDER, THREE, {"A": ZEROS, "B": LATER, "C": LATER + np.where(UNITS < 50, 1.0, -1.0)}, UNDETERMINED,
    ),
    "most units equal": (ORDER, {}, {"A": ONES, "B": np.where(UNITS % 4 == 0, 1.1, 1.0)}, NOT_REPRODUCED),
    "half of the units": (ORDER | {"share": 0.5}, {}, {"A": normal(5), "B": MIXED + 0.01}, REPRODUCED),
    "half where most should be": (ORDER | {"share": "mostly"}, {}, {"A": normal(5), "B": MIXED + 0.01}, NOT_REPRODUCED),
    "a mean that one in ten moves": (ORDER, MEAN, {"A": ZEROS, "B": np.where(UNITS % 10 == 0, 100.0, -1.0)}, NOT_REPRODUCED),
    "beyond the margin": (ORDER | {"margin": 1.5}, {}, {"A": normal(5), "B": normal(5) + 2}, REPRODUCED),
    "below the margin": (ORDER | {"margin": 2.5}, {}, {"A": normal(5), "B": normal(5) + 2}, DIRECTION),
    "falling beyond it": (FALLING | {"margin": 1.5}, {"of": ["B", "A"]}, {"A": normal(5), "B": normal(5) + 2}, REPRODUCED),
    "falling below it": (FALLING | {"margin": 2.5}, {"of": ["B", "A"]}, {"A": normal(5), "B": normal(5) + 2}, DIRECTION),
    "chance below the margin": (ORDER | {"margin": 0.5}, {}, {"A": normal(5), "B": MIXED + 0.01}, NOT_REPRODUCED),
    "each with the one before": (ORDER, THREE, {"A": normal(1), "B": normal(9), "C": normal(5)}, NOT_REPRODUCED),
    "each with the first": (ORDER | {"pairs": "first"}, THREE, {"A": normal(1), "B": normal(9), "C": normal(5)}, REPRODUCED),
    "twins": (TWINS, FOUR, {"A": normal(1), "B": normal(9), "C": normal(3), "D": normal(7)}, REPRODUCED),
    "twins of which two fall": (TWINS, FOUR, {"A": normal(1), "B": normal(9), "C": normal(3), "D": normal(0)}, NOT_REPRODUCED),
    "a share of 0.5": (ORDER | {"share": 0.5}, THREE, {"A": ZEROS, "B": RISING, "C": RISING + 1}, REPRODUCED),
    "all replicates": (ORDER | {"share": 1}, THREE, {"A": ZEROS, "B": RISING, "C": RISING + 1}, DIRECTION),
    "most replicates": (ORDER | {"share": "mostly"}, THREE, {"A": ZEROS, "B": RISING, "C": RISING + 1}, DIRECTION),
    "spreads": (FALLING, SPREAD, {"A": normal(0, 5), "B": normal(0, seed=2)}, REPRODUCED),
    "spreads that rise": (FALLING, SPREAD, {"A": normal(0), "B": normal(0, 5, seed=2)}, NOT_REPRODUCED),
    "equal spreads": (FALLING, SPREAD, {"A": normal(0), "B": normal(0)}, NOT_REPRODUCED),
    **{
        f"printed {printed}": (
            {"kind": "value", "printed": printed}, {}, {"A": normal(5, 0.1), "B": normal(9, 0.1, seed=2)}, verdict,
        )
        for printed, verdict in (
            ((5, 9), REPRODUCED), ((10, 18), DIRECTION), ((9, 5), NOT_REPRODUCED), ((5.2, 9.2), REPRODUCED),
        )
    },
    "printed within an error": ({"kind": "value", "printed": [6]}, ALONE | MEAN, {"A": NOISY}, REPRODUCED),
    "printed beyond it": ({"kind": "value", "printed": [6]}, ALONE | MEAN, {"A": np.repeat(NOISY, 400)}, NOT_REPRODUCED),
    "multiples of 0": ({"kind": "at_most", "times": 1.1}, MEAN, {"A": ZEROS, "B": ZEROS}, UNDETERMINED),
    "multiples of -1": ({"kind": "at_most", "times": 1.1}, MEAN, {"A": -ONES, "B": -ONES}, UNDETERMINED),
    **{
        f"{times} times in every cell": (
            {"kind": "at_most", "times": times}, MEAN | THREE,
            {"A": normal(10), "B": normal(10), "C": np.roll(normal(12), 1)}, verdict,
        )
        for times, verdict in ((1.3, REPRODUCED), (1.1, NOT_REPRODUCED))
    },
    "a statistic within limits": (INSIDE, ALONE, {"A": UNITS}, REPRODUCED),
    "too few units within": (INSIDE | {"share": 0.6}, ALONE, {"A": UNITS}, DIRECTION),
    "a share within": (INSIDE | {"share": 0.4}, ALONE, {"A": UNITS}, REPRODUCED),
    "a statistic outside": ({"kind": "within", "low": 80}, ALONE, {"A": UNITS}, NOT_REPRODUCED),
    "equality": (EQUAL, {}, {"A": normal(5), "B": normal(5)}, REPRODUCED),
    "inequality": (EQUAL, {}, {"A": normal(5), "B": normal(5) + 1e-9 * (UNITS == 3)}, NOT_REPRODUCED),
    "nearly equal": (NEAR, {}, {"A": normal(5), "B": normal(5) + 1e-9 * (UNITS == 3)}, REPRODUCED),
    "twice": (NEAR, {}, {"A": normal(5), "B": normal(5) * 2}, NOT_REPRODUCED),
    "half": (NEAR, {}, {"A": normal(5), "B": normal(5) / 2}, NOT_REPRODUCED),
}  # fmt: skip
"""Keys of a test and of its estimate, the values of its cells, and the verdict."""


@pytest.mark.parametrize("what", VERDICTS)
def test_a_verdict_is_that_of_the_test_on_the_cells(what):
    test, estimate, cells, verdict = VERDICTS[what]
    assert verdict_of(claim_of(test, estimate), table_of(**cells)) == verdict


def test_an_order_is_judged_replicate_by_replicate():
    """A shift much smaller than the spread between replicates is detected if the replicates share their data."""
    common = normal(5, sd=10)
    row = row_of(claim_of({"kind": "order"}), table_of(A=common, B=common + 0.1))
    assert row.verdict == REPRODUCED
    assert row.note == "The order holds in all replicates."


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "none of the records"), (1, "all records"), (0.002, "1 % of the records"), (0.996, "99 % of the records")],
)
def test_a_share_in_a_note_is_none_or_all_only_if_exact(share, text):
    assert share_of(share, "records") == text


@pytest.mark.parametrize(("share", "text"), [(3.475, "348 %"), (0.39, "39 %"), (0.0123, "1.2 %"), (0.0, "0 %")])
def test_a_percentage_has_no_exponent(share, text):
    assert percent(share) == text


def test_equal_values_have_no_monte_carlo_error():
    claim = claim_of({"kind": "value", "printed": [1.6]}, {"of": ["A"]})
    assert row_of(claim, table_of(A=np.full(5, 1.6))).mcse == "0"


def test_the_monte_carlo_error_of_a_mean_is_its_standard_error():
    values = normal(5, 2, 400)
    row = row_of(claim_of({"kind": "value", "printed": [5]}, {"of": ["A"], "statistic": "mean"}), table_of(A=values))
    # the sd of 200 bootstrap means differs from the standard error by more than a quarter in one run in some millions
    assert float(row.mcse) == pytest.approx(values.std(ddof=1) / 20, rel=0.27)
    assert row.replicates == 400


SIMILAR = {"A": 100.5, "B": 99.7, "C": 100.3, "D": 102.0}


@pytest.mark.parametrize("order", list(itertools.permutations(SIMILAR))[1:])
def test_similar_printed_numbers_are_not_reproduced_by_any_order_of_the_cells(order):
    """All numbers are within 5 %; an order that shows less than half of the printed differences is direction only."""
    cells = {name: normal(0, 0.01, seed=k) + SIMILAR[other] for k, (name, other) in enumerate(zip(SIMILAR, order, strict=True))}
    printed = list(SIMILAR.values())
    claim = claim_of({"kind": "value", "printed": printed}, {"of": list(SIMILAR)})
    estimates = np.array([SIMILAR[other] for other in order])
    centred = np.array(printed) - np.mean(printed)
    assert verdict_of(claim, table_of(**cells)) == (REPRODUCED if estimates @ centred > 0.5 * centred @ centred else DIRECTION)


@pytest.mark.parametrize(
    ("gain", "verdict"), [(0.036, REPRODUCED), (0.02, REPRODUCED), (0.016, DIRECTION), (0.002, DIRECTION), (-0.02, DIRECTION)]
)
def test_at_least_half_of_a_printed_gain_is_needed_even_if_all_numbers_are_near(gain, verdict):
    cells = {"A": np.full(5, 0.87), "B": np.full(5, 0.87 + gain)}
    claim = claim_of({"kind": "value", "printed": [0.853, 0.889]}, {"statistic": "mean"})
    row = row_of(claim, table_of(**cells))
    assert row.verdict == verdict
    assert ("of the printed differences" in row.note) == (verdict == DIRECTION)


@pytest.mark.parametrize(
    ("times", "verdict"),
    [(1.3, REPRODUCED), (1.21, UNDETERMINED), (1.2, UNDETERMINED), (1.19, UNDETERMINED), (1.1, NOT_REPRODUCED)],
)
def test_a_multiple_has_to_hold_beyond_the_errors(times, verdict):
    """The means are 10 and 12, with an error of the comparison of about 0.15: a loss that may be larger is not excluded."""
    tables = table_of(A=normal(10), B=np.roll(normal(12), 1))
    row = row_of(claim_of({"kind": "at_most", "times": times}, {"statistic": "mean"}), tables)
    assert row.verdict == verdict
    assert row.note.startswith("The ratio to A is 1.20, with errors at most 1.2")


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(0.5, REPRODUCED), (0.22, REPRODUCED), (0.18, UNDETERMINED), (-0.18, UNDETERMINED), (-0.22, NOT_REPRODUCED)],
)
def test_a_limit_within_the_errors_of_a_mean_is_undetermined(mean, verdict):
    """The standard error is 0.1; 2.03 of them are allowed for 100 replicates."""
    values = normal(0)
    values = mean + (values - values.mean()) / values.std(ddof=1)
    claim = claim_of({"kind": "within", "low": 0}, {"of": ["A"], "statistic": "mean"})
    assert verdict_of(claim, table_of(A=values)) == verdict
    refuted = claim_of({"kind": "within", "low": 0}, {"of": ["A"], "statistic": "mean"}, erratum="E1", finding=REFUTED)
    assert verdict_of(refuted, table_of(A=values)) == (REFUTED if verdict == NOT_REPRODUCED else verdict)


def test_five_seeds_allow_the_errors_of_student_and_not_those_of_a_normal_distribution():
    """The mean is 2.4 standard errors below the printed number: within chance for five seeds, not for two thousand."""
    values = np.array([-2, -1, 0, 1, 2]) / 2.5**0.5  # standard deviation 1
    for count, verdict in ((1, REPRODUCED), (400, NOT_REPRODUCED)):
        sample = np.tile(values, count)
        error = sample.std(ddof=1) / len(sample) ** 0.5
        claim = claim_of({"kind": "value", "printed": [2.4 * error + 100], "tolerance": 0}, {"of": ["A"], "statistic": "mean"})
        assert verdict_of(claim, table_of(A=sample + 100)) == verdict


def test_the_note_on_a_printed_number_has_the_allowed_difference():
    noisy = np.array([0.0, 10.0] * 50)  # standard error 0.5025, times 2.03
    row = row_of(claim_of({"kind": "value", "printed": [5]}, {"of": ["A"], "statistic": "mean"}), table_of(A=noisy))
    assert (row.verdict, row.note) == (REPRODUCED, "With errors, differences of up to 25 % are allowed.")
    same = row_of(claim_of({"kind": "equal", "tolerance": 0.05}, {"statistic": "mean"}), table_of(A=noisy + 1, B=noisy[::-1] + 1))
    # the standard error of the difference is 1.005
    assert same.note == "The largest difference is 0 %; with errors, 39 % is allowed."


def test_one_number_has_one_error_in_every_claim():
    cells = {"A": normal(5), "B": normal(9, seed=2)}
    first = row_of(claim_of({"kind": "order"}), table_of(**cells))
    second = row_of(claim_of({"kind": "order"}).model_copy(update={"id": "other-claim"}), table_of(**cells))
    turned = row_of(claim_of({"kind": "order"}, {"of": ["B", "A"]}).model_copy(update={"id": "third"}), table_of(**cells))
    assert first.mcse == second.mcse == " / ".join(reversed(turned.mcse.split(" / ")))


@pytest.mark.parametrize(
    ("number", "error", "shown"),
    [
        (0.00067763, 4.175e-05, ("0.000678", "0.000042")),
        (57771, 3335.2, ("57800", "3300")),
        (100.0123, 0.05351, ("100.012", "0.054")),
        (5.836, 0.0996, ("5.84", "0.10")),
        (411.3, 8.44, ("411.3", "8.4")),
        (2, 0, ("2", "0")),
        (1.97e-07, np.nan, ("1.97e-07", "")),
    ],
)
def test_an_error_has_two_digits_and_its_number_as_many_decimals(number, error, shown):
    assert rounded(np.array([number]), np.array([error])) == shown
    assert rounded(np.array([number, 1.0]), np.array([error, np.nan])) == (f"{shown[0]} / 1", shown[1])


def test_lost_replicates_are_named():
    lost = np.where(np.isin(np.arange(100), [5, 43, 80]), np.nan, normal(5))
    row = row_of(claim_of({"kind": "order"}), table_of(A=normal(1), B=lost))
    assert row.replicates == 97
    assert row.note.endswith(" 3 replicates without a finite result left out (5, 43, 80).")
    assert "left out" not in row_of(claim_of({"kind": "order"}), table_of(A=normal(1), B=normal(5))).note


@pytest.mark.parametrize(
    ("share", "count", "verdict"),
    [(0.0, 400, REPRODUCED), (0.95, 100, NOT_REPRODUCED), (-0.95, 100, NOT_REPRODUCED), (0.3, 100, UNDETERMINED)],
)
def test_cells_are_nearly_uncorrelated_if_their_correlation_is_small_beyond_its_error(share, count, verdict):
    first = normal(0, count=count)
    rest = normal(0, count=count, seed=2)
    slope, shift = np.polyfit(first, rest, 1)
    rest -= slope * first + shift
    second = share * first / first.std() + (1 - share**2) ** 0.5 * rest / rest.std()
    row = row_of(claim_of({"kind": "correlation", "high": 0.3}), table_of(A=first, B=second))
    assert row.verdict == verdict
    assert f"{abs(share):.3f}; with errors, its absolute value is " in row.note


def shrinking(power, test, statistic="sd", sd=1.0):
    """Verdict on the trend of cells whose spread is a power of n."""
    sizes = [100.0, 400.0, 1600.0]
    parts = [table_of(A=n**power * normal(0, sd, count=1000, seed=int(n))).assign(n=n) for n in sizes]
    return row_of(claim_of({"kind": "trend", **test}, {"over": "n", "of": sizes, "statistic": statistic}), *parts)


@pytest.mark.parametrize(
    ("power", "at_the_rate", "at_all"),
    [
        (-0.5, REPRODUCED, REPRODUCED),
        (-2.0, DIRECTION, REPRODUCED),
        (-0.3, DIRECTION, REPRODUCED),
        (-0.15, NOT_REPRODUCED, REPRODUCED),
        (-0.01, NOT_REPRODUCED, UNDETERMINED),
        (0.1, NOT_REPRODUCED, NOT_REPRODUCED),
        (0.5, NOT_REPRODUCED, NOT_REPRODUCED),
    ],
)
def test_a_decrease_of_a_spread_and_its_rate_are_two_claims(power, at_the_rate, at_all):
    """The error of the slope is about 0.016."""
    assert shrinking(power, {"low": -0.6, "high": -0.4}).verdict == at_the_rate
    assert shrinking(power, {"high": 0}).verdict == at_all


def test_a_rise_is_the_mirror_image_of_a_decrease():
    assert [shrinking(power, {"low": 0}).verdict for power in (0.5, -0.5)] == [REPRODUCED, NOT_REPRODUCED]


def test_the_range_of_replicates_has_no_error_and_is_direction_only_at_best():
    row = shrinking(-0.5, {"high": 0}, "spread")
    assert (row.verdict, row.mcse) == (DIRECTION, "")
    assert "no valid Monte Carlo error" in row.note
    claim = claim_of({"kind": "order"}, {"statistic": "max", "by": "record"})
    cells = table_of(A=normal(1), B=normal(9)).rename(columns={"replicate": "record"})
    assert row_of(claim, cells).verdict == REPRODUCED


@pytest.mark.parametrize("finding", [MISPRINT, REFUTED])
def test_a_claim_that_fails_and_is_part_of_an_erratum_has_the_erratums_kind_as_its_verdict(finding):
    tables, part = table_of(A=normal(5), B=normal(1, seed=2)), {"erratum": "E1", "finding": finding}
    assert verdict_of(claim_of({"kind": "order"}, **part), tables) == finding
    assert verdict_of(claim_of({"kind": "order", "direction": "falling"}, **part), tables) == REPRODUCED


@pytest.mark.parametrize(
    ("given", "shown"), [({"kind": "ours"}, "ours"), ({"kind": "implied", "implied_by": "a-b"}, "implied by a-b")]
)
def test_the_kind_of_a_claim_is_in_its_row(given, shown):
    assert row_of(claim_of({"kind": "order"}, **given), table_of(A=normal(1), B=normal(5))).kind == shown


def test_absent_data_stand_ins_and_small_scales_are_not_judged():
    tables = table_of(A=normal(1), B=normal(5))
    assert verdict_of(claim_of({"kind": "order"}, scenarios=())) == ABSENT
    assert verdict_of(claim_of({"kind": "order"}, scenarios=[SCENARIO.model_copy(update={"stand_in": True})]), tables) == STAND_IN
    small = row_of(claim_of({"kind": "order"}), tables, judged=False)
    assert small.verdict == TOO_FEW
    assert small.estimate


FAILED = {"A": normal(1), "B": np.full(100, np.nan)}


@pytest.mark.parametrize("judged", [True, False])
def test_a_synthesizer_without_results_is_named_and_its_claims_are_not_judged(judged):
    row = row_of(claim_of({"kind": "order"}), table_of(**FAILED), judged=judged)
    assert (row.verdict, row.estimate, row.replicates) == (NO_ROWS, None, 0)
    assert "ithout a finite result: synthesizer B" in row.note
    assert row_of(claim_of({"kind": "order"}), table_of(A=normal(1))).note == row.note


def test_a_failure_does_not_affect_other_claims():
    claims = [claim_of({"kind": "order"}), claim_of({"kind": "within", "low": 0}, {"of": ["A"]})]
    table = ledger(claims, {("first_n50", "replicates"): table_of(**FAILED)}, THRESHOLDS, 1, True)
    assert table["verdict"].tolist() == [NO_ROWS, REPRODUCED]


@pytest.mark.parametrize("estimate", [{"value": ["delta"]}, {"over": "value", "value": ["delta", "twice"]}])
def test_points_of_a_grid_have_no_monte_carlo_error_and_are_not_replicates(estimate):
    table = pd.concat([table_of(A=[k], B=[2 * k]).assign(point=k) for k in (1.0, 2.0, 3.0)])
    claim = claim_of({"kind": "order", "share": 1}, {"by": "point", **estimate})
    row = row_of(claim, table.assign(twice=lambda rows: 2 * rows["delta"]))
    assert (row.mcse, row.replicates, row.verdict) == ("", 1, REPRODUCED)


@pytest.mark.parametrize(("value", "shown"), [(57771.4, "57771"), (0.123456, "0.1235"), (3e8, "3e+08")])
def test_large_estimates_have_no_exponent(value, shown):
    claim = claim_of({"kind": "value", "printed": [1.0]}, {"of": ["A"]})
    assert row_of(claim, table_of(A=[value])).estimate == shown


def test_a_ledger_has_a_row_for_each_claim_in_the_columns_of_the_file():
    claims = [claim_of({"kind": "order"}, note="Mind this."), claim_of({"kind": "equal"}, scenarios=(), erratum="E1")]
    table = ledger(claims, {("first_n50", "replicates"): table_of(A=normal(1), B=normal(5))}, THRESHOLDS, 1, True)
    assert list(table) == list(COLUMNS)
    assert table["verdict"].tolist() == [REPRODUCED, ABSENT]
    assert table["test"].tolist() == ["order", "equal"]
    assert table["note"].tolist() == [
        "Mind this. The order holds in all replicates.",
        "The records are absent.",
    ]
    assert table["estimate"].isna().tolist() == table["replicates"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("test", "needs"),
    [
        ({"kind": "order", "direction": "falling"}, "A above B"),
        ({"kind": "order", "margin": 0.5, "share": 0.9}, "A below B by more than 0.5, in at least 90 % of the replicates"),
        ({"kind": "order", "share": 1}, "A below B, in all replicates"),
        ({"kind": "equal"}, "equal values"),
        ({"kind": "equal", "tolerance": 0.05}, "all within 5 % of the first"),
        ({"kind": "at_most", "times": 1.5}, "B at most 1.5 times A"),
        ({"kind": "within", "low": 1, "high": 2, "share": 0.9}, "numbers between 1 and 2, in at least 90 % of the replicates"),
        ({"kind": "within", "high": 2}, "at most 2"),
        ({"kind": "value", "printed": [1.0, 2.0]}, "a difference from the printed number of at most 5 % plus errors"),
        ({"kind": "typical", "printed": [1.0, 2.0]}, "printed numbers in the central 95 % of the replicates"),
        ({"kind": "correlation", "high": 0.3}, "an absolute correlation below 0.3"),
    ],
)
def test_a_row_names_its_condition(test, needs):
    assert row_of(claim_of(test), table_of(A=normal(1), B=normal(5))).needs == needs
