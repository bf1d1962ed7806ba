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


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        (normal(9, seed=2), REPRODUCED),
        (normal(1, seed=2), NOT_REPRODUCED),
        (np.roll(normal(5), 1) + 0.01, UNDETERMINED),
        (np.roll(normal(5), 1) - 0.01, UNDETERMINED),
        (normal(5), NOT_REPRODUCED),
    ],
)
def test_an_order_of_two_cells_holds_fails_or_is_undetermined(second, verdict):
    """A difference within chance is undetermined; cells that are equal in every unit have no order."""
    assert verdict_of(claim_of({"kind": "order"}), table_of(A=normal(5), B=second)) == verdict


@pytest.mark.parametrize(
    ("means", "verdict"),
    [((1, 5, 9), REPRODUCED), ((1, 5, 5.01), DIRECTION), ((1, 5, 4.99), DIRECTION), ((5, 9, 1), NOT_REPRODUCED)],
)
def test_an_order_is_direction_only_if_a_step_has_the_claimed_direction_and_none_the_opposite(means, verdict):
    cells = {name: np.roll(normal(0), k) + mean for k, (name, mean) in enumerate(zip("ABC", means, strict=True))}
    assert verdict_of(claim_of({"kind": "order"}, {"of": ["A", "B", "C"]}), table_of(**cells)) == verdict


def test_one_step_of_several_needs_more_confidence_than_one_alone():
    """39 of 100 units in order: fewer than half at confidence 0.95, perhaps half at 0.975."""
    first, half = (np.where(np.arange(100) < units, 1.0, -1.0) for units in (39, 50))
    cells = {"A": np.zeros(100), "B": first, "C": first + half}
    assert verdict_of(claim_of({"kind": "order"}), table_of(**cells)) == NOT_REPRODUCED
    assert verdict_of(claim_of({"kind": "order"}, {"of": ["A", "B", "C"]}), table_of(**cells)) == UNDETERMINED


def test_an_order_that_surely_does_not_hold_is_not_reproduced():
    """Most units are equal, as weights that stay 1, or only half of the units are in order and most should be."""
    some = np.where(np.arange(100) % 4 == 0, 1.1, 1.0)
    assert verdict_of(claim_of({"kind": "order"}), table_of(A=np.ones(100), B=some)) == NOT_REPRODUCED
    halves = table_of(A=normal(5), B=np.roll(normal(5), 1) + 0.01)
    assert verdict_of(claim_of({"kind": "order", "share": "mostly"}), halves) == NOT_REPRODUCED
    assert verdict_of(claim_of({"kind": "order", "share": 0.5}), halves) == REPRODUCED


def test_an_order_that_most_units_contradict_is_not_reproduced_even_if_its_mean_agrees():
    """One replicate in ten moves the mean; the other nine have the opposite direction."""
    outlying = np.where(np.arange(100) % 10 == 0, 100.0, -1.0)
    claim = claim_of({"kind": "order"}, {"statistic": "mean"})
    assert verdict_of(claim, table_of(A=np.zeros(100), B=outlying)) == NOT_REPRODUCED


@pytest.mark.parametrize(("margin", "verdict"), [(1.5, REPRODUCED), (2.5, DIRECTION)])
def test_a_step_has_to_be_beyond_the_margin(margin, verdict):
    cells = {"A": normal(5), "B": normal(5) + 2}
    assert verdict_of(claim_of({"kind": "order", "margin": margin}), table_of(**cells)) == verdict
    falling = claim_of({"kind": "order", "margin": margin, "direction": "falling"}, {"of": ["B", "A"]})
    assert verdict_of(falling, table_of(**cells)) == verdict


def test_a_step_below_its_margin_needs_a_direction_beyond_chance():
    cells = {"A": normal(5), "B": np.roll(normal(5), 1) + 0.01}
    assert verdict_of(claim_of({"kind": "order"}), table_of(**cells)) == UNDETERMINED
    assert verdict_of(claim_of({"kind": "order", "margin": 0.5}), table_of(**cells)) == NOT_REPRODUCED


def test_the_first_cell_may_be_compared_with_each_of_the_others():
    estimate = {"of": ["A", "B", "C"]}
    tables = table_of(A=normal(1), B=normal(9), C=normal(5))
    assert verdict_of(claim_of({"kind": "order"}, estimate), tables) == NOT_REPRODUCED
    assert verdict_of(claim_of({"kind": "order", "pairs": "first"}, estimate), tables) == REPRODUCED


