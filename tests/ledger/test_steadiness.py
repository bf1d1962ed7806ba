"""Tests of the steadiness of verdicts in drawings of the replicates."""

import numpy as np
import pandas as pd
import pytest
from made_up_claims import THRESHOLDS, claim_of, normal, table_of

from formalsynth_workflow.ledger.steadiness import agreement, drawn, drawn_verdicts, steadiness
from formalsynth_workflow.ledger.verdicts import REPRODUCED


def verdicts(**cells):
    """Verdicts of an order claim on a table with these cells, in the run and in 40 drawings."""
    return drawn_verdicts([claim_of({"kind": "order"})], {("first_n50", "replicates"): table_of(**cells)}, THRESHOLDS, 1, 40)


def test_a_verdict_far_from_its_border_stays():
    table = steadiness(verdicts(A=normal(1), B=normal(9, seed=2)))
    assert table.loc[0, ["verdict", "stays", "otherwise"]].tolist() == [REPRODUCED, 1, ""]


def test_a_borderline_verdict_changes_in_about_half_of_the_drawings():
    """An order holds if its mean is two errors above 0; here it is at that border, so drawings fall on both sides."""
    difference = normal(0)
    difference += 2.02 * difference.std(ddof=1) / np.sqrt(len(difference)) - difference.mean()
    base = normal(5, seed=3)
    drawings = verdicts(A=base, B=base + difference)
    assert 0.1 < steadiness(drawings)["stays"][0] < 0.9
    least, *_, most = agreement(drawings)
    assert (least, most) == (0, 1)


def test_a_scenario_has_the_same_replicates_in_all_its_tables():
    table = table_of(A=normal(1, count=30), B=normal(2, count=30))
    tables = {("s", "replicates"): table, ("s", "sets"): table.assign(set=4), ("other", "replicates"): table}
    sample = drawn(tables, np.random.default_rng(1))
    pd.testing.assert_frame_equal(sample["s", "replicates"], sample["s", "sets"].drop(columns="set"))
    assert not sample["s", "replicates"].equals(sample["other", "replicates"])
    for name, cell in sample["s", "replicates"].groupby("synthesizer"):
        assert cell["replicate"].tolist() == list(range(30))
        assert set(cell["delta"]) < set(table.loc[table["synthesizer"] == name, "delta"])


def test_the_table_of_one_sample_and_one_without_replicates_stay_as_they_are():
    sample = table_of(A=normal(1, count=1)).assign(record=7)
    curve = pd.DataFrame({"x": [1.0, 2.0]})
    tables = {("s", "replicates"): table_of(A=normal(1, count=30)), ("s", "records"): sample, ("t", "curve"): curve}
    drawing = drawn(tables, np.random.default_rng(1))
    assert drawing["s", "records"] is sample
    assert drawing["t", "curve"] is curve


def test_agreement_is_that_of_any_two_drawings_and_leaves_out_the_run():
    drawings = pd.DataFrame({0: ["x", "x"], 1: ["a", "b"], 2: ["a", "c"], 3: ["a", "c"]}, index=["one", "two"])
    assert agreement(drawings) == pytest.approx([0.5, 0.5, 1])
    assert steadiness(drawings)["otherwise"].tolist() == ["a", "c"]
