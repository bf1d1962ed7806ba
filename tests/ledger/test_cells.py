"""Tests of the values that a claim compares."""

import numpy as np
import pandas as pd
import pytest
from made_up_claims import claim_of, normal, row_of, table_of
from scipy import stats

from formalsynth_workflow.ledger.cells import ClaimError, NoRowsError, values_of


def test_distances_shares_and_thresholds_come_before_the_statistic():
    tables = table_of(Data=np.full(3, 5.0), A=[4.0, 6.0, 8.0], B=[0.0, 5.0, 10.0])
    values, *_ = values_of(claim_of({}, {"distance": "Data"}), [tables])
    assert values.tolist() == [[1, 5], [1, 0], [3, 5]]
    values, *_ = values_of(claim_of({}, {"distance": 4.0}), [tables])
    assert values.tolist() == [[0, 4], [2, 1], [4, 6]]
    values, *_ = values_of(claim_of({}, {"of_largest": True}), [tables])
    assert values.tolist() == [[0.5, 0], [0.75, 0.5], [1, 1]]
    values, *_ = values_of(claim_of({}, {"above": 5.0}), [tables])
    assert values.tolist() == [[0, 0], [1, 0], [1, 1]]
    truth = float(stats.beta(0.5, 3).median())
    claim = claim_of({}, {"distance": "population", "value": ["median"]}, truth=truth)
    values, *_ = values_of(claim, [tables.rename(columns={"delta": "median"})])
    assert values.tolist() == [[4 - truth, 0 + truth], [6 - truth, 5 - truth], [8 - truth, 10 - truth]]


def test_differences_are_taken_two_by_two():
    tables = table_of(A=[1.0, 2.0], B=[3.0, 5.0], C=[7.0, 7.0], D=[6.0, 0.0])
    values, replicates, *_ = values_of(claim_of({}, {"of": ["A", "B", "D", "C"], "differences": True}), [tables])
    assert values.tolist() == [[-2, -1], [-3, -7]]
    assert replicates == 2
    distances, *_ = values_of(claim_of({}, {"of": ["A", "B"], "differences": True, "distance": 2.0}), [tables])
    assert distances.tolist() == [[0], [-3]]


def test_columns_can_be_the_cells():
    tables = table_of(A=[1.0, 2.0]).assign(epsilon=[2.0, 4.0])
    values, replicates, *_ = values_of(claim_of({}, {"over": "value", "value": ["delta", "epsilon"]}), [tables])
    assert values.tolist() == [[1, 2], [2, 4]]
    assert replicates == 2


def test_replicates_without_a_value_in_every_cell_are_left_out_and_counted():
    row = row_of(claim_of({}), table_of(A=[1.0, np.nan, 3.0], B=[2.0, 5.0, 6.0]))
    assert row.replicates == 2


def test_a_missing_column_or_cell_is_an_error_in_config():
    tables = table_of(A=normal(1), B=normal(2)).assign(rule="mean")
    cases = [
        ({"value": ["epsilom"]}, "no column 'epsilom'; allowed: "),
        ({"over": "rule", "of": ["mean", "median"]}, "no rows for rule median; allowed: mean"),
        ({"rows": {"rule": "median"}}, "no rows with rule median; allowed: mean"),
    ]
    for estimate, words in cases:
        with pytest.raises(ClaimError, match=f"some-claim: {words}"):
            row_of(claim_of({}, estimate), tables)


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        ({"of": ["A", "C"]}, "synthesizer C"),
        ({"distance": "Data"}, "synthesizer Data"),
        ({"rows": {"synthesizer": "C"}, "over": "n", "of": [50.0]}, "synthesizer C, n 50.0"),
        ({"rows": {"rule": "median"}}, "rule median, synthesizer A and B"),
        ({"over": "rule", "of": ["mean", "median"]}, "rule median"),
    ],
)
def test_cells_without_a_finite_result_are_named(estimate, words):
    """The rows of a study's failed replicates may lack the column that distinguishes cells."""
    tables = table_of(A=normal(1), B=normal(2)).assign(rule="mean", status="ok")
    tables.loc[0, ["rule", "status"]] = ["", "failed"]
    with pytest.raises(NoRowsError, match=f"without a finite result: {words}"):
        values_of(claim_of({}, estimate), [tables])


def test_units_other_than_replicates_do_not_change_the_number_of_replicates():
    table = table_of(A=[1.0, 2.0], B=[3.0, 4.0]).assign(record=lambda rows: rows["replicate"], replicate=0)
    values, replicates, *_ = values_of(claim_of({}, {"by": "record"}), [table])
    assert values.tolist() == [[1, 3], [2, 4]]
    assert replicates == 1


def test_scenarios_go_by_their_names_and_rows_by_their_values():
    table = table_of(A=[1.0, 2.0], B=[3.0, 4.0])
    claim = claim_of({}, {"over": "scenario", "of": ["first"], "rows": {"synthesizer": "B"}})
    values, *_ = values_of(claim, [table])
    assert values.tolist() == [[3], [4]]


def test_a_claim_needs_a_unit_with_a_value_in_every_cell():
    with pytest.raises(NoRowsError, match="no replicate has a result in every cell"):
        values_of(claim_of({}), [table_of(A=[1.0, np.nan], B=[np.inf, 5.0])])


def test_names_of_numbers_have_no_exponent():
    sizes = [0.5, 1000.0, 1_000_000.0]
    table = pd.concat([table_of(A=[size]).assign(n=size) for size in sizes])
    assert values_of(claim_of({}, {"over": "n", "of": sizes}), [table]).names == ("n = 0.5", "n = 1000", "n = 1000000")
