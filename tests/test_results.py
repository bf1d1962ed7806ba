"""Tests of the table of all results: its columns, its reader, and the replicates needed for an error."""

import os

import numpy as np
import pandas as pd
import pytest

from formalsynth.core.text import DataError
from formalsynth.runtime.files import write_table
from formalsynth_workflow import results
from formalsynth_workflow.jobs.inputs import ScenarioColumns
from formalsynth_workflow.results import read, replicates_needed, table_of

COLUMNS = ScenarioColumns(
    family="lognormal", mechanisms={"Weighted": "weighted", "avg": "range_averaged"}, parameters={"avg": {"a": 0.4, "b": 1.8}}
)


def replicates(n, number=16, spread=1.0):
    rows = []
    for id, epsilon in (("Data", None), ("Weighted", 5.0), ("avg", 3.0)):
        for k in range(number):
            value = None if epsilon is None else epsilon + spread * (-1) ** k
            rows.append({"paper": "mine", "scenario": f"groups_n{n}", "n": n, "replicate": k, "synthesizer": id,
                         "status": "ok", "epsilon": value})  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def folder(tmp_path):
    """Folder of results with two scenarios, one of them with a failed replicate."""
    other = replicates(60)
    other.loc[other.index[-1], ["status", "epsilon"]] = ["failed", np.nan]
    write_table(tmp_path / "results.csv", table_of([(replicates(50), COLUMNS), (other, COLUMNS)]))
    return tmp_path


def test_mean_epsilon_by_mechanism_and_size_is_one_line(folder):
    means = read(folder).groupby(["mechanism", "n"])["epsilon"].mean()
    assert means["weighted", 50] == 5
    assert means["range_averaged", 60] == pytest.approx(3 + 1 / 15)


def test_rows_name_their_mechanism_and_parameters(folder):
    table = read(folder, failed=True)
    assert list(table)[4:8] == ["synthesizer", "mechanism", "parameters", "family"]
    assert set(table["parameters"]) == {"", "a=0.4, b=1.8"}
    assert set(table.loc[table["synthesizer"] == "Data", "mechanism"]) == {""}
    assert len(table) == len(read(folder)) + 1


@pytest.mark.parametrize(("spread", "target", "relative", "needed"), [
    (1.0, 0.1, False, 107),  # the variance of 16 values of 1 and -1 is 16 / 15
    (1.0, 0.1, True, 5),  # of a mean of 5
    (0.0, 0.1, False, 2),
])  # fmt: skip
def test_replicates_for_a_target_error(spread, target, relative, needed):
    table = table_of([(replicates(50, spread=spread), COLUMNS)])
    cells = replicates_needed(table, target, relative=relative).set_index("synthesizer")
    assert cells.loc["Weighted", "needed"] == needed
    assert cells.loc["Weighted", "replicates"] == 16
    assert "Data" not in cells.index


def test_the_command_prints_them(folder, capsys):
    assert results.main([str(folder), "--plan-mcse", "0.1"]) == 0
    output = capsys.readouterr().out
    assert "needed" in output
    assert "107" in output


@pytest.mark.parametrize(("arguments", "words"), [
    (["--plan-mcse", "0"], "target: given 0.0; allowed: a number above 0"),
    (["--plan-mcse", "1", "--column", "epsilom"], "no column epsilom; allowed: paper"),
])  # fmt: skip
def test_invalid_targets_and_columns_are_refused(folder, capsys, arguments, words):
    assert results.main([str(folder), *arguments]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "missing columns: status, mechanism, parameters, family"),
        (None, "is damaged (it is not a file)"),
    ],
)
def test_an_invalid_table_is_refused(tmp_path, text, words):
    if text is None:
        os.mkfifo(tmp_path / "results.csv")
    else:
        (tmp_path / "results.csv").write_text(text)
    with pytest.raises((DataError, OSError)) as refused:
        read(tmp_path)
    assert words in str(refused.value)


def test_the_error_for_a_missing_table_names_the_command(tmp_path):
    with pytest.raises(FileNotFoundError, match="snakemake --cores 2 write_results"):
        read(tmp_path)
