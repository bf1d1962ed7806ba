"""Steadiness of verdicts under other replicates."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.ledger.steadiness import steadiness

from dev.steady import main, steady_part, verdicts_of_run

SCENARIO = "simulation_n2000"


@pytest.fixture
def plan(plan_of):
    return plan_of("range")


@pytest.fixture
def results(tmp_path, plan):
    """A folder with the replicates of one scenario, every column of which is chance."""
    paper, generator = plan.papers["range"], np.random.default_rng(1)
    columns = {name for claim in paper.claims for name in (*claim.estimate.value, *claim.estimate.rows)}
    parts = [
        pd.DataFrame(dict.fromkeys(columns, 9 + generator.normal(size=40)))
        .assign(scenario="simulation", n=2000, synthesizer=id, replicate=np.arange(40))
        .assign(**{f"parameter {name}": value for name, value in synthesizer.parameters.items()})
        for id, synthesizer in paper.scenarios[SCENARIO].synthesizers.items()
    ]
    folder = tmp_path / "range" / SCENARIO
    folder.mkdir(parents=True)
    pd.concat(parts).to_csv(folder / "replicates.csv", index=False)
    return tmp_path


def test_only_claims_whose_tables_are_there_are_judged(plan, results):
    verdicts = verdicts_of_run(plan, results, drawings=3)
    assert verdicts.columns.tolist() == [0, 1, 2, 3]
    assert "range-delta-order" in verdicts.index
    assert len(verdicts) < len(plan.papers["range"].claims)


def test_the_page_lists_verdicts_that_turn_the_least_steady_first():
    verdicts = pd.DataFrame(
        {0: ["x", "x", "x"], 1: ["x", "y", "x"], 2: ["x", "y", "z"]}, index=["firm", "reps-turns", "range-wavers"]
    )
    claims = {"reps-turns": "It turns.", "range-wavers": "It wavers."}
    text = steady_part(steadiness(verdicts), np.array([0.5, 0.75, 1]), claims)
    assert "agree on 75.0% of the verdicts (from 50.0% to 100.0%)" in text
    assert "1 verdicts are steady" in text
    assert [line for line in text.splitlines() if line.endswith(("y |", "z |"))] == [
        "| `reps` | It turns. | x | 0% | y |",
        "| `range` | It wavers. | x | 50% | z |",
    ]


def test_without_a_run_it_names_the_command_to_run(tmp_path, repository, monkeypatch, capsys):
    monkeypatch.chdir(repository)
    assert main(["--results", str(tmp_path)]) == 2
    assert "run snakemake at scale paper first" in capsys.readouterr().err


@pytest.mark.parametrize("given", [["--drawings", "1"], ["--times", "0"]])
def test_too_few_drawings_are_refused(given, capsys):
    with pytest.raises(SystemExit):
        main(given)
    assert "--drawings must be 2 or more, and --times 1 or more" in capsys.readouterr().err