def test_twins_are_compared_two_by_two():
    tables = table_of(A=normal(1), B=normal(9), C=normal(3), D=normal(7), E=normal(0))
    twins = {"kind": "order", "pairs": "twins"}
    assert verdict_of(claim_of(twins, {"of": ["A", "B", "C", "D"]}), tables) == REPRODUCED
    assert verdict_of(claim_of(twins, {"of": ["A", "B", "C", "E"]}), tables) == NOT_REPRODUCED
    assert claim_of(twins).test.check_cells(["A", "B", "C"]) == "an even number of cells, for order of twins"


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


@pytest.mark.parametrize(("share", "verdict"), [(0.5, REPRODUCED), (1, DIRECTION), ("mostly", DIRECTION)])
def test_a_claim_about_most_or_all_replicates_needs_that_share(share, verdict):
    rising = np.where(np.arange(100) < 70, 1.0, -1.0)
    claim = claim_of({"kind": "order", "share": share}, {"of": ["A", "B", "C"]})
    assert verdict_of(claim, table_of(A=np.zeros(100), B=rising, C=rising + 1)) == verdict


def test_the_order_of_a_spread_is_judged_on_its_error():
    claim = claim_of({"kind": "order", "direction": "falling"}, {"statistic": "sd"})
    assert verdict_of(claim, table_of(A=normal(0, 5), B=normal(0, 1, seed=2))) == REPRODUCED
    assert verdict_of(claim, table_of(A=normal(0, 1), B=normal(0, 5, seed=2))) == NOT_REPRODUCED
    assert verdict_of(claim, table_of(A=normal(0), B=normal(0))) == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("printed", "verdict"), [([5, 9], REPRODUCED), ([10, 18], DIRECTION), ([9, 5], NOT_REPRODUCED), ([5.2, 9.2], REPRODUCED)]
)
def test_printed_numbers_agree_within_a_relative_distance(printed, verdict):
    claim = claim_of({"kind": "value", "printed": printed})
    assert verdict_of(claim, table_of(A=normal(5, 0.1), B=normal(9, 0.1, seed=2))) == verdict


def test_the_monte_carlo_error_widens_what_agrees():
    claim = claim_of({"kind": "value", "printed": [6]}, {"of": ["A"], "statistic": "mean"})
    noisy = np.array([0.0, 10.0] * 5)
    assert verdict_of(claim, table_of(A=noisy)) == REPRODUCED
    assert verdict_of(claim, table_of(A=np.repeat(noisy, 400))) == NOT_REPRODUCED


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


@pytest.mark.parametrize("first", [0.0, -1.0])
def test_what_is_not_above_0_has_no_multiples(first):
    tables = table_of(A=np.full(100, first), B=np.full(100, first))
    assert verdict_of(claim_of({"kind": "at_most", "times": 1.1}, {"statistic": "mean"}), tables) == UNDETERMINED


def test_a_multiple_has_to_hold_for_every_cell():
    tables = table_of(A=normal(10), B=normal(10), C=np.roll(normal(12), 1))
    for times, verdict in ((1.3, REPRODUCED), (1.1, NOT_REPRODUCED)):
        claim = claim_of({"kind": "at_most", "times": times}, {"statistic": "mean", "of": ["A", "B", "C"]})
        assert verdict_of(claim, tables) == verdict


def test_limits_hold_for_a_statistic_or_for_a_share_of_the_units():
    tables = table_of(A=np.arange(100.0))
    inside = {"kind": "within", "low": 30, "high": 70}
    assert verdict_of(claim_of(inside, {"of": ["A"]}), tables) == REPRODUCED
    assert verdict_of(claim_of(inside | {"share": 0.6}, {"of": ["A"]}), tables) == DIRECTION
    assert verdict_of(claim_of(inside | {"share": 0.4}, {"of": ["A"]}), tables) == REPRODUCED
    assert verdict_of(claim_of({"kind": "within", "low": 80}, {"of": ["A"]}), tables) == NOT_REPRODUCED


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


def test_equality_is_exact_unless_a_tolerance_is_given():
    values = normal(5)
    near = values.copy()
    near[3] += 1e-9
    assert verdict_of(claim_of({"kind": "equal"}), table_of(A=values, B=values)) == REPRODUCED
    assert verdict_of(claim_of({"kind": "equal"}), table_of(A=values, B=near)) == NOT_REPRODUCED
    assert verdict_of(claim_of({"kind": "equal", "tolerance": 0.01}), table_of(A=values, B=near)) == REPRODUCED
    assert verdict_of(claim_of({"kind": "equal", "tolerance": 0.01}), table_of(A=values, B=values * 2)) == NOT_REPRODUCED
    assert verdict_of(claim_of({"kind": "equal", "tolerance": 0.01}), table_of(A=values, B=values / 2)) == NOT_REPRODUCED


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
