"""Which verdicts stay when the replicates are drawn anew."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.ledger.steadiness import agreement, drawn, drawn_verdicts, steadiness
from formalsynth.ledger.verdicts import REPRODUCED
from made_up_claims import THRESHOLDS, claim_of, normal, table_of


def verdicts(**cells):
    """Those of an order claim on a table with these cells, of the run and of 40 drawings."""
    return drawn_verdicts([claim_of({"kind": "order"})], {("first_n50", "replicates"): table_of(**cells)}, THRESHOLDS, 1, 40)


def test_a_verdict_far_from_its_border_stays():
    found = steadiness(verdicts(A=normal(1), B=normal(9, seed=2)))
    assert found.loc[0, ["verdict", "stays", "otherwise"]].tolist() == [REPRODUCED, 1, ""]


def test_a_verdict_at_its_border_turns_in_about_half_of_the_drawings():
    """An order holds where its mean is two errors from 0, and here it is: a drawing is as often below as above."""
    difference = normal(0)
    difference += 2.02 * difference.std(ddof=1) / np.sqrt(len(difference)) - difference.mean()
    base = normal(5, seed=3)
    found = verdicts(A=base, B=base + difference)
    assert 0.1 < steadiness(found)["stays"][0] < 0.9
    least, *_, most = agreement(found)
    assert (least, most) == (0, 1)


def test_a_scenario_has_the_same_replicates_in_all_its_tables():
    one = table_of(A=normal(1, count=30), B=normal(2, count=30))
    tables = {("s", "replicates"): one, ("s", "sets"): one.assign(set=4), ("other", "replicates"): one}
    found = drawn(tables, np.random.default_rng(1))
    pd.testing.assert_frame_equal(found["s", "replicates"], found["s", "sets"].drop(columns="set"))
    assert not found["s", "replicates"].equals(found["other", "replicates"])
    for name, cell in found["s", "replicates"].groupby("synthesizer"):
        assert cell["replicate"].tolist() == list(range(30))
        assert set(cell["delta"]) < set(one.loc[one["synthesizer"] == name, "delta"])


def test_the_table_of_one_sample_and_one_without_replicates_stay_as_they_are():
    sample = table_of(A=normal(1, count=1)).assign(record=7)
    curve = pd.DataFrame({"x": [1.0, 2.0]})
    tables = {("s", "replicates"): table_of(A=normal(1, count=30)), ("s", "records"): sample, ("t", "curve"): curve}
    found = drawn(tables, np.random.default_rng(1))
    assert found["s", "records"] is sample
    assert found["t", "curve"] is curve


def test_agreement_is_that_of_any_two_drawings_and_leaves_out_the_run():
    found = pd.DataFrame({0: ["x", "x"], 1: ["a", "b"], 2: ["a", "c"], 3: ["a", "c"]}, index=["one", "two"])
    assert agreement(found) == pytest.approx([0.5, 0.5, 1])
    assert steadiness(found)["otherwise"].tolist() == ["a", "c"]
