"""Processes of the machine, as Linux lists them; each may end while it is looked at, and then has no state and no command."""

import os
import time
from pathlib import Path


def python_path(folder):
    """The search path of a process, with a folder before what is there."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def wait_for(condition, process=None):
    """Wait until a condition holds, longer than a slow machine needs, and while a process is alive."""
    deadline = time.monotonic() + 600
    while not condition():
        assert process is None or process.poll() is None, "it ended"
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.02)


def is_alive(pid):
    """Check if a process exists and is no zombie."""
    return state(Path(f"/proc/{pid}")) not in {"", "Z"}


def is_stopped(pid):
    """Check if every thread of a process has received the signal to stop; assumed where Linux does not list them."""
    return {state(thread) for thread in threads(pid)} <= {"T", ""}


def children(pid):
    """Ids of the processes that the threads of one have started."""
    return [int(child) for thread in threads(pid) for child in read(thread / "children").split()]


def command(pid):
    """Arguments with which a process was started."""
    return read(Path(f"/proc/{pid}/cmdline")).split(b"\0")[:-1]


def commands():
    """Ids and arguments of all processes."""
    return ((int(path.name), command(path.name)) for path in Path("/proc").iterdir() if path.name.isdecimal())


def threads(pid):
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []


def state(folder):
    """Letter for what a process or thread does."""
    return read(folder / "stat").rpartition(b")")[2][1:2].decode()


def read(path):
    """Content of a file about a process or thread; empty if it has ended before the file is opened, or after."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
