"""The command ``formalsynth release``: the ledger is written first, seeds are refused, and nothing leaks on the way."""

import re
import runpy
from pathlib import Path

import incomes
import numpy as np
import pandas as pd
import pytest
from formalsynth.cli.main import main
from formalsynth.core.text import DataError
from formalsynth.custodian.budget import read_ledger
from formalsynth.custodian.crossing import read_crossing

SEEDS = ("root_seed", "seed", "random_state")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Declared study, relative to the folder of its file."""
    monkeypatch.chdir(tmp_path)
    return incomes.declared_study()


@pytest.mark.stan
def test_a_release_is_made_once_and_counted(study, capsys, cmdstan):
    assert main(["release", "studies/income"]) == 0
    assert "All files were computed from release/income/crossing.yaml" in capsys.readouterr().out
    folder = Path("release/income")
    assert {path.name for path in folder.iterdir()} > {"LEGAL.md", "README.md", "MANIFEST.sha256", "synthetic_5.csv"}
    assert [entry.outcome for entry in read_ledger(study)] == ["released"]
    assert main(["release", "studies/income"]) == 1
    assert "a release is never overwritten" in capsys.readouterr().err
    assert main(["budget", "studies/income"]) == 0
    assert "Together: 1 of 3." in capsys.readouterr().out
    assert main(["verify", "release/income", "--study", "studies/income"]) == 0
    (folder / "README.md").write_text("seed: 7")
    assert main(["verify", "release/income", "--study", "studies/income"]) == 1


@pytest.mark.stan
@pytest.mark.usefixtures("own_process")
def test_a_release_of_posterior_draws_states_its_guarantee(study, capsys, cmdstan):
    release = {"synthesizer": "Declared", "ceiling": 100, "budget": 150, "sets": 2}
    incomes.declare(study, {"release.yaml": release, "study.yaml": {"internal_audit": incomes.SHORT_AUDIT}})
    assert main(["release", "studies/income"]) == 0
    card = Path("release/income/deployment.yaml").read_text()
    assert "variant_name: Custom" in card
    assert re.search(r"mechanisms: 'declared_scale of formalsynth [\d.]+: one posterior draw", card)
    incomes.declare(study, {"release.yaml": {"ceiling": 5}})
    assert main(["release", "studies/income", "--to", "release/again"]) == 1
    error = capsys.readouterr().err
    assert "claims more than the declared ceiling of 5" in error
    assert "counts as spent" in error
    assert not Path("release/again").exists()
    assert [entry.outcome for entry in read_ledger(study)] == ["released", "stopped"]
    incomes.declare(study, {"release.yaml": {"ceiling": 100}})
    assert main(["release", "studies/income", "--to", "release/again"]) == 1
    assert "105 of the budget of 150 for all releases from the file is already spent" in capsys.readouterr().err


TABLES = {"epsilon": 0.5, "low": 1000, "high": 500_000, "bins": 16, "x_low": 0, "x_high": 1, "x_bins": 8, "x_closed": 1}


def with_tables(study, **parameters):
    """Declare a release of the incomes by age from a fit to noisy tables, of epsilon 0.5 for an added or removed row."""
    synthesizer = {"mechanism": "noisy_tables", "parameters": TABLES | parameters}
    others = {f"columns.{name}.release": "suppressed" for name in ("region", "sector")}
    incomes.declare(
        study,
        {
            "schema.yaml": others,
            "study.yaml": {"synthesizers.Tables": synthesizer, "scenarios.income.synthesizers": ["Unweighted", "Tables"]},
            "release.yaml": {"synthesizer": "Tables", "sets": 20},
        },
    )


def test_plan_predicts_the_errors_of_noisy_tables(study, capsys, monkeypatch):
    """Without the fits to made-up rows, which need Stan."""
    monkeypatch.setattr("formalsynth.custodian.plan.try_candidates", lambda *given, **more: (1.0, []))
    with_tables(study)
    Path("income.csv").unlink()
    assert main(["plan", "studies/income"]) == 0
    out = capsys.readouterr().out
    (factor,) = re.findall(r"Tables: at epsilon 0.5 the standard error of a slope .* about ([\d.]+) times that", out)
    assert 1.1 < float(factor) < 3


@pytest.mark.stan
def test_a_release_from_a_fit_to_noisy_tables_is_strict_and_keeps_the_regression(study, capsys, cmdstan):
    """A replaced row changes two counts: noise of scale 2 costs 1. The truth of the slope is in the interval of combine.py."""
    with_tables(study)
    incomes.declare(study, {"release.yaml": {"exact_family": True}})
    assert main(["release", "studies/income"]) == 0, capsys.readouterr().err
    crossing = read_crossing(Path("release/income"))[0]
    (table,) = crossing.tables
    assert (table.shape, table.epsilon, table.scale, crossing.draws.epsilon) == ((8, 16), 1.0, 2.0, 0.0)
    assert "variant_name: Pure DP" in Path("release/income/deployment.yaml").read_text()
    assert main(["verify", "release/income", "--study", "studies/income"]) == 0
    assert not list(Path("studies/income/confidential").glob("noisy-counts*"))  # the crossing has them
    fits = [
        np.polyfit(frame["age"], np.log(frame["income"]), 1, cov=True)
        for frame in map(pd.read_csv, sorted(Path("release/income").glob("synthetic_*.csv")))
    ]
    rule = runpy.run_path("release/income/combine.py")["combine"]
    estimate, variance, (low, high) = rule([fit[0][0] for fit in fits], [fit[1][0, 0] for fit in fits])
    assert low < estimate < high
    assert variance**0.5 < 0.003
    assert abs(estimate - 0.012) < 5 * variance**0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"x_high": 80},
            "allowed: low: 1000, high: 500000, x_low: 0, x_high: 1, x_closed: 1, x_discrete: 0: the declared bounds; the",
        ),
        ({"low": 900}, "synthesizers.Tables.parameters: given"),
        ({"x_closed": 0}, "the predictor is on a scale on which its declared bounds are 0 and 1"),
    ],
)
def test_bins_of_noisy_tables_are_on_the_declared_bounds(study, changes, message, capsys):
    with_tables(study, **changes)
    assert main(["release", "studies/income"]) == 1
    assert message in " ".join(capsys.readouterr().err.split())


def test_noisy_tables_with_several_predictors_are_refused(study, capsys):
    with_tables(study)
    incomes.declare(study, {"schema.yaml": {"columns.region.release": "as_is"}})
    assert main(["release", "studies/income"]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert "at most one predictor, a number; otherwise synthesizer: tables in release.yaml" in error


def test_a_release_warns_before_it_spends_of_persons_who_may_be_in_several_rows(study, capsys, monkeypatch):
    def stopped(*_):
        raise DataError("stopped")

    monkeypatch.setattr("formalsynth.custodian.release.rehearse", stopped)
    rows = pd.read_csv("income.csv", dtype=str, keep_default_na=False)
    rows.assign(person=rows["person"].iloc[np.arange(len(rows)) // 2].to_numpy()).to_csv("income.csv", index=False)
    incomes.declare(study, {"schema.yaml": {"protected": "citizen"}})
    assert main(["release", "studies/income"]) == 1
    said = capsys.readouterr().err
    assert "Warning (CONFIDENTIAL): person: looks like an identifier, and some values are in up to 2 rows. If it names a" in said
    assert "rows_each: 1 is false, and so is every epsilon" in said
    assert read_ledger(study) == []


@pytest.mark.parametrize("name", SEEDS)
def test_seeds_are_refused(study, name, capsys):
    incomes.declare(study, {"release.yaml": {name: 1}})
    assert main(["release", "studies/income"]) == 1
    assert f"release.yaml: {name}: given 1" in capsys.readouterr().err
    assert not Path("release").exists()
    assert read_ledger(study) == []


def test_a_damaged_ledger_stops_every_release(study, capsys):
    (study / "confidential" / "budget.jsonl").write_text("{")
    assert main(["release", "studies/income"]) == 1
    assert "is damaged; nothing is released" in capsys.readouterr().err


def test_the_message_of_an_unexpected_error_is_left_out(study, capsys, monkeypatch):
    def fail(*_):
        raise KeyError("73519")

    monkeypatch.setattr("formalsynth.custodian.check.check_file", fail)
    assert main(["check", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert "KeyError in check.py, line" in error
    assert "73519" not in error


def test_means_of_results_are_a_line_away(tmp_path, capsys):
    (tmp_path / "results.csv").write_text(
        "mechanism,parameters,family,n,status,epsilon\nweighted,c=1,beta,10,ok,2\nweighted,c=1,beta,10,ok,4\n"
    )
    assert main(["query", "epsilon", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split()[-4:] == ["weighted", "10", "3", "2"]
    assert main(["query", "delta", "--results", str(tmp_path)]) == 1
    assert "given delta; allowed columns: mechanism, parameters, family, n, status, epsilon" in capsys.readouterr().err


ENTRY = (
    '{"date": "2026-01-02", "synthesizer": "Histogram", "guarantee": "DP", "neighbours": "replace", "sets": 5, "epsilon": %s, '
    '"outcome": "released"}\n'
)


@pytest.mark.parametrize("epsilon", ["NaN", "-5", '"1"', "null", "true", "Infinity"])
def test_a_ledger_that_holds_no_budget_stops_every_release(study, capsys, epsilon):
    """CandidateSummary with NaN no budget is ever too small."""
    (study / "confidential" / "budget.jsonl").write_text(ENTRY % epsilon)
    for command in ("release", "budget"):
        assert main([command, "studies/income"]) == 1
        assert "is damaged; nothing is released" in capsys.readouterr().err
    assert not Path("release/income").exists()


@pytest.mark.parametrize(
    "place", ["income.csv/below", "/dev/null/release", "x" * 300, "link", "studies/income/confidential/release"]
)
def test_a_place_that_cannot_be_costs_no_budget(study, capsys, place):
    Path("link").symlink_to("nowhere")
    assert main(["release", "studies/income", "--to", place]) == 1
    assert "unexpected error" not in capsys.readouterr().err
    assert read_ledger(study) == []


def test_names_in_the_output_of_a_command_are_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("\x1b[31mred.csv").write_text("income,age\n1,2\n")
    assert main(["inspect", "\x1b[31mred.csv", "--outcome", "income"]) == 1
    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert "studies/\\x1b[31mred: given " in error


def test_purge_keeps_the_ledger(study, capsys):
    (study / "confidential" / "budget.jsonl").write_text("")
    assert main(["purge", "studies/income"]) == 0
    assert [path.name for path in (study / "confidential").iterdir()] == ["budget.jsonl"]
    assert "Deleted: questions.txt." in capsys.readouterr().out


def test_verify_is_the_command_that_computes_a_release_again(study, capsys):
    assert main(["verify", "release/nowhere"]) == 1
    assert "release/nowhere: is not a folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["gate", "release/nowhere"])
    assert "invalid choice: 'gate'" in capsys.readouterr().err
