"""Two runs have the same tables, or it is said where they differ."""

import shutil

import pytest

from dev.same import difference, main

TABLE = 'synthesizer,epsilon,seconds,reason\nWeighted,1.25,0.5,\n"avg, cut",2.5,0.7,"gate: ""no"""\n'
FILES = {
    "results/paper/claims.csv": "id,verdict\na,reproduced\n",
    "results/paper/range/claims.csv": "id,verdict\na,reproduced\n",
    "results/paper/range/table1.csv": "statistic,Data\nmean,12.5\n",
    "results/paper/range/skewed_n60/replicates.csv": TABLE,
    "results/paper/range/skewed_n60/seeds0000-0099/Weighted/replicates.csv": TABLE,
    "results/paper/report/claims.csv": "id,verdict\na,reproduced\n",
    "results/paper/zcdp/means_n1000/replicates.csv": TABLE,
    "results/smoke/range/table1.csv": "statistic,Data\nmean,12.5\n",
    "figures/paper/range/fig01.csv": "x,y\n1,2\n",
    "figures/paper/range/fig01.svg": "<svg/>",
}
REPLICATES = "results/paper/range/skewed_n60/replicates.csv"


@pytest.fixture
def runs(tmp_path):
    """Two working folders with the same tables."""
    for name, text in FILES.items():
        path = tmp_path / "before" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "before", shutil.copytree(tmp_path / "before", tmp_path / "after")


@pytest.fixture
def compare(runs, capsys):
    """Run the command; its exit status and its lines."""

    def compare(*arguments):
        status = main([str(runs[0]), *arguments, "--after", str(runs[1])])
        return status, capsys.readouterr().out.splitlines()

    return compare


@pytest.mark.parametrize(("arguments", "number"), [((), 6), (("range",), 4), (("range", "zcdp"), 5), (("--scale", "smoke"), 1)])
def test_tables_that_are_the_same_are_counted_without_parts_and_copies(runs, compare, arguments, number):
    for name in FILES:
        if "/seeds" in name or "/report/" in name or not name.endswith(".csv"):
            (runs[1] / name).unlink()
    assert compare(*arguments) == (0, [f"{number} files compared, 0 differ"])


def test_a_difference_is_reported_with_its_column_and_row_unless_it_is_of_seconds(runs, compare):
    (runs[1] / REPLICATES).write_text(TABLE.replace("0.7", "12.25"))
    assert compare() == (0, ["6 files compared, 0 differ"])
    (runs[1] / REPLICATES).write_text(TABLE.replace("2.5,0.7", "2.5000000000000004,12.25"))
    line = f"{REPLICATES}: column epsilon, row 3: was '2.5' and is '2.5000000000000004'"
    assert compare() == (1, [line, "6 files compared, 1 differ"])


@pytest.mark.parametrize("gone", [0, 1])
def test_a_file_that_one_run_does_not_have_is_named(runs, compare, gone):
    path = runs[gone] / "figures/paper/range/fig01.csv"
    path.unlink()
    assert compare() == (1, [f"figures/paper/range/fig01.csv: {path} is missing", "6 files compared, 1 differ"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,z\n1,2\n", "column y, row 1: was 'y' and is 'z'"),
        ("x,y\n1,2\n3,4\n", "had 2 rows and has 3"),
        ("x,y\n1,2,3\n", "column , row 2: was '' and is '3'"),
        ("", "had 2 rows and has 0"),
        ("x,y\r\n1,2\r\n", "the same values are written differently"),
        ('x,y\n"1",2\n', "the same values are written differently"),
        ("x,y\n1,2.0\n", "column y, row 2: was '2' and is '2.0'"),
    ],
)
def test_every_kind_of_difference_has_its_words(runs, text, words):
    before, after = (folder / "figures/paper/range/fig01.csv" for folder in runs)
    after.write_bytes(text.encode())
    assert difference(before, after) == words


def test_folders_without_tables_or_that_do_not_exist_are_named(tmp_path, capsys):
    assert main([str(tmp_path), "--after", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "nothing to compare: neither folder has tables\n"
    with pytest.raises(SystemExit):
        main([str(tmp_path / "absent"), "--after", str(tmp_path)])
    assert f"{tmp_path / 'absent'}: there is no such folder; give the working folder of a run" in capsys.readouterr().err
