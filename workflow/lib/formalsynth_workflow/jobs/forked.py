"""Jobs forked by the standard library's fork server, which imports libraries once: importing them takes longer than many jobs.

Only on Linux: elsewhere a process that has loaded a library for linear algebra may not be forked. A job differs from one with a
process of its own only in what is already imported. The server, and with it its jobs, end with the process that started it.
"""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from multiprocessing import connection, forkserver
from pathlib import Path

LIBRARIES = "FORMALSYNTH_LIBRARIES"
"""Variable of the server: the modules that it imports."""
FEW_JOBS = 3
"""Largest number of jobs that do not repay the start of the server."""
ONE_THREAD = {
    f"{library}_THREADS": "1" for library in ("OMP_NUM", "GOTO_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "VECLIB_MAXIMUM")
}
"""Variables that libraries read when they are loaded; Snakemake sets them for a job with one thread."""
TEMPORARY = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")
"""Variables that Snakemake sets to the folder for temporary files."""
LOST = 255
"""Exit code of a job whose server was killed."""
DIE_WITH_PARENT = 1
"""Number of the request PR_SET_PDEATHSIG of prctl."""
SERVER = multiprocessing.get_context("forkserver")
STARTING_OR_ENDING = threading.Lock()
"""Lock of the start and end of a process: a start also reads exit codes of others, and each code can be read only once."""


def environment_of_job(temporary: str | None) -> dict[str, str]:
    """Return the environment variables that Snakemake gives to a job with one thread and this folder for temporary files."""
    return {**os.environ, **ONE_THREAD, **(dict.fromkeys(TEMPORARY, temporary) if temporary else {})}


def start_server(python: str, modules: Sequence[str]) -> None:
    """Start the server, which imports the modules while this process goes on.

    Args:
        python: path of Python.
        modules: names of modules. Those that cannot be imported are left out.

    Raises:
        OSError: no process can be started, or the path of its socket is too long.
    """
    vars(sys.modules["__main__"]).pop("__file__", None)  # otherwise each fork would run this program again
    SERVER.set_executable(python)
    SERVER.set_forkserver_preload(["formalsynth_workflow.jobs.preloaded"])
    former = dict(os.environ)
    # Safe path: a file of the working folder could have the name of a library.
    os.environ.update({**ONE_THREAD, LIBRARIES: " ".join(modules), "PYTHONSAFEPATH": "1"})
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(former)


def run_script(script: str, environment: Mapping[str, str], measured: Callable[[int], AbstractContextManager[object]]) -> int:
    """Run a script in a fork of the server; return its exit code, or minus the number of the signal that ended it.

    Args:
        script: path of a Python program.
        environment: environment variables of the job.
        measured: returns a context, given the process id, in which the job runs.
    """
    measuring, begin = SERVER.Pipe(duplex=False)
    job = SERVER.Process(target=_be_program, args=(script, dict(environment), measuring))
    with begin:
        try:
            with measuring, STARTING_OR_ENDING:
                job.start()
        except (EOFError, OSError):  # the server was killed
            return LOST
        try:
            with measured(job.pid or 0):
                begin.close()  # a job that ends before it is measured would be an error
                connection.wait([job.sentinel])
        except Exception:
            if begin.closed or not connection.wait([job.sentinel], 0):
                raise
            return LOST  # the server was killed, and with it the job, which could not be measured
    with STARTING_OR_ENDING:
        job.join()
    return LOST if job.exitcode is None else job.exitcode


def _be_program(script: str, environment: Mapping[str, str], measuring: connection.Connection) -> None:
    """Run a script like a program of its own, with what Python does at its exit, once its measurement has begun."""
    from formalsynth_workflow.jobs import preloaded

    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    measuring.poll(None)
    measuring.close()
    for number, handler in preloaded.HANDLERS.items():
        signal.signal(number, handler)
    os.environ.clear()
    os.environ.update(environment)
    multiprocessing.set_start_method(None, force=True)  # otherwise processes that the job starts would have a server, too
    atexit.unregister(shutil.rmtree)  # of a folder that a library made for the server and all jobs
    if "numpy" in sys.modules:  # otherwise its random numbers without a seed would be the same in all jobs
        sys.modules["numpy"].random.seed()
    sys.argv, sys.path[:] = [script], [str(Path(script).parent), *preloaded.PATH]
    program = sys.modules["__main__"] = types.ModuleType("__main__")
    program.__file__ = script
    try:
        exec(compile(Path(script).read_bytes(), script, "exec"), vars(program))
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(1)
    finally:
        threading._shutdown()  # type: ignore[attr-defined]  # wait for threads, as Python does first
        atexit._run_exitfuncs()
