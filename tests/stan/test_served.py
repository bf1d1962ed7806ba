"""Served fits: equal to those of a process each, and replaced by them where the process fails."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.stan import chain, served
from formalsynth.stan.chain import ChainFailed, Lengths, run_chain
from formalsynth.stan.served import GREETING, Request, Server, ask, end_all
from processes import command, is_alive

LENGTHS = Lengths(200, 150, 1, 0.65)
UNTUNED = Lengths(1, 100, 2, 0.65)
"""The step size stays at Stan's first guess: the chain diverges or walks far."""
LINEAR = {"p": 1, "weight_total": 50.0, "theta_hat": [0.5], "inverse_factor": [[1.0]], "residual_squares": 50.0}
LINEAR |= {"prior_sd": 100.0, "prior_shape": 0.01, "prior_scale": 0.01}
START = {"theta": [0.5], "log_sigma": 0.0}
OLD = "formalsynth.stan.chain._in_own_process"


@pytest.fixture(autouse=True)
def _ended():
    """End the processes after each test, which forgets how often they died."""
    yield
    end_all()
    served._deaths.clear()


def alone(executable, data, inits, parameters, seed, lengths):
    """Run a chain in a process of its own."""
    texts = {"data": chain._json(data), "inits": chain._json(inits)}
    return chain._in_own_process(executable, texts, parameters, seed, lengths)


def assert_same(first, second):
    assert list(first.draws) == list(second.draws)
    for name, values in first.draws.items():
        np.testing.assert_array_equal(values, second.draws[name], strict=True)
    assert (first.divergences, first.treedepth_hits) == (second.divergences, second.treedepth_hits)


@pytest.fixture
def only_served(monkeypatch):
    """Fail where a chain is run in a process of its own."""

    def refused(*arguments):
        raise AssertionError("a process of its own")

    monkeypatch.setattr(OLD, refused)


@pytest.mark.stan
@pytest.mark.parametrize("lengths", [LENGTHS, UNTUNED])
def test_draws_are_those_of_a_process_of_its_own(program, lengths, monkeypatch):
    """Bit by bit, one fit after the other in the same process, and in another order."""
    expected = {seed: alone(program, LINEAR, START, ("beta", "sigma"), seed, lengths) for seed in (1, 2, 3)}
    assert (lengths is UNTUNED) == any(drawn.divergences for drawn in expected.values())
    monkeypatch.setattr(OLD, None)
    for seed in (2, 1, 3, 2):
        assert_same(run_chain(program, LINEAR, START, ("beta", "sigma"), seed, lengths), expected[seed])
    assert sum(str(program) in key for key in served._servers) == 1


def shipped():
    """Shipped families."""
    FAMILIES.find()
    return list(FAMILIES)


def outcomes(generator, name):
    """Outcomes that a shipped family takes, 60 of them."""
    if name.startswith("beta"):
        return generator.beta(0.5, 3, 60)
    if "binomial" in name or name == "poisson":
        return generator.negative_binomial(3, 0.1, 60).astype(float)
    return generator.lognormal(1, 1, 60)


@pytest.mark.stan
@pytest.mark.parametrize("lengths", [LENGTHS, UNTUNED])
@pytest.mark.parametrize("name", shipped())
def test_draws_of_shipped_programs_are_those_of_a_process_each(compiled, generator, name, lengths, monkeypatch):
    family = FAMILIES[name]
    columns = 2 if "regression" in name else 1
    records = Records(outcomes(generator, name), np.column_stack([np.ones(60), generator.normal(size=60)])[:, :columns])
    data = family.stan_data(records, generator.uniform(size=60), family.priors)
    inits, executable = family.inits(data), compiled(family.program)
    expected = [alone(executable, data, inits, family.parameters, seed, lengths) for seed in (1, 2)]
    monkeypatch.setattr(OLD, None)
    for seed, drawn in zip((1, 2), expected, strict=True):
        assert_same(run_chain(executable, data, inits, family.parameters, seed, lengths), drawn)


@pytest.mark.stan
def test_nothing_is_in_a_file_or_on_a_command_line(program, only_served, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_chain(program, LINEAR, START, ("beta",), 1234567, LENGTHS)
    (server,) = served._servers.values()
    assert command(server.process.pid)[1:] == [b"serve"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.stan
@pytest.mark.parametrize(
    ("changes", "parameters", "words"),
    [
        ({"residual_squares": -1.0}, ("beta",), "residual_squares"),
        ({"prior_sd": 0.0}, ("beta",), "Log probability evaluates to log(0)"),
        ({}, ("nu",), "it has no variable nu"),
    ],
)
def test_a_fit_that_fails_has_the_words_of_a_process_of_its_own(program, changes, parameters, words):
    for run in (alone, run_chain):
        with pytest.raises(ChainFailed, match=words.replace("(", r"\(").replace(")", r"\)")):
            run(program, LINEAR | changes, START, parameters, 1, LENGTHS)
    (server,) = served._servers.values()
    assert server.process.poll() is None


@pytest.mark.stan
def test_a_process_that_was_killed_is_replaced(program):
    expected = alone(program, LINEAR, START, ("beta",), 1, LENGTHS)
    for death in range(served.DEATHS):
        assert_same(run_chain(program, LINEAR, START, ("beta",), 1, LENGTHS), expected)
        (server,) = served._servers.values()
        server.process.kill()
        server.process.wait()
        assert_same(run_chain(program, LINEAR, START, ("beta",), 1, LENGTHS), expected)
        assert not served._servers
        assert list(served._deaths.values()) == [death + 1]
    assert_same(run_chain(program, LINEAR, START, ("beta",), 1, LENGTHS), expected)
    assert not served._servers


REQUEST = Request(1, 10, 2, 1, 0.8, 10, ("mu",), "{}", "{}")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "nonsense\n",
        "draws 2 1\n",
        "draws 3 1 2\nmu" + 24 * "x",
        "draws 2 2 2\nmu" + 32 * "x",
        "draws 2 1 2\nmu" + 15 * "x",
        "draws two 1 2\nmu",
        "draws 2 1 -2\n",
        "draws 2 1 -1\n",
        "draws 2 1 999999999999999999999\n",
        "draws 2 1 99999999999999\n",
        "draws 2 1 1\n\\377" + 16 * "x",
    ],
)
def test_an_answer_that_is_not_what_was_agreed_is_none(tmp_path, answer):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nprintf '{GREETING.decode()}'\nread line\nprintf '{answer}'\n")
    program.chmod(0o755)
    assert ask(program, REQUEST) is None
    assert not served._servers
    assert list(served._deaths.values()) == [1]


