"""Comparison of two tables: equal except for seconds, or the first difference."""

import pytest

from dev.same import difference, tables

TABLE = 'synthesizer,epsilon,seconds\nWeighted,1.25,0.5\n"avg, cut",2.5,0.7\n'


@pytest.mark.parametrize(("text", "words"), [
    (TABLE.replace("0.7", "12.25"), ""),
    (TABLE.replace("2.5,0.7", "2.5000000000000004,0.7"), "column epsilon, row 3: was '2.5' and is '2.5000000000000004'"),
    (TABLE.replace("epsilon", "delta"), "column epsilon, row 1: was 'epsilon' and is 'delta'"),
    (TABLE + "x,1,2\n", "had 3 rows and has 4"),
    (TABLE.replace("0.5\n", "0.5,7\n"), "column , row 2: was '' and is '7'"),
    ("", "had 3 rows and has 0"),
])  # fmt: skip
def test_a_difference_has_its_column_and_row_unless_it_is_of_seconds(tmp_path, text, words):
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    before.write_text(TABLE)
    assert difference(before, after) == f"{after} is missing"
    after.write_text(text)
    assert difference(before, after) == words


def test_parts_and_copies_of_tables_are_left_out(tmp_path):
    names = ["results/paper/a/x/replicates.csv", "figures/paper/a/fig01.csv"]
    others = ["results/paper/a/x/seeds0-9/replicates.csv", "results/paper/report/claims.csv", "results/smoke/a/table1.csv"]
    for name in names + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [str(path) for path in tables(tmp_path, "paper", [""])] == names
    assert tables(tmp_path, "paper", ["b"]) == []
