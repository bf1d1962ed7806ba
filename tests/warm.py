"""Python with its imports done: a process that has run some code, and forks for each program.

Loading Snakemake, pandas and the package takes longer than most programs in the tests. A fork has its own arguments, environment,
folder and output, and ends like a program. It is a separate process in all else, and differs only in what is already imported.
"""

import atexit
import contextlib
import gc
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
import types
from pathlib import Path

NUMBER = struct.Struct("!q")
"""Format of a process id and an exit code."""
LONGEST = 1_000_000
"""Bytes of the longest request."""
ALLOCATIONS = 100_000
"""Objects that are made between two searches for reference cycles: with Python's 700, these take a tenth of the time."""


class WarmPython:
    """Server that is forked for each program."""

    def __init__(self, prepared, environment, *options):
        """Start the server.

        Args:
            prepared: code that the server runs first, as its imports.
            environment: environment variables, with which the libraries are loaded.
            options: options of Python.
        """
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, *options, __file__, str(theirs.fileno()), prepared]
            self._process = subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def start(self, code, arguments, environment, output, errors, folder=None):
        """Start a program like ``python -c code``.

        Args:
            code: the program.
            arguments: its arguments.
            environment: its environment variables.
            output: file for its output.
            errors: file for its errors.
            folder: its working folder; by default, the present one.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            request = [code, [str(argument) for argument in arguments], environment, str(folder or Path.cwd())]
            files = [theirs.fileno(), output.fileno(), errors.fileno()]
            socket.send_fds(self._requests, [json.dumps(request).encode()], files)
        return Program(ours)

    def end(self):
        """End the server, and wait for its end."""
        self._requests.close()
        self._process.wait()


class Program:
    """Program that was started by :class:`WarmPython`."""

    def __init__(self, messages):
        self._messages = messages
        self.pid = self._number()

    def _number(self):
        message = self._messages.recv(NUMBER.size)
        assert message, "the process that is forked for each program has ended"
        return NUMBER.unpack(message)[0]

    def kill(self):
        """Kill the program."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout=1800):
        """Wait for its end, and return its exit code; after the timeout, in seconds, it is killed."""
        patience = threading.Timer(timeout, self.kill)
        patience.start()
        try:
            return self._number()
        finally:
            patience.cancel()
            self._messages.close()


def serve(requests, prepared):
    """Run the code that prepares, then each program that is asked for in a fork; another process waits for it."""
    exec(prepared, {"__name__": "prepared"})
    gc.set_threshold(ALLOCATIONS)
    gc.freeze()  # otherwise each program would search all that is imported for reference cycles, and copy its memory
    while True:
        request, files, _, _ = socket.recv_fds(requests, LONGEST, 3)
        if not request:
            break
        if not os.fork():
            requests.close()
            watch(files, *json.loads(request))
        for file in files:
            os.close(file)
        reap(os.WNOHANG)
    atexit._run_exitfuncs()
    reap(0)


def reap(options):
    """Collect the processes that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, options)[0]:
            pass


def watch(files, *program):
    """Start a program, report its process id and its exit code, and never return."""
    with socket.socket(fileno=files[0]) as messages:
        pid = os.fork()
        if not pid:
            follow(files[1:], *program)
        messages.send(NUMBER.pack(pid))
        for file in files[1:]:
            os.close(file)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(OSError):
            messages.send(NUMBER.pack(code))
    os._exit(0)


def follow(files, code, arguments, environment, folder):
    """Be a program: never returns."""
    status = 1
    try:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()
        for number, file in enumerate(files, start=1):
            os.dup2(file, number)
            os.close(file)
        sys.argv = ["-c", *arguments]
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(code, main.__dict__)
        status = 0
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
