"""Process that imports libraries once and is forked for each job: starting Python and importing them takes longer than many jobs.

Only on Linux: elsewhere a process that has loaded a library for linear algebra may not be forked. A job differs from one with a
process of its own only in what is already imported. Its output, signals and environment are the same, and it ends like a program.

Each job has a pair of sockets. The server sends the process id and, at the end, the exit code. The job waits for a byte: its
memory can only be measured from the beginning if it has not ended before.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

FEW_JOBS = 3
"""Largest number of jobs that do not repay the start of the server."""
ONE_THREAD = {
    f"{library}_THREADS": "1" for library in ("OMP_NUM", "GOTO_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMEXPR_NUM", "VECLIB_MAXIMUM")
}
"""Variables that libraries read when they are loaded; Snakemake sets them for a job with one thread."""
TEMPORARY = ("TMPDIR", "TMP", "TEMPDIR", "TEMP")
"""Variables that Snakemake sets to the folder for temporary files."""
NUMBER = struct.Struct("!q")
"""Format of a process id and an exit code."""
LARGEST = 1_000_000
"""Bytes of the longest request: the path of a script, and the environment."""
BUFFERED = (io.BufferedWriter, io.BufferedRandom)
"""Files whose buffers are written when a job ends; Python closes others, such as compressed ones, only if the job does."""
DIE_WITH_PARENT = 1
"""Number of the request PR_SET_PDEATHSIG of prctl."""


class ServerLostError(RuntimeError):
    """Error if the server, and with it its jobs, were killed."""


def environment_of_job(temporary: str | None) -> dict[str, str]:
    """Return the environment variables that Snakemake gives to a job with one thread and this folder for temporary files."""
    return {**os.environ, **ONE_THREAD, **(dict.fromkeys(TEMPORARY, temporary) if temporary else {})}


class Job:
    """Job of a server, which starts at the first call of :meth:`wait`.

    Attributes:
        pid: process id.
    """

    def __init__(self, messages: socket.socket) -> None:
        self._messages = messages
        self.pid = self._number()

    def wait(self) -> int:
        """Start the job, wait for its end, and return its exit code; minus the number of the signal that ended it.

        Raises:
            ServerLostError: the server was killed.
        """
        with contextlib.suppress(OSError):
            self._messages.send(b"!")
        return self._number()

    def _number(self) -> int:
        try:
            message = self._messages.recv(NUMBER.size)
        except ConnectionResetError:  # reported once, before what was sent, if the server closed its end with unread messages
            message = self._messages.recv(NUMBER.size)
        if not message:
            raise ServerLostError("the process that is forked for each job has ended")
        return int(NUMBER.unpack(message)[0])


class JobServer:
    """Server that was started by this process and ends with it; several threads can use it at a time."""

    def __init__(self, python: Sequence[str], modules: Sequence[str]) -> None:
        """Start the server.

        Args:
            python: command that starts Python.
            modules: modules that the server imports. Those that cannot be imported are left out.

        Raises:
            OSError: no process can be started.
        """
        self._requests, theirs = _pair()
        environment = {**os.environ, **ONE_THREAD}
        environment.pop("MPLBACKEND", None)  # importing matplotlib fails if this names a missing backend
        with theirs:
            # -P: a file of the working folder could have the name of a library.
            command = [*python, "-P", "-m", __name__, str(theirs.fileno()), *modules]
            self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def close(self) -> None:
        """End the server, and wait for its end."""
        self._requests.close()
        self._process.wait()

    @contextlib.contextmanager
    def job(self, script: str | Path, environment: Mapping[str, str]) -> Iterator[Job]:
        """Fork the server for a script, which waits for :meth:`Job.wait`.

        Args:
            script: path of a Python program.
            environment: environment variables of the job.

        Raises:
            ServerLostError: the server was killed.
        """
        ours, theirs = _pair()
        with ours:
            with theirs:
                request = json.dumps([str(script), str(Path.cwd()), dict(environment)]).encode()
                try:
                    socket.send_fds(self._requests, [request], [theirs.fileno()])
                except OSError as error:  # the server has ended, or the environment is too long for a message
                    raise ServerLostError(str(error)) from error
            yield Job(ours)


def _pair() -> tuple[socket.socket, socket.socket]:
    """Return a pair of sockets whose numbers are not those of closed standard streams."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return _above_standard_streams(ours), _above_standard_streams(theirs)


def _above_standard_streams(end: socket.socket) -> socket.socket:
    with end:
        return socket.socket(fileno=fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 3))


def main() -> None:
    """Import modules, then fork for each request; a fork runs its script like a program of its own."""
    signals = Signals()
    requests, *modules = sys.argv[1:]
    _import_all(modules)
    script = _serve(socket.socket(fileno=int(requests)), signals)
    if script:
        os._exit(_run(script))  # Python's own exit would visit, and so copy, everything that was imported


