"""A confidential file with a Stan program of its owner's: compared with an audit, released, and refused where it is broken."""

from pathlib import Path

import incomes
import pytest
from formalsynth.cli.main import main
from formalsynth.custodian.budget import read_ledger
from formalsynth.stan.sample import sample

PROGRAM = """
data {
  int<lower=0> n;
  vector<lower=0>[n] x;
  vector<lower=0>[n] weights;
  int<lower=1> p;
  matrix[n, p] design;
  real centre;
  int broken;
}
parameters {
  vector[p] beta;
  real<lower=0> sigma;
}
model {
  beta[1] ~ normal(centre, 2);
  for (j in 2:p) beta[j] ~ normal(0, 2);
  sigma ~ lognormal(0, 1);
  for (i in 1:n) {
    target += (broken == 1 ? 1 : weights[i]) * lognormal_lpdf(x[i] | design[i] * beta, sigma);
  }
}
generated quantities {
  vector[n] log_lik;
  vector[n] x_rep;
  for (i in 1:n) {
    log_lik[i] = lognormal_lpdf(x[i] | design[i] * beta, sigma);
    x_rep[i] = lognormal_rng(design[i] * beta, sigma);
  }
}
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Study of few rows with the program, relative to the folder of its file."""
    monkeypatch.chdir(tmp_path)
    folder = incomes.declared_study(120)
    (folder / "mine.stan").write_text(PROGRAM, encoding="utf-8")
    use(folder, broken=0)
    release = {"synthesizer": "Declared", "ceiling": 1000, "budget": 1000, "sets": 2}
    few = {"internal_audit": incomes.SHORT_AUDIT, "synthesizers.Histogram": ..., "synthesizers.Weighted": ...}
    few["scenarios.income.synthesizers"] = ["Unweighted", "Declared"]
    kept = {f"columns.{name}.release": "suppressed" for name in ("age", "region")}
    incomes.declare(folder, {"study.yaml": few, "release.yaml": release, "schema.yaml": kept})
    return folder


def use(folder, broken):
    family = {"stan": "mine.stan", "data": {"centre": 10, "broken": broken}}
    incomes.declare(folder, {"study.yaml": {"scenarios.income.family": family}})


@pytest.mark.stan
@pytest.mark.usefixtures("own_process")
def test_a_file_is_compared_and_released_with_an_own_program(study, capsys, cmdstan, monkeypatch):
    starts = []

    def recorded(executable, data, inits, *others):
        starts.append(inits)
        return sample(executable, data, inits, *others)

    monkeypatch.setattr("formalsynth.steps.fit.sample", recorded)
    assert main(["compare", "studies/income"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [
        "Compiling mine.stan (about half a minute, unless it was compiled before)",
        "Checking mine.stan against its contract",
        "Fitting candidate 1 of 2",
    ]
    assert lines[-1] == "Comparing synthetic data with the rows"
    assert any(line.startswith("Auditing: a first look at neighbour 1 of ") for line in lines)
    page = (study / "confidential" / "CONFIDENTIAL-report.html").read_text()
    assert "neighbours tried" in page
    assert "cannot be audited" not in page
    assert main(["release", "studies/income"]) == 0
    assert [entry.outcome for entry in read_ledger(study)] == ["released"]
    assert Path("release/income/synthetic_2.csv").is_file()
    # no chain starts where Stan would from the seed that the list of processes shows
    assert len(starts) >= 3
    assert all(set(start) == {"beta", "sigma"} for start in starts)
    assert len({tuple(start["beta"]) for start in starts}) == len(starts)
    capsys.readouterr()
    assert main(["verify", "release/income", "--study", "studies/income", "--run-code"]) == 0


@pytest.mark.stan
@pytest.mark.parametrize("command", ["plan", "compare", "release"])
def test_a_broken_program_is_refused_before_the_file_is_used(study, command, capsys, cmdstan):
    use(study, broken=1)
    assert main([command, "studies/income"]) == 1
    errors = capsys.readouterr().err.splitlines()
    problem = errors[-2] if command == "release" else errors[-1]
    assert problem.startswith("mine.stan: the weights are not used: add weights[i] * log_lik_i to the target")
    assert (errors[-1] == "No epsilon is spent.") == (command == "release")
    assert not any(line.startswith("Fitting") for line in errors)
    assert read_ledger(study) == []
    assert not Path("release").exists()


def test_a_program_with_further_columns_is_refused(study, capsys):
    (study / "mine.stan").write_text(PROGRAM.replace("real centre;", "real centre; vector[n] years;"), encoding="utf-8")
    years = {"low": 0, "high": 5}
    family = {"stan": "mine.stan", "data": {"centre": 10, "broken": 0}, "inputs": {"years": years}}
    incomes.declare(study, {"study.yaml": {"scenarios.income.family": family}})
    assert main(["plan", "studies/income"]) == 1
    said = capsys.readouterr().err
    assert "family.inputs: given ['years']; allowed: none: a program receives the outcome and the design" in said
