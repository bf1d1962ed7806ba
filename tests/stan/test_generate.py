"""Generated quantities: what the environment does to a program is not blamed on the program, and no cut output is read."""

import errno

import numpy as np
import pytest

from formalsynth.stan.command import ChainFailed
from formalsynth.stan.generate import generate

DRAWS = {"mu": np.array([0.5, 1.0, 2.0])}
ROWS = ["log_lik.1,log_lik.2", "-1.5,-2.5", "-1.25,nan", "-1.125,-2.125"]


@pytest.fixture
def program(tmp_path):
    """Write a program in the place of CmdStan's, which writes a text as its output and then runs some lines of shell."""

    def program(text, script=""):
        path = tmp_path / "program"
        (tmp_path / "text").write_text(text)
        find = """output=$(echo "$*" | sed -n 's/.* file=\\([^ ]*output.csv\\).*/\\1/p')"""
        path.write_text(f'#!/bin/sh\n{find}\ncat {tmp_path}/text > "$output"\n{script}\n')
        path.chmod(0o755)
        return path

    return program


def test_whole_output_is_read(program):
    values = generate(program("# model\n" + "\n".join(ROWS) + "\n# elapsed\n"), {}, DRAWS, 1)
    np.testing.assert_array_equal(values["log_lik"], [[-1.5, -2.5], [-1.25, np.nan], [-1.125, -2.125]])


@pytest.mark.parametrize("cut", ["-1.125,-2.125", "-1.125,-2.1", "-1.125,", "-1.125", "-1", ""])
def test_output_that_is_cut_is_an_error_and_no_missing_values(program, cut):
    executable = program("\n".join([*ROWS[:3], cut]))
    with pytest.raises(ChainFailed):
        generate(executable, {}, DRAWS, 1)


def test_a_full_disk_is_not_blamed_on_the_program(program, small_disk, monkeypatch):
    executable = program("\n".join([*ROWS[:3], "-1.1"]))
    monkeypatch.setattr("tempfile.tempdir", str(small_disk(20)))
    with pytest.raises(OSError, match="could not write") as caught:
        generate(executable, {}, DRAWS, 1)
    assert caught.value.errno == errno.ENOSPC


ENDED = r"^CmdStan was ended by signal \d+ .*, which does not depend on the program: .* Run again$"


@pytest.mark.parametrize(
    ("script", "words", "number"),
    [
        *((f"kill -s {name} $$", ENDED, None) for name in ("KILL", "TERM", "BUS", "XCPU")),
        ("echo 'std::bad_alloc' >&2; exit 1", "memory", errno.ENOMEM),
    ],
)
def test_a_cause_outside_the_program_is_not_blamed_on_it(program, script, words, number):
    executable = program("\n".join(ROWS) + "\n", script)
    with pytest.raises(OSError, match=words) as caught:
        generate(executable, {}, DRAWS, 1)
    assert caught.value.errno == number


@pytest.mark.parametrize(
    ("script", "words"),
    [("echo 'Exception: x must be positive' >&2; exit 1", "x must be positive"), ("kill -s SEGV $$", "signal 11")],
)
def test_what_a_program_brings_on_itself_stays_its_own(program, script, words):
    with pytest.raises(ChainFailed, match=words):
        generate(program("", script), {}, DRAWS, 1)
