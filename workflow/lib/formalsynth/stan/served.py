"""Served requests: a compiled program samples fits and evaluates points in one process, which ends with this one.

Requests and answers go through pipes: no data are written to a file or a command line, and draws come back as doubles.
``main.cpp`` is the other end. After any error there is no answer:
:func:`formalsynth.stan.command.run` then runs CmdStan for this request only, with the same values or the error message.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import logging
import math
import os
import select
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import numpy as np

from formalsynth.core.arrays import Array

GREETING = b"formalsynth serves 2\n"
"""First line of a program that serves; its number changes with the format of requests and answers."""
LONGEST_LINE = 200
WAIT_SECONDS = 60
"""Longest wait for the greeting, and for a program that has stopped reading."""
END_SECONDS = 5
"""Longest wait for the end of a process that has no more work."""
DEATHS = 3
"""Number of times that a program may die; from then on, it is started separately for each request."""
MOST = 8
"""Largest number of programs kept running between requests."""

log = logging.getLogger("cmdstan")


class NotServed(Exception):
    """Failure of a request: the process died or broke the protocol, and can take no more requests."""


@dataclass(frozen=True)
class DrawRequest:
    """Request for draws; ``main.cpp`` describes its kinds."""

    kind: Literal["fit", "point", "generate"]
    seed: int
    draws: int
    names: Sequence[str]
    data: str
    start: bytes
    settings: Sequence[float] = ()
    """Number of warm-up iterations, thinning, tree depth and target acceptance rate of a fit."""

    def content(self) -> bytes:
        """Format the request as bytes, as ``main.cpp`` reads them."""
        texts = [" ".join(self.names).encode(), self.data.encode(), self.start]
        numbers = [self.seed, self.draws, *map(len, texts), *self.settings]
        return b"".join([" ".join([self.kind, *map(str, numbers)]).encode(), b"\n", *texts])


class Server:
    """Process of one program that answers requests."""

    def __init__(self, executable: Path) -> None:
        """Start the program.

        Raises:
            NotServed: it does not serve.
            OSError: it cannot be started.
        """
        command = [str(executable.absolute()), "serve"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.to: IO[bytes] = self.process.stdin
        self.back: IO[bytes] = self.process.stdout
        os.set_blocking(self.to.fileno(), False)
        ready = select.select([self.back], [], [], WAIT_SECONDS)[0]
        if not ready or self.back.readline(LONGEST_LINE) != GREETING:
            self.kill()
            raise NotServed

    def ask(self, request: DrawRequest) -> dict[str, Array] | None:
        """Send a request and read its answer, with the draws along the first axis; return None if it failed.

        Raises:
            NotServed: the answer is incomplete or breaks the protocol.
        """
        try:
            self._send(request.content())
            return self._answer(request.draws)
        except (OSError, ValueError, OverflowError, MemoryError) as error:
            self.kill()
            raise NotServed from error
        except BaseException:
            # An answer that is not read now would be mistaken for the answer to the next request.
            self.kill()
            raise

    def _send(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            if not select.select([], [self.to], [], WAIT_SECONDS)[1]:
                raise ValueError("a request that is not read")
            rest = rest[os.write(self.to.fileno(), rest) :]

    def _answer(self, draws: int) -> dict[str, Array] | None:
        words = self.back.readline(LONGEST_LINE).split()
        if words == [b"failed"]:
            return None
        if len(words) != 4 or words[0] != b"draws":
            raise ValueError("no answer")
        count, width, length = map(int, words[1:])
        if length < 0:
            raise ValueError("an answer of a negative size")
        last = self._read(length).decode().split(",")
        if count != draws or width != sum(map(size_of, last)):
            raise ValueError("an answer of the wrong size")
        return by_variable(last, np.frombuffer(self._read(8 * count * width)).reshape(count, width))

    def _read(self, length: int) -> bytes:
        content = self.back.read(length)
        if len(content) != length:
            raise ValueError("an answer cut short")
        return content

    def end(self) -> None:
        """End the process, which has no pending request."""
        with contextlib.suppress(OSError):
            self.to.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        for stream in (self.to, self.back):
            with contextlib.suppress(OSError):
                stream.close()


Key = tuple[int, str, int, int, int]
"""Process, path, and the file's inode, time and size, which distinguish it from an earlier file at the same path."""
servers: dict[Key, Server] = {}
deaths: dict[Key, int] = {}
_one = threading.Lock()


def ask(executable: Path, request: DrawRequest) -> dict[str, Array] | None:
    """Send a request to the process of a program, and start the process if there is none yet.

    Args:
        executable: the compiled program.
        request: the request.

    Returns:
        Mapping from a variable to its S draws, along the first axis; None if the program does not serve, died or failed.
        CmdStan must then be run for the request.
    """
    with _one:
        try:
            key = _key(executable)
            if deaths.get(key, 0) >= DEATHS:
                return None
            if key not in servers:
                servers[key] = started(executable, key)
            return servers[key].ask(request)
        except OSError:
            return None
        except NotServed:
            if servers.pop(key, None):
                deaths[key] = deaths.get(key, 0) + 1
            return None


def _key(executable: Path) -> Key:
    status = executable.stat()
    return os.getpid(), str(executable.absolute()), status.st_ino, status.st_mtime_ns, status.st_size


def started(executable: Path, key: Key) -> Server:
    """Start the process of a program, after ending the oldest one if there are too many."""
    if len(servers) >= MOST:
        servers.pop(next(iter(servers))).end()
    _end_at_exit()
    try:
        return Server(executable)
    except NotServed:
        deaths[key] = DEATHS
        log.info("%s does not serve requests: using one process for each", executable.name)
        raise


def end_all() -> None:
    """End the processes of all programs; the next request starts a new one."""
    with _one:
        for key, server in list(servers.items()):
            # A fork of this process shares its parent's pipes, but does not own the parent's processes.
            if key[0] == os.getpid():
                server.end()
        servers.clear()


@functools.cache
def _end_at_exit() -> None:
    """End all programs when this process ends, before its log counts their time: the function registered last runs first."""
    atexit.register(end_all)


def variable_of(column: str) -> str:
    """Variable to which a column of CmdStan belongs: ``name.i.j`` is an element of ``name``, first index fastest."""
    return column.partition(".")[0]


def last_elements(columns: Sequence[str]) -> list[str]:
    """Last element of each variable, which contains the variable's sizes."""
    return [list(elements)[-1] for _, elements in itertools.groupby(columns, variable_of)]


def size_of(last: str) -> int:
    """Count the elements of a variable, given its last element."""
    return math.prod(_shape(last))


def by_variable(last: Sequence[str], values: Array) -> dict[str, Array]:
    """Split values by variable, with the draws along their first axis.

    Args:
        last: last element of each variable.
        values: (S, columns) values.
    """
    ends = np.cumsum([0, *map(size_of, last)])
    return {
        variable_of(name): np.array(values[:, start:end].reshape(len(values), *_shape(name), order="F"), order="C")
        for name, (start, end) in zip(last, itertools.pairwise(ends), strict=True)
    }


def _shape(last: str) -> list[int]:
    return [int(index) for index in last.split(".")[1:]]
