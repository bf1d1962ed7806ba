"""A forked job is like a program of its own, apart from what is already imported; nothing is left if anything is killed."""

import ast
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import command, is_alive, wait_for

from formalsynth_workflow.jobs.forked import LOST, environment_of_job, run_script, start_server

DESCRIBE = """
    import json, os, signal, sys, tempfile
    from pathlib import Path
    import neighbouring

    here = Path(__file__).parent
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
    print(json.dumps({
        "name": __name__, "arguments": sys.argv, "neighbouring": neighbouring.NAME,
        "handlers": [str(signal.getsignal(number)) for number in signals],
        "blocked": [str(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
        "temporary": tempfile.gettempdir(), "variables": dict(os.environ),
        "input": sys.stdin.read(), "cwd": os.getcwd(), "path": sys.path,
    }), file=open(here / os.environ["FOUND"], "w"), flush=True)
"""
OWNER = """
import contextlib, os, signal, sys
from pathlib import Path
from formalsynth_workflow.jobs.forked import environment_of_job, run_script, start_server
from formalsynth_workflow.jobs.locks import hold_parent_lock
hold_parent_lock(Path(sys.argv[2]))
start_server(sys.executable, [])

@contextlib.contextmanager
def report(pid):
    print(pid, flush=True)
    yield

print(run_script(sys.argv[1], environment_of_job(None), report), flush=True)
"""
WAIT = """
    import os, sys, time
    from pathlib import Path
    from formalsynth_workflow.jobs.logs import log_to
    log_to(Path(__file__).with_suffix(".log"))
    Path(__file__).with_suffix(".started").write_text(str(os.getppid()))
    time.sleep(600)
"""


@pytest.fixture(scope="module", autouse=True)
def server():
    """A server with some modules, of which one does not exist, and signals as in a terminal, not as in the background."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    former = {number: signal.signal(number, handler) for number, handler in usual.items()}
    start_server(sys.executable, ["colorsys", "no_such_module", "numpy", "random", "tempfile", "uuid"])
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.fixture
def script(tmp_path):
    """Write a script."""

    def write(text, name="job.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def owner(script, tmp_path):
    """Start a process that has a server with a job that waits; returns it and the ids of the job and of the server."""
    path, started = script(WAIT), tmp_path / "job.started"
    program = [sys.executable, "-c", OWNER, str(path), str(tmp_path / ".snakemake")]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True, start_new_session=True)
    ids = [int(process.stdout.readline())]
    wait_for(lambda: started.exists() and started.read_text())
    ids.append(int(started.read_text()))
    yield process, *ids
    for pid in (process.pid, *ids):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()


def run(path, measured=contextlib.nullcontext, **variables):
    """Run a script and return its exit code."""
    return run_script(str(path), environment_of_job(None) | variables, measured)


def test_a_job_finds_what_a_program_of_its_own_finds(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script("NAME = 'in the same folder'", "neighbouring.py")
    path, variables = script(DESCRIBE), {"SPECIAL": "é\udcff", "TMPDIR": str(tmp_path)}
    assert run(path, FOUND="served", **variables) == 0
    environment = environment_of_job(None) | variables | {"FOUND": "alone"}
    subprocess.run([sys.executable, path], env=environment, stdin=subprocess.DEVNULL, check=True)
    served, alone = (json.loads((tmp_path / name).read_text()) for name in ("served", "alone"))
    for description in (served, alone):
        del description["variables"]["FOUND"]
    assert served == alone
    assert served["temporary"] == str(tmp_path)


def test_exit_codes_are_those_of_a_program(script):
    codes = {
        "pass": 0,
        "import sys; sys.exit(7)": 7,
        "import sys; sys.exit('too few records')": 1,
        "1 / 0": 1,
        "def broken(": 1,
        "raise KeyboardInterrupt": 1,
        "import os; os._exit(5)": 5,
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": -signal.SIGKILL,
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)": -signal.SIGTERM,
    }
    assert {text: run(script(text)) for text in codes} == codes


def test_what_python_does_at_the_exit_is_done(script, tmp_path):
    """Functions for the exit, the hook for errors, and threads and pools that nobody ended."""
    text = """
        import atexit, sys, threading, time
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        from pathlib import Path

        def write(name, seconds=0.3):
            time.sleep(seconds)
            Path(__file__).with_name(name).write_text("whole")

        atexit.register(write, "exit", 0)
        sys.excepthook = lambda kind, error, trace: write(f"{kind.__name__}: {error}", 0)
        threading.Thread(target=write, args=["thread"]).start()
        ThreadPoolExecutor(1).submit(write, "pool")
        assert (pool := ProcessPoolExecutor(2)).submit(abs, -3).result() == 3
        raise RuntimeError("no records")
    """
    assert run(script(text)) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"job.py", "exit", "RuntimeError: no records", "thread", "pool"}


def test_random_numbers_without_a_seed_differ(tmp_path, script):
    path = script("""
        import numpy, os, random, uuid
        from pathlib import Path
        numbers = [numpy.random.random(), numpy.random.default_rng().random(), random.random(), str(uuid.uuid4())]
        Path(os.environ["WRITTEN"]).write_text(repr(numbers))
    """)
    assert [run(path, WRITTEN=str(tmp_path / name)) for name in "ab"] == [0, 0]
    first, second = (ast.literal_eval((tmp_path / name).read_text()) for name in "ab")
    assert all(number != other for number, other in zip(first, second, strict=True))


def test_what_a_job_changes_is_not_seen_by_the_next(script):
    change = """
        import colorsys, os, sys
        colorsys.CHANGED = True
        os.environ["CHANGED"] = "1"
        sys.path.insert(0, "changed")
        os.umask(0)
        os.chdir("/")
    """
    assert run(script(change)) == 0
    look = """
        import os, sys
        assert "colorsys" in sys.modules, "it is not imported"
        import colorsys
        assert not hasattr(colorsys, "CHANGED") and "CHANGED" not in os.environ and "changed" not in sys.path
        assert os.umask(0) != 0 and os.getcwd() != "/"
    """
    assert run(script(look)) == 0


def test_a_job_runs_in_the_context_that_measures_it(script, tmp_path):
    path, events = script("import os; open('pid', 'w').write(str(os.getpid()))"), []

    @contextlib.contextmanager
    def measured(pid):
        events.append(is_alive(pid))
        yield
        events.append((tmp_path / "pid").read_text() == str(pid))

    with contextlib.chdir(tmp_path):
        assert run(path, measured) == 0
    assert events == [True, True]


def test_many_jobs_at_a_time_get_their_own_exit_codes(script):
    """Without the lock, a third of trivial jobs that several threads start would get the code 255."""
    codes = (0, 3, 254)
    paths = [script(f"import sys; sys.exit({code})", f"{code}.py") for code in codes]
    with ThreadPoolExecutor(8) as pool:
        ended = Counter(pool.map(run, paths * 50))
    assert ended == dict.fromkeys(codes, 50)


ALONE = """
import contextlib, os, signal, sys
from formalsynth_workflow.jobs.forked import environment_of_job, run_script, start_server
signal.signal(int(sys.argv[2]), signal.SIG_IGN)
start_server(sys.executable, ["colorsys"])
sys.exit(run_script(sys.argv[1], environment_of_job(None), contextlib.nullcontext))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_the_owner_ignores_is_ignored_by_jobs_as_below_nohup(script, number):
    path = script(f"import os; os.kill(os.getpid(), {number.value})")
    assert subprocess.run([sys.executable, "-c", ALONE, path, str(number.value)], check=False).returncode == 0


