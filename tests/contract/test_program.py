"""A Stan program of a user's own is held against its contract: one program with every fault to choose from."""

import functools
import math
from pathlib import Path

import pytest

from formalsynth.contract.program import ProgramUse, broken, made_up
from formalsynth.core.family import FAMILIES, program_name
from formalsynth.core.inputs import RecordInput
from formalsynth.core.registry import OwnCodeError, forget_own, load
from formalsynth.stan.compile import compile_program

PROGRAM, COUNTS, COLUMNS = (
    Path(__file__).with_name(f"{name}.stan").read_text(encoding="utf-8") for name in ("faults", "counts", "columns")
)


@pytest.fixture(autouse=True)
def _clean():
    yield
    forget_own()


@pytest.fixture(scope="session")
def faults_of(cmdstan, tmp_path_factory):
    """Function that holds a program against its contract; it is compiled once."""

    @functools.cache
    def compiled(text):
        path = tmp_path_factory.mktemp("own") / "own.stan"
        path.write_text(text, encoding="utf-8")
        compile_program(path, path.with_suffix(""), cmdstan)
        return path

    def faults_of(text, **use):
        path = compiled(text)
        load([str(path)])
        return broken(FAMILIES[program_name(path)], path.with_suffix(""), [ProgramUse(**use)])

    return faults_of


@pytest.mark.stan
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (0, None),
        (1, "the weights are not used: add weights[i] * log_lik_i to the target"),
        (2, "log_lik changes with the weights: leave them out of it"),
        (3, "log_lik of a record changes when another record changes"),
        (4, "x_rep has 5 values for 6 records: declare vector[n] x_rep"),
        (5, "the prior alone cannot be sampled (parameter beta grows without bound): give every parameter a proper prior"),
        (6, "has a density that integrates to 2 instead of 1, so epsilon would be wrong"),
        (7, "returns predictive values that do not follow its density"),
        (8, "log_lik is not finite at the declared bound lower: 0"),
        (9, "the target does not contain weights[i] * log_lik[i]"),
        (10, "when a record of weight 0 is removed"),
        (11, "declares the probability"),
        (12, "log_cdf of a record changes when another record changes"),
        (13, "log_cdf has 7 values for 6 records: declare vector[n] log_cdf"),
        (14, "the target does not contain weights[i] * log_lik[i]"),
        (15, "x_rep changes with the weights, which depend on the records"),
        (16, "log_cdf changes with the weights, which depend on the records"),
        (17, "instead of"),
        (18, "add fmin(fmax(weights[i] * (log_lik_i + offset[i]), -threshold), threshold)"),
    ],
)
def test_a_fault_is_reported_with_the_change_it_needs(faults_of, fault, words):
    lower = 0 if fault == 8 else -math.inf
    problems = faults_of(PROGRAM, data={"fault": fault}, lower=lower, upper=math.inf, predictors=2)
    if words is None:
        assert problems == []
    else:
        assert words in problems[0]
        assert "\n" not in problems[0]
        # a density is looked at in three places
        assert len(problems) == 1 or fault in (6, 7, 11), problems


@pytest.mark.stan
def test_a_sound_program_of_counts_with_constrained_parameters_passes(faults_of):
    """Random numbers come by rejection: how many are used depends on the predictors. Fixed elements are no faults of a prior."""
    assert faults_of(COUNTS, data={}, lower=0, upper=math.inf, predictors=3) == []


CHANGED = "the target changes when records of weight 0 change"
REMOVED = "the target changes when a record of weight 0 is removed"
MOVES = "log_lik of a record changes when another record changes"
SUM = "the target does not contain weights[i] * log_lik[i]"


