"""Main of compiled programs: ours, which serves many fits in one process (``main.cpp``), compiled once for the user."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from formalsynth.runtime.cache import cache_folder
from formalsynth.stan.kept import KIND, fingerprint, keep_program, take
from formalsynth.stan.toolchain import CmdStanError, make

SOURCE = Path(__file__).with_name("main.cpp")
CUT_SHORT = re.compile(
    r".*(?:out of memory|memory exhausted|bad_alloc|Cannot allocate memory|No space left|Disk quota exceeded|signal \w+ program"
    r"|File size limit exceeded|Killed|failed to map segment).*"
)
"""Message of a compiler that was ended from outside, or is short of room: it does not depend on the program."""
NAME = "print-main: ; @echo $(CMDSTAN_MAIN_O)"
"""Rule of make that prints the name of the object, which contains options of the user's CmdStan."""


def place_main(folder: Path, cmdstan: Path) -> dict[str, str]:
    """Put our main and its object into the folder where a program is compiled; return make's variables that link it.

    There are none where it does not compile with this CmdStan: programs then have CmdStan's main, and a process for each fit.

    Raises:
        CmdStanError: the compiler was ended from outside, or room is short.
    """
    source = folder / SOURCE.name
    shutil.copyfile(SOURCE, source)
    # Older than its object, so that make leaves that alone.
    os.utime(source, (0, 0))
    variables = {"CMDSTAN_MAIN": str(source)}
    settings = [f"{name}={value}" for name, value in variables.items()]
    try:
        object_file = Path(make(cmdstan, *settings, "--eval", NAME, "print-main").strip())
        # CmdStan asks for this list of what the object is made from, and takes seconds to write it.
        object_file.with_suffix(".d").touch()
        with _alone():
            name = f"main-{fingerprint([SOURCE], cmdstan, 'main')}"
            if not take(name, object_file):
                make(cmdstan, *settings, str(object_file))
                keep_program(name, object_file)
    except CmdStanError as error:
        if CUT_SHORT.search(str(error)):
            raise
        print(f"A process for each fit, since {SOURCE.name} does not compile with CmdStan at {cmdstan}:\n{error}")
        return {}
    return variables


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let one process compile the object, and others that need it wait; a folder without locks or cache lets all compile."""
    cache = cache_folder(KIND)
    with contextlib.ExitStack() as stack:
        if cache is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(stack.enter_context(open(cache / ".main.lock", "w")), fcntl.LOCK_EX)
        yield