def test_a_file_of_the_working_folder_does_not_stand_in_for_a_library(script, tmp_path):
    script("raise SystemExit('imported')", "colorsys.py")
    (tmp_path / "elsewhere").mkdir()
    path = script("import sys, colorsys; sys.exit(not colorsys.rgb_to_hls)", "elsewhere/job.py")
    alone = [sys.executable, "-P", "-c", ALONE, path, str(signal.SIGHUP.value)]
    assert subprocess.run(alone, cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_of_a_run_ends_its_job(owner, number):
    process, job, _ = owner
    os.killpg(process.pid, number)
    wait_for(lambda: not is_alive(job))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_server_alone_ends_nothing(owner, number):
    process, job, server = owner
    os.kill(server, number)
    time.sleep(0.3)
    assert is_alive(job)
    assert is_alive(server)
    os.kill(job, signal.SIGTERM)
    assert process.stdout.readline() == f"{-signal.SIGTERM}\n"
    process.wait(timeout=600)
    wait_for(lambda: not is_alive(server))


def test_server_and_jobs_end_with_their_killed_owner(owner):
    process, job, server = owner
    assert any("formalsynth_workflow.jobs.preloaded" in os.fsdecode(argument) for argument in command(server))
    process.kill()
    process.wait()
    wait_for(lambda: not (is_alive(job) or is_alive(server)))


def test_a_job_begins_when_its_measurement_does(script, tmp_path):
    """A short one would otherwise end before, and could not be measured."""
    done = tmp_path / "done"

    @contextlib.contextmanager
    def measured(pid):
        time.sleep(0.2)
        assert is_alive(pid) and not done.exists()
        yield

    assert run(script(f"open({str(done)!r}, 'w')"), measured) == 0
    assert done.exists()


def test_jobs_end_with_a_killed_server_and_another_serves_the_next(script, tmp_path):
    path, started = script(WAIT), tmp_path / "job.started"
    pids = []

    def kill_server():
        wait_for(lambda: started.exists() and started.read_text())
        time.sleep(0.1)
        os.kill(int(started.read_text()), signal.SIGKILL)

    @contextlib.contextmanager
    def measured(pid):
        pids.append(pid)
        threading.Thread(target=kill_server).start()
        yield

    assert run(path, measured) == LOST
    wait_for(lambda: not is_alive(pids[0]))
    assert run(script("pass")) == 0


@pytest.mark.parametrize("killed", [True, False])
def test_a_job_whose_server_is_killed_before_its_measurement_is_lost(script, killed):
    """Other errors of a measurement are errors."""

    @contextlib.contextmanager
    def measured(pid):
        if killed:
            server = int(re.search(r"PPid:\s*(\d+)", Path("/proc", str(pid), "status").read_text())[1])
            os.kill(server, signal.SIGKILL)
            wait_for(lambda: not is_alive(server))
        raise LookupError("no such process")
        yield

    if killed:
        assert run(script("pass"), measured) == LOST
    else:
        with pytest.raises(LookupError):
            run(script("pass"), measured)
    assert run(script("pass")) == 0


def test_the_environment_of_a_job_has_one_thread_and_its_folder(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    given = environment_of_job("/elsewhere")
    assert {given[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOTO_NUM_THREADS")} == {"1"}
    assert {given[name] for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR")} == {"/elsewhere"}
    assert environment_of_job(None).get("TMPDIR") == os.environ.get("TMPDIR")
