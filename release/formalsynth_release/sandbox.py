"""Confinement of a process: it can read and write the paths that it was given, and nothing else.

Landlock, if Linux has it, confines the process and all processes that it starts. On every system, a Python audit hook also
restricts what Python itself opens, lists, removes, connects to or starts.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from formalsynth.core.registry import PACKAGE

PACKAGES = PACKAGE.parent, Path(__file__).parents[1]
"""Folders of the library and of the release tool."""

SYSTEM = (
    "/usr", "/lib", "/lib64", "/bin", "/etc", "/sys/devices", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
    "/proc/filesystems", "/proc/sys", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
)  # fmt: skip
"""Folders and files of the operating system; neither the memory of other processes nor shared memory is among them."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PATHS = {
    "os.listdir": (0,), "os.scandir": (0,), "os.chdir": (0,), "shutil.copyfile": (0,), "shutil.copytree": (0,), "glob.glob": (0,)
}  # fmt: skip
"""Python audit events that read a path, with the positions of the paths among their arguments."""
CHANGES = {
    "os.remove": (0,), "os.rename": (0, 1), "os.mkdir": (0,), "os.rmdir": (0,), "os.link": (0, 1), "os.symlink": (0, 1),
    "os.truncate": (0,), "os.chmod": (0,), "os.chown": (0,), "os.setxattr": (0,), "os.utime": (0,), "shutil.rmtree": (0,),
}  # fmt: skip
"""Python audit events that change a path, with the positions of the paths among their arguments."""
FORBIDDEN = ("socket.connect", "socket.bind", "socket.getaddrinfo", "urllib.Request", "ftplib.connect", "smtplib.connect")
Refuse = Callable[[str, tuple[object, ...]], None]


class ConfinedError(PermissionError):
    """Error if a confined process uses a path that it was not given."""


def software() -> list[Path]:
    """List the folders with software: the system, Python and this package."""
    paths = {*map(Path, SYSTEM), Path(sys.prefix), Path(sys.base_prefix), PACKAGE, Path(__file__).parent}
    return sorted(path.resolve() for path in paths if path.exists())


def modules() -> list[Path]:
    """List the folders from which this process imports modules."""
    return [Path(path) for path in sys.path if Path(path).is_dir()]


def holding(path: Path) -> list[Path]:
    """List the folders with software that contain a path; a confined process could read a confidential file in one of them."""
    whole = path.resolve()
    folders = (*software(), *(folder.resolve() for folder in PACKAGES), *_isolated())
    return [folder for folder in folders if whole.is_relative_to(folder)]


@functools.cache
def _isolated() -> tuple[Path, ...]:
    """List the folders from which an isolated process imports modules; ``.pth`` files of installed packages may add some."""
    command = [sys.executable, "-I", "-c", "import sys; print(*sys.path, sep=chr(0), end='')"]
    paths = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return tuple(Path(path).resolve() for path in paths if Path(path).is_dir())


def confine(readable: Iterable[Path], writable: Iterable[Path]) -> str:
    """Confine this process until it ends.

    Args:
        readable: folders that it may read, in addition to the software.
        writable: folders in which it may also write.

    Returns:
        Name of the mechanism that confines it.
    """
    written = [path.resolve() for path in writable]
    read = [*software(), *(path.resolve() for path in readable if path.exists()), *written]
    sys.addaudithook(_hook(read, written))
    return "Landlock and an audit hook" if _landlock(read, written) else "an audit hook of Python"


def _hook(read: Sequence[Path], written: Sequence[Path]) -> Refuse:
    readable, writable = ([str(path) for path in paths] for paths in (read, [*written, Path(os.devnull)]))

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in FORBIDDEN:
            raise ConfinedError(f"{event}: is not allowed here")
        if event == "open":
            path, _, flags = arguments
            _check(path, writable if isinstance(flags, int) and flags & WRITING else readable)
        for events, allowed in ((PATHS, readable), (CHANGES, writable)):
            for place in events.get(event, ()):
                _check(arguments[place], allowed)

    return refuse


def _check(path: object, allowed: Sequence[str]) -> None:
    """Check that a path is below an allowed folder; descriptors of files that are already open are allowed.

    Raises:
        ConfinedError: it is not.
    """
    if path is None or isinstance(path, int) or not isinstance(path, str | bytes | os.PathLike):
        return
    whole = os.path.realpath(os.fsdecode(path))
    if not any(whole == folder or whole.startswith(f"{folder.rstrip('/')}/") for folder in allowed):
        raise ConfinedError(f"{whole}: is not among the paths that this process was given")


def _landlock(read: Sequence[Path], written: Sequence[Path]) -> bool:
    """Confine this process and all that it starts by Landlock; return False if the system does not have it."""
    if sys.platform != "linux":
        return False
    from landlock import FSAccess, Ruleset, landlock_abi_version

    try:
        if landlock_abi_version() < 1:
            return False
        rules = Ruleset()
        for path in read:
            folder = FSAccess.READ_DIR if path.is_dir() else FSAccess(0)
            rules.allow(str(path), rules=FSAccess.EXECUTE | FSAccess.READ_FILE | folder)
        rules.allow(*map(str, written))
        rules.allow(os.devnull, rules=FSAccess.READ_FILE | FSAccess.WRITE_FILE)
        rules.apply()
    except OSError:
        return False
    return True
