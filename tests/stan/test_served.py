"""Served fits and evaluations: equal to those of a process each, and replaced by them where the process fails."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from processes import command, is_alive, wait_for

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.stan import generate, served
from formalsynth.stan import sample as sampling
from formalsynth.stan.command import ChainFailed
from formalsynth.stan.compile import compile_program
from formalsynth.stan.sample import Lengths, run_chain
from formalsynth.stan.served import GREETING, DrawRequest, NotServed, Server, ask, end_all

LENGTHS = Lengths(200, 150, 1, 0.65)
UNTUNED = Lengths(1, 100, 2, 0.65)
"""The step size stays at Stan's first guess: the chain diverges or walks far."""
LINEAR = {"p": 1, "weight_total": 50.0, "theta_hat": [0.5], "inverse_factor": [[1.0]], "residual_squares": 50.0}
LINEAR |= {"prior_sd": 100.0, "prior_shape": 0.01, "prior_scale": 0.01, "n": 0, "terms": [], "group": [], "threshold": 0.0}
LINEAR |= {"m": 0, "low": [], "high": [], "basis": [], "times": []}
START = {"theta": [0.5], "log_sigma": 0.0}
DATA = {"n": 4, "x": np.array([0.1, -1 / 3, 2e-9, 1e5]), "fault": 0}
POINT = {"share": np.array([0.2, 0.3, 0.5]), "table": np.arange(6).reshape(2, 3) / 7, "sigma": np.float64(1.3)}
DRAWS = {
    "share": np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]),
    "table": np.arange(12).reshape(2, 2, 3) / 7,
    "sigma": np.array([0.4, 1.7]),
}


@pytest.fixture(autouse=True)
def _ended():
    """End the processes after each test, which forgets how often they died."""
    yield
    end_all()
    served.deaths.clear()


