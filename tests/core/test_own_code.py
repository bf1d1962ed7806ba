"""Files of own code: they are run by path, and are forgotten with everything that they registered."""

import sys

import pytest

from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS
from formalsynth.core.registry import DuplicateError, OwnCodeError, forget_own, is_own, load
from formalsynth.core.streams import number_of
from formalsynth_workflow.jobs.sources import code_digest, source_of, sources

CODE = '''
import numpy as np
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import Proportion
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism


@mechanism(ASYMPTOTIC, parents=0{more})
def {name}(context: Context, *, share: Proportion = 0.5) -> Form:
    """All records with the same weight."""
    weights = np.full(len(context.records), float(share))
    return Form(weights, Sensitive(weights))
'''


@pytest.fixture(autouse=True)
def _clean():
    load(["formalsynth.mechanisms.lipschitz"])
    yield
    forget_own()


@pytest.fixture
def write(tmp_path):
    """Write a file of own code."""

    def write(text, file="my.py"):
        path = tmp_path / file
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_what_a_file_registers_is_known_by_the_path_of_the_file(write):
    path = write(CODE.format(name="even", more=""))
    load([path])
    load([path])
    assert MECHANISMS.module("even") == path
    assert is_own(path)
    assert not is_own(MECHANISMS.module("weighted"))
    assert MECHANISMS["even"].id == number_of("even") > 2**32
    forget_own()
    assert "even" not in MECHANISMS
    assert "weighted" in MECHANISMS
    assert path not in sys.modules


def test_nothing_is_written_to_its_folder(write, tmp_path):
    load([write(CODE.format(name="even", more=""))])
    assert [path.name for path in tmp_path.iterdir()] == ["my.py"]


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("weighted", "", "two mechanism entries have the name 'weighted': formalsynth.mechanisms.lipschitz and {path}"),
        ("even", ", id=2", "weighted (formalsynth.mechanisms.lipschitz) and even ({path}) both have the id 2"),
    ],
)
def test_a_second_thing_of_one_name_or_id_is_refused_with_both_places(write, name, more, words):
    path = write(CODE.format(name=name, more=more))
    with pytest.raises(DuplicateError) as refused:
        load([path])
    assert words.format(path=path) in str(refused.value)
    assert path not in sys.modules
    assert MECHANISMS.module("weighted") == "formalsynth.mechanisms.lipschitz"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\ny = nothing\n", "line 2: NameError: name 'nothing' is not defined"),
        ("def f(:\n", "line 1: SyntaxError"),
        ("import helper\n", "own code cannot import helper.py from the same folder: put both into one file"),
    ],
)
def test_a_file_that_cannot_be_run_is_refused_with_its_line(write, text, words):
    write("", "helper.py")
    with pytest.raises(OwnCodeError) as refused:
        load([write(text)])
    assert words in str(refused.value)


def test_what_it_registered_before_it_failed_is_forgotten(write):
    path = write(CODE.format(name="even", more="") + "\nnothing\n")
    with pytest.raises(OwnCodeError):
        load([path])
    assert "even" not in MECHANISMS
    assert not POPULATIONS.of(path)


def test_a_job_depends_on_the_file_and_on_what_it_imports(write):
    path = write(CODE.format(name="even", more=""))
    files = [str(file) for file in sources(path)]
    assert path in files
    assert str(source_of("formalsynth.core.mechanism")) in files
    assert str(source_of("formalsynth.mechanisms.lipschitz")) not in files
    before = code_digest([path])
    other = write(CODE.format(name="even", more="") + "more = 1\n", "other.py")
    assert code_digest([other]) != before
