"""A Stan program of a user's own is held against its contract: one program with every fault to choose from."""

import math

import pytest
from formalsynth.contract.program import ProgramUse, broken
from formalsynth.core.family import FAMILIES, program_name
from formalsynth.core.registry import OwnCodeError, forget_own, load
from formalsynth.stan.compile import compile_program

PROGRAM = """
data {
  int<lower=0> n;
  vector[n] x;
  vector<lower=0>[n] weights;
  int<lower=1> p;
  matrix[n, p] design;
  int<lower=0> fault;
}
transformed data {
  matrix[n, p] z = design;
  if (fault == 3) {
    for (j in 2:p) z[, j] = design[, j] - mean(design[, j]);
  }
}
parameters {
  vector[p] beta;
  real<lower=0> sigma;
}
model {
  vector[n] mu = z * beta;
  if (fault != 5) beta ~ normal(0, 2);
  if (fault == 10) beta[1] ~ normal(0, n);
  sigma ~ lognormal(0, 0.5);
  for (i in 1:n) {
    target += (fault == 1 ? 1 : weights[i]) * (normal_lpdf(x[i] | mu[i], sigma) + (fault == 6 ? log(2) : 0));
  }
}
generated quantities {
  vector[n] log_lik;
  vector[fault == 4 ? n - 1 : n] x_rep;
  for (i in 1:n) {
    real mu = z[i] * beta;
    log_lik[i] = normal_lpdf(x[i] | mu, sigma) + (fault == 6 ? log(2) : 0) + (fault == 9 ? log(2) : 0);
    if (fault == 2) log_lik[i] *= weights[i];
    if (fault == 8 && x[i] == 0) log_lik[i] = negative_infinity();
  }
  for (i in 1:num_elements(x_rep)) {
    x_rep[i] = normal_rng(z[i] * beta, fault == 7 ? 2 * sigma : sigma);
  }
}
"""


@pytest.fixture(autouse=True)
def _clean():
    yield
    forget_own()


@pytest.fixture(scope="session")
def faulty(cmdstan, tmp_path_factory):
    """The program and its executable."""
    path = tmp_path_factory.mktemp("own") / "faulty.stan"
    path.write_text(PROGRAM, encoding="utf-8")
    executable = path.with_suffix("")
    compile_program(path, executable, cmdstan)
    return path, executable


@pytest.mark.stan
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (0, None),
        (1, "the weights are not used: add weights[i] * log_lik_i to the target"),
        (2, "log_lik moves with the weights: leave them out of it"),
        (3, "log_lik of a record moves when another record changes"),
        (4, "x_rep has 5 values for 6 records: declare vector[n] x_rep"),
        (5, "the prior alone cannot be sampled (parameter beta runs away): give every parameter a proper prior"),
        (6, "has a density that integrates to 2 and not to 1, so that epsilon would be wrong"),
        (7, "gives predictive values that do not follow its density"),
        (8, "log_lik is not finite at the declared bound lower: 0"),
        (9, "the target does not hold weights[i] * log_lik[i]"),
        (10, "when a record of weight 0 is taken out"),
    ],
)
def test_a_fault_is_told_in_a_sentence_that_says_what_to_change(faulty, fault, words):
    path, executable = faulty
    load([str(path)])
    use = ProgramUse(data={"fault": fault}, lower=0 if fault == 8 else -math.inf, upper=math.inf, predictors=2)
    problems = broken(FAMILIES[program_name(path)], executable, [use])
    if words is None:
        assert problems == []
    else:
        assert words in problems[0]
        assert "\n" not in problems[0]
        # a density is looked at in three places
        assert len(problems) == 1 or fault in (6, 7), problems


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("vector<lower=0>[n] weights;", "", "data weights are not declared"),
        ("vector[n] log_lik;", "", "generated quantity log_lik is missing: declare vector[n] log_lik"),
        ("vector[fault == 4 ? n - 1 : n] x_rep;", "", "generated quantity x_rep is missing"),
        ("int<lower=1> p;", "", "declare both p and design"),
        ("int<lower=0> fault;", "vector[2] fault;", "data fault are no single number"),
        ("data {\n  int", "#include other.stan\ndata {\n  int", "#include is not possible"),
    ],
)
def test_what_a_file_lacks_is_told_before_it_is_compiled(tmp_path, old, new, words):
    path = tmp_path / "lacking.stan"
    assert old in PROGRAM
    path.write_text(PROGRAM.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(OwnCodeError) as refused:
        load([str(path)])
    assert words in str(refused.value)


def test_what_a_program_declares_is_read_from_its_text(tmp_path):
    path = tmp_path / "fine.stan"
    path.write_text(
        "// data { int no; }\n" + PROGRAM.replace("vector[n] x;", "array[n] int<lower=0> x; // counts"), encoding="utf-8"
    )
    load([str(path)])
    load([str(path)])
    family = FAMILIES[program_name(path)]
    assert family.parameters == ("beta", "sigma")
    assert family.data == ("n", "x", "weights", "p", "design", "fault")
    assert family.numbers == ["fault"]
    assert family.whole
    forget_own()
    assert program_name(path) not in FAMILIES
