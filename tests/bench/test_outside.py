"""Coverage outside of families, and attempts to refute: what is significantly too low, and both rules on one population."""

import outside
import pandas as pd
import pytest
import refute


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    monkeypatch.setattr(outside, "TRUTH", 200_000)


def rows_of(*covered, sets=300):
    """Rows of one rule with these numbers of covered intervals."""
    return pd.DataFrame({"population": [f"p{k}" for k in range(len(covered))], "given": sets, "covered": covered})


def test_the_level_holds_for_the_whole_table():
    """The p values of 252 and 256 of 300 at 90 % are 0.0008 and 0.007; the limits are 0.01 / 4, 0.01 / 3 and so on."""
    assert outside.significant(rows_of(252, 256, 285, 300)).population.tolist() == ["p0"]
    assert outside.significant(rows_of(252, *[300] * 20)).empty
    assert len(outside.significant(rows_of(100, 120, 140))) == 3


def test_points_within_a_bin_are_covered_by_the_table_and_not_by_the_family():
    """The mean is moved within one bin, so the family is not contradicted more often than if it fits."""
    place = list(outside.POPULATIONS).index("two points in a bin")
    by_table, by_family = (outside.measured(rule, 20, 2000, 1.0, place).set_index("quantity") for rule in ("table", "family"))
    assert by_table.loc["mean", "given"] == 20
    assert by_table.loc["mean", "covered"] >= 17
    assert by_family.loc["mean", "given"] >= 15
    assert by_family.loc["mean", "covered"] <= 12


def test_a_family_that_fits_covers_and_one_that_does_not_has_no_interval():
    assert refute.intervals(12, "family")[-1] == "covers"
    assert refute.intervals(12, "edge")[2:] == ["0 %", "", "no interval"]
    assert refute.intervals(12, "inside")[-1] == "refuted"


@pytest.mark.parametrize("name", refute.PRIVACY)
def test_attempts_at_privacy_hold(name):
    assert refute.privacy(40, name)[-1].endswith("holds")
