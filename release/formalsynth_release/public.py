"""Public side of a release: computes the whole folder from a crossing, in a separate process that is given nothing else."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import numpy as np

import formalsynth
from formalsynth.core.progress import show_progress, tell
from formalsynth.core.text import DataError, Sentence
from formalsynth_release.crossing import CROSSING, FILES, read_crossing
from formalsynth_release.expected_parts import check_parts
from formalsynth_release.intervals import TASK
from formalsynth_release.release_folder import seal, write

LIBRARIES = ("numpy", "scipy", "pandas", "opendp")
"""Libraries that affect the bytes of a release, including the one that draws the noise."""
START = (
    "import sys; sys.path[:0] = sys.argv.pop(), sys.argv.pop(); from formalsynth_release.public import main; "
    "sys.exit(main(*sys.argv[1:]))"
)
PACKAGES = Path(formalsynth.__file__).parents[1], Path(__file__).parents[1]
"""Folders of the library and of the release tool."""
version = functools.cache(metadata.version)
"""Version of an installed library."""
PARENT_DEATH_SIGNAL = 1
"""Option of Linux's ``prctl`` that sets the signal sent when the parent dies."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KERNEL = "Nehalem"
"""OpenBLAS kernels that run on every x86-64 processor that numpy supports; other kernels order sums differently."""


def software() -> dict[str, str]:
    """Return the versions of the software that affects the bytes of a release."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"formalsynth": formalsynth.__version__, "python": python} | {name: version(name) for name in LIBRARIES}


def arithmetic() -> dict[str, str]:
    """Return the environment in which numpy gives the same numbers on all processors of a kind: it uses only common features."""
    extensions: dict[str, list[str]] = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[assignment]
    beyond = [name for kind in ("found", "not found") for name in extensions.get(kind, [])]
    library = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"  # the C library has other logarithms for processors with these
    return {"OPENBLAS_CORETYPE": KERNEL, "NPY_DISABLE_CPU_FEATURES": " ".join(beyond), "GLIBC_TUNABLES": library}


def compute_release(crossing: Path, to: Path) -> None:
    """Compute a release from a folder with a crossing, in a separate process.

    Args:
        crossing: folder with the files of the crossing; other files in it are not used.
        to: the folder to fill; it exists and is empty.

    Raises:
        DataError: the crossing is damaged, or the process failed.
    """
    with tempfile.TemporaryDirectory(prefix="formalsynth-public-") as scratch:
        environment = dict.fromkeys(THREADS, "1") | arithmetic() | {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": scratch, "TMPDIR": scratch, "LC_ALL": "C.UTF-8",
            "PYTHONHASHSEED": "0",
        }  # fmt: skip
        command = [sys.executable, "-I", "-c", START, str(crossing.resolve()), str(to.resolve()), *map(str, PACKAGES)]
        none, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(command, env=environment, cwd=scratch, stdin=none, stdout=none, stderr=pipe, text=True) as ran:
            try:
                message = _last_line(ran.stderr or ())
            except BaseException:
                ran.kill()
                raise
    if ran.returncode:
        raise DataError(message)


def _last_line(lines: Iterable[str]) -> str:
    """Report the progress in lines as they come, and return the last other line: the message, if there is an error."""
    last = ""
    for line in map(str.strip, lines):
        if line.startswith(TASK):
            tell(line)
        elif line:
            last = line
    return last or "the public side ended without a message"


def main(crossing: str, to: str) -> int:
    """Fill a folder from the crossing in another folder."""
    os.umask(0o077)
    _end_with_parent()
    show_progress()
    try:
        fill(Path(crossing), Path(to))
    except Exception as error:
        text = str(error) if isinstance(error, Sentence) else f"the public side: {type(error).__name__}: {error}"
        print(" ".join(text.split()), file=sys.stderr)
        return 1
    return 0


def _end_with_parent() -> None:
    """Ask the system to end this process if its parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def fill(folder: Path, to: Path) -> None:
    """Write all files of a release: its data sets and texts, the crossing itself, and their checksums.

    Raises:
        DataError: the crossing is damaged.
    """
    crossing, declarations = read_crossing(folder)
    check_parts(crossing, declarations)
    if set(crossing.software) != set(software()):
        raise DataError(f"{CROSSING}: software: names {', '.join(crossing.software)}; allowed: {', '.join(software())}")
    write(to, crossing, declarations)
    for name in FILES:
        shutil.copyfile(folder / name, to / name)
    seal(to)
