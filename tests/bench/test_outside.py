"""Coverage outside of families: what is significantly too low, and one population by both rules."""

import pandas as pd
import pytest


@pytest.fixture
def outside(repository, monkeypatch):
    monkeypatch.syspath_prepend(repository / "bench")
    import outside

    monkeypatch.setattr(outside, "TRUTH", 200_000)
    return outside


def rows_of(*covered, sets=300):
    """Rows of one rule with these numbers of covered intervals."""
    return pd.DataFrame({
        "rule": "table", "population": [f"p{k}" for k in range(len(covered))], "fits": False, "n": 250, "epsilon": 0.5,
        "quantity": "mean", "sets": sets, "given": sets, "covered": covered, "width": 1.0,
    })  # fmt: skip


def test_the_level_holds_for_the_whole_table(outside):
    """The p values of 252 and 256 of 300 at 90 % are 0.0008 and 0.007; the limits are 0.01 / 4, 0.01 / 3 and so on."""
    assert outside.significant(rows_of(252, 256, 285, 300)).population.tolist() == ["p0"]
    assert outside.significant(rows_of(252, *[300] * 20)).empty
    assert len(outside.significant(rows_of(100, 120, 140))) == 3


def test_tables_show_the_smallest_coverage_and_what_is_too_low(outside):
    rows = pd.concat([rows_of(100, 285), rows_of(294, 0).assign(n=400, given=[300, 0])])
    by_population = outside.by_population(rows)
    assert by_population.to_dict("records") == [
        {"population": "p0", "mean": "**0.33** (100 %)"},
        {"population": "p1", "mean": "0.95 (50 %)"},
    ]
    sizes = outside.by_size(rows)
    assert sizes["significantly below 0.90"].tolist() == ["1 of 2", "0 of 1"]


def test_points_within_a_bin_are_covered_by_the_table_and_not_by_the_family(outside):
    """The mean is moved within one bin, so the family is not contradicted more often than if it fits."""
    cell = outside.Cell("two points in a bin", 2000, 1.0)
    by_table, by_family = ({row["quantity"]: row for row in cell.rows(rule, 20)} for rule in ("table", "family"))
    assert by_table["mean"]["given"] == 20
    assert by_table["mean"]["covered"] >= 17
    assert by_family["mean"]["given"] >= 15
    assert by_family["mean"]["covered"] <= 12
