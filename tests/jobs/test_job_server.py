"""A forked job is like a program of its own, apart from what is already imported; nothing is left if anything is killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from formalsynth.jobs import job_server
from formalsynth.jobs.job_server import JobServer, ServerLostError, environment_of_job
from processes import is_alive

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
        "input": sys.stdin.read(), "files": sorted(os.listdir("/proc/self/fd")), "cwd": os.getcwd(),
    }), file=open(here / os.environ["FOUND"], "w"))
"""
OWNER = """
import sys
from formalsynth.jobs.job_server import JobServer, environment_of_job
server = JobServer([sys.executable], [])
with server.job(sys.argv[1], environment_of_job(None)) as job:
    print(job.pid, server._process.pid, flush=True)
    print(job.wait(), flush=True)
server.close()
"""
WAIT = """
    import sys, time
    from pathlib import Path
    Path(__file__).with_suffix(".started").touch()
    time.sleep(600)
"""


@pytest.fixture(scope="module", autouse=True)
def no_ignored_signals():
    """Signals as in a terminal: in the background of a shell, SIGINT is ignored, and below nohup SIGHUP."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    former = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def server():
    """A server with a module that nothing else imports, and with one that does not exist."""
    made = JobServer([sys.executable], ["colorsys", "no_such_module", "tempfile"])
    yield made
    made.close()


@pytest.fixture
def script(tmp_path):
    """Write a script."""

    def write(text, name="job.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


@pytest.fixture
def owner(script):
    """Start a process that has a server with a job that waits; returns it and the ids of the job and of the server."""
    path = script(WAIT)
    process = subprocess.Popen([sys.executable, "-c", OWNER, path], stdout=subprocess.PIPE, text=True, start_new_session=True)
    ids = [int(number) for number in process.stdout.readline().split()]
    wait_for(path.with_suffix(".started").exists)
    yield process, *ids
    for pid in ids:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def run(server, path, **variables):
    """Run a script and return its exit code."""
    with server.job(path, environment_of_job(None) | variables) as job:
        return job.wait()


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.02)


def test_a_job_finds_what_a_program_of_its_own_finds(server, script, tmp_path):
    script("NAME = 'in the same folder'", "neighbouring.py")
    path, variables = script(DESCRIBE), {"SPECIAL": "é\udcff", "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    environment = environment_of_job(None) | variables
    with server.job(path, environment | {"FOUND": "served"}) as job:
        assert job.wait() == 0
    subprocess.run([sys.executable, path], env=environment | {"FOUND": "alone"}, stdin=subprocess.DEVNULL, check=True)
    served, alone = (json.loads((tmp_path / name).read_text()) for name in ("served", "alone"))
    for description in (served, alone):
        del description["variables"]["FOUND"]
    assert served == alone
    assert served["temporary"] == str(tmp_path)


def test_exit_codes_are_those_of_a_program(server, script):
    codes = {
        "pass": 0,
        "import sys; sys.exit(7)": 7,
        "import sys; sys.exit('too few records')": 1,
        "1 / 0": 1,
        "def broken(": 1,
        "import os; os._exit(5)": 5,
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": -signal.SIGKILL,
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)": -signal.SIGTERM,
        "raise KeyboardInterrupt": -signal.SIGINT,
        "import sys; sys.exit(2**40 + 3)": 3,
        "import sys; sys.exit(-1)": 255,
    }
    assert {text: run(server, script(text)) for text in codes} == codes


def test_functions_for_the_exit_and_the_hook_for_errors_are_called(server, script, tmp_path):
    text = """
        import atexit, sys
        from pathlib import Path
        print("half a line", end="", file=open(Path(__file__).with_name("open"), "w"))
        kept = open(Path(__file__).with_name("kept"), "w")
        atexit.register(lambda: kept.write("at the exit") and kept.close())
        sys.excepthook = lambda kind, error, trace: Path(__file__).with_name("error").write_text(f"{kind.__name__}: {error}")
        raise RuntimeError("no records")
    """
    assert run(server, script(text)) == 1
    assert [(tmp_path / name).read_text() for name in ("open", "kept", "error")] == [
        "half a line", "at the exit", "RuntimeError: no records",
    ]  # fmt: skip


def test_nothing_is_lost_that_python_waits_for_at_the_exit(server, script, tmp_path):
    """Threads and pools that nobody ended, and a file that nobody closed, in a cycle of references."""
    text = """
        import threading, time
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        from pathlib import Path

        def late(name):
            time.sleep(0.3)
            Path(__file__).with_name(name).write_text("whole")

        unclosed = open(Path(__file__).with_name("unclosed"), "w")
        unclosed.write("whole")
        both = open(Path(__file__).with_name("both"), "w+b")
        both.write(b"whole")
        threading.Thread(target=late, args=["thread"]).start()
        ThreadPoolExecutor(1).submit(late, "pool")
        assert (pool := ProcessPoolExecutor(2)).submit(abs, -3).result() == 3
    """
    assert run(server, script(text)) == 0
    assert [(tmp_path / name).read_text() for name in ("unclosed", "both", "thread", "pool")] == ["whole"] * 4


def test_random_numbers_without_a_seed_differ(tmp_path, script):
    """Also in a function for the exit, which still finds what the script defined."""
    path = script("""
        import atexit, numpy, os, pickle, random, uuid
        from pathlib import Path

        class Numbers:
            pass

        numbers = [numpy.random.random(), numpy.random.default_rng().random(), random.random(), str(uuid.uuid4())]
        atexit.register(lambda: pickle.dumps(Numbers()) and Path(os.environ["WRITTEN"]).write_text(repr(numbers)))
    """)
    made = JobServer([sys.executable], ["numpy", "random", "uuid"])
    try:
        assert [run(made, path, WRITTEN=str(tmp_path / name)) for name in "ab"] == [0, 0]
    finally:
        made.close()
    first, second = (eval((tmp_path / name).read_text()) for name in "ab")
    assert all(number != other for number, other in zip(first, second, strict=True))


def test_a_traceback_begins_with_the_script(script, capfd):
    path = script("def divide():\n    return 1 / 0\n\ndivide()\n")
    made = JobServer([sys.executable], [])
    assert run(made, path) == 1
    made.close()
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("  File")]
    assert [line.split(", ")[0] for line in lines] == [f'  File "{path}"'] * 2


def test_a_job_has_the_folder_of_its_owner_at_that_time(server, script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(server, script("from pathlib import Path; Path('here').touch()")) == 0
    assert (tmp_path / "here").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_a_signal_that_the_owner_ignores_is_ignored_by_jobs(script, number):
    """As SIGHUP is in a run below nohup."""
    path = script(f"import os; os.kill(os.getpid(), {number.value})")
    former = signal.signal(number, signal.SIG_IGN)
    try:
        made = JobServer([sys.executable], [])
        code = run(made, path)
        made.close()
    finally:
        signal.signal(number, former)
    assert code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_imports_ends_the_jobs_that_wait(script, tmp_path, monkeypatch, number):
    """Ctrl-C goes to the server, too, before it has forked these jobs."""
    waits = """
        import time
        from pathlib import Path
        Path("importing").touch()
        while not Path("signalled").exists():
            time.sleep(0.02)
    """
    script(waits, "long_import.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    made, send, sent = JobServer([sys.executable], ["long_import"]), job_server.socket.send_fds, threading.Event()
    monkeypatch.setattr(job_server.socket, "send_fds", lambda *arguments: (send(*arguments), sent.set()))
    wait_for((tmp_path / "importing").exists)
    codes = []
    path = script("from pathlib import Path; Path('ran').touch()")
    job = threading.Thread(target=lambda: codes.append(run(made, path)), daemon=True)
    job.start()
    assert sent.wait(60)
    os.kill(made._process.pid, number)
    (tmp_path / "signalled").touch()
    job.join(60)
    made.close()
    assert codes == [-number]
    assert not (tmp_path / "ran").exists()


def test_what_a_job_changes_is_not_seen_by_the_next(server, script, tmp_path):
    change = """
        import colorsys, os, sys
        colorsys.CHANGED = True
        os.environ["CHANGED"] = "1"
        sys.path.insert(0, "changed")
        os.umask(0)
        os.chdir("/")
    """
    assert run(server, script(change)) == 0
    look = """
        import os, sys
        assert "colorsys" in sys.modules, "it is not imported"
        import colorsys
        assert not hasattr(colorsys, "CHANGED") and "CHANGED" not in os.environ and "changed" not in sys.path
        assert os.umask(0) != 0 and os.getcwd() != "/"
    """
    assert run(server, script(look)) == 0


def test_a_job_waits_until_it_is_measured(server, script, tmp_path):
    path = script("from pathlib import Path; Path(__file__).with_name('ran').touch()")
    with server.job(path, environment_of_job(None)) as job:
        assert is_alive(job.pid)
        time.sleep(0.3)
        assert not (tmp_path / "ran").exists()
        assert job.wait() == 0
    assert (tmp_path / "ran").exists()


def test_a_job_that_nobody_waits_for_does_not_run(server, script, tmp_path):
    path = script("from pathlib import Path; Path(__file__).with_name('ran').touch()")
    with server.job(path, environment_of_job(None)) as job:
        pid = job.pid
    wait_for(lambda: not is_alive(pid))
    assert not (tmp_path / "ran").exists()


def test_many_jobs_at_a_time_get_their_own_exit_codes(server, script):
    paths = [script(f"import sys, time; time.sleep({(37 * k) % 11 / 50}); sys.exit({k})", f"{k}.py") for k in range(40)]
    codes = {}
    threads = [threading.Thread(target=lambda k=k: codes.update({k: run(server, paths[k])})) for k in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == {k: k for k in range(40)}


def test_a_file_of_the_working_folder_does_not_stand_in_for_a_library(script, tmp_path, monkeypatch):
    script("raise SystemExit('imported')", "colorsys.py")
    monkeypatch.chdir(tmp_path)
    made = JobServer([sys.executable], ["colorsys"])
    try:
        (tmp_path / "elsewhere").mkdir()
        assert run(made, script("import sys, colorsys; sys.exit(not colorsys.rgb_to_hls)", "elsewhere/job.py")) == 0
    finally:
        made.close()


def test_a_server_can_be_started_with_closed_standard_streams(script):
    path = script("from pathlib import Path; print('text'); Path(__file__).with_name('ran').touch()")
    command = [sys.executable, "-c", OWNER, path]
    closed = subprocess.run(["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], check=False, timeout=60)
    assert closed.returncode == 0
    assert path.with_name("ran").exists()


def test_a_request_that_is_too_long_is_refused_and_the_server_stays(server, script):
    with pytest.raises(ServerLostError), server.job(script("pass"), {"LONG": "x" * 2 * job_server.LARGEST}):
        pass
    assert run(server, script("pass")) == 0


def test_jobs_end_with_a_killed_server_and_later_ones_are_refused(script):
    made = JobServer([sys.executable], [])
    path = script(WAIT)
    with pytest.raises(ServerLostError), made.job(path, environment_of_job(None)) as job:
        threading.Thread(target=lambda: (wait_for(path.with_suffix(".started").exists), made._process.kill())).start()
        job.wait()
    wait_for(lambda: not is_alive(job.pid))
    with pytest.raises(ServerLostError):
        run(made, script("pass"))
    made.close()


def test_server_and_jobs_end_with_their_killed_owner(owner):
    process, job, server = owner
    process.kill()
    process.wait()
    wait_for(lambda: not (is_alive(job) or is_alive(server)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_server_alone_ends_nothing(owner, number):
    process, job, server = owner
    os.kill(server, number)
    time.sleep(0.3)
    assert is_alive(job)
    assert is_alive(server)
    os.kill(job, signal.SIGTERM)
    assert process.stdout.readline() == f"{-signal.SIGTERM}\n"
    process.wait(timeout=60)
    wait_for(lambda: not is_alive(server))


def test_the_environment_of_a_job_has_one_thread_and_its_folder(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    given = environment_of_job("/elsewhere")
    assert {given[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOTO_NUM_THREADS")} == {"1"}
    assert {given[name] for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR")} == {"/elsewhere"}
    assert environment_of_job(None).get("TMPDIR") == os.environ.get("TMPDIR")