def alone(run, *arguments):
    """Run in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (sampling, generate):
            patch.setattr(module, "ask", lambda executable, request: None)
        return run(*arguments)


def assert_same(first, second):
    assert list(first.draws) == list(second.draws)
    for name, values in first.draws.items():
        np.testing.assert_array_equal(values, second.draws[name], strict=True)
    assert (first.divergences, first.treedepth_hits) == (second.divergences, second.treedepth_hits)


@pytest.fixture
def only_served(monkeypatch):
    """Fail where a chain or an evaluation is run in a process of its own."""

    def refused(*arguments, **settings):
        raise AssertionError("a process of its own")

    for module in (sampling, generate):
        monkeypatch.setattr(module, "run", refused)


@pytest.fixture(scope="session")
def evaluated(cmdstan, tmp_path_factory):
    """A compiled program with variables of all shapes and random numbers in its data and in its generated quantities."""
    executable = tmp_path_factory.mktemp("evaluated") / "evaluated"
    compile_program(Path(__file__).with_name("evaluated.stan"), executable, cmdstan)
    return executable


def assert_same_values(first, second):
    assert list(first) == list(second)
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], strict=True)


def assert_same_points(first, second):
    assert first.log_density == second.log_density
    assert_same_values(first.values, second.values)


@pytest.mark.stan
@pytest.mark.parametrize("lengths", [LENGTHS, UNTUNED])
def test_draws_are_those_of_a_process_of_its_own(program, lengths, request):
    """Bit by bit, one fit after the other in the same process, and in another order."""
    expected = {seed: alone(run_chain, program, LINEAR, START, ("beta", "sigma"), seed, lengths) for seed in (1, 2, 3)}
    assert (lengths is UNTUNED) == any(drawn.divergences for drawn in expected.values())
    request.getfixturevalue("only_served")
    for seed in (2, 1, 3, 2):
        assert_same(run_chain(program, LINEAR, START, ("beta", "sigma"), seed, lengths), expected[seed])
    assert sum(str(program) in key for key in served.servers) == 1


def shipped():
    """Shipped families."""
    FAMILIES.find()
    return list(FAMILIES)


@pytest.fixture
def of_shipped(compiled, generator):
    """Function that makes a shipped family with the data of 60 records and its program."""

    def of_shipped(name):
        x = generator.lognormal(1, 1, 60)
        if name.startswith("beta"):
            x = generator.beta(0.5, 3, 60)
        if "binomial" in name or name == "poisson":
            x = generator.negative_binomial(3, 0.1, 60).astype(float)
        family, columns = FAMILIES[name], 2 if "regression" in name else 1
        records = Records(x, np.column_stack([np.ones(60), generator.normal(size=60)])[:, :columns])
        return family, family.stan_data(records, generator.uniform(size=60), family.priors), compiled(family.program)

    return of_shipped


@pytest.mark.stan
@pytest.mark.parametrize("name", shipped())
def test_draws_and_points_of_shipped_programs_are_those_of_a_process_each(of_shipped, name, request):
    family, data, executable = of_shipped(name)
    inits, parameters = family.inits(data), list(family.inits(data))
    cases = [(seed, lengths) for seed in (1, 2) for lengths in (LENGTHS, UNTUNED)]
    expected = [alone(run_chain, executable, data, inits, family.parameters, *case) for case in cases]
    starts = [alone(generate.start, executable, data, parameters, seed) for seed in (1, 2)]
    points = [alone(generate.evaluate, executable, data, start) for start in starts]
    request.getfixturevalue("only_served")
    for case, drawn in zip(cases, expected, strict=True):
        assert_same(run_chain(executable, data, inits, family.parameters, *case), drawn)
    for seed, start, point in zip((1, 2), starts, points, strict=True):
        assert_same_values(generate.start(executable, data, parameters, seed), start)
        assert_same_points(generate.evaluate(executable, data, start), point)


@pytest.mark.stan
def test_values_are_those_of_a_process_of_its_own(evaluated, request):
    """Bit by bit, with random numbers, one evaluation after the other in the same process, and in another order."""
    seeds = (1, 2, 20260205)
    starts = {seed: alone(generate.start, evaluated, DATA, list(POINT), seed) for seed in seeds}
    points = {seed: alone(generate.evaluate, evaluated, DATA, POINT, seed) for seed in seeds}
    generated = {seed: alone(generate.generate, evaluated, DATA, DRAWS, seed) for seed in seeds}
    assert generated[1]["cube"].shape == (2, 2, 4, 3)
    assert not np.array_equal(generated[1]["x_rep"], generated[2]["x_rep"])
    assert np.ptp([point.values["middle"] for point in points.values()]) > 0
    request.getfixturevalue("only_served")
    for seed in (*seeds[::-1], *seeds):
        assert_same_points(generate.evaluate(evaluated, DATA, POINT, seed), points[seed])
        assert_same_values(generate.generate(evaluated, DATA, DRAWS, seed), generated[seed])
        assert_same_values(generate.start(evaluated, DATA, list(POINT), seed), starts[seed])
    assert len(served.servers) == 1


@pytest.mark.stan
@pytest.mark.parametrize("number", [0, 1, 600])
def test_any_number_of_records_and_draws(evaluated, number, request):
    data = {"n": number, "x": np.linspace(-1, 1, number), "fault": 0}
    draws = {name: np.repeat(values, 5, axis=0) for name, values in DRAWS.items()}
    expected = alone(generate.generate, evaluated, data, draws, 1), alone(generate.evaluate, evaluated, data, POINT)
    assert ("x_rep" in expected[0]) == (number > 0)
    request.getfixturevalue("only_served")
    assert_same_values(generate.generate(evaluated, data, draws, 1), expected[0])
    assert_same_points(generate.evaluate(evaluated, data, POINT), expected[1])


@pytest.mark.stan
def test_an_error_in_generated_quantities_leaves_them_out_of_a_point(evaluated, only_served):
    point = generate.evaluate(evaluated, DATA | {"fault": 2}, POINT)
    assert np.isfinite(point.log_density)
    assert np.isnan(point.values["x_rep"]).all()


@pytest.mark.stan
@pytest.mark.parametrize(
    ("run", "arguments", "words"),
    [
        ("evaluate", (DATA | {"n": 3}, POINT), "mismatch in dimension"),
        ("evaluate", (DATA | {"x": np.full(4, np.nan)}, POINT), "Random variable\\[1\\] is nan"),
        ("evaluate", (DATA | {"fault": 1}, POINT), "fault 1"),
        ("evaluate", (DATA, POINT | {"sigma": -1.0}), "Lower bounded variable is -1"),
        ("start", (DATA | {"fault": 1}, ("sigma",), 1), "fault 1"),
        ("generate", (DATA | {"n": 3}, DRAWS, 1), "mismatch in dimension"),
        ("generate", (DATA | {"fault": 2}, DRAWS, 1), "fault 2"),
        ("generate", (DATA, DRAWS | {"sigma": np.array([1.0, -2.0])}, 1), "Lower bounded variable is -2"),
        ("generate", (DATA, DRAWS | {"sigma": np.array([1.0, np.inf])}, 1), "Rate parameter is 0"),
        ("generate", (DATA, dict(reversed(DRAWS.items())), 1), "Mismatch between model and fitted_parameters"),
        ("generate", (DATA, {"share": DRAWS["share"]}, 1), "Mismatch between model and fitted_parameters"),
    ],
)
def test_an_evaluation_that_fails_has_the_words_of_a_process_of_its_own(evaluated, run, arguments, words):
    function = getattr(generate, run)
    for way in (alone, lambda function, *arguments: function(*arguments)):
        with pytest.raises(ChainFailed, match=words):
            way(function, evaluated, *arguments)
    (server,) = served.servers.values()
    assert server.process.poll() is None


@pytest.mark.stan
def test_columns_that_are_not_parameters_are_left_to_cmdstan_which_ignores_them(evaluated):
    expected = generate.generate(evaluated, DATA, DRAWS, 1)
    assert_same_values(generate.generate(evaluated, DATA, DRAWS | {"further": np.ones(2)}, 1), expected)


@pytest.mark.stan
def test_a_program_without_generated_quantities_is_an_error(program):
    with pytest.raises(ChainFailed, match="Model doesn't generate any quantities"):
        generate.generate(program, LINEAR, {name: np.asarray(values)[None] for name, values in START.items()}, 1)
    (server,) = served.servers.values()
    assert server.process.poll() is None


@pytest.mark.stan
@pytest.mark.parametrize("what", ["a fit", "an evaluation"])
def test_a_killed_process_is_replaced(evaluated, program, what):
    run = (generate.generate, evaluated, DATA, DRAWS, 1)
    if what == "a fit":
        run = (run_chain, program, LINEAR, START, ("beta",), 1, LENGTHS)

    def values(result):
        return result if what == "an evaluation" else result.draws

    function, *arguments = run
    expected = values(alone(*run))
    for death in range(served.DEATHS):
        assert_same_values(values(function(*arguments)), expected)
        (server,) = served.servers.values()
        server.process.kill()
        server.process.wait()
        assert_same_values(values(function(*arguments)), expected)
        assert not served.servers
        assert list(served.deaths.values()) == [death + 1]
    assert_same_values(values(function(*arguments)), expected)
    assert not served.servers


@pytest.mark.stan
def test_nothing_is_in_a_file_or_on_a_command_line(evaluated, program, only_served, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_chain(program, LINEAR, START, ("beta",), 1234567, LENGTHS)
    (server,) = served.servers.values()
    assert command(server.process.pid)[1:] == [b"serve"]
    generate.evaluate(evaluated, DATA, POINT)
    generate.generate(evaluated, DATA, DRAWS, 1)
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
    arguments = program, LINEAR | changes, START, parameters, 1, LENGTHS
    for way in (alone, lambda function, *arguments: function(*arguments)):
        with pytest.raises(ChainFailed, match=re.escape(words)):
            way(run_chain, *arguments)
    (server,) = served.servers.values()
    assert server.process.poll() is None


REQUEST = DrawRequest("fit", 1, 2, ("mu",), "{}", b"{}", (10, 1, 10, 0.8))


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "nonsense\n",
        "draws 2 1\n",
        "draws 3 1 2\nmu" + 24 * "x",
        "draws 2 2 2\nmu" + 32 * "x",
        "draws 2 1 4\nmu.2" + 16 * "x",
        "draws 2 1 4\nmu.x" + 16 * "x",
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
    assert not served.servers
    assert list(served.deaths.values()) == [1]


@pytest.mark.parametrize(("first", "then"), [
    ("exec <&-", ""), ("", "exec >&-"), ("", "read line; printf 'draws 2 1 2\\nmu'; exec >&-")
])  # fmt: skip
@pytest.mark.parametrize("data", ["{}", "x" * 1_000_000], ids=["short", "longer than a pipe"])
def test_a_program_that_lives_but_lost_a_pipe_is_ended(tmp_path, first, then, data, monkeypatch):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{first}\nprintf '{GREETING.decode()}'\n{then}\nexec sleep 1000\n")
    program.chmod(0o755)
    server = Server(program)
    monkeypatch.setattr(served, "WAIT_SECONDS", 1)  # after the greeting, for which a slow machine may need longer
    with pytest.raises(NotServed):
        server.ask(replace(REQUEST, data=data))
    assert server.process.poll() is not None


@pytest.mark.stan
def test_a_folder_for_temporary_files_is_not_needed(program, tmp_path, monkeypatch):
    """Full or absent, it does not matter to served fits; a process of its own stops with the reason."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    assert run_chain(program, LINEAR, START, ("beta",), 1, LENGTHS).draws["beta"].size
    with pytest.raises(OSError, match="absent"):
        alone(run_chain, program, LINEAR, START, ("beta",), 1, LENGTHS)


