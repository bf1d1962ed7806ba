"""Main function of compiled programs: ``main.cpp``, which serves many fits in one process, compiled once per user."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from formalsynth.runtime.cache import cache_folder
from formalsynth.stan.kept import KIND, fingerprint, keep_program, take
from formalsynth.stan.toolchain import CmdStanError, make

SOURCE = Path(__file__).with_name("main.cpp")
CUT_SHORT = re.compile(
    r".*(?:out of memory|memory exhausted|bad_alloc|Cannot allocate memory|No space left|Disk quota exceeded|signal \w+ program"
    r"|File size limit exceeded|Killed|failed to map segment).*"
)
"""Message of a compiler that was ended from outside or ran out of memory or disk space; independent of the program."""
NAME = "print-main: ; @echo $(CMDSTAN_MAIN_O)"
"""Make rule that prints the name of the object file, which depends on options of the user's CmdStan."""


def place_main(folder: Path, cmdstan: Path) -> dict[str, str]:
    """Put ``main.cpp`` and its object into the folder where a program is compiled; return the make variables that link it.

    No variables are returned if it does not compile with this CmdStan: programs then use CmdStan's main, in one process per fit.

    Raises:
        CmdStanError: the compiler was ended from outside, or memory or disk space is short.
    """
    try:
        variables, object_file = main_in(folder, cmdstan)
        with _alone():
            if not take(_name(cmdstan), object_file):
                make(cmdstan, *settings_of(variables), str(object_file))
                keep_main(object_file, cmdstan)
    except CmdStanError as error:
        if CUT_SHORT.search(str(error)):
            raise
        print(f"Using one process for each fit, because {SOURCE.name} does not compile with CmdStan at {cmdstan}:\n{error}")
        return {}
    return variables


def main_in(folder: Path, cmdstan: Path) -> tuple[dict[str, str], Path]:
    """Put ``main.cpp`` into a folder; return the make variables that name it, and the path of its object, to be made.

    Raises:
        CmdStanError: make failed, or this CmdStan has no such object.
    """
    source = folder / SOURCE.name
    shutil.copyfile(SOURCE, source)
    # The source must be older than its object, or make would rebuild the object.
    os.utime(source, (0, 0))
    variables = {"CMDSTAN_MAIN": str(source)}
    printed = make(cmdstan, *settings_of(variables), "--eval", NAME, "print-main").strip()
    if not printed:
        raise CmdStanError(f"the makefile of {cmdstan} does not name the object of a main function")
    object_file = cmdstan / printed
    # CmdStan requires this list of the object's dependencies, which otherwise takes seconds to write.
    object_file.with_suffix(".d").touch()
    return variables, object_file


def settings_of(variables: Mapping[str, str]) -> list[str]:
    """Format make variables as arguments of make."""
    return [f"{name}={value}" for name, value in variables.items()]


def keep_main(object_file: Path, cmdstan: Path) -> None:
    """Cache the object of ``main.cpp`` for all programs of a CmdStan."""
    keep_program(_name(cmdstan), object_file)


def _name(cmdstan: Path) -> str:
    return f"main-{fingerprint([SOURCE], cmdstan, 'main')}"


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let one process compile the object while others wait for it; without locks or a cache folder, each process compiles it."""
    cache = cache_folder(KIND)
    with contextlib.ExitStack() as stack:
        if cache is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(stack.enter_context(open(cache / ".main.lock", "w")), fcntl.LOCK_EX)
        yield