class Signals:
    """Signals that end a run: they end the jobs, but the server ends with its owner."""

    def __init__(self) -> None:
        self._received: list[int] = []
        # Ignored signals, such as SIGHUP below nohup, stay ignored.
        self._former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        for number, handler in self._former.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, lambda number, frame: self._received.append(number))

    def fork(self) -> int:
        """Fork. A signal that the server received before, for example while a job waited for it, is passed on to the job."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, self._former)
        try:
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for number, handler in self._former.items():
                    signal.signal(number, handler if handler == signal.SIG_IGN else signal.SIG_DFL)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if pid and self._received:
            os.kill(pid, self._received[-1])
        return pid

    def restore(self) -> None:
        """Set the handlers that a Python program has."""
        for number, handler in self._former.items():
            signal.signal(number, handler)


def _import_all(modules: Sequence[str]) -> None:
    """Import modules; the error or warning of a library comes again, in a job's log, when a job needs it."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for name in modules:
            try:
                importlib.import_module(name)
            except (MemoryError, OSError):  # what was imported may be incomplete
                sys.exit(1)
            except Exception:
                continue
    tempfile.tempdir = None  # a library may have asked for it, and jobs have their own
    gc.freeze()  # otherwise the first search for reference cycles would copy all of this memory


def _serve(requests: socket.socket, signals: Signals) -> str | None:
    """Fork for each request; return the path of its script in the fork, and None in the server when its owner has ended."""
    ended, wake = socket.socketpair()
    ended.setblocking(False)
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    running: dict[int, socket.socket] = {}
    server = os.getpid()
    while True:
        ready, _, _ = select.select([requests, ended], [], [])
        if ended in ready:
            ended.recv(LARGEST)
            _report_ended(running)
        if requests in ready:
            request, files, _, _ = socket.recv_fds(requests, LARGEST, 1)
            if not request:
                return None
            for number in files:  # none if too many files are open
                messages = socket.socket(fileno=number)
                try:
                    pid = signals.fork()
                except OSError:  # no room for one more process: the owner starts the job otherwise
                    messages.close()
                    continue
                if pid == 0:
                    for inherited in (requests, ended, wake, *running.values()):
                        inherited.close()
                    return _begin(messages, signals, server, *json.loads(request))
                running[pid] = messages
                with contextlib.suppress(OSError):
                    messages.send(NUMBER.pack(pid))


def _report_ended(running: dict[int, socket.socket]) -> None:
    """Send the exit codes of jobs that have ended, and drop these jobs."""
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with running.pop(pid) as messages, contextlib.suppress(OSError):
                messages.send(NUMBER.pack(os.waitstatus_to_exitcode(status)))


def _begin(
    messages: socket.socket, signals: Signals, server: int, script: str, folder: str, environment: Mapping[str, str]
) -> str:
    """Prepare a fork for its job, wait until the job may start, and return the path of its script."""
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    try:
        if os.getppid() != server or not messages.recv(1):
            os._exit(1)
        os.chdir(folder)
    except OSError:
        os._exit(1)
    messages.close()
    os.environ.clear()
    os.environ.update(environment)
    atexit.unregister(shutil.rmtree)  # of a folder that a library made for the server and all jobs
    if "numpy" in sys.modules:  # otherwise its random numbers without a seed would be the same in all jobs
        sys.modules["numpy"].random.seed()
    signals.restore()
    return script


def _run(script: str) -> int:
    """Run a script like a program, with what Python does at its exit, and return its exit code."""
    sys.argv = [script]
    sys.path.insert(0, str(Path(script).parent))
    program = sys.modules["__main__"] = types.ModuleType("__main__")
    program.__file__ = script
    code: object = None
    interrupted = False
    try:
        exec(compile(Path(script).read_bytes(), script, "exec"), program.__dict__)
    except SystemExit as error:
        code = error.code
    except BaseException as error:
        trace = error.__traceback__ and error.__traceback__.tb_next  # from the script on
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        code, interrupted = 1, isinstance(error, KeyboardInterrupt)
    if not (code is None or isinstance(code, int)):
        print(code, file=sys.stderr)
        code = 1
    opened = [thing for thing in gc.get_objects() if issubclass(type(thing), (io.TextIOWrapper, *BUFFERED))]
    threading._shutdown()  # type: ignore[attr-defined]  # wait for threads, as Python does
    atexit._run_exitfuncs()
    # Text first, since it is passed on to buffers.
    for stream in sorted(opened, key=lambda stream: isinstance(stream, BUFFERED)):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    for standard in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):
            standard.flush()
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return (code or 0) & 0xFF


if __name__ == "__main__":
    main()