def test_an_answer_that_is_agreed_is_read(tmp_path):
    program = tmp_path / "program"
    program.write_text(
        f"#!/bin/sh\nprintf '{GREETING.decode()}'\nread line\nprintf 'draws 2 1 2\\nmu{16 * 'x'}'\ncat > /dev/null\n"
    )
    program.chmod(0o755)
    answer = ask(program, REQUEST)
    assert list(answer) == ["mu"]
    assert answer["mu"].tobytes() == 16 * b"x"


@pytest.mark.parametrize("script", ["exit 1", "echo formalsynth serves 1", "head -c 1000 /dev/zero; sleep 60"])
def test_a_program_that_does_not_serve_is_asked_once(tmp_path, script):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho >> {tmp_path}/calls\n{script}\n")
    program.chmod(0o755)
    for _ in range(3):
        assert ask(program, REQUEST) is None
    assert (tmp_path / "calls").read_text() == "\n"
    assert not served.servers


def test_a_program_that_is_not_there_is_left_to_cmdstan(tmp_path):
    assert ask(tmp_path / "none", REQUEST) is None


@pytest.mark.stan
@pytest.mark.parametrize("busy", [False, True])
def test_the_process_ends_with_its_parent(program, busy):
    """Between two fits and in the middle of one."""
    request = DrawRequest("fit", 1, 10**8, ("none",), json.dumps(LINEAR), json.dumps(START).encode(), (10, 10, 10, 0.8))
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from formalsynth.stan.served import DrawRequest, Server\n"
        f"server = Server(Path({str(program)!r}))\n"
        f"if {busy}:\n"
        f"    server.to.write({request.content()!r})\n"
        "    server.to.flush()\n"
        "print(server.process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(signal.SIGKILL)
    wait_for(lambda: not is_alive(child))


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
echo "formalsynth serves 2"
i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done
cat > /dev/null
"""
ACCOUNTED = """
import os, sys
from pathlib import Path
from formalsynth_workflow.jobs.logs import log_to
from formalsynth.stan import served

log_to(sys.argv[2])
key = (os.getpid(), "busy")
served.servers[key] = served.started(Path(sys.argv[1]), key)
"""


def test_a_log_accounts_for_the_time_of_served_programs(tmp_path):
    program, log = tmp_path / "busy", tmp_path / "job.log"
    program.write_text(BUSY)
    program.chmod(0o755)
    subprocess.run([sys.executable, "-c", ACCOUNTED, str(program), str(log)], check=True, timeout=600)
    seconds = re.search(r"programs ([\d.]+)$", log.read_text().strip())
    assert seconds
    assert float(seconds[1]) >= 0.05  # counting takes a third of a second
