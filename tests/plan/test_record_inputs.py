"""Further columns of the records, which a Stan program takes: declared by a scenario and held against the data before any job."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import forget_own
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.plan.studies import extended
from formalsynth_workflow.steps.simulate import simulate_batch

PROGRAM = """
data {
  int<lower=0> n;
  array[n] int<lower=0> x;
  vector<lower=0>[n] weights;
  real<lower=0> scale;
  array [ n ] int<lower=1> trials;
  vector <lower=0, upper=5> [n] dose;
  array[n] real age;
}
parameters { real mu; }
model { mu ~ normal(0, scale); }
generated quantities { vector[n] log_lik; vector[n] x_rep; }
"""
CODE = """
import numpy as np
from formalsynth.core.arrays import Records
from formalsynth.core.population import population


@population()
def tried(generator, n: int, *, most: int = 9, columns: int = 3):
    trials = generator.integers(1, most + 1, n)
    columns = {"trials": trials.astype(float), "dose": generator.uniform(0, 5, n), "age": np.full(n, 40.0)} if columns else {}
    return Records(generator.binomial(trials, 0.4).astype(float), np.ones((n, 1)), columns)
"""
TRIALS, DOSE, AGE = {"type": "whole", "low": 1, "high": 9}, {"low": 0, "high": 5}, {"low": 18, "high": 99}
INPUTS = {"trials": TRIALS, "dose": DOSE, "age": AGE}
FAMILY = {"stan": "tried.stan", "data": {"scale": 1}, "inputs": INPUTS, "lower": 0, "upper": "trials"}
AUDIT = {
    "outcome": {"low": 0, "high": 4, "points": 3},
    "inputs": {name: {"low": ends["low"], "high": ends["high"], "points": 2} for name, ends in INPUTS.items()},
}
STUDY = {
    "code": ["my.py"],
    "synthesizers": {"Unweighted": {"mechanism": "unweighted"}},
    "scenarios": {
        "doses": {"family": FAMILY, "population": {"name": "tried"}, "n": 50, "replicates": 2, "synthesizers": ["Unweighted"]}
    },
}


@pytest.fixture(autouse=True)
def _clean():
    yield
    forget_own()


@pytest.fixture
def read(repository, tmp_path):
    """The plan of the study, with changes of its scenario."""

    def read(**changes):
        (tmp_path / "my.py").write_text(CODE, encoding="utf-8")
        (tmp_path / "tried.stan").write_text(PROGRAM, encoding="utf-8")
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(extended(STUDY, {"scenarios": {"doses": changes}}), sort_keys=False), encoding="utf-8")
        run = dict(load_yaml(repository / "config" / "config.yaml")) | {"papers": [], "study": str(path)}
        return read_plan(run, repository / "config")

    return read


def test_columns_reach_the_program_under_their_own_names(read):
    scenario = read().papers["mine"].scenarios["doses_n50"]
    records = simulate_batch(scenario.simulate_job("0000-0001")).records(1)
    family = FAMILIES[scenario.family]
    data = family.stan_data(records, np.ones(50), scenario.priors)
    assert family.inputs == ("trials", "dose", "age")
    assert family.numbers == ["scale"]
    np.testing.assert_array_equal(data["trials"], records.inputs["trials"])
    assert data["trials"].dtype.kind == data["x"].dtype.kind == "i"
    assert data["dose"].dtype.kind == "f"
    assert data["scale"] == 1
    assert scenario.use.highest(records).tolist() == records.inputs["trials"].tolist()


def test_records_without_a_column_are_not_fitted(read):
    scenario = read().papers["mine"].scenarios["doses_n50"]
    records = simulate_batch(scenario.simulate_job("0000-0000")).records(0)
    lacking = type(records)(records.x, records.design, {"trials": records.inputs["trials"]})
    with pytest.raises(ValueError, match="no column dose, which the Stan program"):
        FAMILIES[scenario.family].stan_data(lacking, np.ones(50), scenario.priors)


def test_an_audit_adds_records_with_all_columns(read):
    plan = read(audit=AUDIT)
    job = plan.papers["mine"].scenarios["doses_n50"].audit_job("0000-0000", plan.config.sampler)
    assert job.inputs == {"trials": (1, 9), "dose": (0, 5), "age": (18, 99)}
    assert job.at_most == "trials"


@pytest.mark.parametrize(("changes", "words"), yaml.safe_load(Path(__file__).with_name("refused_columns.yaml").read_text()))
def test_a_column_that_does_not_fit_is_refused_before_any_job(read, changes, words):
    with pytest.raises(ConfigError) as refused:
        read(**changes)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_our_families_leave_further_columns_out(read):
    """The audit of a Poisson model joins the confidential records with records to add that have no such columns."""
    scenario = read(family="poisson", audit={"outcome": AUDIT["outcome"]}).papers["mine"].scenarios["doses_n50"]
    assert scenario.audit.inputs == {}
    assert scenario.use is None