@pytest.mark.stan
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(21, CHANGED, id="prior centred at the last record"),
        pytest.param(22, CHANGED, id="prior as wide as the largest record"),
        pytest.param(23, MOVES, id="predictors minus their minimum"),
        pytest.param(24, "are added or removed, at 10000 records", id="weights ignored at large n"),
        pytest.param(25, MOVES, id="predictors over their maximum"),
        pytest.param(26, SUM, id="prior centred at the weighted sum"),
        pytest.param(27, MOVES, id="the record before"),
        pytest.param(28, CHANGED, id="bound of a parameter from the data"),
        pytest.param(29, SUM, id="weights with a floor"),
        pytest.param(30, SUM, id="weights over their largest"),
        pytest.param(31, "x_rep changes when the outcomes change", id="some outcomes copied"),
        pytest.param(32, "with Stan's seed", id="random numbers in transformed data"),
        pytest.param(33, CHANGED, id="prior centred at the smallest predictor"),
        pytest.param(34, MOVES, id="outcomes that occur twice"),
        pytest.param(35, "the target is NaN when all weights are 0: use each weights[i] unchanged", id="mean weight 1"),
        pytest.param(36, REMOVED, id="prior centred at the median"),
        pytest.param(37, SUM, id="small weights cut"),
        pytest.param(38, SUM, id="terms cut far from the data"),
        pytest.param(39, "the target changes when records of weight 0 are added", id="prior from the first record beyond 20"),
        pytest.param(40, SUM, id="prior that follows the sum of weights"),
        pytest.param(41, REMOVED, id="terms that follow the place"),
        pytest.param(42, CHANGED, id="prior that looks for far records"),
        pytest.param(43, REMOVED, id="prior that follows the mean a little"),
        pytest.param(44, "x_rep changes when the outcomes change", id="outcomes copied where they are near"),
        pytest.param(45, "x_rep of a record changes when the predictors of later ones", id="predictors of others in x_rep"),
        pytest.param(46, CHANGED, id="prior that looks for very far records"),
        pytest.param(47, SUM, id="prior that looks for weights in a range"),
        pytest.param(48, "x_rep changes when the outcomes change", id="whole outcomes kept whole"),
    ],
)  # fmt: skip
def test_a_program_that_leaks_other_records_is_refused(faults_of, fault, words):
    problems = faults_of(PROGRAM, data={"fault": fault}, lower=-math.inf, upper=math.inf, predictors=2)
    assert problems and (len(problems) == 1 or fault == 39)
    assert words in problems[0]
    assert "\n" not in problems[0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("vector<lower=0>[n] weights;", "", "data weights are not declared"),
        ("vector[n] log_lik;", "", "generated quantity log_lik is missing: declare vector[n] log_lik"),
        ("vector[fault == 4 ? n - 1 : n] x_rep;", "", "generated quantity x_rep is missing"),
        ("int<lower=1> p;", "", "declare both p and design"),
        ("int<lower=0> fault;", "vector[2] fault;", "data fault must be a single number"),
        ("data {\n  int", "#include other.stan\ndata {\n  int", "#include is not allowed"),
    ],
)
def test_missing_parts_of_a_file_are_reported_before_it_is_compiled(tmp_path, old, new, words):
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
    assert family.data == ("n", "x", "weights", "p", "design", "fault", "threshold", "offset")
    assert family.censors
    assert family.numbers == ["fault"]
    assert family.whole
    forget_own()
    assert program_name(path) not in FAMILIES


@pytest.mark.stan
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(0, None, id="sound"),
        pytest.param(1, MOVES, id="a column minus its mean"),
        pytest.param(2, CHANGED, id="prior centred at the largest value of a column"),
        pytest.param(3, CHANGED, id="prior centred at the least number of trials"),
        pytest.param(4, "log_lik is not finite at the declared high of dose: 10", id="infinite at a declared value"),
        pytest.param(5, "x_rep of a record changes when the predictors of later ones change", id="columns of others in x_rep"),
        pytest.param(6, "predictive values that do not follow its density", id="a column left out of x_rep"),
    ],
)
def test_further_columns_are_held_against_the_contract(faults_of, fault, words):
    columns = {
        "trials": RecordInput(type="whole", low=1, high=12),
        "group": RecordInput(type="whole", low=1, high=4),
        "dose": RecordInput(low=-10, high=10),
    }
    use = {"lower": 0, "upper": 12, "predictors": 1, "inputs": columns, "at_most": "trials"}
    problems = faults_of(COLUMNS, data={"fault": fault}, **use)
    assert problems == [] if words is None else words in problems[0]


@pytest.mark.parametrize("far", [False, True])
def test_made_up_records_keep_to_what_is_declared_of_their_columns(far):
    columns = {"trials": RecordInput(type="whole", low=1, high=9), "dose": RecordInput(low=-2, high=3)}
    use = ProgramUse(data={}, lower=0, upper=9, predictors=2, inputs=columns, at_most="trials")
    records = made_up(use, True, 500, far=far)
    assert all(columns[name].holds(values).all() for name, values in records.inputs.items())
    assert (records.x <= records.inputs["trials"]).all()
    assert len(set(records.inputs["trials"])) == (9 if far else 5)
    assert not set(records.inputs["dose"]) & set(made_up(use, True, 500, seed=1, far=far).inputs["dose"])
