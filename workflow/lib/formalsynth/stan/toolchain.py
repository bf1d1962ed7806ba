"""make and the C++ compiler, as CmdStan uses them."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from formalsynth.runtime.scratch import scratch_folder

OF_MAKE = ("GNUMAKEFLAGS", "MAKEOVERRIDES", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
"""Variables that a process inherits from the make that started it: flags and a job server, meant only for its own targets."""

log = logging.getLogger("cmdstan")


class CmdStanError(RuntimeError):
    """Absence of a working CmdStan, with the reason and the remedy."""


def make(folder: Path, *targets: str) -> str:
    """Run make in a folder, as if no other make had started this process, and return its output.

    Raises:
        CmdStanError: make failed.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    environment = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
    command = ["make", "-s", f"-j{cores}", *targets]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    if run.returncode:
        last_lines = "\n".join((run.stderr.strip() or run.stdout).splitlines()[-5:])
        raise CmdStanError(f"make {' '.join(targets)} failed in {folder}:\n{last_lines}")
    return run.stdout


def read_record(file: Path) -> Path:
    """Read the folder of CmdStan from the set-up record.

    Raises:
        CmdStanError: the file is damaged.
    """
    try:
        return Path(json.loads(file.read_text())["path"])
    except (ValueError, KeyError, TypeError) as error:
        raise CmdStanError(f"{file} is damaged ({error}): delete it and run again") from error


def version_of(cmdstan: Path) -> str:
    """Version in the tree's makefile, or ``unknown``."""
    with contextlib.suppress(OSError):
        for line in (cmdstan / "makefile").read_text().splitlines():
            if line.startswith("CMDSTAN_VERSION"):
                return line.split("=")[1].strip()
    return "unknown"


@contextlib.contextmanager
def building(target: Path) -> Iterator[Path]:
    """Yield a scratch folder that is renamed to ``target`` only if everything inside the block succeeds."""
    with scratch_folder(target.parent, target.name) as folder:
        partial = folder / target.name
        partial.mkdir()
        yield partial
        if target.exists():
            log.info("replacing %s, which does not work", target)
            target.rename(folder / "replaced")
        partial.rename(target)


def last_line(text: str) -> str:
    """Last line of a message that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