@pytest.mark.parametrize(("first", "then"), [
    ("exec <&-", ""), ("", "exec >&-"), ("", "read line; printf 'draws 2 1 2\\nmu'; exec >&-")
])  # fmt: skip
@pytest.mark.parametrize("data", ["{}", "x" * 1_000_000], ids=["short", "longer than a pipe"])
def test_a_program_that_lives_but_lost_a_pipe_is_ended(tmp_path, first, then, data, monkeypatch):
    monkeypatch.setattr(served, "WAIT_SECONDS", 1)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{first}\nprintf '{GREETING.decode()}'\n{then}\nexec sleep 1000\n")
    program.chmod(0o755)
    assert ask(program, replace(REQUEST, data=data)) is None
    assert not served._servers
    assert list(served._deaths.values()) == [1]


@pytest.mark.stan
def test_a_folder_for_temporary_files_is_not_needed(program, tmp_path, monkeypatch):
    """Full or absent, it does not matter to served fits; a process of its own stops with the reason."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert run_chain(program, LINEAR, START, ("beta",), 1, LENGTHS).draws["beta"].size
    with pytest.raises(OSError, match="absent"):
        alone(program, LINEAR, START, ("beta",), 1, LENGTHS)


def test_an_answer_that_is_agreed_is_read(tmp_path):
    program = tmp_path / "program"
    program.write_text(
        f"#!/bin/sh\nprintf '{GREETING.decode()}'\nread line\nprintf 'draws 2 1 2\\nmu{16 * 'x'}'\ncat > /dev/null\n"
    )
    program.chmod(0o755)
    answer = ask(program, REQUEST)
    assert answer.names == ["mu"]
    assert answer.values.tobytes() == 16 * b"x"


@pytest.mark.parametrize("script", ["exit 1", "echo formalsynth serves 0", "head -c 1000 /dev/zero; sleep 60"])
def test_a_program_that_does_not_serve_is_asked_once(tmp_path, script):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho >> {tmp_path}/calls\n{script}\n")
    program.chmod(0o755)
    for _ in range(3):
        assert ask(program, REQUEST) is None
    assert (tmp_path / "calls").read_text() == "\n"
    assert not served._servers


def test_a_program_that_is_not_there_is_left_to_cmdstan(tmp_path):
    assert ask(tmp_path / "none", REQUEST) is None


@pytest.mark.stan
@pytest.mark.parametrize("busy", [False, True])
def test_the_process_ends_with_its_parent(program, busy):
    """Between two fits and in the middle of one."""
    request = Request(1, 10, 10**8, 10, 0.8, 10, ("none",), json.dumps(LINEAR), json.dumps(START))
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from formalsynth.stan.served import Request, Server\n"
        f"server = Server(Path({str(program)!r}))\n"
        f"if {busy}:\n"
        f"    server.to.write({request.content()!r})\n"
        "    server.to.flush()\n"
        "print(server.process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and is_alive(child):
        time.sleep(0.02)
    assert not is_alive(child)


@pytest.mark.stan
def test_an_interrupted_request_ends_the_process(program, monkeypatch):
    """Its answer would be taken for that of the next one."""
    server = Server(program)

    def interrupted(draws):
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server.ask(REQUEST)
    assert server.process.poll() is not None


@pytest.mark.stan
def test_the_program_still_is_cmdstan(program):
    assert "sample" in subprocess.run([program, "help"], capture_output=True, text=True, check=True).stdout


BUSY = """#!/bin/sh
echo "formalsynth serves 1"
i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done
cat > /dev/null
"""
ACCOUNTED = """
import os, sys
from pathlib import Path
from formalsynth.runtime.logs import log_to
from formalsynth.stan import served

log_to(sys.argv[2])
key = (os.getpid(), "busy")
served._servers[key] = served._started(Path(sys.argv[1]), key)
"""


def test_a_log_accounts_for_the_time_of_served_programs(tmp_path):
    program, log = tmp_path / "busy", tmp_path / "job.log"
    program.write_text(BUSY)
    program.chmod(0o755)
    subprocess.run([sys.executable, "-c", ACCOUNTED, str(program), str(log)], check=True, timeout=60)
    seconds = re.search(r"programs ([\d.]+)$", log.read_text().strip())
    assert seconds
    assert float(seconds[1]) >= 0.05  # counting takes a third of a second
