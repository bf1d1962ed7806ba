"""The command that checks what a study of a user's own registers."""

import pytest
import yaml

from formalsynth.core.registry import forget_own
from formalsynth_workflow.plan.contracts import main

CODE = '''
import numpy as np
from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism
from formalsynth.core.population import population


@mechanism(ASYMPTOTIC)
def halved(context: Context) -> Form:
    """Less weight for the riskier half."""
    risk = context.parents[0].by_record
    weights = np.where(risk > np.median(risk), 0.5, FACTOR)
    return Form(weights, Sensitive(weights))


@population()
def two_groups(generator: np.random.Generator, n: int):
    """Lognormal records, half of them larger."""
    return intercept_only(np.exp(generator.normal(size=n)) * np.where(np.arange(n) % 2, 5, 1))
'''
STUDY = {
    "code": ["my.py"],
    "synthesizers": {"Unweighted": {"mechanism": "unweighted"}, "Halved": {"mechanism": "halved", "parents": ["Unweighted"]}},
    "scenarios": {"groups": {"family": "lognormal", "population": {"name": "two_groups"}, "n": 50, "synthesizers": ["Halved"]}},
}


@pytest.fixture
def study(tmp_path):
    """A study file, whose mechanism gives the safer half of the records this weight."""

    def study(factor):
        (tmp_path / "my.py").write_text(CODE.replace("FACTOR", factor), encoding="utf-8")
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(STUDY), encoding="utf-8")
        return str(tmp_path / "mine.yaml")

    yield study
    forget_own()


@pytest.mark.stan
@pytest.mark.parametrize(("factor", "status", "line"), [
    ("1.0", 0, "mechanism halved: keeps to its contract"),
    ("1.5", 1, "mechanism halved: returns weights from 0.5 to 1.5: they have to be from 0 to 1 "
     "(divide by the largest one, not by their mean)"),
])  # fmt: skip
def test_each_thing_has_a_line(study, capsys, factor, status, line):
    assert main([study(factor)]) == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "population two_groups: keeps to its contract"
    assert line in lines
    assert len(lines) == 2


@pytest.mark.stan
def test_what_a_shared_code_file_registers_for_another_study_is_no_fault(study, tmp_path, capsys):
    file = study("1.0")
    other = CODE.replace("FACTOR", "1.0") + CODE.split("\n\n\n", 1)[1].replace("halved", "other").replace("two_groups", "three")
    (tmp_path / "my.py").write_text(other.replace("FACTOR", "1.5"), encoding="utf-8")
    assert main([file]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "population two_groups: keeps to its contract",
        "population three: is not tried, because no scenario of these studies uses it",
        "mechanism halved: keeps to its contract",
        "mechanism other: is not tried, because no scenario of these studies uses it",
    ]


STATISTICS = """
from formalsynth.core.utility import utility

utility("smallest")(lambda x: x.min())
utility("sorted_in_place")(lambda x: x.sort() or x[0])
utility("other")(lambda x: x.max())
"""


@pytest.mark.stan
def test_an_own_statistic_has_a_line(study, tmp_path, capsys):
    file = study("1.0")
    (tmp_path / "statistics.py").write_text(STATISTICS, encoding="utf-8")
    groups = {**STUDY["scenarios"]["groups"], "utility": ["smallest", "sorted_in_place"]}
    tree = {**STUDY, "code": ["my.py", "statistics.py"], "scenarios": {"groups": groups}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    assert main([file]) == 1
    lines = {line.split(": ")[0]: line.split(": ", 1)[1] for line in capsys.readouterr().out.splitlines()}
    assert lines["utility statistic smallest"] == "keeps to its contract"
    assert lines["utility statistic sorted_in_place"].startswith("writes into the data set that is passed to it")
    assert lines["utility statistic other"].startswith("is not tried")


PROGRAM = """
data { int n; vector[n] x; vector[n] weights; }
parameters { real mu; }
model { mu ~ normal(0, 1) for (i in 1:n) target += weights[i] * normal_lpdf(x[i] | mu, 1); }
generated quantities { vector[n] log_lik; vector[n] x_rep; }
"""


@pytest.mark.stan
def test_a_program_that_does_not_compile_is_reported_with_the_words_of_the_compiler(study, tmp_path, capsys):
    file = study("1.0")
    (tmp_path / "mine.stan").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(
        yaml.safe_dump({**STUDY, "scenarios": {"groups": {**STUDY["scenarios"]["groups"], "family": {"stan": "mine.stan"}}}})
    )
    assert main([file]) == 1
    said = capsys.readouterr()
    assert "Stan program mine.stan: " in said.out
    assert "line 4" in said.out
    assert said.err == "Compiling mine.stan (about half a minute, unless it was compiled before)\n"


def test_a_study_that_cannot_be_read_is_reported(study, capsys):
    assert main([study("nothing +")]) == 1
    assert "code: given 'my.py'" in capsys.readouterr().err
